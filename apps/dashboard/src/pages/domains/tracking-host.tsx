import { Button, Card, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { DialogForm } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import type { Domain } from './domain-row.ts';

const SET = graphql(`
  mutation SetTrackingDomain($id: ID!, $host: String) {
    setTrackingDomain(id: $id, host: $host) {
      id
    }
  }
`);

/** The domain's tracking host and its DNS record. */
export function TrackingHost({ domain }: { domain: Domain }) {
  const canManage = usePermission('manage');
  const [changing, setChanging] = useState(false);
  const { trackingDomain } = domain;
  return (
    <Section
      title="Tracking domain"
      about="Tracked links and pixels use this server’s address or your own domain."
      actions={
        canManage && (
          <Button variant="default" size="sm" onClick={() => setChanging(true)}>
            {trackingDomain === null ? 'Use your own domain' : 'Change'}
          </Button>
        )
      }
    >
      <Card>
        <Text size="sm">{sayWhich(domain)}</Text>
      </Card>
      <Dialog opened={changing} onClose={() => setChanging(false)} title="Tracking domain">
        <HostForm domain={domain} onClose={() => setChanging(false)} />
      </Dialog>
    </Section>
  );
}

function sayWhich({ trackingDomain, trackingRecord }: Domain): string {
  if (trackingDomain === null) return 'Links use this server’s address.';
  if (trackingRecord === null || trackingRecord.status === 'verified') return `Links use https://${trackingDomain}.`;
  return `Links use this server’s address until the record for ${trackingDomain}, listed above, is found.`;
}

function HostForm({ domain: { id, domain, trackingDomain }, onClose }: { domain: Domain; onClose: () => void }) {
  const set = useApiMutation(SET);
  return (
    <DialogForm
      values={{ host: trackingDomain ?? '' }}
      mutation={set}
      save={async ({ host }) => {
        const given = host.trim();
        if ((await set.run({ id, host: given === '' ? null : given })) === undefined) return;
        notifySuccess(
          given === '' ? 'Links use this server’s address again.' : `Publish the record for ${given} next.`,
        );
        onClose();
      }}
      submit="Save"
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput
            label="Name"
            description={`Below ${domain}. Leave blank to use this server’s address.`}
            placeholder={`links.${domain}`}
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('host')}
          />
          <Text size="xs" c="dimmed">
            Links always use https://. Make sure the server has a certificate for this name first, or every link in your
            email will break.
          </Text>
        </>
      )}
    </DialogForm>
  );
}

import { Button, PasswordInput, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { graphql } from '../../generated/gql.ts';
import type { PublishRecordsMutation } from '../../generated/graphql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { StatusBadge, type Tone } from '../../components/badge.tsx';
import { FormButtons, FormProblem } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { DataTable } from '../../components/table.tsx';
import type { Domain } from './domain-row.ts';

const PUBLISH = graphql(`
  mutation PublishRecords($id: ID!, $input: PublishDomainRecordsInput!) {
    publishDomainRecords(id: $id, input: $input) {
      zone
      dryRun
      steps {
        action
        reason
        record {
          type
          name
        }
      }
    }
  }
`);

type Publication = PublishRecordsMutation['publishDomainRecords'];

const ACTIONS: Record<Publication['steps'][number]['action'], [tone: Tone, planned: string, done: string]> = {
  create: ['good', 'Will be added', 'Added'],
  replace: ['good', 'Will be replaced', 'Replaced'],
  keep: ['quiet', 'Already published', 'Already published'],
  conflict: ['bad', 'Conflict', 'Conflict'],
};

interface PublishProps {
  domain: Domain;
  opened: boolean;
  onClose: () => void;
}

/** Publishes records at the DNS provider after a preview. Credentials are used once and not stored. */
export function Publish(props: PublishProps) {
  return (
    <Dialog opened={props.opened} onClose={props.onClose} size="lg" title="Publish records at your DNS provider">
      <Steps {...props} />
    </Dialog>
  );
}

function Steps({ domain: { id, dnsProvider }, onClose }: PublishProps) {
  const publish = useApiMutation(PUBLISH);
  const [plan, setPlan] = useState<Publication>();
  const form = useForm({
    initialValues: {
      provider: dnsProvider?.id === 'route53' ? 'route53' : 'cloudflare',
      apiToken: '',
      accessKeyId: '',
      secretAccessKey: '',
    },
  });
  // The credentials are needed until the records are published.
  useUnsavedChanges(form.isDirty() && plan?.dryRun !== false);
  const run = async (dryRun: boolean) => {
    const { provider, apiToken, accessKeyId, secretAccessKey } = form.values;
    const where = provider === 'route53' ? { route53: { accessKeyId, secretAccessKey } } : { cloudflare: { apiToken } };
    const data = await publish.run({ id, input: { dryRun, ...where } });
    if (data === undefined) return;
    setPlan(data.publishDomainRecords);
    if (!dryRun) notifySuccess('Records published.');
  };
  if (plan !== undefined) {
    return (
      <Plan
        of={plan}
        publishing={publish.running}
        onPublish={() => void run(false)}
        onClose={onClose}
        problem={<FormProblem problem={publish.problem} />}
      />
    );
  }
  return (
    <form onSubmit={form.onSubmit(() => run(true))} noValidate>
      <Stack>
        <FormProblem problem={publish.problem} />
        <SegmentedControl
          aria-label="DNS provider"
          data={[
            { value: 'cloudflare', label: 'Cloudflare' },
            { value: 'route53', label: 'Amazon Route 53' },
          ]}
          {...form.getInputProps('provider')}
        />
        {form.values.provider === 'cloudflare' ? (
          <PasswordInput
            label="API token"
            description="It needs permission to edit DNS in this zone. It is used once and not stored."
            autoComplete="off"
            visibilityToggleButtonProps={{ 'aria-label': 'Show or hide token' }}
            {...form.getInputProps('apiToken')}
          />
        ) : (
          <>
            <TextInput label="Access key ID" autoComplete="off" {...form.getInputProps('accessKeyId')} />
            <PasswordInput
              label="Secret access key"
              description="Used once and not stored."
              autoComplete="off"
              visibilityToggleButtonProps={{ 'aria-label': 'Show or hide secret' }}
              {...form.getInputProps('secretAccessKey')}
            />
          </>
        )}
        <FormButtons submit="Preview changes" running={publish.running} onCancel={onClose} />
      </Stack>
    </form>
  );
}

function Plan({
  of: { zone, dryRun, steps },
  publishing,
  onPublish,
  onClose,
  problem,
}: {
  of: Publication;
  publishing: boolean;
  onPublish: () => void;
  onClose: () => void;
  problem: ReactNode;
}) {
  return (
    <Stack>
      {problem}
      <Text size="sm">
        {dryRun
          ? 'Nothing has been changed yet. These changes will be made in the zone'
          : 'These changes were made in the zone'}{' '}
        {zone}. Your other records are never changed.
      </Text>
      <DataTable
        label="Records"
        rows={steps}
        keyOf={({ record }) => `${record.type} ${record.name}`}
        columns={[
          {
            title: 'Record',
            cell: ({ record: { type, name }, reason }) => (
              <>
                <code>
                  {type} {name}
                </code>
                <Text size="xs" c="dimmed">
                  {reason}
                </Text>
              </>
            ),
          },
          {
            title: 'Action',
            width: 140,
            cell: ({ action }) => {
              const [tone, planned, done] = ACTIONS[action];
              return <StatusBadge tone={tone}>{dryRun ? planned : done}</StatusBadge>;
            },
          },
        ]}
      />
      {dryRun ? (
        <Button loading={publishing} onClick={onPublish}>
          Publish
        </Button>
      ) : (
        <Button onClick={onClose}>Done</Button>
      )}
    </Stack>
  );
}

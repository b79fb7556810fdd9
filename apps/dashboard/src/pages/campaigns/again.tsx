import { Button, Checkbox, Group, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../../app/session.tsx';
import { useChange } from '../../data/change.ts';
import { graphql } from '../../generated/gql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { tell } from '../../components/notify.tsx';
import type { CampaignRow } from './campaign.tsx';
import { countOf } from './campaign-labels.ts';

const RETRY = graphql(`
  mutation RetryCampaignRecipients($id: ID!) {
    retryCampaignRecipients(id: $id) {
      recipients
    }
  }
`);

const RESOLVE = graphql(`
  mutation ResolveCampaignRecipients($id: ID!, $outcome: UnknownOutcome!) {
    resolveCampaignRecipients(id: $id, outcome: $outcome) {
      recipients
    }
  }
`);

const RESEND = graphql(`
  mutation ResendCampaignRecipients($id: ID!) {
    resendCampaignRecipients(id: $id, acceptDuplicates: true) {
      recipients
    }
  }
`);

/** What a person can do about recipients who were refused, and about those of whom nobody knows. */
export function Again({ campaign }: { campaign: CampaignRow }) {
  const [asking, setAsking] = useState<'retry' | 'unknown'>();
  const may = useMay();
  const { failed, unknown } = campaign.progress;
  if (!may('write') || campaign.status === 'canceled' || campaign.recipientsDeletedAt !== null) return null;
  const close = () => setAsking(undefined);
  return (
    <>
      {failed > 0 && (
        <Button variant="default" onClick={() => setAsking('retry')}>
          Send again to {failed === 1 ? 'the one' : `the ${failed.toLocaleString('en')}`} refused
        </Button>
      )}
      {unknown > 0 && (
        <Button variant="default" onClick={() => setAsking('unknown')}>
          Decide about {countOf(unknown, 'unknown outcome')}
        </Button>
      )}
      <Retry campaign={campaign} opened={asking === 'retry'} onClose={close} />
      {asking === 'unknown' && <Decide campaign={campaign} onClose={close} />}
    </>
  );
}

interface DialogProps {
  campaign: CampaignRow;
  onClose: () => void;
}

function Retry({ campaign: { id, progress }, opened, onClose }: DialogProps & { opened: boolean }) {
  const retry = useChange(RETRY);
  const confirm = async () => {
    const done = await retry.run({ id });
    if (done === undefined) return;
    tell(`It goes again to ${countOf(done.retryCampaignRecipients.recipients, 'recipient')}.`);
    onClose();
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Send again to who was refused?"
      action="Send again"
      running={retry.running}
      problem={retry.problem}
      onConfirm={() => void confirm()}
      harmless
    >
      {countOf(progress.failed, 'recipient')} got nothing, since a server refused. Addresses that are suppressed by now
      are left out. The campaign is being sent until each has an outcome again.
    </Confirm>
  );
}

type Decision = 'accepted' | 'failed' | 'resend';

/** What the mail server's own log says decides; without it, sending again may reach some people twice. */
function Decide({ campaign: { id, progress }, onClose }: DialogProps) {
  const resolve = useChange(RESOLVE);
  const resend = useChange(RESEND);
  const [decision, setDecision] = useState<Decision>('accepted');
  const [agreed, setAgreed] = useState(false);
  const confirm = async () => {
    const done =
      decision === 'resend'
        ? (await resend.run({ id }))?.resendCampaignRecipients
        : (await resolve.run({ id, outcome: decision }))?.resolveCampaignRecipients;
    if (done === undefined) return;
    tell(`Decided for ${countOf(done.recipients, 'recipient')}.`);
    onClose();
  };
  return (
    <Confirm
      opened
      onClose={onClose}
      title="What became of them?"
      action={decision === 'resend' ? 'Send again' : 'Note it'}
      running={resolve.running || resend.running}
      problem={resolve.problem ?? resend.problem}
      disabled={decision === 'resend' && !agreed}
      onConfirm={() => void confirm()}
      harmless={decision !== 'resend'}
    >
      <Stack>
        <Text size="sm">
          The connection broke when the mail server may have taken {countOf(progress.unknown, 'message')}. Its log
          knows; a report by a provider settles them by itself.
        </Text>
        <Radio.Group
          aria-label="What became of them"
          value={decision}
          onChange={(value) => setDecision(value as Decision)}
        >
          <Stack gap="sm">
            <Radio value="accepted" label="The mail server took them" description="They count as sent." />
            <Radio
              value="failed"
              label="It did not take them"
              description="They count as failed, and can be sent again."
            />
            <Radio value="resend" label="Send them again without knowing" description="Some may get the mail twice." />
          </Stack>
        </Radio.Group>
        {decision === 'resend' && (
          <Group>
            <Checkbox
              label="I know that some people may get it twice"
              checked={agreed}
              onChange={(event) => setAgreed(event.currentTarget.checked)}
            />
          </Group>
        )}
      </Stack>
    </Confirm>
  );
}

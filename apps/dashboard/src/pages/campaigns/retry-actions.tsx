import { Button, Checkbox, Group, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
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

/** Actions for failed recipients and unknown outcomes. */
export function RetryActions({ campaign }: { campaign: CampaignRow }) {
  const [asking, setAsking] = useState<'retry' | 'unknown'>();
  const may = useMay();
  const { failed, unknown } = campaign.progress;
  if (!may('write') || campaign.status === 'canceled' || campaign.recipientsDeletedAt !== null) return null;
  const close = () => setAsking(undefined);
  return (
    <>
      {failed > 0 && (
        <Button variant="default" onClick={() => setAsking('retry')}>
          Resend to {countOf(failed, 'failed recipient')}
        </Button>
      )}
      {unknown > 0 && (
        <Button variant="default" onClick={() => setAsking('unknown')}>
          Resolve {countOf(unknown, 'unknown outcome')}
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
  const retry = useApiMutation(RETRY);
  const confirm = async () => {
    const done = await retry.run({ id });
    if (done === undefined) return;
    notifySuccess(`Resending to ${countOf(done.retryCampaignRecipients.recipients, 'recipient')}.`);
    onClose();
  };
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Resend to failed recipients?"
      action="Resend"
      running={retry.running}
      problem={retry.problem}
      onConfirm={() => void confirm()}
      harmless
    >
      {countOf(progress.failed, 'recipient')} did not receive the email because a server rejected it. Addresses
      suppressed since then are skipped. The campaign returns to sending until each has an outcome.
    </Confirm>
  );
}

type Decision = 'accepted' | 'failed' | 'resend';

/** The mail server's log decides. Without it, resending may deliver twice. */
function Decide({ campaign: { id, progress }, onClose }: DialogProps) {
  const resolve = useApiMutation(RESOLVE);
  const resend = useApiMutation(RESEND);
  const [decision, setDecision] = useState<Decision>('accepted');
  const [agreed, setAgreed] = useState(false);
  const confirm = async () => {
    const done =
      decision === 'resend'
        ? (await resend.run({ id }))?.resendCampaignRecipients
        : (await resolve.run({ id, outcome: decision }))?.resolveCampaignRecipients;
    if (done === undefined) return;
    notifySuccess(`Resolved ${countOf(done.recipients, 'recipient')}.`);
    onClose();
  };
  return (
    <Confirm
      opened
      onClose={onClose}
      title="Resolve unknown outcomes"
      action={decision === 'resend' ? 'Resend' : 'Save'}
      running={resolve.running || resend.running}
      problem={resolve.problem ?? resend.problem}
      disabled={decision === 'resend' && !agreed}
      onConfirm={() => void confirm()}
      harmless={decision !== 'resend'}
    >
      <Stack>
        <Text size="sm">
          The connection dropped when the mail server may already have accepted {countOf(progress.unknown, 'message')}.
          Check its log. A delivery report from the provider resolves them automatically.
        </Text>
        <Radio.Group aria-label="Outcome" value={decision} onChange={(value) => setDecision(value as Decision)}>
          <Stack gap="sm">
            <Radio value="accepted" label="Accepted by the mail server" description="They are counted as sent." />
            <Radio value="failed" label="Not accepted" description="They are counted as failed and can be resent." />
            <Radio value="resend" label="Resend anyway" description="Some recipients may get the email twice." />
          </Stack>
        </Radio.Group>
        {decision === 'resend' && (
          <Group>
            <Checkbox
              label="I understand that some recipients may get it twice"
              checked={agreed}
              onChange={(event) => setAgreed(event.currentTarget.checked)}
            />
          </Group>
        )}
      </Stack>
    </Confirm>
  );
}

import { Checkbox, Group, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { countOf } from '../../components/numbers.ts';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import type { CampaignDialogProps } from './campaign-row.ts';

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

type Decision = 'accepted' | 'failed' | 'resend';

/** The mail server's log decides. Without it, resending may deliver twice. */
export function ResolveUnknown({ campaign: { id, progress }, opened, onClose }: CampaignDialogProps) {
  const resolve = useApiMutation(RESOLVE);
  const resend = useApiMutation(RESEND);
  const [decision, setDecision] = useState<Decision>('accepted');
  const [agreed, setAgreed] = useState(false);
  const close = () => {
    setDecision('accepted');
    setAgreed(false);
    onClose();
  };
  const confirm = async () => {
    const done =
      decision === 'resend'
        ? (await resend.run({ id }))?.resendCampaignRecipients
        : (await resolve.run({ id, outcome: decision }))?.resolveCampaignRecipients;
    if (done === undefined) return;
    notifySuccess(`Resolved ${countOf(done.recipients, 'recipient')}.`);
    close();
  };
  return (
    <ConfirmDialog
      opened={opened}
      onClose={close}
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
    </ConfirmDialog>
  );
}

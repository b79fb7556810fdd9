import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { countOf } from '../../components/numbers.ts';
import { notifySuccess } from '../../components/notify.tsx';
import type { CampaignDialogProps } from './campaign-row.ts';

const RETRY = graphql(`
  mutation RetryCampaignRecipients($id: ID!) {
    retryCampaignRecipients(id: $id) {
      recipients
    }
  }
`);

/** Asks whether to resend to the recipients that a server rejected. */
export function RetryFailed({ campaign: { id, progress }, opened, onClose }: CampaignDialogProps) {
  const retry = useApiMutation(RETRY);
  const confirm = async () => {
    const done = await retry.run({ id });
    if (done === undefined) return;
    notifySuccess(`Resending to ${countOf(done.retryCampaignRecipients.recipients, 'recipient')}.`);
    onClose();
  };
  return (
    <ConfirmDialog
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
    </ConfirmDialog>
  );
}

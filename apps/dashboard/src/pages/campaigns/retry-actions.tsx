import { Button } from '@mantine/core';
import { useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { countOf } from '../../components/numbers.ts';
import { Confirm } from '../../components/confirm.tsx';
import { lazyDialog } from '../../components/lazy-dialog.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import type { CampaignRow } from './campaign-row.ts';

const RETRY = graphql(`
  mutation RetryCampaignRecipients($id: ID!) {
    retryCampaignRecipients(id: $id) {
      recipients
    }
  }
`);

const ResolveUnknown = lazyDialog(async () => (await import('./resolve-unknown.tsx')).ResolveUnknown);

/** Actions for failed recipients and unknown outcomes. */
export function RetryActions({ campaign }: { campaign: CampaignRow }) {
  const [asking, setAsking] = useState<'retry' | 'unknown'>();
  const canWrite = usePermission('write');
  const { failed, unknown } = campaign.progress;
  if (!canWrite || campaign.status === 'canceled' || campaign.recipientsDeletedAt !== null) return null;
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
      <ResolveUnknown campaign={campaign} opened={asking === 'unknown'} onClose={close} />
    </>
  );
}

interface DialogProps {
  campaign: CampaignRow;
  opened: boolean;
  onClose: () => void;
}

function Retry({ campaign: { id, progress }, opened, onClose }: DialogProps) {
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

import { Button } from '@mantine/core';
import { useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { countOf } from '../../components/numbers.ts';
import { lazyDialog } from '../../components/lazy-dialog.tsx';
import type { CampaignRow } from './campaign-row.ts';

const RetryFailed = lazyDialog(async () => (await import('./retry-failed.tsx')).RetryFailed);
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
      <RetryFailed campaign={campaign} opened={asking === 'retry'} onClose={close} />
      <ResolveUnknown campaign={campaign} opened={asking === 'unknown'} onClose={close} />
    </>
  );
}

import { Button } from '@mantine/core';
import { useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { countOf } from '../../components/numbers.ts';
import { lazyDialog } from '../../components/lazy-dialog.tsx';
import type { CampaignRow } from './campaign-row.ts';
import type { Duplicate } from './use-duplicate.ts';

const RetryFailed = lazyDialog(async () => (await import('./retry-failed.tsx')).RetryFailed);
const ResendUnopened = lazyDialog(async () => (await import('./resend-unopened.tsx')).ResendUnopened);
const ResolveUnknown = lazyDialog(async () => (await import('./resolve-unknown.tsx')).ResolveUnknown);

/** Actions for failed recipients, unknown outcomes and those who did not open it. */
export function RetryActions({ campaign, duplicate }: { campaign: CampaignRow; duplicate: Duplicate }) {
  const [asking, setAsking] = useState<'retry' | 'unknown' | 'unopened'>();
  const canWrite = usePermission('write');
  const { failed, unknown } = campaign.progress;
  if (!canWrite || campaign.status === 'canceled' || campaign.recipientsDeletedAt !== null) return null;
  const { sent, opened } = campaign.engagement;
  const isUnopened = campaign.status === 'completed' && campaign.trackOpens !== false && opened < sent;
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
      {isUnopened && (
        <Button variant="default" onClick={() => setAsking('unopened')}>
          Resend to those who did not open it
        </Button>
      )}
      <ResendUnopened campaign={campaign} duplicate={duplicate} opened={asking === 'unopened'} onClose={close} />
      <RetryFailed campaign={campaign} opened={asking === 'retry'} onClose={close} />
      <ResolveUnknown campaign={campaign} opened={asking === 'unknown'} onClose={close} />
    </>
  );
}

import type * as emails from '@postroom/emails/activities';
import { continueAsNew, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';

const { sendBatch } = activitiesOn<typeof emails>('mail', {
  startToCloseTimeout: '30 minutes', // the server may take 10 minutes for its last reply
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '15 seconds' },
  summary: 'Send due messages',
});

/** Backoff delays while a mail server refuses all mail, in milliseconds; the last one repeats. */
const HOLD_DELAYS_MS = [1_000, 2_000, 5_000, 15_000, 30_000, 60_000];

/**
 * Sends 1 to 100 transactional messages until each is sent or has failed. The ledger assigns messages to this workflow by its
 * id.
 */
export async function sendEmails(workflowId: string): Promise<Record<string, number>> {
  const total: Record<string, number> = {};
  for (let holds = 0; ;) {
    const { open, waitMs, held, counts } = await sendBatch(workflowId);
    for (const [state, count] of Object.entries(counts)) total[state] = (total[state] ?? 0) + count;
    setCurrentDetails(describe(total, open, held));
    if (open === 0) return total;
    holds = held === null ? 0 : holds + 1;
    const holdMs = holds === 0 ? 0 : (HOLD_DELAYS_MS[Math.min(holds, HOLD_DELAYS_MS.length) - 1] ?? 0);
    await sleep(Math.max(waitMs, holdMs, 100));
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof sendEmails>(workflowId);
  }
}

function describe(total: Record<string, number>, open: number, held: string | null): string {
  const { planned: _, ...closed } = total;
  const parts = Object.entries(closed).map(([state, count]) => `${count} ${state}`);
  if (open > 0) parts.push(`${open} to retry`);
  return held === null
    ? parts.join(', ')
    : `${parts.join(', ')}\n\nThe mail server accepts no mail at the moment: ${held}`;
}

import type * as emails from '@postroom/emails/activities';
import { continueAsNew, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';
import { backoffMs, describeBackoff } from './backoff.ts';

const { sendBatch } = activitiesOn<typeof emails>('mail', {
  startToCloseTimeout: '30 minutes', // the server may take 10 minutes for its last reply
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '15 seconds' },
  summary: 'Send due messages',
});

/**
 * Sends 1 to 100 transactional messages until each is sent or has failed. The ledger assigns messages to this workflow by its
 * id.
 */
export async function sendEmails(workflowId: string): Promise<Record<string, number>> {
  const total: Record<string, number> = {};
  for (let refusedRuns = 0; ;) {
    const { open, waitMs, held, counts } = await sendBatch(workflowId);
    for (const [state, count] of Object.entries(counts)) total[state] = (total[state] ?? 0) + count;
    setCurrentDetails(describe(total, open, held));
    if (open === 0) return total;
    refusedRuns = held === null ? 0 : refusedRuns + 1;
    await sleep(Math.max(waitMs, backoffMs(refusedRuns), 100));
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof sendEmails>(workflowId);
  }
}

function describe(total: Record<string, number>, open: number, held: string | null): string {
  const { planned: _, ...closed } = total;
  const parts = Object.entries(closed).map(([state, count]) => `${count} ${state}`);
  if (open > 0) parts.push(`${open} to retry`);
  return parts.join(', ') + describeBackoff(held);
}

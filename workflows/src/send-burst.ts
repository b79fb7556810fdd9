import type * as emails from '@postroom/emails/activities';
import { continueAsNew, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import { activitiesOn } from './activities-on.ts';
import { backoffMs, describeBackoff } from './backoff.ts';

const { sendFromQueue } = activitiesOn<typeof emails>('mail', {
  startToCloseTimeout: '30 minutes', // it claims for 20 seconds, and the server may take 10 minutes for its last reply
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '15 seconds' },
  summary: 'Send from the queue',
});

/**
 * Drains a project's queue of transactional mail that arrives too fast for one workflow per message. The ledger records which
 * messages belong to it. Deferred messages continue in their own workflow.
 */
export async function sendBurst(
  projectId: string,
  workflowId: string,
  before: Record<string, number> = {},
): Promise<Record<string, number>> {
  const total = { ...before };
  for (let refusedRuns = 0; ;) {
    const { over, waitMs, held, counts } = await sendFromQueue(projectId, workflowId);
    for (const [state, count] of Object.entries(counts)) total[state] = (total[state] ?? 0) + count;
    setCurrentDetails(describe(total, held));
    if (over) return total;
    refusedRuns = held === null ? 0 : refusedRuns + 1;
    if (refusedRuns > 0) await sleep(Math.max(waitMs, backoffMs(refusedRuns)));
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof sendBurst>(projectId, workflowId, total);
  }
}

function describe(total: Record<string, number>, held: string | null): string {
  const { planned = 0, ...closed } = total;
  const parts = Object.entries(closed).map(([state, count]) => `${count} ${state}`);
  if (planned > 0) parts.push(`${planned} times deferred or released`);
  const done = parts.length === 0 ? 'nothing yet' : parts.join(', ');
  return done + describeBackoff(held);
}

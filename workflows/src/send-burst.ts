import type * as emails from '@postroom/emails/activities';
import { continueAsNew, proxyActivities, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';

const { sendFromQueue } = proxyActivities<typeof emails>({
  startToCloseTimeout: '30 minutes', // it claims for 20 seconds, and the server may take 10 minutes for its last answer
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '15 seconds' },
  summary: 'Send what comes',
});

/** How long a mail server that takes nothing is left alone, in milliseconds; the last one is repeated. */
const HOLD_DELAYS_MS = [1_000, 2_000, 5_000, 15_000, 30_000, 60_000];

/**
 * Transactional mail of a project that comes too fast for a workflow each, until no more comes. Which messages these are is
 * in the ledger; what a server puts off goes on in a workflow of its own.
 */
export async function sendBurst(
  projectId: string,
  workflowId: string,
  before: Record<string, number> = {},
): Promise<Record<string, number>> {
  const total = { ...before };
  for (let holds = 0; ;) {
    const { over, waitMs, held, counts } = await sendFromQueue(projectId, workflowId);
    for (const [state, count] of Object.entries(counts)) total[state] = (total[state] ?? 0) + count;
    setCurrentDetails(describe(total, held));
    if (over) return total;
    holds = held === null ? 0 : holds + 1;
    const holdMs = holds === 0 ? 0 : (HOLD_DELAYS_MS[Math.min(holds, HOLD_DELAYS_MS.length) - 1] ?? 0);
    if (holdMs > 0) await sleep(Math.max(waitMs, holdMs));
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof sendBurst>(projectId, workflowId, total);
  }
}

function describe(total: Record<string, number>, held: string | null): string {
  const { planned = 0, ...closed } = total;
  const parts = Object.entries(closed).map(([state, count]) => `${count} ${state}`);
  if (planned > 0) parts.push(`${planned} times put off or given back`);
  const done = parts.length === 0 ? 'nothing yet' : parts.join(', ');
  return held === null ? done : `${done}\n\nThe mail server takes nothing now: ${held}`;
}

// Runs a queue drain, or a workflow with the messages it left, retrying each run like Temporal. It is a separate process
// that a test can kill or whose database connection it breaks (see faults.system.test.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import { type DrainPolicy, drainQueue } from '../src/drain-queue.ts';
import { newClaim } from '@postroom/ledger';
import { sendBatchUntilDeadline } from '../src/transactional.ts';

/** Delay between runs, in milliseconds. */
const RETRY_MS = 20;
/** Ends once the queue is empty and renews the lease only once, so that the statements are the same each time. */
const POLICY: DrainPolicy = { runMs: 20_000, windowMs: 60, claimIntervalMs: 5, busyMs: 0, pollMs: 80, renewMs: 60_000 };

/** A queue drain of a project, or a workflow with some of its messages. */
export type Work = { projectId: string; workflowId: string; renewMs?: number } | { workflowId: string };

process.on('disconnect', () => process.exit(1)); // exit with the test
process.on('message', (work: Work) => void send(work).then(() => process.send?.('done')));
process.send?.('ready');

async function send(work: Work): Promise<void> {
  const policy = { ...POLICY, ...('renewMs' in work ? { renewMs: work.renewMs } : {}) };
  for (let isOver = false; !isOver; await sleep(RETRY_MS)) {
    const signal = AbortSignal.timeout(60_000);
    try {
      isOver =
        'projectId' in work
          ? (await drainQueue(work.projectId, work.workflowId, newClaim(), signal, policy)).over
          : (await sendBatchUntilDeadline(work.workflowId, newClaim(), signal)).open === 0;
    } catch {
      // Temporal would retry it.
    }
  }
}

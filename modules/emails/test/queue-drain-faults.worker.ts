// Sends the mail of a burst as its workflow does, each turn as often as it takes, and then what it left for workflows of their own,
// in a program whose way to the database a test breaks, and which it can kill (see burst-faults.test.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import { type DrainPolicy, drainQueue } from '../src/drain-queue.ts';
import { newClaim } from '@postroom/ledger';
import { sendBatchUntilDeadline } from '../src/transactional.ts';

/** A server that takes nothing now, and a turn that failed, are left alone for so long, in milliseconds. */
const WAIT_MS = 20;
/** It ends as soon as nothing came, and tells others only once that it is at work: so its statements are the same each time. */
const PACE: DrainPolicy = { turnMs: 20_000, windowMs: 60, gatherMs: 5, lookMs: 80, beatMs: 60_000 };

/** A burst of a project, or a workflow that has some of its messages in hand. */
export type Work = { projectId: string; workflowId: string; beatMs?: number } | { workflowId: string };

process.on('disconnect', () => process.exit(1)); // it does not outlive its test
process.on('message', (work: Work) => void send(work).then(() => process.send?.('done')));
process.send?.('ready');

async function send(work: Work): Promise<void> {
  const pace = { ...PACE, ...('beatMs' in work ? { beatMs: work.beatMs } : {}) };
  for (let isOver = false; !isOver; await sleep(WAIT_MS)) {
    const signal = AbortSignal.timeout(60_000);
    try {
      isOver =
        'projectId' in work
          ? (await drainQueue(work.projectId, work.workflowId, newClaim(), signal, pace)).over
          : (await sendBatchUntilDeadline(work.workflowId, newClaim(), signal)).open === 0;
    } catch {
      // Temporal tries an attempt again that throws.
    }
  }
}

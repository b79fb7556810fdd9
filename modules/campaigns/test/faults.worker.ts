// Sends a campaign as its workflow does, retrying each step, in a separate process. The test can break its database connection
// and kill it (see faults.system.test.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import { newClaim } from '@postroom/ledger';
import { snapshotRecipients } from '../src/snapshot-recipients.ts';
import { cancelRemaining, complete, sendUntilDeadline } from '../src/send-run.ts';

/** Delay after a failed step or a backoff, in milliseconds. */
const WAIT_MS = 20;

process.on('disconnect', () => process.exit(1)); // do not outlive the test
process.on('message', (campaignId: string) => void send(campaignId).then((outcome) => process.send?.(outcome)));
process.send?.('ready');

/** Retries a step that throws, as Temporal does. */
async function until<T>(step: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await step();
    } catch {
      await sleep(WAIT_MS);
    }
  }
}

async function send(id: string, run = 1): Promise<string> {
  await until(() => snapshotRecipients(id, { rangeSize: 4 }));
  for (;;) {
    const turn = await until(() => sendUntilDeadline({ id, run }, newClaim(), new AbortController().signal));
    if (turn.status === 'canceled') await until(() => cancelRemaining(id, newClaim(), () => {}));
    if (turn.status !== 'sending') return turn.status;
    if (turn.hold === null && turn.waitMs === null && (await until(() => complete({ id, run })))) return 'completed';
    await sleep(Math.max(WAIT_MS, turn.waitMs ?? 0));
  }
}

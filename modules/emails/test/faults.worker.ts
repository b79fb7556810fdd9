// Sends the emails of a workflow as that does, each turn as often as it takes, in a program of its own whose way to the
// database a test breaks (see faults.test.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import { newClaim } from '@postroom/ledger';
import { sendBatchUntilDeadline } from '../src/transactional.ts';

/** A server that takes nothing now, and a turn that failed, are left alone for so long, in milliseconds. */
const WAIT_MS = 20;

process.on('disconnect', () => process.exit(1)); // it does not outlive its test
process.on('message', (workflowId: string) => void send(workflowId).then(() => process.send?.('done')));
process.send?.('ready');

async function send(workflowId: string): Promise<void> {
  for (let open = 1; open > 0; await sleep(WAIT_MS)) {
    try {
      ({ open } = await sendBatchUntilDeadline(workflowId, newClaim(), new AbortController().signal));
    } catch {
      // Temporal tries an attempt again that throws.
    }
  }
}

// Sends the emails of a workflow, retrying each run like Temporal, in a separate process whose database connection a test
// breaks (see faults.system.test.ts).
import { setTimeout as sleep } from 'node:timers/promises';
import { newClaim } from '@postroom/ledger';
import { sendBatchUntilDeadline } from '../src/transactional.ts';

/** Delay between runs, in milliseconds. */
const RETRY_MS = 20;

process.on('disconnect', () => process.exit(1)); // exit with the test
process.on('message', (workflowId: string) => void send(workflowId).then(() => process.send?.('done')));
process.send?.('ready');

async function send(workflowId: string): Promise<void> {
  for (let open = 1; open > 0; await sleep(RETRY_MS)) {
    try {
      ({ open } = await sendBatchUntilDeadline(workflowId, newClaim(), new AbortController().signal));
    } catch {
      // Temporal would retry it.
    }
  }
}

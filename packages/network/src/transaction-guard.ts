import { AsyncLocalStorage } from 'node:async_hooks';
import { config } from '@postroom/settings/config';

const transactions = new AsyncLocalStorage<true>();
/** Only tests check, because the check has a cost. */
const isChecked = config.NODE_ENV === 'test';

/** Runs the work of a transaction, so that `assertNoTransaction` notices calls to other systems in it. */
export const asTransaction = <T>(work: () => Promise<T>): Promise<T> =>
  isChecked ? transactions.run(true, work) : work();

/**
 * Call it before waiting for another system. A transaction that waits for one holds its connection and locks for as long, and
 * behind PgBouncer one of the few connections of the server.
 * @throws Error in the tests, if a transaction is open.
 */
export function assertNoTransaction(call: string): void {
  if (isChecked && transactions.getStore() !== undefined)
    throw new Error(`${call} while a database transaction is open: commit first.`);
}

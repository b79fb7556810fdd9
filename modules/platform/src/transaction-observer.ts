import { AsyncLocalStorage } from 'node:async_hooks';
import type { Tx } from './db.ts';

/** Is called at the start of a transaction, and what it returns before the commit. An error of either rolls it back. */
export type TransactionObserver = (tx: Tx) => Promise<() => Promise<void>>;

const observers = new AsyncLocalStorage<TransactionObserver | undefined>();

/** Runs `work`, whose transactions the observer sees; not those within another transaction. */
export const observeTransactions = <T>(observer: TransactionObserver, work: () => Promise<T>): Promise<T> =>
  observers.run(observer, work);

/** Runs the work of a transaction for the observer, if there is one. */
export function observed<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const observer = observers.getStore();
  if (observer === undefined) return work();
  return observers.run(undefined, async () => {
    const end = await observer(tx);
    const result = await work();
    await end();
    return result;
  });
}

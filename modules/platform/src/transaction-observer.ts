import { AsyncLocalStorage } from 'node:async_hooks';
import { asTransaction } from '@postroom/network';
import type pg from 'pg';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';

/** A transaction of either kind: Prisma's, or a connection inside `inTransaction`. */
export type Tx = Prisma.TransactionClient | pg.ClientBase | pg.Pool;

/** Is called at the start of a transaction, and what it returns before the commit. An error of either rolls it back. */
export type TransactionObserver = (tx: Tx) => Promise<() => Promise<void>>;

const observers = new AsyncLocalStorage<TransactionObserver | undefined>();

/** Runs `work`, whose transactions the observer sees; not those within another transaction. */
export const observeTransactions = <T>(observer: TransactionObserver, work: () => Promise<T>): Promise<T> =>
  observers.run(observer, work);

/** Runs the work of a transaction for the observer, if there is one. */
function observed<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const observer = observers.getStore();
  if (observer === undefined) return work();
  return observers.run(undefined, async () => {
    const end = await observer(tx);
    const result = await work();
    await end();
    return result;
  });
}

/** Runs the work of a transaction, so that its observer sees it and calls to other systems are noticed in it. */
export const runTransaction = <T>(tx: Tx, work: () => Promise<T>): Promise<T> =>
  asTransaction(() => observed(tx, work));

/** The typed client, whose interactive transactions run by `runTransaction` as well. */
export function observingTransactions<Client extends { $transaction: PrismaClient['$transaction'] }>(
  client: Client,
): Client {
  const transact = client.$transaction.bind(client) as (...args: unknown[]) => Promise<unknown>;
  const $transaction = (
    work: ((tx: Prisma.TransactionClient) => Promise<unknown>) | unknown[],
    ...options: unknown[]
  ) =>
    typeof work === 'function'
      ? transact((tx: Prisma.TransactionClient) => runTransaction(tx, () => work(tx)), ...options)
      : transact(work, ...options);
  return Object.assign(client, { $transaction });
}

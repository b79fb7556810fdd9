import { AsyncLocalStorage } from 'node:async_hooks';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { config } from './config.ts';
import type { Tx } from './db.ts';
import { observed } from './transaction-observer.ts';

const transactions = new AsyncLocalStorage<true>();
/** Only the tests pay for looking. */
const isChecked = config.NODE_ENV === 'test';

/** Runs the work of a transaction, so that its observer sees it and calls to other systems are noticed in it. */
export const asTransaction = <T>(tx: Tx, work: () => Promise<T>): Promise<T> =>
  isChecked ? transactions.run(true, () => observed(tx, work)) : observed(tx, work);

/** The typed client, whose interactive transactions run `asTransaction` as well. */
export function noticingTransactions<Client extends { $transaction: PrismaClient['$transaction'] }>(
  client: Client,
): Client {
  const transact = client.$transaction.bind(client) as (...args: unknown[]) => Promise<unknown>;
  const $transaction = (
    work: ((tx: Prisma.TransactionClient) => Promise<unknown>) | unknown[],
    ...options: unknown[]
  ) =>
    typeof work === 'function'
      ? transact((tx: Prisma.TransactionClient) => asTransaction(tx, () => work(tx)), ...options)
      : transact(work, ...options);
  return Object.assign(client, { $transaction });
}

/**
 * Call it before waiting for another system. A transaction that waits for one holds its connection and locks for as long, and
 * behind PgBouncer one of the few connections of the server.
 * @throws Error in the tests, if a transaction is open.
 */
export function assertNoTransaction(call: string): void {
  if (isChecked && transactions.getStore() !== undefined)
    throw new Error(`${call} while a database transaction is open: commit first.`);
}

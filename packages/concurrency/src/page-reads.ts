import { AsyncLocalStorage } from 'node:async_hooks';
import { DomainError } from '@postroom/errors';
import { FairSemaphore } from './fair-semaphore.ts';

/** A request that has read pages with about as many characters reads no more. */
const MAX_PAGES_LENGTH = 20_000_000;
/** Pages that a request reads at once: the fields of a GraphQL document would all be read at once. */
const PAGES_AT_ONCE = 4;

/** What a request has read, and its turns to read more. */
interface RequestReads {
  length: number;
  turns: FairSemaphore;
}

const reads = new AsyncLocalStorage<RequestReads>();

/** Runs the work of a request, which may read a limited amount of rows of lists. */
export const limitPages = <T>(work: () => Promise<T>): Promise<T> =>
  reads.run({ length: 0, turns: new FairSemaphore({ total: PAGES_AT_ONCE, perKey: PAGES_AT_ONCE }) }, work);

/**
 * Reads rows of a page, in turn with other pages of the request. Not for reads that a loader batches.
 * @throws DomainError `payload_too_large` when the request has read as much as it may.
 */
export async function readLimited<Row>(read: () => Promise<Row[]>): Promise<Row[]> {
  const request = reads.getStore();
  if (request === undefined) return read();
  return request.turns.run('', async () => {
    if (request.length > MAX_PAGES_LENGTH)
      throw new DomainError(
        'payload_too_large',
        `Together, the pages have more than ${MAX_PAGES_LENGTH} characters; ask for fewer rows.`,
      );
    const rows = await read();
    request.length += lengthOf(rows);
    return rows;
  });
}

/** The number of characters of the texts in a value. */
export function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, each) => sum + lengthOf(each), 0);
}

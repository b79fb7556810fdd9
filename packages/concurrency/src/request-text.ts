import { AsyncLocalStorage } from 'node:async_hooks';
import { DomainError } from '@postroom/errors';
import { FairSemaphore } from './fair-semaphore.ts';

/**
 * Characters of text that a request may read from lists and bodies, and the same of its answer, about: serializing them holds up other
 * requests for a tenth of a second. The largest email has ten million.
 */
const MAX_REQUEST_TEXT = 12_000_000;
/** Lists that a request reads at once: all fields of a GraphQL document would be. */
const READS_AT_ONCE = 2;
/** Shorter texts of an answer are not counted, because the cost of an operation limits their number. */
const MIN_COUNTED = 200;

/** How much text a request has read, and its answer has so far, and the turns of its reads. */
interface RequestText {
  read: number;
  answered: number;
  turns: FairSemaphore;
}

const requests = new AsyncLocalStorage<RequestText>();

/** Runs a request, which may read and answer a limited amount of text. */
export const limitText = <T>(work: () => Promise<T>): Promise<T> =>
  requests.run(
    { read: 0, answered: 0, turns: new FairSemaphore({ total: READS_AT_ONCE, perKey: READS_AT_ONCE }) },
    work,
  );

/**
 * Reads rows that may have long texts, in turn with other such reads of the request. `read` gets the number of characters that the
 * request may still read; it must not call this again. For loaders too: a batch is one read.
 * @throws DomainError `payload_too_large` when the request has read as much as it may.
 */
export async function readLimited<Row>(read: (left: number) => Promise<Row[]>): Promise<Row[]> {
  const request = requests.getStore();
  if (request === undefined) return read(MAX_REQUEST_TEXT);
  return request.turns.run('', async () => {
    if (request.read > MAX_REQUEST_TEXT) throw tooMuchText();
    const rows = await read(MAX_REQUEST_TEXT - request.read);
    request.read += lengthOf(rows);
    return rows;
  });
}

/**
 * Counts a text or a JSON value of the answer: a document can ask for the same one many times.
 * @returns the value
 * @throws DomainError `payload_too_large` when the answer has as much as it may.
 */
export function answerText<Value>(value: Value): Value {
  const length = lengthOf(value);
  const request = length < MIN_COUNTED ? undefined : requests.getStore();
  if (request === undefined) return value;
  if (request.answered > MAX_REQUEST_TEXT) throw tooMuchText();
  request.answered += length;
  return value;
}

/** The error of a request for too much text. */
export const tooMuchText = (): DomainError =>
  new DomainError(
    'payload_too_large',
    `The answer would have more than ${MAX_REQUEST_TEXT} characters of text; ask for fewer rows or fields.`,
  );

/** The number of characters of the texts in a value. */
export function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || value instanceof Date) return 0;
  let length = 0;
  for (const each of Object.values(value)) length += lengthOf(each);
  return length;
}

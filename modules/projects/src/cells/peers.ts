import type { IncomingMessage } from 'node:http';
import {
  config,
  databaseAnswerOf,
  databaseNow,
  DomainError,
  type ErrorCode,
  type FieldProblem,
  logger,
  macFor,
  retry,
  RetryLater,
} from '@postroom/platform';
import { LRUCache } from 'lru-cache';
import type { HeldRequest } from '../held-requests.ts';

/** Carries who vouches for a request between cells. Never accepted without its signature. */
export const CELL_HEADER = 'x-postroom-cell';
/** Path of requests between cells. */
export const CELLS_PATH = '/app/cells/';

/** A user, as known to the cell in which they sign in. */
export interface UserProfile {
  id: string;
  name: string;
  email: string;
}

/** A signed-in user, for whom the cell that they signed in to vouches. */
export interface Vouched {
  id: string;
  sessionId: string;
}

export interface Voucher {
  /** Milliseconds since 1970. */
  at: number;
  method: string;
  url: string;
  /** How often the request was forwarded: a project may have moved on. */
  hops: number;
  /** Who has signed in, for a request that is forwarded. */
  user?: Vouched;
  /** The user whom a question is about. */
  person?: UserProfile;
}

/** All cells have the same secret key. */
const mac = macFor('postroom cells');
const MAC_BYTES = 32;
/** How long a voucher is valid, and how far clocks may differ, in milliseconds. */
export const VOUCHER_VALID_MS = 60_000;
/** How often a request is forwarded at most: a project may have moved on. */
export const MAX_HOPS = 3;

/** Signs a request to another cell. */
export function voucherFor(
  method: string,
  url: string,
  about: Partial<Pick<Voucher, 'user' | 'person' | 'hops'>> = {},
): string {
  const voucher: Voucher = { at: databaseNow(), method, url, hops: 1, ...about };
  const text = Buffer.from(JSON.stringify(voucher)).toString('base64url');
  return `${text}.${mac.sign(text, MAC_BYTES, 'base64url')}`;
}

/** The voucher of another cell for this request; undefined without the header. @throws DomainError `forbidden` if it is not authentic. */
export function readVoucher({ headers, method = 'GET', url = '/' }: IncomingMessage): Voucher | undefined {
  const header = headers[CELL_HEADER];
  if (header === undefined) return undefined;
  const [text = '', signature = ''] = [header].flat().join().split('.', 2);
  const bytes = Buffer.from(signature, 'base64url');
  if (/^[\w-]+$/.test(text) && bytes.length === MAC_BYTES && mac.verify(text, bytes)) {
    const voucher = JSON.parse(Buffer.from(text, 'base64url').toString()) as Voucher;
    if (voucher.method === method && voucher.url === url && Math.abs(databaseNow() - voucher.at) < VOUCHER_VALID_MS)
      return voucher;
  }
  throw new DomainError('forbidden', 'This request was not forwarded by another cell.');
}

/** The URL of a cell's gateways. @throws Error if CELL_GATEWAYS does not name it. */
export function gatewayOf(cell: string): string {
  const url = config.CELL_GATEWAYS?.get(cell);
  if (url === undefined) throw new Error(`CELL_GATEWAYS does not name the cell ${cell}.`);
  return url;
}

const ASK_TIMEOUT_MS = 3_000;
/** Longer than for a question, because forwarded work is committed before it is answered. */
const FORWARD_TIMEOUT_MS = 60_000;
const RETRY_SECONDS = 5;
/** The number of lookups at once: unknown keys are cheap to make up. */
const MAX_ASKING = 50;
let asking = 0;

interface Call {
  about?: Parameters<typeof voucherFor>[2];
  body?: string;
  timeoutMs?: number;
}

/** Calls the gateways of a cell. @returns the response, whatever its status. @throws Error without one. */
export function request(cell: string, what: string, { about, body, timeoutMs = ASK_TIMEOUT_MS }: Call = {}) {
  const url = CELLS_PATH + what;
  return fetch(gatewayOf(cell) + url, {
    method: 'POST',
    headers: { [CELL_HEADER]: voucherFor('POST', url, about) },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'error',
  });
}

/** @returns the response, or undefined for 404. @throws RetryLater for any other failure. */
async function call<Answer>(cell: string, what: string, options: Call): Promise<Answer | undefined> {
  try {
    const response = await request(cell, what, options);
    if (response.ok) return (await response.json()) as Answer;
    if (response.status === 404) return undefined;
    throw new Error(`${response.status}`);
  } catch (error) {
    logger.warn({ err: error, cell }, 'another cell does not respond');
    throw notResponding();
  }
}

const notResponding = () =>
  new RetryLater('timeout', 'Another part of Postroom does not respond. Try again in a moment.', RETRY_SECONDS);

/** Asks a cell for something, such as `user/usr_…`. @returns its JSON; undefined if it has none. @throws RetryLater if it does not answer. */
export const askCell = <Answer>(cell: string, what: string, person?: UserProfile): Promise<Answer | undefined> =>
  call(cell, what, person === undefined ? {} : { about: { person } });

/** Asks all other cells. @returns the answer of the one that has one. @throws RetryLater if one of them does not answer. */
export async function askOtherCells<Answer>(what: string, person?: UserProfile): Promise<Answer | undefined> {
  const answers = await Promise.all(otherCells().map((cell) => askCell<Answer>(cell, what, person)));
  return answers.find((answer) => answer !== undefined);
}

/** The answer to forwarded work. */
type Forwarded<Answer> =
  | { answer: Answer }
  | { error: { code: ErrorCode; message: string; details: readonly FieldProblem[] } };

/**
 * Forwards work for a project of another cell. @returns its answer.
 * @throws DomainError as thrown there; RetryLater if the cell does not answer.
 */
export async function forwardTo<Answer>(cell: string, what: string, content: unknown, hops: number): Promise<Answer> {
  const forwarded = await call<Forwarded<Answer>>(cell, what, {
    about: { hops: hops + 1 },
    body: JSON.stringify(content),
    timeoutMs: FORWARD_TIMEOUT_MS,
  });
  if (forwarded === undefined) throw notResponding();
  if ('answer' in forwarded) return forwarded.answer;
  const { code, message, details } = forwarded.error;
  throw new DomainError(code, message, details);
}

/** How long to wait before a request that a cell did not accept is posted again, in milliseconds. */
const POST_DELAYS_MS = [1_000, 2_000, 5_000];

/** Posts a request as its sender would. What the cell refuses for good counts as posted. @throws Error if it does not respond, or fails. */
export async function postTo(cell: string, { path, body }: Pick<HeldRequest, 'path' | 'body'>): Promise<void> {
  await retry(
    async () => {
      const { status } = await fetch(gatewayOf(cell) + path, {
        method: 'POST',
        body,
        signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
        redirect: 'manual',
      });
      if (status >= 500) throw new Error(`${cell} answered ${status} to a request that came during the move.`);
    },
    { delaysMs: POST_DELAYS_MS },
  );
}

/** Does work that another cell forwarded. Errors of rules are answers, which tells them from failures of the connection. */
export async function answerForwarded(work: () => Promise<unknown>): Promise<Forwarded<unknown>> {
  try {
    return { answer: (await work()) ?? null };
  } catch (error) {
    const known = error instanceof DomainError ? error : databaseAnswerOf(error);
    if (known === undefined) throw error;
    return { error: { code: known.code, message: known.message, details: known.details } };
  }
}

/** The cell that has something, kept for a minute; that no cell has it is kept for seconds. It says only whom to ask. */
const found = new LRUCache<string, { cell: string | undefined }>({ max: 10_000 });
const FOUND_MS = 60_000;
const NOT_FOUND_MS = 3_000;

/** The cell that has an object, by a reference such as `key/<hash>`; undefined if none has it. @throws RetryLater if a cell does not answer. */
export async function findCell(what: string): Promise<string | undefined> {
  const known = found.get(what);
  if (known !== undefined) return known.cell;
  if (asking >= MAX_ASKING) throw new RetryLater('timeout', 'Too many requests. Try again in a moment.', RETRY_SECONDS);
  asking++;
  try {
    const cells = otherCells();
    const answers = await Promise.all(cells.map((cell) => askCell(cell, what)));
    const cell = cells[answers.findIndex((answer) => answer !== undefined)];
    found.set(what, { cell }, { ttl: cell === undefined ? NOT_FOUND_MS : FOUND_MS });
    return cell;
  } finally {
    asking--;
  }
}

/** The names of the other cells; none without CELL_GATEWAYS. */
export const otherCells = (): string[] =>
  [...(config.CELL_GATEWAYS?.keys() ?? [])].filter((cell) => cell !== config.CELL);

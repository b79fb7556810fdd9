import { invalid } from '@postroom/errors';

/**
 * The transactions a reader has seen: all below `before`, except those still running when it read. This mirrors a
 * PostgreSQL snapshot. Ids and timestamps cannot work as cursors, because both are assigned before commit: of two
 * concurrent transactions, the one that started first may become visible last.
 */
export interface SnapshotCursor {
  before: bigint;
  /** Transactions below `before` that have not been seen, ascending. */
  running: readonly bigint[];
  /** The transaction of `running` that was seen up to this id: a page may end inside a transaction. */
  partly?: { xact: bigint; id: string };
}

/** Stands for no partly seen transaction. Its number is below all others; rows copied from another database have negative ones. */
export const NOTHING_SEEN = { xact: -(2n ** 63n), id: '' };

/** Parses `pg_current_snapshot()`: `xmin:xmax:xip,xip`. */
export function cursorFrom(snapshot: string): SnapshotCursor {
  const [, before = '', running = ''] = snapshot.split(':');
  return { before: BigInt(before), running: running === '' ? [] : running.split(',').map(BigInt) };
}

/**
 * The cursor after the event `id` of transaction `xact`. Unread events are read in this order: the rest of the partly
 * seen transaction, then all others by transaction and id. `now` is the snapshot they were read in.
 */
export function cursorUpTo(
  seen: SnapshotCursor,
  now: SnapshotCursor,
  { xact, id }: { xact: bigint; id: string },
): SnapshotCursor {
  const partly = { xact, id };
  if (xact === seen.partly?.xact) return { ...seen, partly };
  if (xact >= seen.before)
    return { before: xact + 1n, running: [...now.running.filter((other) => other < xact), xact], partly };
  const stillRunning = new Set(now.running);
  const unseen = (other: bigint) => other >= xact && other !== seen.partly?.xact;
  return {
    before: seen.before,
    running: seen.running.filter((other) => unseen(other) || stillRunning.has(other)),
    partly,
  };
}

/**
 * The cursor after each row of a page read in the snapshot `now`. After the last row of the last page, it is the
 * snapshot itself.
 */
export function cursorAfterEach(
  seen: SnapshotCursor,
  now: SnapshotCursor,
  page: readonly { xact: bigint; id: string }[],
  { isLast }: { isLast: boolean },
): SnapshotCursor[] {
  return page.map((row, index) => (isLast && index === page.length - 1 ? now : cursorUpTo(seen, now, row)));
}

/**
 * The cursor in another database, to which all rows were copied with their numbers less `shift`, which is above all of them. There, the
 * numbers of new transactions are positive.
 */
export function shiftCursor({ before, running, partly }: SnapshotCursor, shift: bigint): SnapshotCursor {
  const moved = (xact: bigint) => xact - shift;
  // What began later has no rows.
  const isCopied = (xact: bigint) => xact < shift;
  return {
    before: isCopied(before) ? moved(before) : 0n,
    running: running.filter(isCopied).map(moved),
    ...(partly !== undefined && isCopied(partly.xact) && { partly: { ...partly, xact: moved(partly.xact) } }),
  };
}

/** Upper bound on concurrent transactions of a server. */
const MAX_RUNNING = 10_000;
const CURSOR_PATTERN = /^-?[0-9a-z]{1,13}(\.[0-9a-z]{1,13})*(~[0-9a-z]{1,13}~[0-9a-z_.]{1,40})?(@[1-9]\d{0,5})?$/;

/**
 * Encodes a cursor for clients: opaque, and short unless many transactions were running.
 * @param moves how many databases the rows were in before.
 */
export function encodeCursor({ before, running, partly }: SnapshotCursor, moves = 0): string {
  const numbers = [before, ...running.map((xact) => before - xact)].map((number) => number.toString(36)).join('.');
  const rest = partly === undefined ? '' : `~${(before - partly.xact).toString(36)}~${partly.id}`;
  return Buffer.from(numbers + rest + (moves === 0 ? '' : `@${moves}`), 'latin1').toString('base64url');
}

/** A cursor of a client. */
export interface DecodedCursor {
  cursor: SnapshotCursor;
  /** How many databases the rows had been in before. */
  moves: number;
}

/**
 * Decodes a cursor.
 * @throws DomainError `validation_error` for anything `encodeCursor` does not produce.
 */
export function decodeCursor(text: string): DecodedCursor {
  const decoded = Buffer.from(text, 'base64url').toString('latin1');
  const [place = '', moves = '0'] = decoded.split('@');
  const [numbers = '', xact, id] = place.split('~');
  // Node skips what is not base64, so compare: a cursor with something added or lost is none.
  const isCursor = CURSOR_PATTERN.test(decoded) && Buffer.from(decoded, 'latin1').toString('base64url') === text;
  const [before = 0n, ...distances] = isCursor ? numbers.split('.').map(fromBase36) : [];
  // Only rows that were copied from another database have negative numbers.
  const isPossible = moves !== '0' || (before > 0n && distances.every((distance) => distance <= before));
  if (!isCursor || !isPossible || distances.length > MAX_RUNNING)
    throw invalid({ field: 'after', message: 'is not a cursor issued by this stream' });
  const running = distances.map((distance) => before - distance);
  const partly = xact === undefined || id === undefined ? {} : { partly: { xact: before - fromBase36(xact), id } };
  return { cursor: { before, running, ...partly }, moves: Number(moves) };
}

function fromBase36(text: string): bigint {
  const isNegative = text.startsWith('-');
  let value = 0n;
  for (const digit of isNegative ? text.slice(1) : text) value = value * 36n + BigInt(Number.parseInt(digit, 36));
  return isNegative ? -value : value;
}

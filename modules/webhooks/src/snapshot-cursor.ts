import { invalid } from '@postroom/platform';

/**
 * Which transactions a reader has seen: every one below `before`, but for those that were still running when it looked.
 * PostgreSQL's own snapshots say it so. Neither ids nor times can: both are made before a commit, and of two that run at
 * once, the one that began first may become visible last.
 */
export interface SnapshotCursor {
  before: bigint;
  /** Those below `before` that have not been seen, ascending. */
  running: readonly bigint[];
  /** Of one of `running` the events up to this id have been seen: a page may end in the middle of a transaction. */
  partly?: { xact: bigint; id: string };
}

/** What `pg_current_snapshot()` prints: `xmin:xmax:xip,xip`. */
export function cursorFrom(snapshot: string): SnapshotCursor {
  const [, before = '', running = ''] = snapshot.split(':');
  return { before: BigInt(before), running: running === '' ? [] : running.split(',').map(BigInt) };
}

/**
 * What has been seen after the event `id` of transaction `xact`, when the unseen are read like this: first the rest of the
 * transaction that was partly seen, then all others in the order of transaction and id. `now` is the snapshot that they were
 * read in.
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
 * What has been seen after each row of a page that was read in the snapshot `now`: after the last row of the last page,
 * everything in it.
 */
export function cursorAfterEach(
  seen: SnapshotCursor,
  now: SnapshotCursor,
  page: readonly { xact: bigint; id: string }[],
  { isLast }: { isLast: boolean },
): SnapshotCursor[] {
  return page.map((row, index) => (isLast && index === page.length - 1 ? now : cursorUpTo(seen, now, row)));
}

/** No server runs more transactions at once than this. */
const MAX_RUNNING = 10_000;
const FORM = /^[0-9a-z]{1,13}(\.[0-9a-z]{1,13})*(~[0-9a-z]{1,13}~[0-9a-z_.]{1,40})?$/;

/** A cursor that clients keep: opaque to them, and a few characters unless many transactions were running. */
export function encodeCursor({ before, running, partly }: SnapshotCursor): string {
  const numbers = [before, ...running.map((xact) => before - xact)].map((number) => number.toString(36)).join('.');
  const rest = partly === undefined ? '' : `~${(before - partly.xact).toString(36)}~${partly.id}`;
  return Buffer.from(numbers + rest, 'latin1').toString('base64url');
}

/** @throws DomainError `validation_error` for what `toSeenCursor` does not write. */
export function decodeCursor(cursor: string): SnapshotCursor {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [numbers = '', xact, id] = text.split('~');
  const [before = 0n, ...distances] = FORM.test(text) ? numbers.split('.').map(fromBase36) : [];
  if (before <= 0n || distances.length > MAX_RUNNING || distances.some((distance) => distance > before))
    throw invalid({ field: 'after', message: 'is not a cursor that this stream gave out' });
  const running = distances.map((distance) => before - distance);
  if (xact === undefined || id === undefined) return { before, running };
  return { before, running, partly: { xact: before - fromBase36(xact), id } };
}

function fromBase36(digits: string): bigint {
  let value = 0n;
  for (const digit of digits) value = value * 36n + BigInt(Number.parseInt(digit, 36));
  return value;
}

import { type Column, type Store, storeAt, toParquet } from '@postroom/partitions';
import { config, inTransaction, logger, pool, sql } from '@postroom/platform';
import { isHere } from '@postroom/projects/sql';
import {
  endedTransactions,
  FIRST_TRANSACTION,
  IS_FOREIGN,
  projectsWithEvents,
  startReading,
} from './ended-transactions.ts';

/**
 * Exports events as Parquet files, each event once. A range of transactions is recorded before its files are written, and counts as
 * exported afterwards. Whatever is killed in between, the range is written again, to files of the same names. What the files promise to
 * readers is in docs/how-to/event-export.md.
 */

/** Events of a file. It is made in memory: events have 0.5 to 5 KB each. */
const ROWS = 20_000;

const COLUMNS: readonly Column[] = [
  { name: 'id', type: 'text' },
  { name: 'project_id', type: 'text' },
  { name: 'type', type: 'text' },
  { name: 'created_at', type: 'timestamptz' },
  { name: 'xact', type: 'int8' },
  { name: 'data', type: 'text' },
];

const LOCK = `
  SELECT run, xact::text AS since, until::text AS until, CASE WHEN ${IS_FOREIGN} THEN ${FIRST_TRANSACTION}::text END AS "startsOver",
    ${isHere('event_exports.project_id')} AS "isHere" FROM event_exports WHERE project_id = $1 FOR UPDATE`;
const PLAN = 'UPDATE event_exports SET run = $2, xact = $3, until = $4 WHERE project_id = $1';
const FINISH =
  'UPDATE event_exports SET xact = until, until = NULL WHERE project_id = $1 AND run = $2 AND xact = $3 AND until = $4';

/** The columns in their order, by the index on `(project_id, xact, id)`. Without its table, `xact` would be the text that is selected. */
const READ = `
  SELECT id, project_id, type, created_at, xact::text, data::text FROM events
  WHERE project_id = $1 AND xact >= $2 AND xact < $3 AND (xact, id) > ($4, $5) ORDER BY events.xact, id LIMIT $6`;

interface Range {
  run: number;
  /** The first transaction, and the one after the last. */
  since: string;
  until: string;
}

interface Progress extends Omit<Range, 'until'> {
  until: string | null;
  /** Where the export begins again, if its numbers are of another server. */
  startsOver: string | null;
  isHere: boolean;
}

/** Exports the events of all projects to EVENT_EXPORT_URL, if that is set. What fails is logged, and exported the next time. */
export async function exportEvents(url = config.EVENT_EXPORT_URL): Promise<void> {
  if (url === undefined) return;
  try {
    const { rows } = await pool.query<{ id: string }>(projectsWithEvents('event_exports'));
    for (const { id } of rows) await exportProject(id, storeAt(url));
  } catch (error) {
    logger.error({ err: error }, 'could not export events to EVENT_EXPORT_URL; will retry in five minutes');
  }
}

/**
 * Exports the events of a project. Processes that do so at once write the same files.
 * @param limit about how many events a range has.
 */
export async function exportProject(projectId: string, store: Store, limit = ROWS): Promise<void> {
  for (let hasMore = true; hasMore;) {
    const planned = await planRange(projectId, limit);
    if (planned === undefined) return;
    const { more, ...range } = planned;
    await writeFiles(projectId, range, { store, limit });
    await pool.query(FINISH, [projectId, range.run, range.since, range.until]);
    hasMore = more;
  }
}

/**
 * The range whose files have to be written next. One that was not finished comes first, as it was; otherwise a project that is being moved
 * to another cell, or was deleted, has none.
 */
function planRange(projectId: string, limit: number): Promise<(Range & { more: boolean }) | undefined> {
  return inTransaction(async (tx) => {
    if (!(await startReading(tx, 'event_exports', projectId))) return undefined;
    const [row] = await sql<Progress>(tx, LOCK, [projectId]);
    const { run, since, until, startsOver, isHere: mayPlan } = row as Progress;
    if (until !== null && startsOver === null) return { run, since, until, more: true };
    if (!mayPlan) return undefined;
    const from = startsOver === null ? { run, since } : { run: run + 1, since: startsOver };
    const next = await endedTransactions(tx, { projectId, since: from.since, limit });
    await sql(tx, PLAN, [projectId, from.run, from.since, next.until]);
    return { ...from, ...next };
  });
}

/** A transaction may have more events than a file. */
async function writeFiles(
  projectId: string,
  { run, since, until }: Range,
  { store, limit }: { store: Store; limit: number },
): Promise<void> {
  for (let number = 1, after = [since, '']; ; number++) {
    const { rows } = await pool.query<string[]>({
      rowMode: 'array',
      text: READ,
      values: [projectId, since, until, ...after, limit],
    });
    const last = rows.at(-1);
    if (last === undefined) return;
    await store(`events/${projectId}/${nameOf([run, since, until, number])}.parquet`, toParquet(COLUMNS, rows));
    after = [last[4] as string, last[0] as string];
  }
}

/** Names sort in the order of the events. */
const nameOf = ([run, since, until, number]: [number, string, string, number]) =>
  [String(run).padStart(4, '0'), sortable(since), sortable(until), String(number).padStart(4, '0')].join('-');

/** Transaction ids from a database that the project was in before are negative. They are written as `-` and the id plus 10^18, which sorts first. */
const sortable = (xact: string) =>
  xact.startsWith('-') ? `-${String(10n ** 18n + BigInt(xact)).padStart(18, '0')}` : xact.padStart(19, '0');

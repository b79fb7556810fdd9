import { pipeline } from 'node:stream/promises';
import { REQUEUE } from '@postroom/ledger/sql';
import type pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { skipTriggers } from './skip-triggers.ts';
import { inlineProjectId, type ProjectTable, sortForDeletion } from './tables.ts';

/** The settings that the text of a row depends on, so that both sides hash the same text. */
const SESSION =
  "SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres'; SET extra_float_digits = 1";

/** The target needs to know only who its users are: they still sign in where they did before. */
const USER_COLUMNS = ['id', 'name', 'email', 'email_verified', 'created_at', 'updated_at'];

/** The two databases, each in a transaction. */
export interface Sides {
  source: pg.ClientBase;
  target: pg.ClientBase;
}

/** The result of the copy that is made while the project is in use. */
export interface AdvanceCopy {
  /** The number of rows. */
  rows: number;
  /** The oldest transaction that may have changed rows since they were read, modulo 2^32. */
  since: string;
  /** The number that was subtracted from transaction ids: see `computedColumns`. */
  shift: string;
  /** The checksums of the copies, by table. */
  checksums: ReadonlyMap<string, Checksum>;
}

/** The number of rows, and the sum of their hashes, which does not depend on their order. */
interface Checksum {
  rows: bigint;
  hash: bigint;
}

/**
 * Copies rows while the project is in use, into the open transaction of the target, where nobody sees them. `source` reads from one
 * snapshot; `copyRest` copies later changes.
 */
export async function copyInAdvance(
  sides: Sides,
  projectId: string,
  tables: readonly ProjectTable[],
): Promise<AdvanceCopy> {
  const { source, target } = sides;
  await Promise.all([source.query(SESSION), target.query(SESSION)]);
  await target.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  await skipTriggers(target);
  const { rows } = await source.query<{ since: string; shift: string }>(
    `SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint % 4294967296)::text AS since,
       (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ${TRANSACTIONS_AHEAD})::text AS shift`,
  );
  const { since, shift } = rows[0] as { since: string; shift: string };
  const copied = tables.filter(({ how }) => how === 'copy');
  for (const table of copied) await copyProject(sides, projectId, table, shift);
  const checksums = new Map<string, Checksum>();
  // After all tables are copied: the rows of some tables find their project by rows of others.
  for (const table of copied) checksums.set(table.name, await checksumOfProject(target, projectId, table));
  return { rows: countRows(checksums), since, shift, checksums };
}

/**
 * Copies the remaining tables and the rows that have changed since the copy in advance, and compares all of them. The fence must be closed,
 * so that nothing changes meanwhile. `copyLateHits` copies the hits that are not classified yet.
 * @returns the number of rows of the project.
 * @throws Error naming a table whose rows differ, or a user whose address belongs to another account in the target.
 */
export async function copyRest(
  sides: Sides,
  projectId: string,
  tables: readonly ProjectTable[],
  advance: AdvanceCopy,
): Promise<number> {
  const checksums = new Map<string, Checksum>();
  for (const table of sortForDeletion(tables)) {
    const known = advance.checksums.get(table.name);
    if (table.how === 'merge') await mergeRows(sides, projectId, table);
    else if (known !== undefined && table.key.length > 0)
      checksums.set(table.name, await copyChanges(sides, projectId, table, { ...advance, known }));
  }
  // After the others: rows without a key find their project by rows of other tables.
  for (const table of tables) {
    const known = advance.checksums.get(table.name);
    if (known !== undefined && table.key.length === 0)
      checksums.set(table.name, await copyAdded(sides, projectId, table, { ...advance, known }));
  }
  await resumeWork(sides.target, projectId, advance.shift);
  return countRows(checksums);
}

const isEqual = (a: Checksum, b: Checksum) => a.rows === b.rows && a.hash === b.hash;

/** @throws Error if a copy differs. */
function assertEqual({ name }: ProjectTable, original: Checksum, copy: Checksum): void {
  if (!isEqual(original, copy))
    throw new Error(`The rows of ${name} differ after the copy: ${original.rows} and ${copy.rows}. Nothing was moved.`);
}

const countRows = (checksums: ReadonlyMap<string, Checksum>) =>
  Number([...checksums.values()].reduce((all, { rows }) => all + rows, 0n));

/**
 * Copies the rows that were added since the copy. A table without a key can't tell which rows have changed, so if any row that was copied is
 * no longer the same, all are copied again.
 */
async function copyAdded(
  sides: Sides,
  projectId: string,
  table: ProjectTable,
  { since, shift, known }: AdvanceCopy & { known: Checksum },
): Promise<Checksum> {
  const { source, target } = sides;
  const original = await checksumOfProject(source, projectId, table);
  if (isEqual(original, known)) return known;
  const where = inlineProjectId(whereOf(table), projectId);
  const added = await checksumOf(source, `FROM ${table.name} t WHERE (${where}) AND ${isChangedSince(since)}`, table);
  const isKept = isEqual(minus(original, added), known);
  if (!isKept) await target.query(`DELETE FROM ${table.name} t WHERE ${where}`);
  await copyProject(sides, projectId, table, shift, isKept ? isChangedSince(since) : 'true');
  const copy = await checksumOfProject(target, projectId, table);
  assertEqual(table, original, copy);
  return copy;
}

/** SQL of whether a row may have changed since a transaction. A row that was frozen long ago may look new, and is copied again. */
const isChangedSince = (since: string) => `(age(t.xmin) <= age('${since}'::xid))`;

/**
 * Replaces the rows that have changed since the copy, and deletes those that the source no longer has. The checksum of the copy is updated
 * rather than read again, since no one else can have changed it.
 */
async function copyChanges(
  sides: Sides,
  projectId: string,
  table: ProjectTable,
  { since, shift, known }: AdvanceCopy & { known: Checksum },
): Promise<Checksum> {
  const { source, target } = sides;
  const { name, where } = table;
  const original = await checksumOfProject(source, projectId, table);
  if (isEqual(original, known)) return known;
  const changed = `changed_${name}`;
  const computed = computedColumns(table, shift);
  const names = [...table.columns, ...Object.keys(computed)].map(quote).join(', ');
  await target.query(`CREATE TEMP TABLE ${changed} ON COMMIT DROP AS SELECT ${names} FROM ${name} WITH NO DATA`);
  await copyRows(sides, projectId, { ...table, where: `(${where}) AND ${isChangedSince(since)}` }, computed, changed);
  await target.query(`ANALYZE ${changed}`);
  const added = await checksumOf(target, `FROM ${changed} t`, table);
  const left = minus(known, await deleteRows(target, `${name} t USING ${changed} c WHERE ${sameKey(table)}`, table));
  // Before the new rows are inserted: their unique values may be those of rows to delete.
  const hasVanished = original.rows !== left.rows + added.rows;
  const kept = hasVanished ? minus(left, await deleteVanished(sides, projectId, table)) : left;
  await target.query(`INSERT INTO ${name} (${names}) SELECT ${names} FROM ${changed}`);
  const copy = { rows: kept.rows + added.rows, hash: kept.hash + added.hash };
  assertEqual(table, original, copy);
  return copy;
}

/** Deletes the rows of the target whose keys the source no longer has. @returns their checksum. */
async function deleteVanished(sides: Sides, projectId: string, table: ProjectTable): Promise<Checksum> {
  const { target } = sides;
  const { name, where, key } = table;
  const left = `left_${name}`;
  const keys = key.map(quote).join(', ');
  await target.query(`CREATE TEMP TABLE ${left} ON COMMIT DROP AS SELECT ${keys} FROM ${name} WITH NO DATA`);
  await copyRows(sides, projectId, { ...table, columns: key }, {}, left);
  await target.query(`ANALYZE ${left}`);
  return deleteRows(
    target,
    `${name} t WHERE ${inlineProjectId(where, projectId)} AND NOT EXISTS (SELECT FROM ${left} c WHERE ${sameKey(table)})`,
    table,
  );
}

const sameKey = ({ key }: ProjectTable) => key.map((column) => `t.${quote(column)} = c.${quote(column)}`).join(' AND ');
const minus = (all: Checksum, some: Checksum): Checksum => ({ rows: all.rows - some.rows, hash: all.hash - some.hash });

/** Copies the hits that arrived during the move. They are classified in the target. */
export async function copyLateHits(sides: Sides, projectId: string, tables: readonly ProjectTable[]): Promise<void> {
  const hits = tables.find(({ name }) => name === 'tracking_hits') as ProjectTable;
  await copyRows(sides, projectId, { ...hits, where: `${hits.where} AND t.verdict IS NULL` }, {});
}

/**
 * Creates the monthly partitions of the project's custom events in the target. In a separate transaction, because it takes the locks that
 * retention takes.
 */
export async function createEventPartitions({ source, target }: Sides, projectId: string): Promise<void> {
  const { rows } = await source.query<{ first: string | null; last: string | null }>(
    `SELECT min(at)::date::text AS first, max(at)::date::text AS last FROM (
       SELECT occurred_at AS at FROM custom_events WHERE project_id = $1
       UNION ALL SELECT day FROM custom_event_contact_days WHERE project_id = $1
       UNION ALL SELECT day FROM custom_event_days WHERE project_id = $1) AS days`,
    [projectId],
  );
  const { first, last } = rows[0] ?? {};
  if (first != null && last != null)
    await target.query('SELECT create_custom_event_partitions($1::date, $2::date)', [first, last]);
}

const whereOf = ({ name, where }: ProjectTable) =>
  name === 'tracking_hits' ? `${where} AND t.verdict IS NOT NULL` : where;

/**
 * Transaction ids order the rows of streams, and cursors of readers contain them. The target subtracts a number that is larger than all of
 * them: the ids become negative, so they keep their order and precede those of the target's own transactions.
 */
const computedColumns = ({ name }: ProjectTable, shift: string): Computed =>
  name === 'events' || name === 'attempts' ? { xact: `t.xact - ${shift}` } : {};

/** More transactions than the source can begin before the fence is closed. */
const TRANSACTIONS_AHEAD = 10 ** 12;

/** SQL of the values of columns that are not copied as they are. */
type Computed = Record<string, string>;

/** @param which SQL that selects which of the project's rows `t` to copy. */
const copyProject = (sides: Sides, projectId: string, table: ProjectTable, shift: string, which = 'true') =>
  copyRows(sides, projectId, { ...table, where: `(${whereOf(table)}) AND ${which}` }, computedColumns(table, shift));

async function copyRows(
  { source, target }: Sides,
  projectId: string,
  { name, where, columns }: ProjectTable,
  computed: Computed,
  into = name,
): Promise<void> {
  const names = [...columns, ...Object.keys(computed)].map(quote).join(', ');
  const values = [...columns.map((column) => `t.${quote(column)}`), ...Object.values(computed)].join(', ');
  const rows = `SELECT ${values} FROM ${name} t WHERE ${inlineProjectId(where, projectId)}`;
  await pipeline(
    source.query(copyStreams.to(`COPY (${rows}) TO STDOUT`)),
    target.query(copyStreams.from(`COPY ${into} (${names}) FROM STDIN`)),
  );
}

/** Copies rows that other projects may share, unless the target has them. */
async function mergeRows(sides: Sides, projectId: string, table: ProjectTable): Promise<void> {
  const { target } = sides;
  const columns = table.name === 'users' ? USER_COLUMNS : table.columns;
  const arriving = `arriving_${table.name}`;
  await target.query(`CREATE TEMP TABLE ${arriving} (LIKE ${table.name} INCLUDING DEFAULTS) ON COMMIT DROP`);
  await copyRows(sides, projectId, { ...table, columns }, {}, arriving);
  if (table.name === 'users') {
    const { rows } = await target.query<{ email: string }>(
      'SELECT a.email FROM arriving_users a JOIN users u ON u.email = a.email AND u.id <> a.id LIMIT 1',
    );
    if (rows[0] !== undefined)
      throw new Error(
        `${rows[0].email} has another account in the target: delete it there, or remove the person from the project.`,
      );
  }
  const names = columns.map(quote).join(', ');
  await target.query(
    `INSERT INTO ${table.name} (${names}) SELECT ${names} FROM ${arriving} ON CONFLICT (id) DO NOTHING`,
  );
}

const hashOf = ({ columns }: ProjectTable) =>
  `hashtextextended(ROW(${columns.map((name) => `t.${quote(name)}`).join(', ')})::text, 0)::numeric`;

async function checksumOf(client: pg.ClientBase, from: string, table: ProjectTable): Promise<Checksum> {
  return toChecksum(
    await client.query<TextChecksum>(
      `SELECT count(*)::text AS rows, coalesce(sum(${hashOf(table)}), 0)::text AS hash ${from}`,
    ),
  );
}

const checksumOfProject = (client: pg.ClientBase, projectId: string, table: ProjectTable) =>
  checksumOf(client, `FROM ${table.name} t WHERE ${inlineProjectId(whereOf(table), projectId)}`, table);

/** Deletes rows. @param what the statement after `DELETE FROM`, with the table as `t`. @returns the checksum of the deleted rows. */
async function deleteRows(client: pg.ClientBase, what: string, table: ProjectTable): Promise<Checksum> {
  return toChecksum(
    await client.query<TextChecksum>(
      `WITH gone AS (DELETE FROM ${what} RETURNING ${hashOf(table)} AS hash)
       SELECT count(*)::text AS rows, coalesce(sum(hash), 0)::text AS hash FROM gone`,
    ),
  );
}

type TextChecksum = Record<'rows' | 'hash', string>;
function toChecksum({ rows: [row] }: { rows: TextChecksum[] }): Checksum {
  return { rows: BigInt(row?.rows ?? 0), hash: BigInt(row?.hash ?? 0) };
}

/**
 * Releases open work from the workflows of the source, so that the dispatchers and the sweep of the target start it. Statistics and an event
 * export continue where they were; the files of an export get new names.
 */
async function resumeWork(target: pg.ClientBase, projectId: string, shift: string): Promise<void> {
  for (const statement of [RELEASE_DELIVERIES, RELEASE_MESSAGES]) await target.query(statement, [projectId]);
  for (const statement of [CONTINUE_COUNTING, CONTINUE_EXPORTING]) await target.query(statement, [projectId, shift]);
}

/** Releases deliveries and makes them due: a delivery that was released while its project was away has no time for its next attempt. */
export const RELEASE_DELIVERIES = `
  UPDATE deliveries d SET dispatched_at = NULL, workflow_id = NULL, returns = d.returns + 1,
    next_attempt_at = CASE WHEN d.state = 'retried' AND w.enabled THEN coalesce(d.next_attempt_at, now()) ELSE d.next_attempt_at END
  FROM webhook_endpoints w WHERE w.id = d.endpoint_id AND d.project_id = $1 AND d.closed_at IS NULL`;
const RELEASE_MESSAGES = `${REQUEUE} WHERE m.project_id = $1 AND m.campaign_id IS NULL AND m.workflow_id IS NOT NULL AND m.state = 'planned'`;
const CONTINUE_COUNTING = 'UPDATE statistics_progress SET xact = xact - $2::bigint WHERE project_id = $1';
const CONTINUE_EXPORTING =
  'UPDATE event_exports SET run = run + 1, xact = xact - $2::bigint, until = NULL WHERE project_id = $1';

const quote = (name: string) => `"${name}"`;

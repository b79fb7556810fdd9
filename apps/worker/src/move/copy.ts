import { pipeline } from 'node:stream/promises';
import { REQUEUE } from '@postroom/ledger/sql';
import type pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { inlineProjectId, type ProjectTable, sortForDeletion } from './tables.ts';

/** What a row's text depends on must be the same on both sides. */
const SESSION =
  "SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres'; SET extra_float_digits = 1";

/** Of a person, the target only needs to know who they are: they sign in where they did before. */
const USER_COLUMNS = ['id', 'name', 'email', 'email_verified', 'created_at', 'updated_at'];

/** Two databases in a transaction each. */
export interface Sides {
  source: pg.ClientBase;
  target: pg.ClientBase;
}

/** What was copied while the project worked. */
export interface Advance {
  /** The number of rows. */
  rows: number;
  /** The oldest transaction that may have changed rows since they were read, modulo 2^32. */
  since: string;
  /** By how much the numbers of transactions were reduced. */
  shift: string;
  /** By the name of its table. */
  sums: ReadonlyMap<string, Sum>;
}

/** The number of some rows, and the sum of their hashes, in any order. */
interface Sum {
  rows: bigint;
  hash: bigint;
}

/**
 * Copies rows into the open transaction of the target, in which nobody sees them, while the project works. `source` is in a transaction of
 * one snapshot; what changes after it is left to `copyRest`.
 */
export async function copyInAdvance(
  sides: Sides,
  projectId: string,
  tables: readonly ProjectTable[],
): Promise<Advance> {
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
  const sums = new Map<string, Sum>();
  // Once all are there: whose some rows are is known by those of other tables.
  for (const table of copied) sums.set(table.name, await sumOfProject(target, projectId, table));
  return { rows: countRows(sums), since, shift, sums };
}

/**
 * Copies the other rows, repeats what has changed, and compares all. Nothing may change them meanwhile: the fence is closed. Hits that are
 * not classified yet stay for `copyLateHits`. @returns the number of all rows.
 * @throws Error naming a table whose rows differ, or a person whose address another account of the target has.
 */
export async function copyRest(
  sides: Sides,
  projectId: string,
  tables: readonly ProjectTable[],
  advance: Advance,
): Promise<number> {
  const sums = new Map<string, Sum>();
  for (const table of sortForDeletion(tables)) {
    const known = advance.sums.get(table.name);
    if (table.how === 'merge') await merge(sides, projectId, table);
    else if (known !== undefined && table.key.length > 0)
      sums.set(table.name, await copyChanges(sides, projectId, table, { ...advance, known }));
  }
  // Once the others are there: whose these rows are is known by those.
  for (const table of tables) {
    const known = advance.sums.get(table.name);
    if (known !== undefined && table.key.length === 0)
      sums.set(table.name, await copyAdded(sides, projectId, table, { ...advance, known }));
  }
  await adopt(sides.target, projectId, advance.shift);
  return countRows(sums);
}

const isEqual = (a: Sum, b: Sum) => a.rows === b.rows && a.hash === b.hash;

/** @throws Error if a copy differs. */
function assertEqual({ name }: ProjectTable, original: Sum, copy: Sum): void {
  if (!isEqual(original, copy))
    throw new Error(`The rows of ${name} differ after the copy: ${original.rows} and ${copy.rows}. Nothing was moved.`);
}

const countRows = (sums: ReadonlyMap<string, Sum>) =>
  Number([...sums.values()].reduce((all, { rows }) => all + rows, 0n));

/**
 * Copies the rows that transactions since the copy have added. Without a key it can't be said which rows have changed: if those of before are
 * others now, all are copied again.
 */
async function copyAdded(
  sides: Sides,
  projectId: string,
  table: ProjectTable,
  { since, shift, known }: Advance & { known: Sum },
): Promise<Sum> {
  const { source, target } = sides;
  const original = await sumOfProject(source, projectId, table);
  if (isEqual(original, known)) return known;
  const where = inlineProjectId(whereOf(table), projectId);
  const added = await sumOf(source, `FROM ${table.name} t WHERE (${where}) AND ${isChangedSince(since)}`, table);
  const isKept = isEqual(minus(original, added), known);
  if (!isKept) await target.query(`DELETE FROM ${table.name} t WHERE ${where}`);
  await copyProject(sides, projectId, table, shift, isKept ? isChangedSince(since) : 'true');
  const copy = await sumOfProject(target, projectId, table);
  assertEqual(table, original, copy);
  return copy;
}

/** SQL of whether a row may have changed since. One that was frozen long ago may seem to be new, which costs its copy. */
const isChangedSince = (since: string) => `(age(t.xmin) <= age('${since}'::xid))`;

/**
 * Replaces the rows that transactions since the copy have changed, and deletes those that are no longer there. The sum of the copy is computed
 * from what it was: no one else can have changed it.
 */
async function copyChanges(
  sides: Sides,
  projectId: string,
  table: ProjectTable,
  { since, shift, known }: Advance & { known: Sum },
): Promise<Sum> {
  const { source, target } = sides;
  const { name, where } = table;
  const original = await sumOfProject(source, projectId, table);
  if (isEqual(original, known)) return known;
  const changed = `changed_${name}`;
  const computed = computedColumns(table, shift);
  const names = [...table.columns, ...Object.keys(computed)].map(quote).join(', ');
  await target.query(`CREATE TEMP TABLE ${changed} ON COMMIT DROP AS SELECT ${names} FROM ${name} WITH NO DATA`);
  await copyRows(sides, projectId, { ...table, where: `(${where}) AND ${isChangedSince(since)}` }, computed, changed);
  await target.query(`ANALYZE ${changed}`);
  const added = await sumOf(target, `FROM ${changed} t`, table);
  const left = minus(known, await sumOfDeleted(target, `${name} t USING ${changed} c WHERE ${sameKey(table)}`, table));
  // Before the new rows, which may have values that must be unique.
  const hasVanished = original.rows !== left.rows + added.rows;
  const kept = hasVanished ? minus(left, await deleteVanished(sides, projectId, table)) : left;
  await target.query(`INSERT INTO ${name} (${names}) SELECT ${names} FROM ${changed}`);
  const copy = { rows: kept.rows + added.rows, hash: kept.hash + added.hash };
  assertEqual(table, original, copy);
  return copy;
}

/** Deletes the rows of the target whose keys the source has no more. */
async function deleteVanished(sides: Sides, projectId: string, table: ProjectTable): Promise<Sum> {
  const { target } = sides;
  const { name, where, key } = table;
  const left = `left_${name}`;
  const keys = key.map(quote).join(', ');
  await target.query(`CREATE TEMP TABLE ${left} ON COMMIT DROP AS SELECT ${keys} FROM ${name} WITH NO DATA`);
  await copyRows(sides, projectId, { ...table, columns: key }, {}, left);
  await target.query(`ANALYZE ${left}`);
  return sumOfDeleted(
    target,
    `${name} t WHERE ${inlineProjectId(where, projectId)} AND NOT EXISTS (SELECT FROM ${left} c WHERE ${sameKey(table)})`,
    table,
  );
}

const sameKey = ({ key }: ProjectTable) => key.map((column) => `t.${quote(column)} = c.${quote(column)}`).join(' AND ');
const minus = (all: Sum, some: Sum): Sum => ({ rows: all.rows - some.rows, hash: all.hash - some.hash });

/** Copies the hits that came during the move. They are classified in the target. */
export async function copyLateHits(sides: Sides, projectId: string, tables: readonly ProjectTable[]): Promise<void> {
  const hits = tables.find(({ name }) => name === 'tracking_hits') as ProjectTable;
  await copyRows(sides, projectId, { ...hits, where: `${hits.where} AND t.verdict IS NULL` }, {});
}

/**
 * Within its transaction no trigger runs, and no foreign key is checked: every row exists on the other side already, with everything
 * that triggers made of it. The owner of the database may do so after GRANT SET ON PARAMETER session_replication_role.
 */
export async function skipTriggers(client: pg.ClientBase): Promise<void> {
  await client.query('SET LOCAL session_replication_role = replica');
}

/**
 * Custom events have partitions by month, which the target may not have. On its own, because it locks what retention locks.
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
 * The numbers of transactions order the rows of streams, and readers have them in their cursors. In the target they are reduced by one that
 * is above all of them: below 0 they keep their order, and come before those that begin there.
 */
const computedColumns = ({ name }: ProjectTable, shift: string): Computed =>
  name === 'events' || name === 'attempts' ? { xact: `t.xact - ${shift}` } : {};

/** More than the source begins until the fence is closed. */
const TRANSACTIONS_AHEAD = 10 ** 12;

/** SQL by column. */
type Computed = Record<string, string>;

/** @param which SQL of the rows `t` to copy, of those of the project. */
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

async function merge(sides: Sides, projectId: string, table: ProjectTable): Promise<void> {
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

async function sumOf(client: pg.ClientBase, from: string, table: ProjectTable): Promise<Sum> {
  return toSum(
    await client.query<TextSum>(
      `SELECT count(*)::text AS rows, coalesce(sum(${hashOf(table)}), 0)::text AS hash ${from}`,
    ),
  );
}

const sumOfProject = (client: pg.ClientBase, projectId: string, table: ProjectTable) =>
  sumOf(client, `FROM ${table.name} t WHERE ${inlineProjectId(whereOf(table), projectId)}`, table);

/** Deletes rows. @param what all after `DELETE FROM`, with the table as `t`. */
async function sumOfDeleted(client: pg.ClientBase, what: string, table: ProjectTable): Promise<Sum> {
  return toSum(
    await client.query<TextSum>(
      `WITH gone AS (DELETE FROM ${what} RETURNING ${hashOf(table)} AS hash)
       SELECT count(*)::text AS rows, coalesce(sum(hash), 0)::text AS hash FROM gone`,
    ),
  );
}

type TextSum = Record<'rows' | 'hash', string>;
function toSum({ rows: [row] }: { rows: TextSum[] }): Sum {
  return { rows: BigInt(row?.rows ?? 0), hash: BigInt(row?.hash ?? 0) };
}

/**
 * Open work belongs to no workflow here, so the dispatchers and the sweep start it. Statistics and an event export continue where they were; the
 * files of an export get new names.
 */
async function adopt(target: pg.ClientBase, projectId: string, shift: string): Promise<void> {
  for (const statement of [RELEASE_DELIVERIES, RELEASE_MESSAGES]) await target.query(statement, [projectId]);
  for (const statement of [CONTINUE_COUNTING, CONTINUE_EXPORTING]) await target.query(statement, [projectId, shift]);
}

/** Without a workflow, and due: one that was released while its project was away has lost its time. */
export const RELEASE_DELIVERIES = `
  UPDATE deliveries d SET dispatched_at = NULL, workflow_id = NULL, returns = d.returns + 1,
    next_attempt_at = CASE WHEN d.state = 'retried' AND w.enabled THEN coalesce(d.next_attempt_at, now()) ELSE d.next_attempt_at END
  FROM webhook_endpoints w WHERE w.id = d.endpoint_id AND d.project_id = $1 AND d.closed_at IS NULL`;
const RELEASE_MESSAGES = `${REQUEUE} WHERE m.project_id = $1 AND m.campaign_id IS NULL AND m.workflow_id IS NOT NULL AND m.state = 'planned'`;
const CONTINUE_COUNTING = 'UPDATE statistics_progress SET xact = xact - $2::bigint WHERE project_id = $1';
const CONTINUE_EXPORTING =
  'UPDATE event_exports SET run = run + 1, xact = xact - $2::bigint, until = NULL WHERE project_id = $1';

const quote = (name: string) => `"${name}"`;

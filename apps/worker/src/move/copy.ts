import { pipeline } from 'node:stream/promises';
import { REQUEUE } from '@postroom/ledger/sql';
import type pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { inline, type ProjectTable } from './tables.ts';

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

/** What was copied. */
export interface Copied {
  /** The number of rows. */
  rows: number;
  /** By how much the numbers of transactions were reduced. */
  shift: string;
}

/**
 * Copies the project's rows into the open transaction of the target, and compares them. Nothing may change them meanwhile: the fence
 * is closed. Hits that are not classified yet stay for `copyLateHits`.
 * @throws Error naming a table whose rows differ, or a person whose address another account of the target has.
 */
export async function copyProject(sides: Sides, projectId: string, tables: readonly ProjectTable[]): Promise<Copied> {
  const { source, target } = sides;
  await Promise.all([source.query(SESSION), target.query(SESSION)]);
  await skipTriggers(target);
  const shift = await readNextTransaction(source);
  const computed: Record<string, Computed> = {
    events: { xact: `t.xact - ${shift}` },
    attempts: { xact: `t.xact - ${shift}` },
  };
  let count = 0;
  for (const table of tables.filter(({ how }) => how !== 'drop')) {
    if (table.how === 'merge') await merge(sides, projectId, table);
    else await copyRows(sides, projectId, { ...table, where: whereOf(table) }, computed[table.name]);
  }
  for (const table of tables.filter(({ how }) => how === 'copy')) {
    const [before, after] = await Promise.all([checksum(source, projectId, table), checksum(target, projectId, table)]);
    if (before.sum !== after.sum || before.rows !== after.rows)
      throw new Error(
        `The rows of ${table.name} differ after the copy: ${before.rows} and ${after.rows}. Nothing was moved.`,
      );
    count += Number(after.rows);
  }
  await adopt(target, projectId, shift);
  return { rows: count, shift };
}

/** Copies the hits that came during the move. They are classified in the target. */
export async function copyLateHits(sides: Sides, projectId: string, tables: readonly ProjectTable[]): Promise<void> {
  const hits = tables.find(({ name }) => name === 'tracking_hits') as ProjectTable;
  await copyRows(sides, projectId, { ...hits, where: `${hits.where} AND t.verdict IS NULL` });
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
 * The numbers of transactions order the rows of streams, and readers have them in their cursors. In the target they are reduced by this one,
 * which is above all of them: below 0 they keep their order, and come before those of its own transactions.
 */
async function readNextTransaction(source: pg.ClientBase): Promise<string> {
  const { rows } = await source.query<{ next: string }>('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next');
  return rows[0]?.next ?? '';
}

/** SQL by column. */
type Computed = Record<string, string>;

async function copyRows(
  { source, target }: Sides,
  projectId: string,
  { name, where, columns }: ProjectTable,
  computed: Computed = {},
  into = name,
): Promise<void> {
  const names = [...columns, ...Object.keys(computed)].map(quote).join(', ');
  const values = [...columns.map((column) => `t.${quote(column)}`), ...Object.values(computed)].join(', ');
  const rows = `SELECT ${values} FROM ${name} t WHERE ${inline(where, projectId)}`;
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

/** Independent of the order of the rows. */
async function checksum(
  client: pg.ClientBase,
  projectId: string,
  table: ProjectTable,
): Promise<{ rows: string; sum: string }> {
  const { rows } = await client.query<{ rows: string; sum: string }>(
    `SELECT count(*)::text AS rows, coalesce(sum(hashtextextended(ROW(${table.columns.map((name) => `t.${quote(name)}`).join(', ')})::text, 0)::numeric), 0)::text AS sum
     FROM ${table.name} t WHERE ${inline(whereOf(table), projectId)}`,
  );
  return rows[0] as { rows: string; sum: string };
}

/**
 * Open work belongs to no workflow here, so the dispatchers and the sweep start it. Statistics and an event export go on where they were; the
 * files of an export get new names.
 */
async function adopt(target: pg.ClientBase, projectId: string, shift: string): Promise<void> {
  for (const statement of [RELEASE_DELIVERIES, RELEASE_MESSAGES]) await target.query(statement, [projectId]);
  for (const statement of [GO_ON_COUNTING, GO_ON_EXPORTING]) await target.query(statement, [projectId, shift]);
}

/** Without a workflow, and due: one that was released while its project was away has lost its time. */
export const RELEASE_DELIVERIES = `
  UPDATE deliveries d SET dispatched_at = NULL, workflow_id = NULL, returns = d.returns + 1,
    next_attempt_at = CASE WHEN d.state = 'retried' AND w.enabled THEN coalesce(d.next_attempt_at, now()) ELSE d.next_attempt_at END
  FROM webhook_endpoints w WHERE w.id = d.endpoint_id AND d.project_id = $1 AND d.closed_at IS NULL`;
const RELEASE_MESSAGES = `${REQUEUE} WHERE m.project_id = $1 AND m.campaign_id IS NULL AND m.workflow_id IS NOT NULL AND m.state = 'planned'`;
const GO_ON_COUNTING = 'UPDATE statistics_progress SET xact = xact - $2::bigint WHERE project_id = $1';
const GO_ON_EXPORTING =
  'UPDATE event_exports SET run = run + 1, xact = xact - $2::bigint, until = NULL WHERE project_id = $1';

const quote = (name: string) => `"${name}"`;

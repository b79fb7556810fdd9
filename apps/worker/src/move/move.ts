import { randomUUID } from 'node:crypto';
import { countOf } from '@postroom/errors';
import type { HeldRequest } from '@postroom/projects';
import type pg from 'pg';
import {
  copyInAdvance,
  copyLateHits,
  copyRest,
  createEventPartitions,
  RELEASE_DELIVERIES,
  type Sides,
} from './copy.ts';
import { deleteProjectRows } from './delete-rows.ts';
import { drain } from './drain.ts';
import { fence, removeFence, waitForOlderTransactions } from './fence.ts';
import { type ProjectTable, readProjectTables } from './tables.ts';
import { takeProject } from './take-project.ts';
import { transaction } from './transaction.ts';

/** A move of a project from one cell to another. */
export interface Move extends Sides {
  projectId: string;
  /** The name of the cell that has it. */
  from: string;
  /** The name of the cell that gets it. */
  to: string;
  /** @returns why the cells may not exchange projects, such as different secret keys; undefined if they may. */
  findDisagreement: () => Promise<string | undefined>;
  /** How long to wait for work in flight, in milliseconds. */
  drainMs: number;
  /** Called after each step; the next one waits for it. */
  report: (step: string) => void | Promise<void>;
  /** Posts a request that came during the move to a cell. @throws Error if the cell must get it again. */
  post: (cell: string, request: HeldRequest) => Promise<void>;
  /** Ends the project's workflows in the cell that it has left. */
  endWorkflows: () => Promise<void>;
}

/** A row of the routing table. */
interface Place {
  cell: string;
  state: 'moving' | 'moved' | 'here' | 'deleted';
  moveId: string;
  lateHitsMoved: boolean;
}

/** The move can't be done, or not now; nothing was changed. */
export class MoveRefused extends Error {}

/**
 * Moves a project. Copies most of its rows while it is in use, drains it, closes the fence, copies the changes, and deletes the rows in the
 * source. All rows are copied in one transaction of the target, whose commit hands the project over: before it the target has nothing, and
 * once the fence is closed nothing can change in the source. Can be killed at any moment, and continues when it is called again.
 * @throws MoveRefused, or an error of a database, after which it can be called again or aborted.
 */
export async function moveProject(move: Move): Promise<void> {
  const { source, target, projectId, to, report } = move;
  const tables = await prepare(move);
  const [here, there] = [await placeOf(source, projectId), await placeOf(target, projectId)];
  if (here?.state !== 'moved') {
    const isThere = there?.state === 'here' && there.moveId === here?.moveId;
    const moveId = isThere ? there.moveId : await transferRows(move, tables, here);
    await source.query(
      `UPDATE project_cells SET state = 'moved', changed_at = now() WHERE project_id = $1 AND move_id = $2`,
      [projectId, moveId],
    );
    // Streams check whether they may continue: they end, and their readers reconnect to the other cell.
    await source.query(`SELECT pg_notify('postroom', 'access *')`);
    await report(`Requests go to ${to}.`);
  } else if (here.cell !== to) throw new MoveRefused(`The project was moved to ${here.cell}.`);
  await finish(move, tables);
}

/** Opens the fence of a move that has not been committed. @throws MoveRefused once the target has the project. */
export async function abortMove(move: Omit<Move, 'endWorkflows' | 'drainMs' | 'findDisagreement'>): Promise<void> {
  const { source, target, projectId, from, to } = move;
  const tables = await prepare(move);
  const [here, there] = [await placeOf(source, projectId), await placeOf(target, projectId)];
  // It may have been killed after it had aborted the move.
  if (here?.state !== 'moving' && here?.state !== 'moved' && (await postHeld(move, from)) > 0) return;
  if (here?.state !== 'moving') throw new MoveRefused('No move of the project is under way.');
  if (here.cell !== to) throw new MoveRefused(`The project is being moved to ${here.cell}, not to ${to}.`);
  if (there?.state === 'here' && there.moveId === here.moveId)
    throw new MoveRefused(`${to} has the project already. Run the command without --abort to finish the move.`);
  await removeFence(source, projectId, tables);
  await source.query(`${RELEASE_DELIVERIES} AND d.dispatched_at IS NULL`, [projectId]);
  // A project that came from another cell keeps its row, which has the shifts of its transaction ids.
  await source.query(
    `UPDATE project_cells SET state = 'here', cell = $2, changed_at = now() WHERE project_id = $1 AND transaction_shifts <> '{}'`,
    [projectId, from],
  );
  await source.query(`DELETE FROM project_cells WHERE project_id = $1 AND state = 'moving'`, [projectId]);
  await waitForOlderTransactions(source);
  await postHeld(move, from);
}

/**
 * Posts the requests that came during the move to the cell that has the project, in the order in which they came. One that was posted by a
 * mover that was killed is posted again, which changes nothing. @returns their number.
 */
async function postHeld({ source, projectId, post }: Pick<Move, 'source' | 'projectId' | 'post'>, cell: string) {
  for (let posted = 0; ; posted++) {
    const { rows } = await source.query<HeldRequest>(
      'SELECT project_id AS "projectId", key, path, body FROM held_requests WHERE project_id = $1 ORDER BY held_at, key LIMIT 1',
      [projectId],
    );
    const [request] = rows;
    if (request === undefined) return posted;
    await post(cell, request);
    await source.query('DELETE FROM held_requests WHERE project_id = $1 AND key = $2', [projectId, request.key]);
  }
}

/**
 * Takes the lock of the project's mover in both databases, and checks that the cells match. The lock belongs to the session with the target,
 * so a mover that has lost it can't commit there either. Gateways of the source recognize their database by the lock there.
 */
async function prepare({ source, target, projectId }: Sides & { projectId: string }): Promise<ProjectTable[]> {
  for (const client of [target, source]) {
    const problem = await takeProject(client, projectId);
    if (problem !== undefined) throw new MoveRefused(problem);
  }
  const [ours, theirs] = await Promise.all([source, target].map(readMigrations));
  if (ours !== theirs)
    throw new MoveRefused(
      'The cells have different migrations: upgrade both to the same release first, and wait until "postroom migrate" has ended in both.',
    );
  return readProjectTables(source);
}

/** The names of all migrations that have ended, of the schema and of data. */
async function readMigrations(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ names: string }>(
    `SELECT string_agg(name, ' ' ORDER BY name) AS names FROM (
       SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL
       UNION ALL SELECT name FROM data_migrations WHERE finished_at IS NOT NULL) AS migrations`,
  );
  return rows[0]?.names ?? '';
}

async function placeOf(client: pg.ClientBase, projectId: string): Promise<Place | undefined> {
  const { rows } = await client.query<Place>(
    `SELECT cell, state, move_id AS "moveId", late_hits_moved AS "lateHitsMoved" FROM project_cells WHERE project_id = $1`,
    [projectId],
  );
  return rows[0];
}

/** @throws MoveRefused if the project can't be moved there. */
async function assertMovable(move: Move, here: Place | undefined): Promise<void> {
  const { source, target, projectId, to } = move;
  const problem = await move.findDisagreement();
  if (problem !== undefined) throw new MoveRefused(`${problem} Nothing was moved.`);
  if (here?.state === 'deleted') throw new MoveRefused('The project is being deleted.');
  if (here?.state === 'moving' && here.cell !== to)
    throw new MoveRefused(`The project is being moved to ${here.cell}: finish that move, or abort it.`);
  for (const [client, isThere] of [
    [source, true],
    [target, false],
  ] as const) {
    const { rowCount } = await client.query('SELECT FROM projects WHERE id = $1', [projectId]);
    if ((rowCount === 1) !== isThere)
      throw new MoveRefused(isThere ? 'There is no such project here.' : `${to} has a project with this id already.`);
  }
}

/** Begins to drain the project, unless a move is under way already. @returns the id of the move. */
async function begin({ source, projectId, to, report }: Move, here: Place | undefined): Promise<string> {
  if (here?.state === 'moving') return here.moveId;
  const moveId = randomUUID();
  await source.query(
    `INSERT INTO project_cells (project_id, cell, state, move_id) VALUES ($1, $2, 'moving', $3)
     ON CONFLICT (project_id) DO UPDATE SET cell = excluded.cell, state = excluded.state, move_id = excluded.move_id, changed_at = now()`,
    [projectId, to, moveId],
  );
  await report('Draining: requests are answered 503, and nothing new is sent.');
  return moveId;
}

/** Waits until nothing is in flight. */
async function waitForWork({ source, projectId, drainMs, report }: Move): Promise<void> {
  const left = await drain(source, projectId, drainMs);
  if (left !== undefined)
    throw new MoveRefused(
      `Still in flight: ${left}. Run the command again, with the workers running, or abort the move.`,
    );
  await report('Nothing is in flight.');
}

/** Copies the rows and commits them in the target, which then has the project. @returns the id of the move. */
async function transferRows(move: Move, tables: readonly ProjectTable[], here: Place | undefined): Promise<string> {
  const { source, target, projectId, to, report } = move;
  await assertMovable(move, here);
  await createEventPartitions(move, projectId);
  const moveId = await transaction(target, async () => {
    const advance = await transaction(source, () => copyInAdvance(move, projectId, tables), SNAPSHOT);
    await report(`In advance: copied ${countOf(advance.rows, 'row')}.`);
    const id = await begin(move, here);
    await waitForWork(move);
    await fence(source, projectId, tables);
    await report('The fence is closed.');
    const rows = await transaction(source, () => copyRest(move, projectId, tables, advance), SNAPSHOT);
    const { rows: places } = await source.query<{ shifts: string }>(
      'SELECT transaction_shifts::text AS shifts FROM project_cells WHERE project_id = $1',
      [projectId],
    );
    await target.query(
      `INSERT INTO project_cells (project_id, cell, state, move_id, transaction_shifts)
       VALUES ($1, $2, 'here', $3, $4::bigint[] || $5::bigint)
       ON CONFLICT (project_id) DO UPDATE SET cell = excluded.cell, state = excluded.state, move_id = excluded.move_id,
         transaction_shifts = excluded.transaction_shifts, late_hits_moved = false, changed_at = now()`,
      [projectId, to, id, places[0]?.shifts, advance.shift],
    );
    await report(`Copied and compared ${countOf(rows, 'row')}.`);
    return id;
  });
  await report(`${to} has the project.`);
  return moveId;
}

/** Every statement of the transaction sees the rows as the first one did. */
const SNAPSHOT = 'ISOLATION LEVEL REPEATABLE READ';

/** Moves the last hits, deletes the project's rows here and opens the fence. Each step can be repeated. */
async function finish(move: Move, tables: readonly ProjectTable[]): Promise<void> {
  const { source, target, projectId, to, report } = move;
  await waitForOlderTransactions(source);
  await transaction(target, async () => {
    if ((await placeOf(target, projectId))?.lateHitsMoved === true) return;
    await copyLateHits(move, projectId, tables);
    await target.query('UPDATE project_cells SET late_hits_moved = true WHERE project_id = $1', [projectId]);
  });
  await report('Opens and clicks of the last minutes are moved.');
  const posted = await postHeld(move, to);
  if (posted > 0) await report(`Posted ${countOf(posted, 'request')} that came meanwhile.`);
  await deleteProjectRows(source, projectId, tables);
  await removeFence(source, projectId, tables);
  await report('The rows here are deleted.');
  await move.endWorkflows();
}

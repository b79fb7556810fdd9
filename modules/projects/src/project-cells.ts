import { pool } from '@postroom/platform';
import { isHere } from './sql.ts';

/** The project is being moved to another cell, or deleted. The code makes it an outage, so that background work tries again later. */
class ProjectAway extends Error {
  readonly code = 'EPROJECTAWAY';
}

const READ_SHIFTS = {
  name: 'projects-transaction-shifts',
  text: 'SELECT transaction_shifts::text[] AS shifts FROM project_cells WHERE project_id = $1',
};
const READ = { name: 'projects-is-here', text: `SELECT ${isHere('$1')} AS here` };

/**
 * By how much the transaction numbers of a project's rows were reduced at each of its moves, the first one first. Cursors of its streams
 * from before a move are converted with them.
 */
export async function transactionShifts(projectId: string): Promise<bigint[]> {
  const { rows } = await pool.query<{ shifts: string[] }>({ ...READ_SHIFTS, values: [projectId] });
  return (rows[0]?.shifts ?? []).map(BigInt);
}

/** Called before sending starts, so that it doesn't look for mail again and again. @throws an outage while the project is being moved or deleted. */
export async function assertHere(projectId: string): Promise<void> {
  const { rows } = await pool.query<{ here: boolean }>({ ...READ, values: [projectId] });
  if (rows[0]?.here === false)
    throw new ProjectAway(`The project ${projectId} is being moved to another cell, or deleted.`);
}

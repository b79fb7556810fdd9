import { hasCode, pool, PROJECT_MOVING } from '@postroom/platform';

/** A POST that its sender may not repeat. */
export interface HeldRequest {
  projectId: string;
  /** Identifies what it says within the project, so that a repetition is kept once. */
  key: string;
  /** The path of its URL. */
  path: string;
  body: string;
}

/** After the switch the mover looks for kept requests, so none may be added. */
const HOLD = `
  INSERT INTO held_requests (project_id, key, path, body)
  SELECT project_id, $2, $3, $4 FROM project_cells WHERE project_id = $1 AND state = 'moving'
  ON CONFLICT (project_id, key) DO UPDATE SET key = excluded.key`;

/**
 * Does the work of a request. If the project is being moved to another cell, so that nothing of it may change, the request is kept
 * instead, and the mover posts it to the cell that has the project in the end.
 * @throws what `work` throws otherwise.
 */
export async function orHold({ projectId, key, path, body }: HeldRequest, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!hasCode(error, PROJECT_MOVING)) throw error;
    const { rowCount } = await pool.query(HOLD, [projectId, key, path, body]);
    if (rowCount !== 1) throw error;
  }
}

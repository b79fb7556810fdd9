import { randomUUID } from 'node:crypto';
import {
  audit,
  config,
  DomainError,
  inTransaction,
  invalid,
  logger,
  notFound,
  sql,
  startWorkflow,
  type Tx,
  type WorkflowStart,
} from '@postroom/platform';
import { MOVER_LOCK_KEY } from './cells/agreement.ts';

/** The workflow that deletes a project. */
export const deletionOf = (projectId: string): WorkflowStart => ({
  workflowId: `delete-${projectId}`,
  type: 'deleteProject',
  args: [projectId],
  summary: 'Delete the project',
  details:
    'Emails the owners, waits for mail and webhooks in flight, then deletes all rows of the project and ends its workflows.',
  searchAttributes: { projectId },
  // An operator may have terminated it.
  restartable: true,
});

/** Waits for no lock: the transaction of a mover may take hours. */
const LOCK = `
  SELECT pg_try_advisory_xact_lock(${MOVER_LOCK_KEY}) AS locked, has_parameter_privilege('session_replication_role', 'SET') AS may`;

/** Not while it is elsewhere, or on the way. */
const MARK_DELETED = `
  INSERT INTO project_cells AS c (project_id, cell, state, move_id) VALUES ($1, $2, 'deleted', $3)
  ON CONFLICT (project_id) DO UPDATE SET state = excluded.state, move_id = excluded.move_id, changed_at = now()
  WHERE c.state = 'here' RETURNING project_id`;

const NOT_PREPARED =
  'the role in DATABASE_URL may not skip triggers, so no project can be deleted; as a superuser: GRANT SET ON PARAMETER session_replication_role TO the role';

/**
 * Begins to delete a project: from the commit on its requests are refused and nothing new is sent, and a workflow deletes its rows.
 * @param actorId the user; null for the operator.
 * @param onMarked called in the same transaction, while the members are still there.
 * @throws DomainError `not_found`, `validation_error` unless the name is the project's, or `conflict` while it is being moved or if the
 * database has not been prepared.
 */
export async function requestDeletion(
  projectId: string,
  name: string,
  actorId: string | null,
  onMarked?: (tx: Tx) => Promise<void>,
): Promise<void> {
  await inTransaction(async (tx) => {
    // A move that has ended has released the lock, and its outcome is seen by the statements that follow.
    const [lock] = await sql<{ locked: boolean; may: boolean }>(tx, LOCK, [projectId]);
    const [project] = await sql<{ name: string }>(tx, 'SELECT name FROM projects WHERE id = $1', [projectId]);
    if (project === undefined) throw notFound('project');
    if (project.name !== name) throw invalid({ field: 'name', message: 'must be the name of the project' });
    if (lock?.locked !== true) throw await unavailable(tx, projectId);
    if (!lock.may) {
      logger.error({ projectId }, NOT_PREPARED);
      throw new DomainError(
        'conflict',
        'Deleting projects is not set up on this installation. Its operator has to do that first.',
      );
    }
    const marked = await sql(tx, MARK_DELETED, [projectId, config.CELL ?? '', randomUUID()]);
    if (marked.length === 0) throw await unavailable(tx, projectId);
    // Not in the log of the project, which is deleted with it.
    if (actorId !== null)
      await audit(tx, { projectId: null, actorId, action: 'projectDelete', targetId: projectId, targetName: name });
    await onMarked?.(tx);
    // Streams check whether they may continue, and end.
    await sql(tx, `SELECT pg_notify('postroom', 'access *')::text`, []);
    await startWorkflow(tx, deletionOf(projectId));
  });
}

/** Why a project can't be deleted. */
async function unavailable(tx: Tx, projectId: string): Promise<DomainError> {
  const [place] = await sql<{ cell: string; state: string }>(
    tx,
    'SELECT cell, state FROM project_cells WHERE project_id = $1',
    [projectId],
  );
  if (place?.state === 'deleted') return new DomainError('conflict', 'The project is already being deleted.');
  if (place?.state === 'moved')
    return new DomainError('conflict', `The project was moved to ${place.cell}. Delete it there.`);
  return new DomainError('conflict', 'The project is being moved. Delete it once the move has ended.');
}

import { type ContactFilter, countContacts } from '@postroom/contacts';
import { getGroup } from '@postroom/groups';
import {
  announce,
  db,
  defineIdPrefix,
  DomainError,
  inTransaction,
  invalid,
  isId,
  lockUntilCommit,
  MAX_TOTAL,
  newId,
  notFound,
  type Page,
  type PageArgs,
  type Prisma,
  RateLimited,
  readRows,
  sql,
  startWorkflow,
  type WorkflowStart,
  checkDisplayName,
} from '@postroom/platform';
import { fromStoredFilter, toStoredFilter } from './stored-filter.ts';

export type BulkOperation = Prisma.BulkOperationModel;
export type BulkStatus = BulkOperation['status'];

export type BulkAction = 'add_to_group' | 'remove_from_group' | 'suppress' | 'unsubscribe' | 'delete';

export const BULK_ID = defineIdPrefix('blk', 'bulk operation');

/** How many operations of a project may be running. */
const MAX_RUNNING = 3;

export interface StartInput {
  action: BulkAction;
  /** All contacts of the project if it is empty. */
  filter: ContactFilter;
  groupId?: string | null | undefined;
  groupName?: string | null | undefined;
}

/**
 * Starts an action on all contacts that pass a filter. A workflow carries it out in batches, so it survives restarts.
 * Contacts added later are left out, and later edits of the segment have no effect. The count of a very large list stops at `MAX_TOTAL`.
 * @throws DomainError `validation_error`, `not_found` for the group or the segment; RateLimited.
 */
export async function startOperation(projectId: string, actorId: string, input: StartInput): Promise<BulkOperation> {
  const { action } = input;
  const group = await checkGroup(projectId, input);
  const filter = await toStoredFilter(projectId, input.filter);
  const total = await countContacts(projectId, fromStoredFilter(filter), MAX_TOTAL);
  if (total === 0) throw invalid({ field: 'filter', message: 'matches no contact' });
  const id = newId(BULK_ID);
  const data = {
    id,
    projectId,
    actorId,
    action,
    filter: filter as Prisma.InputJsonObject,
    ...group,
    total,
    cursor: newId('ctc'),
  };
  await db.$transaction(async (tx) => {
    await lockUntilCommit(tx, `bulk operations ${projectId}`);
    const running = await tx.bulkOperation.count({ where: { projectId, status: 'running' } });
    if (running >= MAX_RUNNING)
      throw new RateLimited(`A project may have ${MAX_RUNNING} running bulk operations. Wait for one to end.`, 30);
    await tx.bulkOperation.create({ data });
    await startWorkflow(tx, workflowOf({ id, projectId, action }));
  });
  return getOperation(projectId, id);
}

/** The workflow of an operation. Started again, it continues after the last batch. */
export const workflowOf = ({
  id,
  projectId,
  action,
}: Pick<BulkOperation, 'id' | 'projectId' | 'action'>): WorkflowStart => ({
  workflowId: id,
  type: 'runBulkOperation',
  args: [id],
  summary: `Bulk operation: ${action.replaceAll('_', ' ')}`,
  searchAttributes: { projectId },
  restartable: true,
});

async function checkGroup(
  projectId: string,
  { action, groupId, groupName }: StartInput,
): Promise<{ groupId: string | null; groupName: string | null }> {
  const isOfGroup = action === 'add_to_group' || action === 'remove_from_group';
  if (!isOfGroup) {
    if (groupId != null || groupName != null)
      throw invalid({ field: groupId == null ? 'groupName' : 'groupId', message: `is not used by ${action}` });
    return { groupId: null, groupName: null };
  }
  if (groupId != null && groupName != null)
    throw invalid({ field: 'groupName', message: 'must not be combined with groupId' });
  if (groupId != null) return { groupId: (await getGroup(projectId, groupId)).id, groupName: null };
  if (action === 'remove_from_group') throw invalid({ field: 'groupId', message: 'is required' });
  return { groupId: null, groupName: checkDisplayName(groupName ?? '', 'groupName') };
}

/** A bulk operation of the project, or `not_found`. */
export async function getOperation(projectId: string, id: string): Promise<BulkOperation> {
  const [found] = isId(BULK_ID, id) ? await findOperations(projectId, [id]) : [];
  if (found === undefined) throw notFound('bulk operation');
  return found;
}

/** The project's bulk operations with these ids, in any order; ids that do not exist are omitted. */
export const findOperations = (projectId: string, ids: string[]): Promise<BulkOperation[]> =>
  db.bulkOperation.findMany({ where: { projectId, id: { in: ids } } });

/** The project's bulk operations, newest first. */
export const listOperations = (projectId: string, args: PageArgs): Promise<Page<BulkOperation>> =>
  readRows(db.bulkOperation, BULK_ID, args, { projectId });

/**
 * Cancels an operation after the batch in flight; contacts already processed stay as they are.
 * @throws DomainError `not_found`, `conflict` when it has ended.
 */
export async function cancelOperation(projectId: string, id: string): Promise<void> {
  await getOperation(projectId, id);
  await inTransaction(async (tx) => {
    const canceled = await sql(
      tx,
      `UPDATE bulk_operations SET cancel_requested_at = coalesce(cancel_requested_at, now())
       WHERE id = $1 AND status = 'running' RETURNING id`,
      [id],
    );
    if (canceled.length === 0) throw new DomainError('conflict', 'The bulk operation has already ended.');
    await announce(tx, topicOf(id));
  });
}

/** Records how an operation ended. Has no effect on one that has already ended. */
export async function endOperation(id: string, status: BulkStatus, error?: string): Promise<void> {
  await inTransaction(async (tx) => {
    await sql(
      tx,
      `UPDATE bulk_operations SET status = $2::bulk_status, error = $3, finished_at = now() WHERE id = $1 AND status = 'running'`,
      [id, status, error ?? null],
    );
    await announce(tx, topicOf(id));
  });
}

/** What subscribers of an operation listen to. */
export const topicOf = (id: string) => `bulk ${id}`;

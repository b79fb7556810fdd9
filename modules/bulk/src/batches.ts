import {
  contactBatch,
  deleteContacts,
  lockContacts,
  lockSuppressions,
  retryOnCollision,
  suppress,
  type SuppressionReason,
} from '@postroom/contacts';
import { findOrCreateGroup, addContactsIn, removeContactsIn } from '@postroom/groups';
import { announce, db, DomainError, inTransaction, paceBulkWork, sql, type Tx } from '@postroom/platform';
import { type BulkOperation, type BulkStatus, endOperation, topicOf } from './operations.ts';
import { fromStoredFilter, type StoredFilter } from './stored-filter.ts';

/** Contacts per transaction. */
const BATCH = 500;

/** The progress of an operation, for Temporal. */
export interface Progress {
  status: BulkStatus | 'deleted';
  processed: number;
  total: number;
}

type Batch = readonly { id: string; email: string }[];

/**
 * Processes the remaining contacts of an operation and ends it. Each batch and the cursor after it commit together, so
 * a worker that resumes the operation continues after the last committed batch.
 */
export async function continueOperation(
  id: string,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void = () => {},
): Promise<Progress> {
  for (;;) {
    const row = await db.bulkOperation.findUnique({ where: { id } });
    if (row === null) return { status: 'deleted', processed: 0, total: 0 };
    const { status, processed, total } = row;
    onProgress({ status, processed, total });
    if (status !== 'running') return { status, processed, total };
    signal.throwIfAborted();
    const began = performance.now();
    const end = await nextBatch(row);
    if (end !== undefined) await endOperation(id, end.status, end.error);
    else await paceBulkWork(row.projectId, performance.now() - began, signal);
  }
}

/** Processes one batch; returns how the operation ends if it does. */
async function nextBatch(row: BulkOperation): Promise<{ status: BulkStatus; error?: string } | undefined> {
  if (row.cancelRequestedAt !== null) return { status: 'canceled' };
  try {
    const batch = await contactBatch(row.projectId, fromStoredFilter(row.filter as StoredFilter), row.cursor, BATCH);
    if (batch.length === 0) return { status: 'completed' };
    await retryOnCollision(() => inTransaction((tx) => writeBatch(tx, row, batch)));
    return undefined;
  } catch (error) {
    // A group that the filter or the action names was deleted, or the group would be left without members.
    if (error instanceof DomainError && error.code !== 'rate_limited')
      return { status: 'failed', error: error.message };
    throw error;
  }
}

async function writeBatch(tx: Tx, row: BulkOperation, batch: Batch): Promise<void> {
  const claimed = await sql(
    tx,
    `UPDATE bulk_operations SET cursor = $3, processed = processed + $4
     WHERE id = $1 AND cursor = $2 AND status = 'running' AND cancel_requested_at IS NULL RETURNING id`,
    [row.id, row.cursor, batch.at(-1)?.id, batch.length],
  );
  // Another worker has processed the batch, or the operation was canceled.
  if (claimed.length === 0) return;
  const changed = await apply(tx, row, batch);
  await sql(tx, 'UPDATE bulk_operations SET changed = changed + $2 WHERE id = $1', [row.id, changed]);
  await announce(tx, topicOf(row.id));
}

/** Applies the action to a batch; returns how many contacts changed. */
function apply(tx: Tx, row: BulkOperation, batch: Batch): Promise<number> {
  const { projectId } = row;
  const ids = batch.map((contact) => contact.id);
  switch (row.action) {
    case 'add_to_group':
      return addToGroup(tx, row, ids);
    case 'remove_from_group':
      return removeContactsIn(tx, projectId, row.groupId ?? '', ids);
    case 'suppress':
      return suppressAll(tx, row, batch, 'manual');
    case 'unsubscribe':
      return suppressAll(tx, row, batch, 'unsubscribed');
    case 'delete':
      return deleteContacts(tx, projectId, ids);
  }
}

async function addToGroup(
  tx: Tx,
  { id, projectId, groupId, groupName }: BulkOperation,
  ids: string[],
): Promise<number> {
  const group = groupId ?? (await findOrCreateGroup(tx, projectId, groupName ?? ''));
  if (groupId === null) await sql(tx, 'UPDATE bulk_operations SET group_id = $2 WHERE id = $1', [id, group]);
  return addContactsIn(tx, projectId, group, ids);
}

async function suppressAll(tx: Tx, row: BulkOperation, batch: Batch, reason: SuppressionReason): Promise<number> {
  const { projectId, actorId } = row;
  await lockSuppressions(tx, projectId);
  // The addresses of now: one may have changed since the batch was read.
  const contacts = await lockContacts(tx, projectId, { ids: batch.map(({ id }) => id), keys: [] });
  const entries = contacts.map(({ email }) => ({ email, reason }));
  if (entries.length === 0) return 0;
  const origin = actorId.startsWith('usr_') ? 'user' : 'api';
  return (await suppress(tx, projectId, entries, { origin, actorId })).length;
}

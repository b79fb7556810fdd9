import { setImmediate } from 'node:timers/promises';
import {
  type CheckedSuppression,
  retryOnCollision,
  type ContactFacts,
  contactUpdated,
  countNewSuppressions,
  FACTS_COLUMNS,
  previewContacts,
  SUPPRESSED,
  writeContacts,
  writeSuppressions,
  type WrittenContact,
} from '@postroom/contacts';
import { findOrCreateGroup, joinGroup } from '@postroom/groups';
import { announce, inTransaction, pool, record, sql, type Tx } from '@postroom/platform';
import { countCauses } from './causes.ts';
import { readRows } from './file.ts';
import { type Import, topicOf } from './imports.ts';
import type { Plan } from './plan.ts';
import { type CheckedRow, checkerFor, type RowContact, type RowError } from './rows.ts';

/** Rows that are written in one transaction. Batch boundaries depend only on the file. */
export interface Batch {
  /** Counted from 0. */
  number: number;
  contacts: RowContact[];
  suppressions: CheckedSuppression[];
  errors: RowError[];
  rows: number;
  duplicates: number;
  invalid: number;
  /** Contacts without one or more invalid values. */
  incomplete: number;
  /** Approximate end of the batch in the file. */
  bytes: number;
}

/** The rows per batch of imports that were planned before the plan said so. */
const UNPLANNED_BATCH_ROWS = 10_000;
/** Maximum batch length in characters, so that long rows don't use unbounded memory. */
const BATCH_LENGTH = 4_000_000;

/** Yields to the event loop after this many rows, because the same thread sends mail. */
const ROWS_PER_TURN = 1_000;

/** The validated rows of a file, in batches. */
export async function* batchesOf(row: Import, plan: Plan): AsyncGenerator<Batch> {
  const checker = checkerFor(plan, row);
  const { batchRows = UNPLANNED_BATCH_ROWS } = plan;
  let batch = emptyBatch(0);
  let length = 0;
  for await (const records of readRows(row, plan.layout)) {
    for (const record of records) {
      add(batch, checker.check(record));
      for (const value of record.values ?? []) length += value.length;
      if (batch.rows % ROWS_PER_TURN === 0) await setImmediate();
      if (batch.rows < batchRows && length < BATCH_LENGTH) continue;
      yield { ...batch, bytes: Math.min(row.size, Math.round((row.size * record.line) / plan.lines)) };
      batch = emptyBatch(batch.number + 1);
      length = 0;
    }
  }
  if (batch.rows > 0) yield { ...batch, bytes: row.size };
}

const emptyBatch = (number: number): Batch => ({
  number,
  contacts: [],
  suppressions: [],
  errors: [],
  rows: 0,
  duplicates: 0,
  invalid: 0,
  incomplete: 0,
  bytes: 0,
});

function add(batch: Batch, { contact, suppression, errors, isDuplicate = false }: CheckedRow): void {
  batch.rows++;
  batch.errors.push(...errors);
  if (contact !== undefined) {
    batch.contacts.push(contact);
    if (errors.length > 0) batch.incomplete++;
  } else if (suppression !== undefined) batch.suppressions.push(suppression);
  else if (isDuplicate) batch.duplicates++;
  else batch.invalid++;
}

/** The numbers of the batches already written. */
export async function writtenBatches(tx: Tx, importId: string): Promise<Set<number>> {
  const rows = await sql<{ number: number }>(tx, 'SELECT number FROM import_batches WHERE import_id = $1', [importId]);
  return new Set(rows.map(({ number }) => number));
}

/**
 * Writes a batch atomically: contacts or suppressions and their events, group membership, row errors and progress. The batch is claimed
 * first, so it is never written twice; returns false if another worker has written it or the import is ending.
 */
export async function writeBatch(row: Import, plan: Plan, batch: Batch, mode: InsertMode): Promise<boolean> {
  return retryOnCollision(
    () => writeOnce(row, plan, batch, mode.isOptimistic),
    () => (mode.isOptimistic = false),
  );
}

/** Whether every address of an import has been new so far; while it is, batches use a faster insert. */
export interface InsertMode {
  isOptimistic: boolean;
}

async function writeOnce(row: Import, plan: Plan, batch: Batch, optimistic: boolean): Promise<boolean> {
  return inTransaction(async (tx) => {
    if (!(await claim(tx, row.id, batch.number))) return false;
    const written = await (row.dryRun ? preview(tx, row, batch) : write(tx, row, batch, optimistic));
    const errors = [...batch.errors, ...suppressedRows(batch, written)];
    await storeErrors(tx, row.id, errors);
    await countCauses(tx, row.id, plan, errors);
    const counts = row.kind === 'suppressions' ? await suppressAll(tx, row, batch) : countsOf(written);
    await addProgress(tx, row.id, batch, counts);
    await announce(tx, topicOf(row.id));
    return true;
  });
}

/**
 * Merges what bulk writes have added to the search indexes. Otherwise the next write of a contact does it, in whatever project, which
 * takes 140 ms of CPU after 25,000 contacts. Only the owner of an index may.
 */
export async function mergeSearchIndexes(): Promise<void> {
  await pool.query(
    `SELECT gin_clean_pending_list(c.oid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
      WHERE i.indrelid = 'contacts'::regclass AND a.amname = 'gin' AND pg_has_role(c.relowner, 'USAGE')`,
  );
}

async function claim(tx: Tx, importId: string, number: number): Promise<boolean> {
  const claimed = await sql(
    tx,
    `INSERT INTO import_batches (import_id, number)
     SELECT id, $2 FROM imports WHERE id = $1 AND status = 'running' AND cancel_requested_at IS NULL
     ON CONFLICT DO NOTHING RETURNING number`,
    [importId, number],
  );
  return claimed.length === 1;
}

const onConflictOf = ({ onConflict }: Import) => (onConflict === 'update' ? 'update' : 'skip');

const preview = (tx: Tx, row: Import, { contacts }: Batch) =>
  previewContacts(tx, row.projectId, contacts, { onConflict: onConflictOf(row) });

async function write(tx: Tx, row: Import, { contacts }: Batch, optimistic: boolean): Promise<WrittenContact[]> {
  if (contacts.length === 0) return [];
  // Raises the pending list limit (in kB) of the search indexes, so that they are merged at once: a merge costs about
  // the same for many rows as for few.
  await sql(tx, "SELECT set_config('gin_pending_list_limit', '32768', true), set_config('work_mem', '64MB', true)");
  const options = { onConflict: onConflictOf(row), source: 'import', optimistic } as const;
  const written = await writeContacts(tx, row.projectId, contacts, options);
  if (row.groupId !== null || row.groupName !== null) await addToGroup(tx, row, written);
  return written;
}

/** Adds the contacts of a batch to the group, creating the group if needed. */
async function addToGroup(
  tx: Tx,
  { id, projectId, groupId, groupName }: Import,
  written: WrittenContact[],
): Promise<void> {
  const members = written.flatMap((contact) => (contact.status === 'suppressed' ? [] : [contact]));
  if (members.length === 0) return;
  const group = groupId ?? (await findOrCreateGroup(tx, projectId, groupName ?? ''));
  if (groupId === null) await sql(tx, 'UPDATE imports SET group_id = $2 WHERE id = $1', [id, group]);
  const ids = members.map((contact) => contact.id);
  const joined = new Set(await joinGroup(tx, projectId, group, ids));
  // Created and renamed contacts already have an event that says the same.
  const others = members.filter(
    (contact) => contact.status === 'existing' && !contact.renamed && joined.has(contact.id),
  );
  const facts = await sql<ContactFacts>(
    tx,
    `SELECT ${FACTS_COLUMNS} FROM contacts c WHERE c.id = ANY ($1) ORDER BY c.id`,
    [others.map((contact) => contact.id)],
  );
  await record(tx, projectId, facts.map(contactUpdated));
}

const suppressedRows = ({ contacts }: Batch, written: readonly WrittenContact[]): RowError[] =>
  contacts
    .filter((_contact, index) => written[index]?.status === 'suppressed')
    .map(({ line }) => ({ line, ...SUPPRESSED }));

async function storeErrors(tx: Tx, importId: string, errors: readonly RowError[]): Promise<void> {
  if (errors.length === 0) return;
  await sql(
    tx,
    `INSERT INTO import_errors (import_id, line, field, message)
     SELECT $1, e.line, e.field, e.message FROM unnest($2::int[], $3::text[], $4::text[]) AS e(line, field, message)`,
    [importId, errors.map(({ line }) => line), errors.map(({ field }) => field), errors.map(({ message }) => message)],
  );
}

/** The results of the valid rows of a batch. */
interface Counts {
  created: number;
  updated: number;
  unchanged: number;
  suppressed: number;
}

function countsOf(written: readonly WrittenContact[]): Counts {
  const count = (is: (contact: WrittenContact) => boolean) => written.filter(is).length;
  return {
    created: count(({ status }) => status === 'created'),
    updated: count((contact) => contact.status === 'existing' && contact.changed),
    unchanged: count((contact) => contact.status === 'existing' && !contact.changed),
    suppressed: count(({ status }) => status === 'suppressed'),
  };
}

/** Adds the suppressions of a batch, or in a dry run counts those that are new. */
async function suppressAll(tx: Tx, { projectId, dryRun, actorId }: Import, { suppressions }: Batch): Promise<Counts> {
  const by = { origin: 'import', ...(actorId !== null && { actorId }) } as const;
  const created = await (dryRun
    ? countNewSuppressions(tx, projectId, suppressions)
    : writeSuppressions(tx, projectId, suppressions, by));
  return { created, updated: 0, unchanged: suppressions.length - created, suppressed: 0 };
}

async function addProgress(
  tx: Tx,
  importId: string,
  batch: Batch,
  { created, updated, unchanged, suppressed }: Counts,
): Promise<void> {
  await sql(
    tx,
    `UPDATE imports SET rows = rows + $2, created = created + $3, updated = updated + $4, unchanged = unchanged + $5,
       duplicates = duplicates + $6, suppressed = suppressed + $7, invalid = invalid + $8, incomplete = incomplete + $10,
       bytes_done = greatest(bytes_done, $9)
     WHERE id = $1`,
    [
      importId,
      batch.rows,
      created,
      updated,
      unchanged,
      batch.duplicates,
      suppressed,
      batch.invalid,
      batch.bytes,
      batch.incomplete,
    ],
  );
}

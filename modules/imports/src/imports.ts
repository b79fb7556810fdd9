import { withoutErased } from '@postroom/contacts';
import {
  countOf,
  announce,
  config,
  db,
  DomainError,
  FairSemaphore,
  inTransaction,
  isId,
  lockUntilCommit,
  newId,
  notFound,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  RateLimited,
  readRows,
  record,
  sql,
  startWorkflow,
  type Tx,
  type WorkflowStart,
} from '@postroom/platform';
import { ENDED_COLUMNS, type EndedImport, type FinalStatus, importEnded } from './events.ts';
import { keepFile } from './kept-files.ts';
import type { CheckedOptions } from './options.ts';

export type Import = Prisma.ImportModel;
export type ImportStatus = Import['status'];

/** Maximum file size, in bytes. */
export const MAX_FILE_BYTES = 200 * 1024 * 1024;
/** Maximum part size, in bytes. */
export const MAX_PART_BYTES = 4 * 1024 * 1024;
/** Deletes uploads that were not completed within a day. */
const STALE_UPLOADS = `DELETE FROM imports WHERE project_id = $1 AND status = 'uploading' AND created_at < now() - interval '1 day'`;

/** Whether a status is final. */
export const isFinal = (status: ImportStatus): status is FinalStatus =>
  status === 'completed' || status === 'failed' || status === 'canceled';

/**
 * Creates an import by `actorId` (`usr_…` or `key_…`); its file is then uploaded in parts before the import is started.
 * @throws RateLimited while the project has too many open imports.
 */
export async function createImport(
  projectId: string,
  options: CheckedOptions,
  actorId: string | null = null,
): Promise<Import> {
  return opening.run(projectId, async () => {
    await pool.query(STALE_UPLOADS, [projectId]);
    return db.$transaction(async (tx) => {
      await checkOpen(tx, projectId);
      return tx.import.create({ data: { id: newId('imp'), projectId, actorId, ...asColumns(options) } });
    });
  });
}

/** Those of a project wait for each other in `checkOpen`, and must not hold all connections meanwhile. */
const opening = new FairSemaphore({ total: Infinity, perKey: 2 });

/**
 * Call it in the transaction that opens an import.
 * @throws RateLimited while the project has too many open imports.
 */
export async function checkOpen(tx: Tx, projectId: string): Promise<void> {
  await lockUntilCommit(tx, `imports ${projectId}`);
  const [{ open } = { open: 0 }] = await sql<{ open: number }>(
    tx,
    `SELECT count(*)::int AS open FROM imports WHERE project_id = $1 AND status IN ('uploading', 'queued', 'running')`,
    [projectId],
  );
  if (open >= config.IMPORTS_PER_PROJECT)
    throw new RateLimited(`A project may have ${config.IMPORTS_PER_PROJECT} open imports. Wait for one to end.`, 30);
}

const asColumns = ({ mapping, ...options }: CheckedOptions) => ({
  ...options,
  ...(mapping !== null && { mapping: mapping as Prisma.InputJsonObject }),
});

/**
 * Stores a part of the file; uploading a part again replaces it.
 * @throws DomainError `not_found`, `conflict` when the import has been started, `payload_too_large`.
 */
export async function addPart(projectId: string, id: string, number: number, data: Uint8Array): Promise<void> {
  if (data.length > MAX_PART_BYTES) {
    throw new DomainError('payload_too_large', `A part may have at most ${MAX_PART_BYTES} bytes.`);
  }
  await inTransaction(async (tx) => {
    const { size } = await lockUpload(tx, projectId, id);
    const [before] = await sql<{ size: number }>(
      tx,
      'SELECT length(data) AS size FROM import_parts WHERE import_id = $1 AND number = $2',
      [id, number],
    );
    const total = size - (before?.size ?? 0) + data.length;
    if (total > MAX_FILE_BYTES) throw fileTooLarge();
    await sql(
      tx,
      `INSERT INTO import_parts (import_id, number, data) VALUES ($1, $2, $3)
       ON CONFLICT (import_id, number) DO UPDATE SET data = excluded.data`,
      [id, number, data],
    );
    await sql(tx, 'UPDATE imports SET size = $2 WHERE id = $1', [id, total]);
  });
}

export const fileTooLarge = () =>
  new DomainError('payload_too_large', `A file may have at most ${MAX_FILE_BYTES} bytes. Split it into several.`);

/**
 * Starts an import whose file is complete.
 * @throws DomainError `not_found`, `conflict` when it has been started, `validation_error` when the file is empty or
 * has gaps.
 */
export async function startImport(projectId: string, id: string, options?: CheckedOptions): Promise<void> {
  await inTransaction(async (tx) => {
    await lockUpload(tx, projectId, id);
    const [parts] = await sql<{ count: number; last: number | null }>(
      tx,
      'SELECT count(*)::int AS count, max(number) AS last FROM import_parts WHERE import_id = $1',
      [id],
    );
    if (parts === undefined || parts.last === null) throw new DomainError('validation_error', 'The file is empty.');
    if (parts.last + 1 !== parts.count) {
      throw new DomainError('validation_error', `The file lacks ${countOf(parts.last + 1 - parts.count, 'part')}.`);
    }
    if (options !== undefined) await setOptions(tx, id, options);
    await sql(tx, `UPDATE imports SET status = 'queued' WHERE id = $1`, [id]);
    await startImporting(tx, projectId, id);
  });
}

/** Starts the workflow of a queued import. */
export async function startImporting(tx: Tx, projectId: string, id: string): Promise<void> {
  await announce(tx, topicOf(id));
  await startWorkflow(tx, workflowOf({ id, projectId }));
}

/** The workflow of an import. Started again, it continues after the last batch that was written. */
export const workflowOf = ({ id, projectId }: { id: string; projectId: string }): WorkflowStart => ({
  workflowId: id,
  type: 'importContacts',
  args: [id],
  summary: 'Import of a file',
  searchAttributes: { projectId },
  restartable: true,
});

async function setOptions(tx: Tx, id: string, options: CheckedOptions): Promise<void> {
  const { fileName, kind, reason, mapping, onConflict, dryRun, createFields, skipInvalid } = options;
  const { groupId, groupName, encoding, separator } = options;
  await sql(
    tx,
    `UPDATE imports SET file_name = $2, mapping = $3, on_conflict = $4, dry_run = $5, create_fields = $6, group_id = $7,
       group_name = $8, encoding = $9, separator = $10, skip_invalid = $11, kind = $12::import_kind, reason = $13::suppression_reason WHERE id = $1`,
    [
      id,
      fileName,
      mapping === null ? null : JSON.stringify(mapping),
      onConflict,
      dryRun,
      createFields,
      groupId,
      groupName,
      encoding,
      separator,
      skipInvalid,
      kind,
      reason,
    ],
  );
}

/** Deletes an import whose upload failed. */
export async function discardUpload(projectId: string, id: string): Promise<void> {
  await pool.query(`DELETE FROM imports WHERE project_id = $1 AND id = $2 AND status = 'uploading'`, [projectId, id]);
}

/** The project's imports with these ids, in any order; ids that do not exist are omitted. */
export async function findImports(projectId: string, ids: string[]): Promise<Import[]> {
  return db.import.findMany({ where: { projectId, id: { in: ids } } });
}

/** An import of the project, or `not_found`. */
export async function getImport(projectId: string, id: string): Promise<Import> {
  const [found] = isId('imp', id) ? await findImports(projectId, [id]) : [];
  if (found === undefined) throw notFound('import');
  return found;
}

/** The project's imports, newest first. */
export async function listImports(projectId: string, args: PageArgs): Promise<Page<Import>> {
  return readRows(db.import, 'imp', args, { projectId });
}

/**
 * Cancels an import; contacts already written stay. A running import stops after its batches in flight.
 * @throws DomainError `not_found`, `conflict` when it has ended.
 */
export async function cancelImport(projectId: string, id: string): Promise<void> {
  await inTransaction(async (tx) => {
    const { status } = await lockImport(tx, projectId, id);
    if (isFinal(status)) throw new DomainError('conflict', `The import is already ${status}.`);
    await sql(tx, 'UPDATE imports SET cancel_requested_at = coalesce(cancel_requested_at, now()) WHERE id = $1', [id]);
    if (status !== 'running') await endImport(tx, id, 'canceled');
    await announce(tx, topicOf(id));
  });
}

/**
 * Cancels the uploads and the dry runs of a project that have not ended, and deletes their files, in which a person who is being erased
 * may be. Other imports go on: they refuse the person, and their files go when they end.
 */
export async function cancelForErasure(tx: Tx, projectId: string): Promise<void> {
  const open = await sql<{ id: string }>(
    tx,
    `SELECT id FROM imports WHERE project_id = $1 AND (status = 'uploading' OR dry_run AND status IN ('queued', 'running'))
     ORDER BY id FOR NO KEY UPDATE`,
    [projectId],
  );
  for (const { id } of open) await endImport(tx, id, 'canceled', PERSON_ERASED);
}

const PERSON_ERASED =
  'A person was erased from the project, who may be in this file, so it was deleted. Upload a file without that person.';

/** What an import quotes from its file, without addresses that were erased from its project. */
export async function withoutErasedOf(tx: Tx, id: string, text: string): Promise<string> {
  const [row] = await sql<{ projectId: string }>(tx, 'SELECT project_id AS "projectId" FROM imports WHERE id = $1', [
    id,
  ]);
  return row === undefined ? text : withoutErased(tx, row.projectId, text);
}

/**
 * Records how an import ended, with its event, and deletes its file, unless it can still be executed. Has no effect on an import that has
 * already ended. The error may quote the file, in which a person may have been erased since it was read.
 */
export async function endImport(tx: Tx, id: string, status: FinalStatus, reason: string | null = null): Promise<void> {
  const error = reason === null ? null : await withoutErasedOf(tx, id, reason);
  const [ended] = await sql<EndedImport & { projectId: string }>(
    tx,
    `UPDATE imports SET status = $2::import_status, error = $3, finished_at = now()
      WHERE id = $1 AND status IN ('uploading', 'queued', 'running') RETURNING project_id AS "projectId", ${ENDED_COLUMNS}`,
    [id, status, error],
  );
  if (ended === undefined) return;
  const { projectId, ...data } = ended;
  await record(tx, projectId, [importEnded(status, data)]);
  if (data.dry_run && status === 'completed') await keepFile(tx, projectId, id);
  else await sql(tx, 'DELETE FROM import_parts WHERE import_id = $1', [id]);
  await sql(tx, 'DELETE FROM import_batches WHERE import_id = $1', [id]);
  await announce(tx, topicOf(id));
}

/** The topic that subscribers of an import listen to. */
export const topicOf = (id: string) => `import ${id}`;

interface LockedImport {
  status: ImportStatus;
  error: string | null;
  size: number;
  dryRun: boolean;
  fileExpiresAt: Date | null;
  executedAsId: string | null;
}

/** Locks an import until the transaction ends. @throws DomainError `not_found`. */
export async function lockImport(tx: Tx, projectId: string, id: string): Promise<LockedImport> {
  const [row] = isId('imp', id)
    ? await sql<LockedImport>(
        tx,
        `SELECT status, error, size, dry_run AS "dryRun", file_expires_at AS "fileExpiresAt",
             executed_as_id AS "executedAsId" FROM imports
         WHERE project_id = $1 AND id = $2 FOR UPDATE`,
        [projectId, id],
      )
    : [];
  if (row === undefined) throw notFound('import');
  return row;
}

async function lockUpload(tx: Tx, projectId: string, id: string): Promise<LockedImport> {
  const row = await lockImport(tx, projectId, id);
  if (row.status === 'uploading') return row;
  const otherwise = row.status === 'canceled' ? 'The import was canceled.' : 'The import has already been started.';
  throw new DomainError('conflict', row.error ?? otherwise);
}

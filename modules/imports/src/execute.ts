import { announce, DomainError, inTransaction, newId, sql } from '@postroom/platform';
import { checkOpen, lockImport, startImporting, topicOf } from './imports.ts';

/**
 * Executes a dry run: starts an import of its file with its options, which takes over the file. The options of custom
 * fields are those of now, so a value that was not an option may have become one.
 * @returns the id of the import.
 * @throws DomainError `not_found`, `conflict` if it is not a completed dry run whose file is kept; RateLimited.
 */
export async function executeDryRun(
  projectId: string,
  id: string,
  { skipInvalid }: { skipInvalid?: boolean | null | undefined },
): Promise<string> {
  return inTransaction(async (tx) => {
    await checkOpen(tx, projectId);
    const { dryRun, executedAsId, fileExpiresAt } = await lockImport(tx, projectId, id);
    if (!dryRun) throw new DomainError('conflict', 'The import is not a dry run.');
    if (executedAsId !== null)
      throw new DomainError('conflict', `This dry run has already been executed, as the import ${executedAsId}.`);
    if (fileExpiresAt === null)
      throw new DomainError('conflict', 'The file of this dry run is no longer kept. Upload it again.');
    const created = newId('imp');
    await sql(tx, COPY, [id, created, skipInvalid ?? null]);
    await sql(tx, 'UPDATE import_parts SET import_id = $2 WHERE import_id = $1', [id, created]);
    await sql(tx, 'UPDATE imports SET file_expires_at = NULL, executed_as_id = $2 WHERE id = $1', [id, created]);
    await announce(tx, topicOf(id));
    await startImporting(tx, projectId, created);
    return created;
  });
}

/** The encoding and the separator are those that the dry run detected. */
const COPY = `
  INSERT INTO imports (id, project_id, status, file_name, size, on_conflict, dry_run, create_fields, skip_invalid, group_id, group_name,
    encoding, separator, mapping, kind, reason, actor_id)
  SELECT $2, project_id, 'queued', file_name, size, on_conflict, false, create_fields, coalesce($3, skip_invalid), group_id, group_name,
    encoding, separator, mapping, kind, reason, actor_id
  FROM imports WHERE id = $1`;

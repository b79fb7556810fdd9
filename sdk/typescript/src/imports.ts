import type { List } from './list.ts';
import { type Body, type DataOf, type Query, Resource } from './resource.ts';
import type { RequestOptions } from './transport.ts';
import type { Import, ImportContactsInput, ImportDetail } from './types.ts';

/** Uploads of large files take long. */
const UPLOAD_TIMEOUT_MS = 600_000;

export class Imports extends Resource {
  list(query: Query<'listImports'> = {}, options?: RequestOptions): List<Import> {
    return this.listOf('listImports', { query }, options);
  }

  /** Uploads a CSV file of contacts to import in the background; `get` returns the progress. */
  create(
    file: Blob | string,
    importOptions: ImportContactsInput = {},
    options: RequestOptions = {},
  ): Promise<DataOf<'importContacts'>> {
    const body = new FormData();
    body.set('options', JSON.stringify(importOptions));
    body.set('file', typeof file === 'string' ? new Blob([file], { type: 'text/csv' }) : file);
    return this.data('importContacts', { body }, { timeoutMs: UPLOAD_TIMEOUT_MS, ...options });
  }

  get(id: string, options?: RequestOptions): Promise<ImportDetail> {
    return this.data('getImport', { path: { id } }, options);
  }

  /** The row errors, as a CSV file of line, field and message. */
  errors(id: string, options?: RequestOptions): Promise<ReadableStream<Uint8Array>> {
    return this.transport.call('downloadImportErrors', { path: { id } }, options);
  }

  /** Imports the file of a dry run. */
  execute(id: string, body: Body<'executeDryRun'> = {}, options?: RequestOptions): Promise<Import> {
    return this.data('executeDryRun', { path: { id }, body }, options);
  }

  /** Cancels an import; contacts already written stay. */
  cancel(id: string, options?: RequestOptions): Promise<Import> {
    return this.data('cancelImport', { path: { id } }, options);
  }
}

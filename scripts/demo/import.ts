import { setTimeout as sleep } from 'node:timers/promises';
import type { CustomField, ImportDetail, Postroom } from '../../sdk/typescript/src/index.ts';
import { count, progress } from './print.ts';

const LOOK_EVERY_MS = 250;

/** An import that has ended. */
export interface Imported extends ImportDetail {
  /** The group of its contacts. */
  groupId: string;
}

/**
 * Imports a file into a new group; each column without a custom field gets one.
 * @throws if the file is unusable, or has no row that could be imported
 */
export async function importContacts(
  postroom: Postroom,
  file: Blob | string,
  names: { group_name: string; file_name?: string },
  stopped?: AbortSignal,
): Promise<Imported> {
  const { id } = await postroom.imports.create(file, { ...names, create_fields: true, on_conflict: 'update' });
  for (;;) {
    const done = await postroom.imports.get(id);
    if (done.status === 'failed') throw new Error(done.error ?? 'The import failed.');
    if (done.status === 'completed') {
      if (done.groupId === null)
        throw new Error(['No row could be imported.', ...done.causes.map(problemLine)].join('\n'));
      return { ...done, groupId: done.groupId };
    }
    progress(`${count(done.counts.rows)} rows`, done.progress);
    await sleep(LOOK_EVERY_MS, undefined, { signal: stopped });
  }
}

/** A problem with rows of the file. */
export function problemLine({ firstLine, field, value, message, rows }: ImportDetail['causes'][number]): string {
  const others = rows === 1 ? '' : `, and ${count(rows - 1)} more`;
  return `line ${firstLine}${others}: ${field}${value === '' ? '' : ` "${value}"`} ${message}`;
}

/** The custom fields that columns were imported into. */
export async function fieldsOf(postroom: Postroom, { columns }: Imported): Promise<CustomField[]> {
  const targets = new Set(columns.flatMap(({ fields }) => fields));
  const fields = await postroom.customFields.list().toArray();
  return fields.filter(({ key }) => targets.has(`customFields.${key}`));
}

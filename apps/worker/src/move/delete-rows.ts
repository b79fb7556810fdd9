import type pg from 'pg';
import { skipTriggers } from './skip-triggers.ts';
import { inlineProjectId, type ProjectTable, sortForDeletion } from './tables.ts';
import { transaction } from './transaction.ts';

/** Deletes a project's rows, each table's in a transaction. Users stay, and so do keys of other projects. Can be repeated. */
export async function deleteProjectRows(
  client: pg.ClientBase,
  projectId: string,
  tables: readonly ProjectTable[],
): Promise<void> {
  for (const { name, where, how } of sortForDeletion(tables)) {
    if (name === 'users') continue;
    const unused =
      how === 'merge'
        ? 'AND NOT EXISTS (SELECT FROM api_key_projects o WHERE o.key_id = t.id AND o.project_id <> $1)'
        : '';
    await transaction(client, async () => {
      await skipTriggers(client);
      await client.query(`DELETE FROM ${name} t WHERE ${inlineProjectId(`${where} ${unused}`, projectId)}`);
    });
  }
}

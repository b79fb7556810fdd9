import { paceBulkWork } from '@postroom/platform';
import type pg from 'pg';
import { skipTriggers } from './skip-triggers.ts';
import { inlineProjectId, type ProjectTable, sortForDeletion } from './tables.ts';
import { transaction } from './transaction.ts';

/** Rows that one transaction deletes. Statistics and event exports of all projects wait for the end of the oldest transaction. */
export const BATCH_ROWS = 5_000;

/**
 * Deletes a project's rows in batches, with pauses while the database is busy. Users stay, and so do keys of other projects. Can be
 * repeated.
 */
export async function deleteProjectRows(
  client: pg.ClientBase,
  projectId: string,
  tables: readonly ProjectTable[],
): Promise<void> {
  for (const table of sortForDeletion(tables)) if (table.name !== 'users') await deleteRowsOf(table, client, projectId);
}

async function deleteRowsOf({ name, where, how }: ProjectTable, client: pg.ClientBase, projectId: string) {
  const unused =
    how === 'merge'
      ? 'AND NOT EXISTS (SELECT FROM api_key_projects o WHERE o.key_id = t.id AND o.project_id <> $1)'
      : '';
  const condition = inlineProjectId(`(${where}) ${unused}`, projectId);
  // The rows are found once, not again for each batch. A cursor WITH HOLD keeps a list of them and no snapshot.
  await client.query(
    `DECLARE doomed NO SCROLL CURSOR WITH HOLD FOR SELECT t.tableoid::regclass::text AS part, t.ctid AS place FROM ${name} t WHERE ${condition}`,
  );
  for (;;) {
    const began = performance.now();
    const { rows } = await client.query<{ part: string; place: string }>(`FETCH ${BATCH_ROWS} FROM doomed`);
    if (rows.length === 0) break;
    await transaction(client, async () => {
      await skipTriggers(client);
      for (const [part, found] of Map.groupBy(rows, (row) => row.part))
        // Another row may be in that place by now.
        await client.query(`DELETE FROM ${part} t WHERE t.ctid = ANY ($1::tid[]) AND ${condition}`, [
          found.map(({ place }) => place),
        ]);
    });
    await paceBulkWork(projectId, performance.now() - began);
  }
  await client.query('CLOSE doomed');
}

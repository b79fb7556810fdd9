import { createDatabase } from '@postroom/testkit/database';
import { useDatabase } from '@postroom/testkit/own-database';
import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';

test('a delivery whose workflow Temporal refuses delays no others, and is not claimed at once again', async () => {
  // No dispatcher of another test sees its rows.
  const database = await createDatabase('refused');
  const close = useDatabase(database.url);
  const { config, pool } = await import('@postroom/platform');
  const { source } = await import('../src/dispatcher.ts');
  const { backlog } = await import('./waiting-deliveries.ts');
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
  const client = new Client({ connection });
  try {
    const bad = await backlog('https://bad.example/', { enabled: true, waiting: 1 });
    const good = await backlog('https://good.example/', { enabled: true, waiting: 1 });
    // Temporal takes no id of more than 1,000 characters.
    await pool.query('UPDATE deliveries SET id = id || $2 WHERE endpoint_id = $1', [bad, 'x'.repeat(1_000)]);
    expect(await source.dispatch?.(client)).toMatchObject({ more: false });
    const { rows } = await pool.query('SELECT endpoint_id, workflow_id FROM deliveries WHERE workflow_id IS NOT NULL');
    expect(rows).toMatchObject([{ endpoint_id: good }]);
    const handle = client.workflow.getHandle(rows[0].workflow_id);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await handle.terminate();
  } finally {
    await connection.close();
    await close();
    await database.drop();
  }
});

import { createDatabase } from '@postroom/testkit/database';
import { useDatabase } from '@postroom/testkit/own-database';
import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';

test('an outage of Temporal delays a row by eight seconds at most, and uses up no retries of a signal', async () => {
  // No dispatcher of another test sees its rows.
  const database = await createDatabase('outage');
  const close = useDatabase(database.url);
  const { pool } = await import('../src/db.ts');
  const { config } = await import('@postroom/settings/config');
  const { outboxSource } = await import('../src/dispatcher.ts');
  const { signalWorkflow } = await import('../src/outbox.ts');
  // Without interceptors, it does not retry.
  const down = Connection.lazy({ address: '127.0.0.1:1', interceptors: [] });
  const up = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
  const dispatch = async (connection: Connection) => {
    await pool.query('UPDATE outbox SET available_at = now()');
    await outboxSource.dispatch(new Client({ connection }));
    const state = 'SELECT refusals, extract(epoch FROM available_at - now())::float AS waits FROM outbox';
    return (await pool.query(state)).rows;
  };
  try {
    await signalWorkflow(pool, { workflowId: 'not-started', signal: 'pause' });
    for (const waits of [1, 2, 4, 8, 8, 8])
      expect(await dispatch(down)).toMatchObject([{ waits: expect.closeTo(waits, 0) }]);
    // Its workflow may start yet; then it is given up.
    expect(await dispatch(up)).toMatchObject([{ waits: expect.closeTo(8, 0) }]);
    expect(await dispatch(up)).toEqual([]);
  } finally {
    await Promise.all([down.close(), up.close()]);
    await close();
    await database.drop();
  }
});

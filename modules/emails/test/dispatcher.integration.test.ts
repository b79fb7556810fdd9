import { createDatabase } from '@postroom/testkit/database';
import { useDatabase } from '@postroom/testkit/own-database';
import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';

test('a project with as many workflows as it may have open gets no more while there are as many queue drains as there may be', async () => {
  // No dispatcher of another test sees its rows.
  const database = await createDatabase('drains');
  const close = useDatabase(database.url);
  const { config, pool } = await import('@postroom/platform');
  const { MAIL_POLICY } = await import('@postroom/ledger');
  const { source } = await import('../src/dispatcher.ts');
  const { maxDrains, maxOpenPerProject } = MAIL_POLICY.dispatch;
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
  try {
    await pool.query(
      `INSERT INTO projects (id, name) SELECT 'prj_' || i, 'Project' FROM generate_series(0, $1::int) i`,
      [maxDrains],
    );
    await pool.query(
      `INSERT INTO email_queue_drains (project_id, workflow_id, lease_expires_at)
       SELECT 'prj_' || i, 'burst_' || i, now() + interval '1 minute' FROM generate_series(1, $1::int) i`,
      [maxDrains],
    );
    await pool.query(
      `INSERT INTO messages (id, project_id, email, not_before, dispatched_at, workflow_id)
       SELECT postroom_id('eml'), 'prj_0', 'ada@mail.test', now(), now(), 'open_' || i FROM generate_series(1, $1::int) i`,
      [maxOpenPerProject],
    );
    await pool.query(
      `INSERT INTO messages (id, project_id, email, not_before) VALUES (postroom_id('eml'), 'prj_0', 'ada@mail.test', now())`,
    );
    await source.dispatch?.(new Client({ connection }));
    const { rows } = await pool.query('SELECT count(DISTINCT workflow_id)::int AS open FROM messages');
    expect(rows).toEqual([{ open: maxOpenPerProject }]);
  } finally {
    await connection.close();
    await close();
    await database.drop();
  }
});

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

test('mail whose workflow Temporal refuses delays no mail of other projects, and is not claimed at once again', async () => {
  const database = await createDatabase('refused');
  const close = useDatabase(database.url);
  const { config, pool } = await import('@postroom/platform');
  const { MAIL_POLICY } = await import('@postroom/ledger');
  const { source } = await import('../src/dispatcher.ts');
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS });
  const client = new Client({ connection });
  try {
    await pool.query(
      `INSERT INTO projects (id, name) VALUES ('prj_bad', 'Bad'), ('prj_good', 'Good'), ('prj_full', 'Full')`,
    );
    // Temporal takes no id of more than 1,000 characters.
    const add = (project: string, messages: number, suffix = '') =>
      pool.query(
        `INSERT INTO messages (id, project_id, email, not_before)
         SELECT postroom_id('eml') || $3, $1, 'ada@mail.test', now() FROM generate_series(1, $2::int)`,
        [project, messages, suffix],
      );
    const { maxIndividual, startsPerRound } = MAIL_POLICY.dispatch;
    await add('prj_bad', maxIndividual, 'x'.repeat(1_000));
    await add('prj_good', 1);
    expect(await source.dispatch?.(client)).toMatchObject({ more: false });
    const assigned = 'SELECT project_id, workflow_id FROM messages WHERE workflow_id IS NOT NULL';
    const { rows } = await pool.query(assigned);
    expect(rows).toMatchObject([{ project_id: 'prj_good' }]);
    const handle = client.workflow.getHandle(rows[0].workflow_id);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await handle.terminate();

    // A round that is full of them starts none, so another one at once would not either.
    await pool.query('DELETE FROM messages');
    await add('prj_full', startsPerRound * MAIL_POLICY.dispatch.batchSize, 'x'.repeat(1_000));
    await pool.query(
      `INSERT INTO projects (id, name) SELECT 'prj_' || i, 'Project' FROM generate_series(1, $1::int) i`,
      [MAIL_POLICY.dispatch.maxDrains],
    );
    await pool.query(
      `INSERT INTO email_queue_drains (project_id, workflow_id, lease_expires_at)
       SELECT 'prj_' || i, 'burst_' || i, now() + interval '1 minute' FROM generate_series(1, $1::int) i`,
      [MAIL_POLICY.dispatch.maxDrains],
    );
    expect(await source.dispatch?.(client)).toMatchObject({ more: false });
    expect((await pool.query(assigned)).rows).toEqual([]);
  } finally {
    await connection.close();
    await close();
    await database.drop();
  }
});

import { eventually, mailSystem } from '@postroom/testkit';
import { expect, test } from 'vitest';

const CONTACTS = 20_000;

const { system } = await mailSystem();

test('after kill -9 of the worker a backtest goes on, and counts and lists each contact once', async () => {
  const api = await system.api();
  await system.pool.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source, created_at, updated_at)
     SELECT postroom_id('ctc'), $1, 'kill' || i || '@mail.test', 'kill' || i || '@mail.test', '', 'api', now() - interval '10 days', now()
     FROM generate_series(1, ${CONTACTS}) i`,
    [api.projectId],
  );
  await system.pool.query(
    `INSERT INTO custom_events (project_id, occurred_at, id, contact_id, name)
     SELECT $1, now() - interval '5 days', postroom_id('cev'), id, 'started' FROM contacts WHERE project_id = $1`,
    [api.projectId],
  );
  const steps = [
    { id: 'wait', type: 'wait', for: { days: 1 }, next: 'mark' },
    { id: 'mark', type: 'update_field', field: 'name', value: 'Marked' },
  ];
  const candidate = { definition: { entry: { type: 'event', event: 'started' }, steps } };
  const { id } = (await api.post('/v1/backtests', { days: 7, candidate })).body.data;
  const read = async () => (await api.get(`/v1/backtests/${id}`)).body.data;
  await eventually(async () => expect((await read()).processed).toBeGreaterThan(0), 60_000);
  await system.killWorker();
  expect((await read()).status).toBe('running');
  await system.startWorker();
  await eventually(async () => expect((await read()).status).not.toBe('running'), 120_000);
  expect(await read()).toMatchObject({
    status: 'completed',
    processed: CONTACTS,
    listed: CONTACTS,
    candidate: { contacts: CONTACTS, runs: CONTACTS, completed: CONTACTS },
  });
  const { rows } = await system.pool.query(
    'SELECT count(*)::int AS rows, count(DISTINCT contact_id)::int AS contacts FROM backtest_contacts WHERE backtest_id = $1',
    [id],
  );
  expect(rows).toEqual([{ rows: CONTACTS, contacts: CONTACTS }]);
}, 300_000);

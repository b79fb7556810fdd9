import { eventually, mailSystem } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { campaignKit } from './testing.ts';

const { sink, system } = await mailSystem();

const { campaignTo, read, untilStatus, taken } = campaignKit(() => ({ system, sink }));

const HELLO = { from: 'hello@example.com', subject: 'Hello' };
const DEEP = '<div>'.repeat(3_000);
const COSTLY: Record<string, string> = {
  'deep quotes': '<blockquote>a'.repeat(1_900),
  'deep blocks': DEEP,
  'deep lists': '<ul><li>a'.repeat(500),
  'deep tables': '<table><tr><td>a'.repeat(500),
  'many elements': '<p>a</p>'.repeat(50_001),
};

test.each(Object.keys(COSTLY))('HTML of %s is refused wherever it is accepted, naming its field', async (name) => {
  const api = await system.api();
  const html = COSTLY[name] ?? '';
  const refused = [
    ['html', await api.post('/v1/emails', { ...HELLO, to: 'a@mail.test', html })],
    ['html', await api.post('/v1/emails', { ...HELLO, to: 'a@mail.test', html, text: 'x' })],
    ['html', await api.post('/v1/emails', { ...HELLO, to: 'a@mail.test', html, variables: {} })],
    [
      'emails.1.html',
      await api.post('/v1/emails/batch', {
        emails: [0, 1].map((n) => ({ ...HELLO, to: 'a@mail.test', html: n === 0 ? 'x' : html })),
      }),
    ],
    ['body', await api.post('/v1/templates', { name: 'Costly', body: html })],
    ['html', await api.post('/v1/campaigns', { name: 'Costly', html })],
  ] as const;
  for (const [field, { status, body }] of refused) {
    expect(status, field).toBe(400);
    expect(body.error).toMatchObject({
      code: 'validation_error',
      details: [
        { field, message: expect.stringMatching(/nests elements more than 200 deep|more than 50000 elements/) },
      ],
    });
  }
});

test('a short template with long values is rejected before it exhausts memory', async () => {
  const api = await system.api();
  const { status, body } = await api.post('/v1/emails', {
    ...HELLO,
    to: 'a@mail.test',
    html: '{{a}}'.repeat(9_000),
    variables: { a: 'x'.repeat(100_000) },
  });
  expect(status).toBe(400);
  expect(body.error.details).toEqual([
    { field: 'html', message: 'has more than 5000000 characters with its values filled in' },
  ]);
});

test('an email that cannot be composed fails with a reason and does not delay others', async () => {
  const api = await system.api();
  const scheduled = new Date(Date.now() + 3_600_000).toISOString();
  const post = async (to: string) =>
    (await api.post('/v1/emails', { ...HELLO, to, html: '<p>x</p>', scheduled_at: scheduled })).body.data.id as string;
  const [bad, good] = [await post('bad@mail.test'), await post('good@mail.test')];
  // Written directly, as before the limits existed.
  await system.pool.query('UPDATE message_contents SET html = $2, html_text = NULL WHERE message_id = $1', [bad, DEEP]);
  await system.pool.query('UPDATE messages SET not_before = now() WHERE project_id = $1', [api.projectId]);
  const read = async (id: string) => (await api.get(`/v1/emails/${id}`)).body.data;
  await eventually(async () => expect((await read(bad)).status).toBe('failed'), 60_000);
  await eventually(async () => expect((await read(good)).status).toBe('sent'), 60_000);
  const { rows } = await system.pool.query(
    `SELECT data->>'reason' AS reason FROM events WHERE project_id = $1 AND type = 'email.failed'`,
    [api.projectId],
  );
  expect(rows).toEqual([{ reason: expect.stringContaining('nests elements more than 200 deep') }]);
});

test('a campaign that cannot be composed fails preflight and send, and is paused with the reason if already sending', async () => {
  const { api, id, path } = await campaignTo('deep', 3);
  await system.pool.query('UPDATE campaigns SET html = $2 WHERE id = $1', [id, DEEP]);
  const problem = { field: 'html', message: expect.stringContaining('nests elements more than 200 deep') };
  const preflight = await api.post(`${path}/preflight`);
  expect(preflight.status).toBe(200);
  expect(preflight.body.data).toMatchObject({ isReady: false, problems: [problem] });
  const send = await api.post(`${path}/send`);
  expect(send.status).toBe(400);
  expect(send.body.error.details).toEqual([problem]);

  await system.pool.query(`UPDATE campaigns SET html = '<p>x</p>' WHERE id = $1`, [id]);
  await system.pool.query(`INSERT INTO sending_policies (project_id, rate_per_second) VALUES ($1, 1)`, [api.projectId]);
  expect((await api.post(`${path}/send`)).status).toBe(202);
  await system.pool.query('UPDATE campaigns SET html = $2 WHERE id = $1', [id, DEEP]);
  const paused = await untilStatus(api, path, 'paused');
  expect(JSON.stringify(paused)).toContain('nests elements more than 200 deep');
  await system.pool.query(`UPDATE campaigns SET html = '<p>x</p>' WHERE id = $1`, [id]);
  await api.post(`${path}/resume`);
  await untilStatus(api, path, 'completed');
  expect(taken('deep')).toHaveLength(3);
});

test('a campaign that keeps failing is paused with the reason and completes once that is fixed', async () => {
  const { api, id, path } = await campaignTo('failing', 3);
  await system.pool.query(`
    CREATE FUNCTION refuse_${id}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'no row of this campaign may be written' USING ERRCODE = '22023'; END $$;
    CREATE TRIGGER refuse_${id} BEFORE INSERT ON messages FOR EACH ROW WHEN (NEW.campaign_id = '${id}') EXECUTE FUNCTION refuse_${id}();`);
  expect((await api.post(`${path}/send`)).status).toBe(202);
  const paused = await untilStatus(api, path, 'paused', 180_000);
  expect(JSON.stringify(paused)).toContain('no row of this campaign may be written');
  await system.pool.query(`DROP TRIGGER refuse_${id} ON messages; DROP FUNCTION refuse_${id}()`);
  expect((await api.post(`${path}/resume`)).status).toBeLessThan(300);
  expect(await untilStatus(api, path, 'completed')).toMatchObject({ progress: { accepted: 3 } });
  expect((await read(api, path)).recipientCount).toBe(3);
}, 300_000);

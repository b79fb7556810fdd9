import { addLocalDomain } from '@postroom/domains';
import { pool, record } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { messagesWithOutcome } from '../src/email-outcomes.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

async function send(api: Api, to: string): Promise<string> {
  const email = { from: 'hello@example.com', to, subject: 'Hello', text: 'Hi' };
  return (await api.post('/v1/emails', email)).body.data.id;
}

const idsOf = async (api: Api, query: string): Promise<string[]> =>
  (await api.get(`/v1/emails?${query}`)).body.data.map(({ id }: { id: string }) => id);

test('emails are listed by an outcome in a period, as statistics count them', async () => {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  const [ada, bob, cleo] = [await send(api, 'ada@e.com'), await send(api, 'bob@e.com'), await send(api, 'cleo@e.com')];
  await record(pool, api.projectId, [
    { type: 'email.delivered', data: { message_id: ada } },
    { type: 'email.delivered', data: { message_id: bob } },
    { type: 'email.bounced', data: { message_id: bob } },
  ]);
  await pool.query(
    `INSERT INTO tracking_hits (message_id, project_id, kind, at, verdict, is_first)
     VALUES ($1, $3, 'click', now() - interval '2 days', 'person', true), ($2, $3, 'click', now(), 'machine', true)`,
    [cleo, ada, api.projectId],
  );
  expect(await idsOf(api, `outcome=delivered&since=${ago(1)}`)).toEqual([bob, ada]);
  expect(await idsOf(api, `outcome=delivered&since=${ago(1)}&limit=1`)).toEqual([bob]);
  expect(await idsOf(api, `outcome=bounced&since=${ago(1)}`)).toEqual([bob]);
  expect(await idsOf(api, `outcome=delivered&since=${ago(1)}&to=ada@e.com`)).toEqual([ada]);
  expect(await idsOf(api, `outcome=bounced&since=${ago(2)}&until=${ago(1)}`)).toEqual([]);
  expect(await idsOf(api, `outcome=clicked&since=${ago(3)}`)).toEqual([cleo]);
  expect(await idsOf(api, `outcome=clicked&since=${ago(1)}`)).toEqual([]);
  expect(await idsOf(api, `outcome=clicked_by_machines&since=${ago(1)}`)).toEqual([ada]);
  const theirs = await testApi();
  expect(await idsOf(theirs, `outcome=delivered&since=${ago(1)}`)).toEqual([]);
  const query = 'query ($since: DateTime!) { emails(outcome: delivered, since: $since) { totalCount nodes { id } } }';
  const { emails } = (await api.graphql(query, { since: ago(1) })).body.data;
  expect(emails).toEqual({ totalCount: 2, nodes: [{ id: bob }, { id: ada }] });
});

test.each([
  ['outcome=sent', 'since', /required/],
  [`since=${ago(1)}`, 'since', /outcome/],
  [`until=${ago(1)}`, 'until', /outcome/],
  [`outcome=sent&since=${ago(1)}&until=${ago(2)}`, 'until', /after since/],
  [`outcome=sent&since=${ago(401)}`, 'since', /400 days/],
])('a period that does not fit its outcome is an error that names the field: %#', async (query, field, message) => {
  const api = await testApi();
  const reply = await api.get(`/v1/emails?${query}`);
  expect(reply).toMatchObject({ status: 400, body: { error: { code: 'validation_error' } } });
  expect(reply.body.error.details).toContainEqual({ field, message: expect.stringMatching(message) });
});

test('an outcome reads the events of its period by an index', async () => {
  const api = await testApi();
  const values: unknown[] = [api.projectId];
  const text = messagesWithOutcome(
    { outcome: 'sent', since: new Date(Date.now() - DAY_MS) },
    (value) => `$${values.push(value)}`,
  );
  const { rows } = await pool.query(`EXPLAIN ${text}`, values);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toMatch(/events_(\d+_|past_)?(project_id_id_idx|pkey|project_id_xact_id_idx)/);
  expect(plan).not.toMatch(/Seq Scan/);
});

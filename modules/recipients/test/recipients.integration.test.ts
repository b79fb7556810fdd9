import { inTransaction, newId, pool } from '@postroom/platform';
import { type Api, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { recipientsSql } from '../src/filter.ts';

/** The outcome of a message, as columns of its row. */
type Fate = Record<string, unknown>;

const NOW = new Date();
const SENT = { state: 'accepted', accepted_at: NOW };

/** A campaign that is paused, so that no worker goes on with it, with a recipient for each fate: `ada0@mail.test`, `bob1@…` … */
async function campaignOf(fates: Record<string, Fate>) {
  const api = await testApi();
  const id = newId('cmp');
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, frozen_at, started_at, recipient_count, cursor, delivered_count,
       opened_count, clicked_count, machine_opened_count, machine_clicked_count, rejected_count)
     VALUES ($1, $2, 'News', 'News', 'paused', now(), now(), $3, 'eml_z', $4, $5, $6, $7, $8, $9)`,
    [
      id,
      api.projectId,
      Object.keys(fates).length,
      ...['delivered_at', 'opened_at', 'clicked_at', 'machine_opened_at', 'machine_clicked_at', 'rejected_at'].map(
        (fact) => Object.values(fates).filter((fate) => fact in fate).length,
      ),
    ],
  );
  const messages: Record<string, string> = {};
  for (const [name, fate] of Object.entries(fates)) {
    const contact = await api.contact(`${name}@mail.test`);
    const row: Fate = {
      id: newId('eml'),
      project_id: api.projectId,
      campaign_id: id,
      contact_id: contact.id,
      email: contact.email,
      ...fate,
    };
    const columns = Object.keys(row);
    await pool.query(
      `INSERT INTO messages (${columns.join(', ')}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
      Object.values(row),
    );
    messages[name] = String(row.id);
  }
  const path = `/v1/campaigns/${id}/recipients`;
  /** The names of those listed by a query, in alphabetical order. */
  const listed = async (query: string) => namesOf((await api.get(`${path}?${query}`)).body.data);
  return { api, id, path, messages, listed };
}

const namesOf = (rows: { email: string }[]) =>
  rows
    .map(({ email }) => email.split('@')[0])
    .sort()
    .join(' ');

const FATES = {
  ada: { ...SENT, delivered_at: NOW, opened_at: NOW, clicked_at: NOW },
  alan: { ...SENT, delivered_at: NOW, machine_opened_at: NOW, machine_clicked_at: NOW },
  bob: { ...SENT, bounced_at: NOW, bounce_class: 'hard', bounce_reason: '550 5.1.1 No such user' },
  carl: { ...SENT, bounced_at: NOW, bounce_class: 'soft', bounce_reason: '452 4.2.2 Mailbox full' },
  dora: { ...SENT, delivered_at: NOW, complained_at: NOW, unsubscribed_at: NOW },
  eve: { state: 'failed', unsent_at: NOW, answer: '550 no' },
  fred: { state: 'planned', deferrals: 2, deferred_at: NOW, not_before: new Date(NOW.getTime() + 600_000) },
  gina: { state: 'planned', not_before: NOW },
};

test('each outcome lists the people behind it, humans separate from bots', async () => {
  const { listed } = await campaignOf(FATES);
  const outcomes = {
    deferred: 'fred',
    delivered: 'ada alan dora',
    opened: 'ada',
    opened_by_machines: 'alan',
    clicked: 'ada',
    clicked_by_machines: 'alan',
    bounced: 'bob carl',
    complained: 'dora',
    unsubscribed: 'dora',
  };
  for (const [outcome, names] of Object.entries(outcomes)) {
    expect([outcome, await listed(`outcome=${outcome}`)]).toEqual([outcome, names]);
  }
  expect(await listed('outcome=bounced&bounce_class=soft')).toBe('carl');
  expect(await listed('bounce_class=hard')).toBe('bob');
  expect(await listed('state=accepted&outcome=complained')).toBe('dora');
  expect(await listed('state=failed&outcome=opened')).toBe('');
});

test('messages that a shard has yet to send, or is sending, are listed as such', async () => {
  const { id, messages, listed } = await campaignOf({
    ada: SENT,
    bob: { state: 'claimed', claim: 'shard', claimed_at: NOW },
    carl: { state: 'planned' },
  });
  await pool.query(
    `INSERT INTO campaign_shards (fencing_token, campaign_id, run, cursor, until, expires_at, claimed_count)
     VALUES ($1, $2, 1, $3, $4, now(), 1)`,
    [newId('eml'), id, messages.bob, messages.carl],
  );
  expect(await listed('state=planned')).toBe('carl');
  expect(await listed('state=claimed')).toBe('bob');
});

test('a search finds part of an address, and combines with the other filters', async () => {
  const { api, path, listed } = await campaignOf(FATES);
  expect(await listed('search=A')).toBe('ada alan bob carl dora eve fred gina');
  expect(await listed('search=LA')).toBe('alan');
  expect(await listed('search=ar')).toBe('carl');
  expect(await listed('search=mail.test&outcome=bounced')).toBe('bob carl');
  expect(await listed('search=%25')).toBe('');
  expect(await listed('email=ADA@mail.test')).toBe('ada');
  const { body } = await api.get(`${path}?outcome=bounced&limit=1&total=true`);
  expect(body).toMatchObject({ has_more: true, total: 2 });
  const next = (await api.get(`${path}?outcome=bounced&limit=1&cursor=${body.next_cursor}`)).body;
  expect(next.has_more).toBe(false);
  expect(namesOf([...body.data, ...next.data])).toBe('bob carl');
});

test('a link lists the people who clicked it, and the bots apart', async () => {
  const { api, id, path, messages, listed } = await campaignOf(FATES);
  await pool.query(
    `INSERT INTO tracked_links (owner_id, position, url) SELECT $1, at, 'https://a.example/' FROM generate_series(0, 1) at`,
    [id],
  );
  const hit = (name: string, position: number, verdict: string) =>
    pool.query(
      `INSERT INTO tracking_hits (message_id, project_id, kind, position, at, verdict) VALUES ($1, $2, 'click', $3, now(), $4::hit_verdict)`,
      [messages[name], api.projectId, position, verdict],
    );
  await hit('ada', 1, 'person');
  await hit('alan', 0, 'machine');
  expect(await listed('link=1')).toBe('ada');
  expect(await listed('link=1&outcome=clicked')).toBe('ada');
  expect(await listed('link=0')).toBe('');
  expect(await listed('link=0&outcome=clicked_by_machines')).toBe('alan');
  const wrong = await api.get(`${path}?link=1&outcome=opened`);
  expect(wrong.status).toBe(400);
  expect(wrong.body.error.details[0].field).toBe('link');
  for (const unknown of [`${path}?link=2`, `${path}/export?link=2`])
    expect((await api.get(unknown)).body.error.details).toEqual([
      { field: 'link', message: 'is not a tracked link of this campaign' },
    ]);
  for (const query of [
    'link=-1',
    'link=x',
    'outcome=liked',
    'bounce_class=odd',
    `search=${'x'.repeat(400)}`,
    `email=${'x'.repeat(400)}`,
  ])
    expect([query, (await api.get(`${path}?${query}`)).status]).toEqual([query, 400]);
});

test('a recipient has the status of its email, and says why it bounced', async () => {
  const { api, path } = await campaignOf({ bob: FATES.bob, ada: FATES.ada });
  const [ada, bob] = (await api.get(path)).body.data;
  expect(ada).toMatchObject({ state: 'accepted', status: 'delivered', bounceClass: null });
  expect(bob).toMatchObject({
    state: 'accepted',
    status: 'bounced',
    bounceClass: 'hard',
    bounceReason: '550 5.1.1 No such user',
  });
});

test('the campaign says how many messages were deferred, and when the first is retried', async () => {
  const { api, id } = await campaignOf(FATES);
  const read = async () => (await api.get(`/v1/campaigns/${id}`)).body.data.deferred as unknown;
  expect(await read()).toEqual({ messages: 1, nextRetryAt: FATES.fred.not_before.toISOString() });
  await pool.query(`UPDATE messages SET state = 'failed' WHERE campaign_id = $1 AND deferrals > 0`, [id]);
  expect(await read()).toBeNull();
});

test('the list is exported as a CSV file with the same filters', async () => {
  const { api, path, messages } = await campaignOf({ bob: FATES.bob, eve: { ...FATES.eve, answer: '=cmd' } });
  const [header, ...lines] = (await file(api, `${path}/export`)).trimEnd().split('\r\n');
  expect(header).toMatch(/^email,contact_id,message_id,state,status,answer,/);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(new RegExp(`^eve@mail\\.test,ctc_\\w+,${messages.eve},failed,failed,'=cmd,`));
  const bounced = (await file(api, `${path}/export?outcome=bounced`)).trimEnd().split('\r\n');
  expect(bounced).toHaveLength(2);
  expect(bounced[1]).toContain('hard,550 5.1.1 No such user');
  expect((await api.get(`${path}/export?outcome=liked`)).status).toBe(400);
  expect((await (await testApi()).get(`${path}/export`)).status).toBe(404);
});

test('the list and the file say when a message was rejected, which alone tells why its status is failed', async () => {
  const fates = { ada: FATES.ada, hugo: { ...SENT, rejected_at: NOW, answer: '250 kept' } };
  const { api, path, listed } = await campaignOf(fates);
  expect(await listed('outcome=rejected')).toBe('hugo');
  const [header = '', hugo = '', ada = ''] = (await file(api, `${path}/export`)).trimEnd().split('\r\n');
  const valueOf = (line: string, column: string) => line.split(',')[header.split(',').indexOf(column)];
  expect([valueOf(hugo, 'status'), valueOf(hugo, 'rejected_at')]).toEqual(['failed', NOW.toISOString()]);
  expect([valueOf(ada, 'status'), valueOf(ada, 'rejected_at')]).toEqual(['delivered', '']);
});

test('who waits for a local time has that time, and who got it before others is listed', async () => {
  const later = new Date(NOW.getTime() + 3_600_000);
  const { api, id, path, messages, listed } = await campaignOf({
    hana: { state: 'planned', not_before: later },
    ida: SENT,
    fred: { ...FATES.fred, claimed_at: NOW },
  });
  await pool.query(
    `UPDATE campaigns SET local_time = '2037-01-01T09:00', time_zone = 'UTC', time_zone_field = 'zone', cursor = $2 WHERE id = $1`,
    [id, messages.hana],
  );
  expect(await listed('state=accepted')).toBe('ida');
  expect(await listed('state=planned')).toBe('fred hana');
  expect(await listed('outcome=deferred')).toBe('fred');
  const { data } = (await api.get(`${path}?email=hana@mail.test`)).body;
  expect(data).toMatchObject([{ state: 'planned', notBefore: later.toISOString() }]);
  const [header = '', ...lines] = (await file(api, `${path}/export?state=planned`)).trimEnd().split('\r\n');
  const times = lines.map((line) => {
    const values = Object.fromEntries(header.split(',').map((name, index) => [name, line.split(',')[index]]));
    return [values.email, values.next_retry_at, values.scheduled_at];
  });
  expect(times.toSorted()).toEqual([
    ['fred@mail.test', FATES.fred.not_before.toISOString(), ''],
    ['hana@mail.test', '', later.toISOString()],
  ]);
});

async function file(api: Api, path: string): Promise<string> {
  const response = await fetch(api.url + path, { headers: { Authorization: `Bearer ${api.key}` } });
  expect(response.status).toBe(200);
  return response.text();
}

test('recipients become a group, without contacts deleted since', async () => {
  const { api, path } = await campaignOf(FATES);
  const [carl] = (await api.get('/v1/contacts?email=carl@mail.test')).body.data;
  await api.delete(`/v1/contacts/${carl.id}`);
  const { status, body } = await api.post(`${path}/group`, { name: 'Bounced', filter: { outcome: 'bounced' } });
  expect(status).toBe(201);
  expect(body.data).toMatchObject({ name: 'Bounced', contactCount: 1 });
  const members = (await api.get(`/v1/contacts?group_id=${body.data.id}`)).body.data;
  expect(namesOf(members)).toBe('bob');

  const group = (name: string, filter: object) => api.post(`${path}/group`, { name, filter });
  expect((await group('Bounced', { outcome: 'opened' })).status).toBe(409);
  const none = await group('None', { search: 'nobody' });
  expect(none.status).toBe(400);
  expect(none.body.error.details[0].field).toBe('filter');
  const foreign = await (await testApi()).post(`${path}/group`, { name: 'Theirs', filter: {} });
  expect(foreign.status).toBe(404);
  await pool.query('UPDATE campaigns SET recipients_deleted_at = now() WHERE project_id = $1', [api.projectId]);
  expect((await group('Late', { outcome: 'opened' })).status).toBe(409);
  expect((await group(' ', { outcome: 'opened' })).body.error.details).toMatchObject([{ field: 'name' }]);
});

test('the campaign before is the last one started earlier that had recipients', async () => {
  const { api, id } = await campaignOf({ ada: FATES.ada });
  const PREVIOUS = 'query ($id: ID!) { previousCampaign(id: $id) { name } }';
  const previous = async () => (await api.graphql(PREVIOUS, { id })).body.data.previousCampaign as unknown;
  expect(await previous()).toBeNull();
  const earlier = (name: string, days: number, recipients: number) =>
    pool.query(
      `INSERT INTO campaigns (id, project_id, name, status, started_at, recipient_count)
       VALUES ($1, $2, $3, 'completed', now() - $4 * interval '1 day', $5)`,
      [newId('cmp'), api.projectId, name, days, recipients],
    );
  await earlier('Older', 9, 5);
  await earlier('October', 5, 5);
  await earlier('Empty', 2, 0);
  expect(await previous()).toEqual({ name: 'October' });
});

test('an exact address is looked up by index, however large the campaign', async () => {
  const { id } = await campaignOf({ ada: SENT });
  await inTransaction(async (tx) => {
    await tx.query('SET LOCAL enable_seqscan = off');
    const { from, parameters } = recipientsSql(id, { email: 'ada@mail.test' });
    const { rows } = await tx.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT m.id ${from} ORDER BY m.id DESC LIMIT 51`,
      parameters.values,
    );
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(
      /messages_past_recipient_idx on messages_past r_1 .*\n +Index Cond: .*COALESCE\(email_key/,
    );
  });
});

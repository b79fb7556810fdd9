import { db, DEADLOCK, hasCode, newId, pool } from '@postroom/platform';
import { eventually, signedIn, testApi } from '@postroom/testkit';
import { checkPlans } from '@postroom/testkit/plans';
import { expect, test } from 'vitest';
import { disableAutomatically } from '../src/endpoints.ts';
import { EVENT_TYPE_NAMES } from '@postroom/events';

checkPlans();

const URL = 'https://example.com/hooks?token=1';

test('creating an endpoint generates its signing secret, which starts with whsec_ and is shown once', async () => {
  const api = await testApi();
  const reply = await api.post('/v1/webhooks', { url: URL, events: ['contact.created'], description: ' Our CRM ' });
  expect(reply.status).toBe(201);
  expect(reply.body.data).toEqual({
    id: expect.stringMatching(/^whe_/),
    url: URL,
    description: 'Our CRM',
    events: ['contact.created'],
    enabled: true,
    disabledAt: null,
    disabledReason: null,
    disabledAutomatically: false,
    failingSince: null,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  const { secret: _secret, ...shown } = reply.body.data;
  const later = await api.get(`/v1/webhooks/${shown.id}`);
  expect(later.body).toEqual({ data: shown });
  expect(JSON.stringify((await api.get('/v1/webhooks')).body)).not.toContain('whsec_');
});

test('secrets are encrypted at rest and bound to their row', async () => {
  const api = await testApi();
  const { body } = await api.post('/v1/webhooks', { url: URL, events: ['*'] });
  const { secret } = await db.webhookEndpoint.findUniqueOrThrow({ where: { id: body.data.id } });
  expect(secret).toMatch(/^v2:/);
  expect(secret).not.toContain(body.data.secret.slice(6, 20));
});

test.each([
  [{ url: URL, events: ['contact.created', 'contact.creatd'] }, 'events.1', /contact\.creatd/],
  [{ url: URL, events: [] }, 'events', /at least one/],
  [{ url: URL, events: ['*', 'contact.created'] }, 'events', /alone/],
  [{ url: '/hook', events: ['*'] }, 'url', /absolute/],
  [{ url: 'ftp://example.com', events: ['*'] }, 'url', /https/],
  [{ url: 'https://169.254.169.254/', events: ['*'] }, 'url', /private/],
  [{ url: `https://example.com/${'x'.repeat(2048)}`, events: ['*'] }, 'url', /2048/],
  [{ url: URL, events: ['*'], description: 'x'.repeat(501) }, 'description', /500/],
])('what is wrong with an endpoint is said by field: %#', async (input, field, message) => {
  const api = await testApi();
  const reply = await api.post('/v1/webhooks', input);
  expect(reply).toMatchObject({ status: 400, body: { error: { code: 'validation_error' } } });
  expect(reply.body.error.details).toContainEqual({ field, message: expect.stringMatching(message) });
});

test('events is an array of event types: all types of the spec are accepted and duplicates count once', async () => {
  const api = await testApi();
  const reply = await api.post('/v1/webhooks', { url: URL, events: [...EVENT_TYPE_NAMES, 'contact.created'] });
  expect(reply.body.data.events).toEqual(EVENT_TYPE_NAMES);
});

test('endpoints are listed newest first, can be updated in part, and deleted', async () => {
  const api = await testApi();
  const [one, two] = [
    (await api.post('/v1/webhooks', { url: `${URL}&n=1`, events: ['*'], description: 'first' })).body.data,
    (await api.post('/v1/webhooks', { url: `${URL}&n=2`, events: ['*'] })).body.data,
  ];
  const list = await api.get('/v1/webhooks?limit=1');
  expect(list.body).toMatchObject({ data: [{ id: two.id }], has_more: true });
  const rest = await api.get(`/v1/webhooks?limit=1&cursor=${list.body.next_cursor}`);
  expect(rest.body).toMatchObject({ data: [{ id: one.id }], has_more: false, next_cursor: null });

  const patched = await api.patch(`/v1/webhooks/${one.id}`, { events: ['email.bounced'] });
  expect(patched).toMatchObject({ status: 200, body: { data: { events: ['email.bounced'], description: 'first' } } });
  expect((await api.patch(`/v1/webhooks/${one.id}`, { description: '' })).body.data.description).toBeNull();
  expect((await api.patch(`/v1/webhooks/${one.id}`, {})).status).toBe(400);
  expect((await api.patch(`/v1/webhooks/${one.id}`, { events: ['nope'] })).status).toBe(400);

  expect((await api.delete(`/v1/webhooks/${one.id}`)).body).toEqual({ deleted: true });
  expect((await api.get(`/v1/webhooks/${one.id}`)).status).toBe(404);
  expect((await api.delete(`/v1/webhooks/${one.id}`)).status).toBe(404);
});

test('an endpoint can be deleted while a worker holds one of its deliveries and waits for it', async () => {
  const api = await testApi();
  const { id } = (await api.post('/v1/webhooks', { url: URL, events: ['contact.created'] })).body.data;
  await api.contact('ada@example.net');
  const worker = await pool.connect();
  await worker.query('BEGIN');
  const held = await worker.query('SELECT id FROM deliveries WHERE endpoint_id = $1 FOR UPDATE', [id]);
  expect(held.rows).toHaveLength(1);
  const deleting = api.delete(`/v1/webhooks/${id}`);
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DELETE FROM webhook_endpoints%'`;
  await eventually(async () => expect((await pool.query(waiting)).rowCount).toBe(1));
  // PostgreSQL cancels either of the two, usually the one that has waited for longer. A COMMIT of what it has canceled is a rollback.
  await worker.query('UPDATE webhook_endpoints SET failures_in_row = 1 WHERE id = $1', [id]).catch((error: unknown) => {
    if (!hasCode(error, DEADLOCK)) throw error;
  });
  await worker.query('COMMIT');
  worker.release();
  expect((await deleting).status).toBe(200);
});

test("another project's endpoint is not found by any operation", async () => {
  const [mine, theirs] = [await testApi(), await testApi()];
  const { id } = (await theirs.post('/v1/webhooks', { url: URL, events: ['*'] })).body.data;
  const replies = await Promise.all([
    mine.get(`/v1/webhooks/${id}`),
    mine.patch(`/v1/webhooks/${id}`, { events: ['*'] }),
    mine.delete(`/v1/webhooks/${id}`),
    mine.get(`/v1/webhooks/${id}/deliveries`),
    mine.post(`/v1/webhooks/${id}/test`),
    mine.post(`/v1/webhooks/${id}/replay`, { since: '2026-01-01T00:00:00Z' }),
    mine.get(`/v1/webhooks/${newId('whe')}`),
    mine.get('/v1/webhooks/nonsense'),
  ]);
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 404));
  expect((await theirs.get(`/v1/webhooks/${id}`)).status).toBe(200);
});

test('a sending key may not touch webhooks', async () => {
  const api = await testApi();
  const { key } = await api.newKey('sending');
  const reply = await api.send('GET', '/v1/webhooks', { key });
  expect(reply).toMatchObject({ status: 403, body: { error: { code: 'insufficient_scope' } } });
});

test('only signed-in users can reveal and rotate a secret, and both are audited', async () => {
  const api = await testApi();
  const { id, secret } = (await api.post('/v1/webhooks', { url: URL, events: ['*'] })).body.data;
  const reveal = `mutation ($id: ID!) { webhookEndpointRevealSecret(id: $id) { endpoint { id } secret } }`;
  const rotate = `mutation ($id: ID!) { webhookEndpointRotateSecret(id: $id) { secret } }`;
  const former = ['revealWebhookSecret', 'rotateWebhookSecret'].map(
    (name) => `mutation ($id: ID!) { ${name}(id: $id) }`,
  );
  const enable = `mutation ($id: ID!) { enableWebhookEndpoint(id: $id) { enabled } }`;
  for (const mutation of [reveal, rotate, ...former]) {
    const refused = await api.graphql(mutation, { id });
    expect(refused.body.errors[0].extensions.code).toBe('forbidden');
  }
  const owner = await signedIn(api);
  const revealed = async () => (await owner.graphql(reveal, { id })).body.data.webhookEndpointRevealSecret;
  expect(await revealed()).toEqual({ endpoint: { id }, secret });
  const rotated = (await owner.graphql(rotate, { id })).body.data.webhookEndpointRotateSecret.secret;
  expect(rotated).toMatch(/^whsec_/);
  expect(rotated).not.toBe(secret);
  expect((await revealed()).secret).toBe(rotated);
  expect((await owner.graphql(enable, { id })).body.data).toEqual({ enableWebhookEndpoint: { enabled: true } });
  const log = await owner.graphql('{ auditLog(first: 4) { nodes { actorId action targetId } } }');
  const done = ['enableWebhookEndpoint', 'revealWebhookSecret', 'rotateWebhookSecret', 'revealWebhookSecret'];
  expect(log.body.data.auditLog.nodes).toEqual(done.map((action) => ({ actorId: owner.id, action, targetId: id })));
});

test('revealing a secret whose encryption key is lost says to rotate it, and a rotation works', async () => {
  const api = await testApi();
  const { id } = (await api.post('/v1/webhooks', { url: URL, events: ['*'] })).body.data;
  await pool.query(
    `UPDATE webhook_endpoints SET secret = regexp_replace(secret, '^v2:[^:]+', 'v2:lost') WHERE id = $1`,
    [id],
  );
  const owner = await signedIn(api);
  const reveal = () => owner.graphql('mutation ($id: ID!) { webhookEndpointRevealSecret(id: $id) { secret } }', { id });
  expect((await reveal()).body.errors).toMatchObject([
    { message: expect.stringContaining('Rotate it'), extensions: { code: 'conflict' } },
  ]);
  const rotated = await owner.graphql('mutation ($id: ID!) { webhookEndpointRotateSecret(id: $id) { secret } }', {
    id,
  });
  expect((await reveal()).body.data.webhookEndpointRevealSecret).toEqual(rotated.body.data.webhookEndpointRotateSecret);
});

test('an API key can enable an endpoint disabled manually, but not one disabled automatically', async () => {
  const api = await testApi();
  const { id } = (await api.post('/v1/webhooks', { url: URL, events: ['*'] })).body.data;
  const disabled = await api.post(`/v1/webhooks/${id}/disable`);
  expect(disabled.body.data).toMatchObject({ enabled: false, disabledAutomatically: false });
  const enabled = await api.post(`/v1/webhooks/${id}/enable`);
  expect(enabled).toMatchObject({ status: 200, body: { data: { enabled: true, disabledReason: null } } });

  await disableAutomatically(id, 'It kept failing.');
  const refused = await api.post(`/v1/webhooks/${id}/enable`);
  expect(refused).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
  expect(refused.body.error.message).toContain('Enable it in the dashboard');
  expect((await api.get(`/v1/webhooks/${id}`)).body.data).toMatchObject({
    enabled: false,
    disabledAutomatically: true,
  });

  const owner = await signedIn(api);
  const enable = `mutation ($id: ID!) { enableWebhookEndpoint(id: $id) { enabled disabledAutomatically } }`;
  expect((await owner.graphql(enable, { id })).body.data.enableWebhookEndpoint).toEqual({
    enabled: true,
    disabledAutomatically: false,
  });
});

test('an endpoint that is disabled automatically notifies owners and admins once', async () => {
  const api = await testApi();
  const admin = await signedIn(api, 'admin');
  const { id } = (await api.post('/v1/webhooks', { url: URL, events: ['*'] })).body.data;
  const reason = 'No attempt has been acknowledged for 3 days.';
  const disabled = await Promise.all(Array.from({ length: 4 }, () => disableAutomatically(id, reason)));
  expect(disabled.filter(Boolean)).toHaveLength(1);
  const { body } = await admin.graphql('{ notifications { nodes { kind subjectId title detail } } }');
  expect(body.data.notifications.nodes).toEqual([
    { kind: 'endpoint_disabled', subjectId: id, title: 'Webhooks to example.com were stopped', detail: reason },
  ]);
});

test('a project member without the manage permission cannot enable or disable an endpoint', async () => {
  const api = await testApi();
  const { id } = (await api.post('/v1/webhooks', { url: URL, events: ['*'] })).body.data;
  const member = await signedIn(api, 'member');
  for (const name of ['enableWebhookEndpoint', 'disableWebhookEndpoint']) {
    const { body } = await member.graphql(`mutation ($id: ID!) { ${name}(id: $id) { id } }`, { id });
    expect(body.errors[0].extensions.code).toBe('forbidden');
  }
});

test('an event becomes one delivery for each enabled endpoint that subscribes to its type; ["*"] covers types added later', async () => {
  const api = await testApi();
  const create = async (events: string[]) =>
    (await api.post('/v1/webhooks', { url: URL, events })).body.data.id as string;
  const [all, contacts, emails, off] = [
    await create(['*']),
    await create(['contact.created', 'contact.deleted']),
    await create(['email.sent']),
    await create(['*']),
  ];
  await pool.query('UPDATE webhook_endpoints SET enabled = false WHERE id = $1', [off]);
  // One statement, as bulk work does it: two types, and one that does not exist yet.
  await pool.query(
    `INSERT INTO events (id, project_id, type, data)
     SELECT postroom_id('evt'), $1, type, '{}' FROM unnest(ARRAY['contact.created', 'email.sent', 'some.later_type']) AS type`,
    [api.projectId],
  );
  const { rows } = await pool.query<{ endpoint_id: string; type: string }>(
    `SELECT d.endpoint_id, e.type FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.project_id = $1`,
    [api.projectId],
  );
  const typesOf = (id: string) =>
    rows
      .filter((row) => row.endpoint_id === id)
      .map((row) => row.type)
      .toSorted();
  expect(typesOf(all)).toEqual(['contact.created', 'email.sent', 'some.later_type']);
  expect(typesOf(contacts)).toEqual(['contact.created']);
  expect(typesOf(emails)).toEqual(['email.sent']);
  expect(typesOf(off)).toEqual([]);
});

import { createHmac } from 'node:crypto';
import { idsFrom, isId, newId, pool, record } from '@postroom/platform';
import {
  type Api,
  eventually,
  type Receiver,
  signedIn,
  startReceiver,
  startTestWorker,
  testApi,
} from '@postroom/testkit';
import { checkPlans } from '@postroom/testkit/plans';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { watchDeliveries } from '../src/subscription.ts';

checkPlans();

beforeAll(startTestWorker);

const receivers: Receiver[] = [];
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

async function receiver(answer?: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const started = await startReceiver(answer);
  receivers.push(started);
  return started;
}

interface Endpoint {
  id: string;
  secret: string;
}

async function endpoint(api: Api, url: string, events = ['*']): Promise<Endpoint> {
  return (await api.post('/v1/webhooks', { url, events })).body.data;
}

const happen = (api: Api, type: string, data: Record<string, unknown> = {}) =>
  record(pool, api.projectId, [{ type, data }]);

async function deliveries(api: Api, { id }: Endpoint, query = '') {
  return (await api.get(`/v1/webhooks/${id}/deliveries${query}`)).body.data;
}

/** The only delivery to an endpoint, once it is in this state. */
const onlyDelivery = (api: Api, to: Endpoint, state: string) =>
  eventually(async () => {
    const list = await deliveries(api, to, `?state=${state}`);
    expect(list).toHaveLength(1);
    return list[0];
  });

/**
 * Verifies as a receiver would, with the header parsed into a map: t=<timestamp>,v1=<hex> over `<timestamp>.<raw
 * body>`.
 */
function verifies(header: unknown, raw: string, secret: string): boolean {
  const { t, v1 } = Object.fromEntries(
    String(header)
      .split(',')
      .map((part) => part.split('=', 2)),
  ) as { t?: string; v1?: string };
  return v1 === createHmac('sha256', secret).update(`${t}.${raw}`).digest('hex');
}

test('each delivery is a POST with the body, headers and signature of the spec', async () => {
  const api = await testApi();
  const there = await receiver();
  const { id, secret } = await endpoint(api, there.url);
  await happen(api, 'contact.created', { contact_id: 'ctc_1', email: 'zoë@example.com', name: 'Zoë 🐘' });
  const [{ headers, raw, event }] = await eventually(() => {
    expect(there.received).toHaveLength(1);
    return there.received as [Receiver['received'][0]];
  });

  const [recorded] = await api.events();
  expect(Object.keys(event)).toEqual(['id', 'type', 'created', 'project_id', 'data']);
  expect(event).toEqual({
    id: recorded?.id,
    type: 'contact.created',
    created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    project_id: api.projectId,
    data: { contact_id: 'ctc_1', email: 'zoë@example.com', name: 'Zoë 🐘' },
  });
  const [delivery] = await deliveries(api, { id, secret });
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-webhook-id': expect.stringMatching(`^${delivery.id}\\.1\\.[0-9a-f]{16}$`),
    'x-webhook-event': 'contact.created',
    'x-webhook-timestamp': expect.stringMatching(/^\d{10}$/),
    'webhook-id': event.id,
  });
  expect(Math.abs(Number(headers['x-webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
  expect(headers['x-webhook-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  expect(headers['x-webhook-signature']).toContain(`t=${String(headers['x-webhook-timestamp'])},`);
  expect(verifies(headers['x-webhook-signature'], raw, secret)).toBe(true);
  expect(verifies(headers['x-webhook-signature'], `${raw} `, secret)).toBe(false);
});

test('after a rotation the new secret signs X-Webhook-Signature, and for a day the old one signs X-Webhook-Signature-Previous', async () => {
  const api = await testApi();
  const there = await receiver();
  const { id, secret } = await endpoint(api, there.url);
  const owner = await signedIn(api);
  const rotation = await owner.graphql('mutation ($id: ID!) { rotateWebhookSecret(id: $id) }', { id });
  const next = rotation.body.data.rotateWebhookSecret as string;
  await happen(api, 'contact.created');
  const [{ headers, raw }] = await eventually(() => {
    expect(there.received).toHaveLength(1);
    return there.received as [Receiver['received'][0]];
  });
  expect(headers['x-webhook-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  expect(headers['x-webhook-signature-previous']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  expect(verifies(headers['x-webhook-signature'], raw, next)).toBe(true);
  expect(verifies(headers['x-webhook-signature-previous'], raw, secret)).toBe(true);
  const standard = (key: string) =>
    createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
      .update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${raw}`)
      .digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${standard(next)} v1,${standard(secret)}`);

  // A day later, only the new one signs.
  await pool.query(`UPDATE webhook_endpoints SET previous_secret_expires_at = now() - interval '1 s' WHERE id = $1`, [
    id,
  ]);
  await happen(api, 'contact.created');
  await eventually(() => expect(there.received).toHaveLength(2));
  const later = there.received[1];
  expect(verifies(later?.headers['x-webhook-signature'], later?.raw ?? '', next)).toBe(true);
  expect(later?.headers).not.toHaveProperty('x-webhook-signature-previous');
  expect(later?.headers['webhook-signature']).not.toContain(' ');
});

test('a secret whose key was lost can be rotated: the new one signs, without the old one', async () => {
  const api = await testApi();
  const there = await receiver();
  const { id } = await endpoint(api, there.url);
  await pool.query(
    "UPDATE webhook_endpoints SET secret = regexp_replace(secret, '^v2:[^:]+', 'v2:00000000') WHERE id = $1",
    [id],
  );
  const owner = await signedIn(api);
  const rotation = await owner.graphql('mutation ($id: ID!) { rotateWebhookSecret(id: $id) }', { id });
  await happen(api, 'contact.created');
  const [{ headers, raw }] = await eventually(() => {
    expect(there.received).toHaveLength(1);
    return there.received as [Receiver['received'][0]];
  });
  expect(verifies(headers['x-webhook-signature'], raw, rotation.body.data.rotateWebhookSecret)).toBe(true);
  expect(headers).not.toHaveProperty('x-webhook-signature-previous');
});

test.each([200, 201, 202, 204, 299])('a reply of %i acknowledges the delivery', async (status) => {
  const api = await testApi();
  const there = await receiver((_, response) => void response.writeHead(status).end());
  const to = await endpoint(api, there.url);
  await happen(api, 'contact.created');
  const [delivery] = await eventually(async () => {
    const list = await deliveries(api, to);
    expect(list).toMatchObject([{ state: 'acknowledged', attemptCount: 1, nextAttemptAt: null }]);
    return list;
  });
  expect(delivery.closedAt).toEqual(expect.any(String));
});

test.each([301, 400, 410, 429, 500, 503])('a reply of %i is a failure: the delivery is retried', async (status) => {
  const api = await testApi();
  const there = await receiver(
    (_, response) => void response.writeHead(status, { location: '/elsewhere' }).end('sorry'),
  );
  const to = await endpoint(api, there.url);
  await happen(api, 'contact.created');
  const delivery = await onlyDelivery(api, to, 'retried');
  // About one minute later, plus at most 10 %; an overloaded receiver did not ask for longer.
  const wait = Date.parse(delivery.nextAttemptAt) - Date.now();
  expect(wait).toBeGreaterThan(40_000);
  expect(wait).toBeLessThan(66_500);
  const { body } = await api.get(`/v1/deliveries/${delivery.id}`);
  expect(body.data.attempts).toEqual([
    {
      number: 1,
      startedAt: expect.any(String),
      durationMs: expect.any(Number),
      status,
      error: null,
      response: 'sorry',
      headers: expect.objectContaining({
        'X-Webhook-Event': 'contact.created',
        'X-Webhook-Id': there.received[0]?.headers['x-webhook-id'],
      }),
      workflowId: expect.stringMatching(/^(dlv|batch)_/),
      workflowUrl: expect.stringMatching(/\/workflows\/(dlv|batch)_/),
    },
  ]);
  expect(there.received).toHaveLength(1);
});

test('a single 410 does not disable an endpoint: six attempts and the rule for continuous failure come first', async () => {
  const api = await testApi();
  const there = await receiver((_, response) => void response.writeHead(410).end());
  const to = await endpoint(api, there.url);
  await happen(api, 'contact.created');
  await eventually(async () => expect(await deliveries(api, to, '?state=retried')).toHaveLength(1));
  await happen(api, 'contact.created');
  await eventually(() => expect(there.received).toHaveLength(2));
  expect((await api.get(`/v1/webhooks/${to.id}`)).body.data).toMatchObject({ enabled: true, disabledReason: null });
});

/** Makes the endpoint look as if it had been failing for this long, with this many consecutive deliveries. */
const failingSince = (id: string, hours: number, failures: number) =>
  pool.query(
    `UPDATE webhook_endpoints SET failing_since = now() - interval '1 hour' * $2, failures_in_row = $3 WHERE id = $1`,
    [id, hours, failures],
  );

test.each([
  ['only fails for 3 days', 72, 1, /3 days/],
  ['fails 100 deliveries in a row over an hour', 1.01, 99, /100 deliveries in a row/],
])('an endpoint that %s is disabled automatically, and what waits for it is kept', async (_, hours, failures, why) => {
  const api = await testApi();
  const there = await receiver((_received, response) => void response.writeHead(500).end());
  const { id } = await endpoint(api, there.url);
  await failingSince(id, hours, failures);
  await happen(api, 'contact.created');
  await eventually(async () => {
    const { body } = await api.get(`/v1/webhooks/${id}`);
    expect(body.data).toMatchObject({ enabled: false, disabledReason: expect.stringMatching(why) });
  });
  expect(await deliveries(api, { id, secret: '' })).toMatchObject([{ state: 'retried', attemptCount: 1 }]);
});

test("one acknowledgement resets an endpoint's failures", async () => {
  const api = await testApi();
  const there = await receiver();
  const { id } = await endpoint(api, there.url);
  await failingSince(id, 100, 99);
  await happen(api, 'contact.created');
  await eventually(async () => {
    const { rows } = await pool.query(
      'SELECT enabled, failures_in_row, failing_since FROM webhook_endpoints WHERE id = $1',
      [id],
    );
    expect(rows).toEqual([{ enabled: true, failures_in_row: 0, failing_since: null }]);
  });
});

test('every event reaches every subscribed endpoint exactly once, even in a burst', async () => {
  const api = await testApi();
  const [one, two] = [await receiver(), await receiver()];
  const all = await endpoint(api, one.url);
  await endpoint(api, two.url, ['email.delivered']);
  await pool.query(
    `INSERT INTO events (id, project_id, type, data)
     SELECT postroom_id('evt'), $1, CASE WHEN n % 3 = 0 THEN 'email.delivered' ELSE 'email.sent' END, json_build_object('n', n)
     FROM generate_series(1, 600) AS n`,
    [api.projectId],
  );
  await eventually(() => {
    expect(new Set(one.received.map(({ event }) => event.id)).size).toBe(600);
    expect(new Set(two.received.map(({ event }) => event.id)).size).toBe(200);
  }, 60_000);
  await eventually(async () => expect(await deliveries(api, all, '?state=acknowledged&limit=1000')).toHaveLength(600));
  expect(one.received).toHaveLength(600);
  expect(two.received).toHaveLength(200);
  expect(one.received.every(({ headers, raw }) => verifies(headers['x-webhook-signature'], raw, all.secret))).toBe(
    true,
  );
  const { rows } = await pool.query('SELECT DISTINCT workflow_id FROM deliveries WHERE endpoint_id = $1', [all.id]);
  expect(rows.length).toBeLessThan(200); // most went in batches
}, 120_000);

test('a replayed delivery posts the same body, byte for byte', async () => {
  const api = await testApi();
  const there = await receiver();
  const to = await endpoint(api, there.url);
  await happen(api, 'contact.created', { b: 1, a: { z: [1, 2.5, 'x'] } });
  const delivery = await onlyDelivery(api, to, 'acknowledged');
  const replay = await api.post(`/v1/deliveries/${delivery.id}/replay`);
  expect(replay).toMatchObject({ status: 202, body: { data: { replayOf: delivery.id, eventId: delivery.eventId } } });
  expect(replay.body.data.id).not.toBe(delivery.id);
  await eventually(() => expect(there.received).toHaveLength(2));
  const [first, second] = there.received;
  expect(second?.raw).toBe(first?.raw);
  expect(second?.headers['x-webhook-id']).not.toBe(first?.headers['x-webhook-id']);
});

test('a delivery in progress cannot be replayed', async () => {
  const api = await testApi();
  const there = await receiver((_, response) => void response.writeHead(500).end());
  const to = await endpoint(api, there.url);
  await happen(api, 'contact.created');
  const delivery = await onlyDelivery(api, to, 'retried');
  expect(await api.post(`/v1/deliveries/${delivery.id}/replay`)).toMatchObject({
    status: 409,
    body: { error: { code: 'conflict' } },
  });
});

test('replaying failures since a time replays each once and leaves earlier failures alone', async () => {
  const api = await testApi();
  const there = await receiver();
  const to = await endpoint(api, there.url);
  // Three failed deliveries: long ago and recently.
  await pool.query(
    `WITH event AS (
       INSERT INTO events (id, project_id, type, data)
       SELECT postroom_id('evt'), $1, 'webhook.test', json_build_object('n', n) FROM generate_series(1, 3) AS n RETURNING id
     )
     INSERT INTO deliveries (id, project_id, endpoint_id, event_id, state, attempt_count, dispatched_at, closed_at)
     SELECT postroom_id('dlv'), $1, $2, id, 'failed', 6, now(), now() - interval '1 day' * (row_number() OVER () - 1) FROM event`,
    [api.projectId, to.id],
  );
  const since = new Date(Date.now() - 36 * 3600 * 1000).toISOString();
  expect((await api.post(`/v1/webhooks/${to.id}/replay`, { since })).body).toEqual({ data: { replayed: 2 } });
  expect((await api.post(`/v1/webhooks/${to.id}/replay`, { since })).body).toEqual({ data: { replayed: 0 } });
  await eventually(() => expect(there.received).toHaveLength(2));
  expect(await deliveries(api, to, '?state=failed')).toHaveLength(3);
});

test('a test event goes only to the endpoint it names, regardless of its event types', async () => {
  const api = await testApi();
  const [tested, other] = [await receiver(), await receiver()];
  const to = await endpoint(api, tested.url, ['contact.created']);
  await endpoint(api, other.url, ['*']);
  const reply = await api.post(`/v1/webhooks/${to.id}/test`);
  expect(reply.status).toBe(202);
  await eventually(() => expect(tested.received).toHaveLength(1));
  expect(tested.received[0]?.event).toMatchObject({
    id: reply.body.data.eventId,
    type: 'webhook.test',
    data: { endpoint_id: to.id },
  });
  expect((await api.get(`/v1/deliveries/${reply.body.data.deliveryId}`)).body.data.eventType).toBe('webhook.test');
  expect(other.received).toHaveLength(0);
});

test("a disabled endpoint's waiting deliveries are kept, and delivered once it is enabled", async () => {
  const api = await testApi();
  const there = await receiver();
  const to = await endpoint(api, there.url);
  const owner = await signedIn(api);
  const set = (what: string) =>
    owner.graphql(`mutation ($id: ID!) { ${what}WebhookEndpoint(id: $id) { enabled } }`, { id: to.id });
  // Events recorded while the endpoint is disabled, in one transaction, so that the dispatcher sees both or neither.
  const client = await pool.connect();
  await client.query('BEGIN');
  await record(client, api.projectId, [{ type: 'contact.created', data: {} }]);
  await client.query(`UPDATE webhook_endpoints SET enabled = false, disabled_at = now() WHERE id = $1`, [to.id]);
  await client.query('COMMIT');
  client.release();
  expect(await api.post(`/v1/webhooks/${to.id}/test`)).toMatchObject({ status: 409 });
  await new Promise((resolve) => setTimeout(resolve, 1500)); // the dispatcher has polled at least once
  expect(there.received).toHaveLength(0);
  expect(await deliveries(api, to)).toMatchObject([{ state: 'queued' }]);
  expect((await set('enable')).body.data.enableWebhookEndpoint.enabled).toBe(true);
  await eventually(() => expect(there.received).toHaveLength(1));
});

test("deliveries are listed by state and type, and another project's are not found", async () => {
  const [api, other] = [await testApi(), await testApi()];
  const there = await receiver();
  const to = await endpoint(api, there.url);
  await happen(api, 'contact.created');
  await happen(api, 'contact.deleted');
  await eventually(async () => expect(await deliveries(api, to, '?state=acknowledged')).toHaveLength(2));
  expect(await deliveries(api, to, '?event_type=contact.deleted')).toMatchObject([{ eventType: 'contact.deleted' }]);
  expect(await deliveries(api, to, '?state=failed')).toEqual([]);
  expect((await api.get(`/v1/webhooks/${to.id}/deliveries?state=nonsense`)).status).toBe(400);
  for (const list of [`/v1/webhooks/${to.id}/deliveries`, '/v1/deliveries'])
    expect(await api.get(`${list}?event_type=nope`)).toMatchObject({
      status: 400,
      body: {
        error: { code: 'validation_error', details: [{ field: 'event_type', message: '"nope" is not an event type' }] },
      },
    });
  const all = await api.get('/v1/deliveries?limit=1');
  expect(all.body).toMatchObject({ data: [{ eventType: 'contact.deleted' }], has_more: true });
  const { id } = all.body.data[0];
  expect((await other.get(`/v1/deliveries/${id}`)).status).toBe(404);
  expect((await other.post(`/v1/deliveries/${id}/replay`)).status).toBe(404);
  expect((await other.get('/v1/deliveries')).body.data).toEqual([]);
  expect((await api.get(`/v1/deliveries/${newId('dlv')}`)).status).toBe(404);
});

test('a subscription over Server-Sent Events yields each attempted delivery with its attempt', async () => {
  const api = await testApi();
  const there = await receiver();
  const [watched, other] = [await endpoint(api, there.url), await endpoint(api, there.url)];
  const watching = new AbortController();
  const response = await fetch(`${api.url}/graphql/stream`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({
      query: `subscription ($id: ID) { webhookDeliveryAttempted(endpointId: $id) { endpointId state attempts { number status } } }`,
      variables: { id: watched.id },
    }),
    signal: watching.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  // Events recorded before the subscription listens are not shown, so keep recording until one is.
  const events = setInterval(() => void happen(api, 'contact.created'), 300);
  let text = '';
  while (!text.includes('acknowledged')) text += (await reader?.read())?.value ?? '';
  clearInterval(events);
  watching.abort();
  expect(text).toContain('"attempts":[{"number":1,"status":204}]');
  expect(text).toContain(watched.id);
  expect(text).not.toContain(other.id);
});

test('a subscription with a start time first yields what was attempted since then', async () => {
  const api = await testApi();
  const there = await receiver();
  const { id: endpointId } = await endpoint(api, there.url);
  const since = new Date();
  for (let n = 0; n < 3; n++) await happen(api, 'contact.created');
  const attempted = await eventually(async () => {
    const { data } = (await api.get('/v1/deliveries?state=acknowledged')).body;
    expect(data).toHaveLength(3);
    return data.map(({ id }: { id: string }) => id).sort() as string[];
  });
  const seen: string[] = [];
  for await (const { id, state } of watchDeliveries(api.projectId, { endpointId, since })) {
    expect(state).toBe('acknowledged');
    if (seen.push(id) === 3) break;
  }
  expect(seen.toSorted()).toEqual(attempted);
  const later = watchDeliveries(api.projectId, { since: new Date(Date.now() + 60_000) });
  const nothing = await Promise.race([later.next(), new Promise((resolve) => setTimeout(resolve, 600))]);
  expect(nothing).toBeUndefined();
  await later.return?.();
});

test("users see the request body, the workflow and the endpoint's delivery stats", async () => {
  const api = await testApi();
  const there = await receiver();
  const { id } = await endpoint(api, there.url);
  await happen(api, 'contact.created', { z: 1, a: 'ü' });
  const owner = await signedIn(api);
  await eventually(async () => {
    const { data } = (
      await owner.graphql(
        `query ($id: ID!) {
          webhookDeliveries(endpointId: $id) { nodes { body workflowUrl } }
          webhookEndpoint(id: $id) { recent { acknowledged retried failed queued more medianMs } }
        }`,
        { id },
      )
    ).body;
    const [delivery] = data.webhookDeliveries.nodes;
    expect(delivery.body).toBe(there.received[0]?.raw);
    expect(delivery.workflowUrl).toMatch(/^http:.*\/namespaces\/default\/workflows\/(dlv|batch)_/);
    const { medianMs, ...counts } = data.webhookEndpoint.recent;
    expect(counts).toEqual({ acknowledged: 1, retried: 0, failed: 0, queued: 0, more: false });
    expect(medianMs).toBeGreaterThanOrEqual(0);
  });
});

test('a delivery waiting for a retry is attempted now, whether it waits in a workflow or in the table', async () => {
  const api = await testApi();
  let status = 500;
  const there = await receiver((_received, response) => void response.writeHead(status).end());
  const to = await endpoint(api, there.url);
  await happen(api, 'contact.created');
  const waiting = await eventually(async () => {
    const [delivery] = await deliveries(api, to, '?state=retried');
    expect(delivery).toBeDefined();
    return delivery as { id: string };
  });
  const retry = await api.post(`/v1/deliveries/${waiting.id}/retry`);
  expect(retry).toMatchObject({ status: 202, body: { data: { id: waiting.id, state: 'retried' } } });
  await eventually(() => expect(there.received).toHaveLength(2));
  status = 200;
  const query = 'mutation ($id: ID!) { webhookDeliveryRetry(id: $id) { delivery { id } } }';
  // A conflict while a batch is making the attempt.
  await eventually(async () => {
    const { body } = await api.graphql(query, { id: waiting.id });
    expect(body).toMatchObject({ data: { webhookDeliveryRetry: { delivery: { id: waiting.id } } } });
  });
  await eventually(async () => expect(await deliveries(api, to, '?state=acknowledged')).toHaveLength(1));
  expect(there.received).toHaveLength(3);
});

test('a delivery waiting for a retry is given up, whether it waits in a workflow or in the table', async () => {
  const api = await testApi();
  const there = await receiver((_received, response) => void response.writeHead(500).end());
  const to = await endpoint(api, there.url);
  await happen(api, 'contact.created');
  const inWorkflow = await onlyDelivery(api, to, 'retried');
  expect(await api.post(`/v1/deliveries/${inWorkflow.id}/give-up`)).toMatchObject({ status: 202 });
  await eventually(async () => expect(await deliveries(api, to, '?state=failed')).toHaveLength(1));
  expect(there.received).toHaveLength(1);
  expect(await api.post(`/v1/deliveries/${inWorkflow.id}/give-up`)).toMatchObject({
    status: 409,
    body: { error: { code: 'conflict' } },
  });
  await pool.query(
    `UPDATE deliveries SET state = 'retried', closed_at = NULL, dispatched_at = NULL, workflow_id = NULL,
       next_attempt_at = now() + interval '5 hours' WHERE id = $1`,
    [inWorkflow.id],
  );
  const { body } = await api.post(`/v1/deliveries/${inWorkflow.id}/give-up`);
  expect(body.data).toMatchObject({ state: 'failed', nextAttemptAt: null });
  expect((await (await testApi()).post(`/v1/deliveries/${inWorkflow.id}/give-up`)).status).toBe(404);
});

test('retrying a delivery that waits in the table makes it due at once', async () => {
  const api = await testApi();
  const there = await receiver();
  const to = await endpoint(api, there.url);
  const [event, delivery] = [newId('evt'), newId('dlv')];
  await pool.query("INSERT INTO events (id, project_id, type, data) VALUES ($1, $2, 'some.later_type', '{}')", [
    event,
    api.projectId,
  ]);
  await pool.query('DELETE FROM deliveries WHERE event_id = $1', [event]);
  await pool.query(
    `INSERT INTO deliveries (id, project_id, endpoint_id, event_id, state, attempt_count, dispatched_at, workflow_id, next_attempt_at)
     VALUES ($1, $2, $3, $4, 'retried', 1, NULL, NULL, now() + interval '5 hours')`,
    [delivery, api.projectId, to.id, event],
  );
  await pool.query(
    `INSERT INTO attempts (delivery_id, project_id, number, started_at, duration_ms, headers, status) VALUES ($1, $2, 1, now(), 5, '{}', 500)`,
    [delivery, api.projectId],
  );
  const reply = await api.post(`/v1/deliveries/${delivery}/retry`);
  expect(reply.status).toBe(202);
  await eventually(() => expect(there.received).toHaveLength(1));
});

test('a delivery whose attempt a batch is making can be neither retried nor given up until the attempt has ended', async () => {
  const api = await testApi();
  const there = await receiver();
  const to = await endpoint(api, there.url);
  await happen(api, 'contact.created');
  const { id } = await onlyDelivery(api, to, 'acknowledged');
  for (const [state, message] of [
    ['queued', 'The first attempt of this delivery is queued or in progress.'],
    ['retried', expect.stringMatching(/^An attempt of this delivery is in progress/)],
  ]) {
    await pool.query(
      `UPDATE deliveries SET state = $2, closed_at = NULL, dispatched_at = now(), workflow_id = 'batch_test', next_attempt_at = now() WHERE id = $1`,
      [id, state],
    );
    for (const action of ['retry', 'give-up'])
      expect(await api.post(`/v1/deliveries/${id}/${action}`)).toMatchObject({
        status: 409,
        body: { error: { code: 'conflict', message } },
      });
  }
  await pool.query(`UPDATE deliveries SET state = 'acknowledged', closed_at = now() WHERE id = $1`, [id]);
});

test('retrying an acknowledged delivery, or one to a disabled endpoint, is a conflict', async () => {
  const api = await testApi();
  const there = await receiver();
  const to = await endpoint(api, there.url);
  await happen(api, 'contact.created');
  const done = await onlyDelivery(api, to, 'acknowledged');
  expect(await api.post(`/v1/deliveries/${done.id}/retry`)).toMatchObject({
    status: 409,
    body: { error: { code: 'conflict' } },
  });
  await pool.query("UPDATE deliveries SET state = 'retried', closed_at = NULL WHERE id = $1", [done.id]);
  await api.post(`/v1/webhooks/${to.id}/disable`);
  expect((await api.post(`/v1/deliveries/${done.id}/retry`)).status).toBe(409);
  const other = await testApi();
  expect((await other.post(`/v1/deliveries/${done.id}/retry`)).status).toBe(404);
});

test('the deliveries of events that were recorded together have ids in their order, which tell the time', async () => {
  const api = await testApi();
  const { url } = await receiver();
  const endpoints = [await endpoint(api, url), await endpoint(api, url)];
  const began = Date.now();
  const events = Array.from({ length: 300 }, (_, number) => ({ type: 'contact.created', data: { number } }));
  const eventIds = await record(pool, api.projectId, events);
  const { rows } = await pool.query<{ id: string; endpoint_id: string; event_id: string }>(
    'SELECT id, endpoint_id, event_id FROM deliveries WHERE project_id = $1 ORDER BY id',
    [api.projectId],
  );
  for (const { id } of endpoints)
    expect(rows.filter((row) => row.endpoint_id === id).map((row) => row.event_id)).toEqual(eventIds);
  expect(rows.every(({ id }) => isId('dlv', id))).toBe(true);
  expect((rows[0] as { id: string }).id > idsFrom('dlv', new Date(began - 1_000))).toBe(true);
  expect((rows.at(-1) as { id: string }).id < idsFrom('dlv', new Date(Date.now() + 1_000))).toBe(true);
});

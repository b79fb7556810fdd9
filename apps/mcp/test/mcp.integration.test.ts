import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { db, newId } from '@postroom/platform';
import { type Api, eventually, type Receiver, startReceiver, startTestWorker, testApi } from '@postroom/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startHttp } from '../src/http.ts';

const ROOT = new URL('../../..', import.meta.url).pathname.replace(/\/$/, '');
const guide = readFileSync(new URL('../../../docs/how-to/mcp.md', import.meta.url), 'utf8');
const configurations = [...guide.matchAll(/```json\n([^`]+)```/g)].map(
  ([, json = '']) => Object.values(JSON.parse(json).mcpServers)[0],
);
const closing: (() => Promise<unknown>)[] = [];
let http: Awaited<ReturnType<typeof startHttp>> | undefined;
let receiver: Receiver;

beforeAll(async () => {
  await startTestWorker();
  receiver = await startReceiver();
  const { url } = await testApi();
  http = await startHttp({ host: '127.0.0.1', port: 0, baseUrl: url });
});
afterAll(async () => {
  await http?.stop();
  await receiver.close();
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

type Connect = (api: Api, key?: string) => Transport;

/** Starts the server as the guide tells an assistant to, with the test's URL and key. */
const overStdio: Connect = (api, key = api.key) => {
  const { command, args, env } = configurations[0] as { command: string; args: string[]; env: Record<string, string> };
  return new StdioClientTransport({
    command,
    args: args.map((argument) => argument.replace('/path/to/postroom', ROOT)),
    env: { ...getDefaultEnvironment(), ...env, POSTROOM_URL: api.url, POSTROOM_API_KEY: key },
  });
};

const overHttp: Connect = (_api, key = _api.key) => {
  const { headers } = configurations[1] as { headers: { Authorization: string } };
  const requestInit = { headers: { Authorization: headers.Authorization.replace('pr_…', key) } };
  return new StreamableHTTPClientTransport(new URL(http?.url ?? ''), { requestInit }) as Transport;
};

async function connected(connect: Connect, api: Api, key?: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(connect(api, key));
  closing.push(() => client.close());
  return client;
}

// Tests check the shape.
// oxlint-disable-next-line typescript/no-explicit-any
async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<any> {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args });
  const [{ text }] = content as [{ text: string }];
  if (isError === true) return { error: text };
  expect(JSON.parse(text)).toEqual(structuredContent);
  return structuredContent;
}

async function readyCampaign(api: Api): Promise<string> {
  await db.domain.create({
    data: {
      id: newId('dom'),
      projectId: api.projectId,
      domain: 'example.com',
      verifiedForSending: true,
      verification: 'verified',
      dkim: 'verified',
      mailFrom: 'verified',
      dmarc: 'verified',
    },
  });
  const ada = await api.contact('ada@example.com');
  const group = (await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id] })).body.data.id;
  const campaign = {
    name: 'November',
    subject: 'News',
    from_email: 'news@example.com',
    html: '<p>News.</p>',
    group_ids: [group],
  };
  return (await api.post('/v1/campaigns', campaign)).body.data.id;
}

describe.each([
  ['stdio, started as the guide says', overStdio],
  ['streamable HTTP', overHttp],
] as const)('over %s', (_, connect) => {
  test('lists the tools and marks the read-only ones', async () => {
    const client = await connected(connect, await testApi());
    const { tools } = await client.listTools();
    const reads = tools.filter(({ annotations }) => annotations?.readOnlyHint === true).map(({ name }) => name);
    const writes = tools.filter(({ name }) => !reads.includes(name)).map(({ name }) => name);
    expect(writes.sort()).toEqual([
      'choose_ab_test_winner',
      'create_contact',
      'create_form',
      'create_journey',
      'enroll_contacts',
      'pause_journey',
      'publish_journey',
      'resume_journey',
      'send_campaign',
      'send_test_webhook',
      'start_ab_test',
      'start_backtest',
      'track_event',
      'update_form',
      'update_journey',
    ]);
    expect(reads.sort()).toEqual([
      'campaign_preflight',
      'delivery_status',
      'get_ab_test',
      'get_backtest',
      'get_form',
      'get_journey',
      'journey_preflight',
      'list_ab_tests',
      'list_backtest_contacts',
      'list_campaigns',
      'list_contacts',
      'list_enrollments',
      'list_events',
      'list_form_submissions',
      'list_forms',
      'list_journey_versions',
      'list_journeys',
      'list_webhooks',
    ]);
    for (const { name } of tools) expect(guide).toContain(`\`${name}\``);
    // JSON Schema defines only these formats; strict clients reject any other.
    const formats = [...JSON.stringify(tools).matchAll(/"format":"([^"]*)"/g)].map(([, format]) => format);
    expect(formats.filter((format) => !['date-time', 'email', 'uri', 'uuid'].includes(format ?? ''))).toEqual([]);
  });

  test('a journey is drafted, published, paused and resumed, and a contact goes through it', async () => {
    const api = await testApi();
    const ada = await api.contact('ada@example.com');
    const client = await connected(connect, api);
    const { id } = await call(client, 'create_journey', { name: 'Follow-up' });
    expect((await call(client, 'publish_journey', { journey_id: id })).error).toContain(
      'definition.steps: must have at least one step',
    );
    const definition = { entry: { type: 'manual' }, steps: [{ id: 'later', type: 'wait', for: { days: 1 } }] };
    await call(client, 'update_journey', { journey_id: id, definition });
    expect(await call(client, 'publish_journey', { journey_id: id })).toMatchObject({ status: 'active' });
    expect(
      await call(client, 'enroll_contacts', { journey_id: id, emails: ['ada@example.com', 'x@example.com'] }),
    ).toMatchObject({
      results: [{ outcome: 'enrolled' }, { outcome: 'unknown' }],
    });
    expect(await call(client, 'list_enrollments', { journey_id: id })).toMatchObject({
      data: [{ contactId: ada.id, stepId: 'later' }],
      has_more: false,
    });
    expect(await call(client, 'pause_journey', { journey_id: id })).toMatchObject({ status: 'paused' });
    expect(await call(client, 'list_journeys', { status: 'paused' })).toMatchObject({ data: [{ id }] });
    await api.contact('bob@example.com');
    await call(client, 'resume_journey', { journey_id: id });
    await call(client, 'enroll_contacts', { journey_id: id, emails: ['bob@example.com'] });
    const { data, next_cursor: cursor } = await call(client, 'list_enrollments', { journey_id: id, limit: 1 });
    expect(await call(client, 'list_enrollments', { journey_id: id, limit: 1, cursor })).toMatchObject({
      data: [{ contactId: ada.id }],
      has_more: false,
      next_cursor: null,
    });
    expect(data).toHaveLength(1);
    expect(await call(client, 'get_journey', { journey_id: id })).toMatchObject({ problems: [], runs: { active: 2 } });
  });

  test('events that waited for a paused journey are discarded on request', async () => {
    const api = await testApi();
    await api.contact('ada@example.com');
    const client = await connected(connect, api);
    const definition = {
      entry: { type: 'event', event: 'started' },
      steps: [{ id: 'later', type: 'wait', for: { days: 1 } }],
    };
    const { id: journey_id } = await call(client, 'create_journey', { name: 'Follow-up', definition });
    await call(client, 'publish_journey', { journey_id });
    await call(client, 'pause_journey', { journey_id });
    await call(client, 'track_event', { name: 'started', email: 'ada@example.com' });
    expect(await call(client, 'get_journey', { journey_id })).toMatchObject({ waitingEvents: 1 });
    expect(await call(client, 'resume_journey', { journey_id, waiting: 'discard' })).toMatchObject({
      status: 'active',
    });
    expect(await call(client, 'get_journey', { journey_id })).toMatchObject({ waitingEvents: 0, runs: { active: 0 } });
  });

  test('what publishing a journey does to contacts in progress is shown before, and only what was shown is published', async () => {
    const api = await testApi();
    await api.contact('ada@example.com');
    const client = await connected(connect, api);
    const later = { id: 'later', type: 'wait', for: { days: 1 } };
    const entry = { type: 'manual' };
    const { id: journey_id } = await call(client, 'create_journey', { name: 'Follow-up' });
    expect(await call(client, 'journey_preflight', { journey_id })).toMatchObject({
      isReady: false,
      version: 1,
      problems: [{ field: 'definition.steps' }],
    });
    await call(client, 'update_journey', { journey_id, definition: { entry, steps: [later] } });
    expect((await call(client, 'publish_journey', { journey_id, version: 1 })).error).toMatch(/^conflict/);
    expect(await call(client, 'publish_journey', { journey_id, version: 2 })).toMatchObject({ status: 'active' });
    await call(client, 'enroll_contacts', { journey_id, emails: ['ada@example.com'] });
    await call(client, 'update_journey', { journey_id, definition: { entry, steps: [{ ...later, id: 'other' }] } });
    expect(await call(client, 'journey_preflight', { journey_id })).toMatchObject({
      isReady: true,
      version: 3,
      publishedVersion: 1,
      contactsInProgress: 1,
      contactsWithMatchingStep: 0,
      inProgress: [{ version: 1, stepId: 'later', contactCount: 1, hasMatch: false }],
    });
  });

  test('send_test_webhook queues a webhook.test event, which arrives and whose delivery can be inspected', async () => {
    const api = await testApi();
    const client = await connected(connect, api);
    expect(await call(client, 'send_test_webhook')).toMatchObject({ error: expect.stringContaining('no webhook') });
    const { id } = (await api.post('/v1/webhooks', { url: receiver.url, events: ['email.sent'] })).body.data;
    expect(await call(client, 'list_webhooks')).toMatchObject({ data: [{ id, enabled: true }], has_more: false });
    const queued = await call(client, 'send_test_webhook');
    await eventually(async () => {
      const status = await call(client, 'delivery_status', { id: queued.deliveryId });
      expect(status).toMatchObject({ state: 'acknowledged', attempts: [{ number: 1, status: 204 }] });
    });
    const arrived = receiver.received.filter(({ event }) => event.id === queued.eventId);
    expect(arrived).toMatchObject([{ event: { type: 'webhook.test', project_id: api.projectId } }]);
    await api.post('/v1/webhooks', { url: receiver.url, events: ['email.sent'] });
    expect(await call(client, 'send_test_webhook')).toMatchObject({ error: expect.stringContaining('several') });
    expect(await call(client, 'send_test_webhook', { endpoint_id: id })).toMatchObject({ eventId: expect.any(String) });
  });

  test('an unknown argument of a tool is rejected by name', async () => {
    const api = await testApi();
    const client = await connected(connect, api);
    const { tools } = await client.listTools();
    for (const { inputSchema } of tools) expect(inputSchema).toMatchObject({ additionalProperties: false });
    for (const [tool, args] of [
      ['create_contact', { email: 'ada@example.com', customFields: { plan: 'pro' } }],
      ['list_contacts', { segment_id: 'seg_1' }],
    ] as const) {
      const { error } = await call(client, tool, args);
      expect(error).toContain(Object.keys(args).at(-1));
    }
    expect((await api.get('/v1/contacts')).body.data).toEqual([]);
  });

  test('contacts are created and found', async () => {
    const api = await testApi();
    const client = await connected(connect, api);
    const ada = await call(client, 'create_contact', { email: 'ada@example.com', name: 'Ada' });
    expect((await api.get(`/v1/contacts/${ada.id}`)).body.data).toMatchObject({
      email: 'ada@example.com',
      name: 'Ada',
    });
    expect(await call(client, 'list_contacts', { search: 'ada' })).toMatchObject({ data: [{ id: ada.id }] });
    expect(await call(client, 'list_contacts', { search: 'grace' })).toMatchObject({ data: [] });
  });

  test('an event of a contact is tracked once', async () => {
    const api = await testApi();
    const ada = await api.contact('ada@example.com');
    const client = await connected(connect, api);
    const event = { name: 'order placed', email: 'ada@example.com', id: 'order-1', properties: { total: 5 } };
    expect(await call(client, 'track_event', event)).toMatchObject({ accepted: 1 });
    expect(await call(client, 'track_event', event)).toMatchObject({ accepted: 0, duplicates: 1 });
    const { data } = await call(client, 'list_events', { name: 'order placed', contact_id: ada.id });
    expect(data).toMatchObject([{ contactId: ada.id, properties: { total: 5 } }]);
    expect(await call(client, 'list_events', { name: 'signed up' })).toMatchObject({ data: [] });
  });

  test('an incomplete campaign is reviewed but not sent, and the assistant gets the reason', async () => {
    const api = await testApi();
    const client = await connected(connect, api);
    const { id } = (await api.post('/v1/campaigns', { name: 'November' })).body.data;
    expect(await call(client, 'list_campaigns')).toMatchObject({ data: [{ id, status: 'draft' }] });
    expect(await call(client, 'campaign_preflight', { campaign_id: id })).toMatchObject({ isReady: false });
    const { error } = await call(client, 'send_campaign', { campaign_id: id });
    expect(error).toMatch(/^validation_error: [^]*subject/);
    expect(await call(client, 'delivery_status', { id })).toMatchObject({ status: 'draft' });
    expect(await call(client, 'delivery_status', { id: 'ctc_1' })).toMatchObject({ error: expect.any(String) });
  });

  test('an error names each problem once', async () => {
    const client = await connected(connect, await testApi());
    const { error } = await call(client, 'create_contact', { email: 'ada', name: 'Ada\nLovelace' });
    expect(error.split('\n')).toEqual([
      'validation_error: email: must be an email address such as ada@example.com',
      'name: must be one line without control characters (it has U+000A)',
    ]);
  });

  test('a ready campaign is sent once', async () => {
    const api = await testApi();
    const client = await connected(connect, api);
    const id = await readyCampaign(api);
    expect(await call(client, 'campaign_preflight', { campaign_id: id })).toMatchObject({
      isReady: true,
      audience: { recipients: 1 },
    });
    expect(await call(client, 'send_campaign', { campaign_id: id })).toEqual({ id, status: 'sending' });
    expect((await call(client, 'send_campaign', { campaign_id: id })).error).toMatch(/^conflict/);
  });

  test('an A/B test is read, started once and ended with a winner', async () => {
    const api = await testApi();
    const client = await connected(connect, api);
    const campaign_id = await readyCampaign(api);
    const { id: ab_test_id, variantIds } = (await api.post('/v1/ab-tests', { campaign_id })).body.data;
    expect(await call(client, 'list_ab_tests')).toMatchObject({ data: [{ id: ab_test_id, status: 'draft' }] });
    expect((await call(client, 'send_campaign', { campaign_id })).error).toMatch(/^conflict/);
    expect(await call(client, 'start_ab_test', { ab_test_id })).toMatchObject({ status: 'testing' });
    expect((await call(client, 'start_ab_test', { ab_test_id })).error).toMatch(/^conflict/);
    expect(await call(client, 'get_ab_test', { ab_test_id })).toMatchObject({
      status: 'testing',
      variants: [{ label: 'A', campaign: { id: campaign_id } }, { label: 'B' }],
    });
    const winner = { ab_test_id, campaign_id: variantIds[1] };
    expect(await call(client, 'choose_ab_test_winner', winner)).toMatchObject({
      status: 'completed',
      winnerId: variantIds[1],
    });
  });

  test('the API key limits access: no other project, no wider scope, and nothing without a valid key', async () => {
    const [api, other] = [await testApi(), await testApi()];
    await other.contact('grace@example.com');
    const client = await connected(connect, api);
    expect(await call(client, 'list_contacts')).toMatchObject({ data: [] });
    const sending = await connected(connect, api, (await api.newKey('sending')).key);
    expect((await call(sending, 'list_contacts')).error).toMatch(/^insufficient_scope/);
    const unknown = await connected(connect, api, 'pr_unknown');
    expect((await call(unknown, 'list_contacts')).error).toMatch(/^unauthorized/);
  });
});

test('over HTTP, requests without a key, from a web page or with too large a body are rejected', async () => {
  const url = http?.url ?? '';
  const key = { Authorization: 'Bearer pr_x' };
  const status = async (init: RequestInit, at = url) =>
    (await fetch(at, { method: 'POST', body: '{}', ...init })).status;
  expect(await status({})).toBe(401);
  expect(await status({ headers: { ...key, Origin: 'https://evil.example' } })).toBe(403);
  expect(await status({ headers: key, body: 'x'.repeat(1024 * 1024 + 1) })).toBe(413);
  expect(await status({ headers: key, body: '{' })).toBe(400);
  expect(await status({ headers: key, method: 'GET', body: null })).toBe(405);
  expect(await status({ headers: key }, url.replace('/mcp', '/'))).toBe(404);
  for (const at of [url, url.replace('/mcp', '/'), url.replace('/mcp', '/healthz')]) {
    const { headers } = await fetch(at, { method: 'POST', headers: key, body: '{}' });
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=/);
  }
});

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { eventually, startReceiver, startSystem, type System } from '@postroom/testkit';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

const REFERENCE = readFileSync(join(import.meta.dirname, '../../../docs/reference/metrics.md'), 'utf8');

let system: System;
let collector: Awaited<ReturnType<typeof startCollector>>;
/** Metrics by program, once each has done some work. */
const pages: Record<'gateway' | 'worker', string> = { gateway: '', worker: '' };

beforeAll(async () => {
  const receiver = await startReceiver();
  collector = await startCollector();
  system = await startSystem({
    env: { WEBHOOKS_ALLOW_PRIVATE: '1', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  await system.startWorker();
  const api = await system.api();
  await api.post('/v1/webhooks', { url: receiver.url, events: ['*'] });
  const from = 'Ada <ada@example.com>';
  await api.post('/v1/emails', { from, to: 'bob@example.net', subject: 'Hello', text: 'Hello' });
  await eventually(() => {
    if (receiver.received.length === 0) throw new Error('The email caused no event.');
  });
  for (const program of ['gateway', 'worker'] as const)
    pages[program] = await (await fetch(`${system.adminUrls[program]}/metrics`)).text();
  await receiver.close();
}, 120_000);
afterAll(async () => {
  await system.stop();
  collector.close();
});

/** Names of the metrics on a page. */
const namesOn = (page: string) => [...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
/** Documented metrics, and whether they appear only after the first failure. */
const documented = [...REFERENCE.matchAll(/^\| `([a-z0-9_]+)`(\*?) \|/gm)].map(([, name = '', mark]) => ({
  name,
  always: mark !== '*',
}));

test('the reference lists every metric of a real scrape, and none that does not exist', () => {
  const scraped = new Set([...namesOn(pages.gateway), ...namesOn(pages.worker)]);
  const names = documented.map(({ name }) => name);
  expect([...scraped].filter((name) => !names.includes(name)).toSorted()).toEqual([]);
  expect(documented.filter(({ name, always }) => always && !scraped.has(name))).toEqual([]);
});

test('the reference names every kind of a gauge', () => {
  const kinds = [...`${pages.gateway}${pages.worker}`.matchAll(/^(postroom_\w+)\{kind="(\w+)"\}/gm)];
  expect(kinds.length).toBeGreaterThan(10);
  const unknown = kinds.filter(([, name = '', kind = '']) => {
    const row = REFERENCE.split('\n').find((line) => line.startsWith(`| \`${name}\``)) ?? '';
    // The age has the kinds of the rows that it is of.
    return !row.includes(`\`${kind}\``) && name !== 'postroom_due_age_seconds';
  });
  expect(unknown.map(([sample]) => sample)).toEqual([]);
});

test('queues, sends, webhooks, pools, the build and Temporal are on one page', () => {
  for (const sample of [
    'postroom_due{kind="emails"} 0',
    'postroom_due{kind="campaigns"} 0',
    'postroom_due{kind="deliveries"} 0',
    'postroom_due{kind="imports"} 0',
    'postroom_due{kind="outbox"} 0',
    'postroom_unknown_messages{kind="emails"} 0',
    'postroom_overdue_schedules{kind="campaigns"} 0',
    'postroom_overdue_schedules{kind="temporal"} 0',
    'postroom_sending_held{kind="mail"} 0',
    'postroom_database_connections_max{pool="ledger"}',
    'postroom_build_info{program="worker"',
    'temporal_worker_task_slots_available{',
  ])
    expect(pages.worker).toContain(sample);
  expect(pages.worker).toMatch(
    /postroom_sends_total\{transport="relay",traffic="transactional",outcome="accepted"\} 1/,
  );
  expect(pages.worker).toMatch(/postroom_webhook_attempt_duration_seconds_count\{outcome="acknowledged"\} [1-9]/);
  expect(pages.gateway).toMatch(
    /postroom_http_request_seconds_count\{method="POST",route="\/v1\/emails",status="202"\} 1/,
  );
});

test('names and units follow the conventions of Prometheus', ({ skip }) => {
  for (const page of Object.values(pages)) {
    const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: page,
      encoding: 'utf8',
    });
    if (error !== undefined) skip('promtool is not installed');
    // Node's and the SDK's own names are not ours to change.
    const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('postroom'));
    expect(ours).toEqual([]);
    expect([0, 3]).toContain(status);
  }
});

test('a program is ready once everything it needs works, and says what does not', async () => {
  const read = async (path: string) => {
    const response = await fetch(`${system.adminUrls.worker}${path}`);
    return { status: response.status, body: await response.json() };
  };
  await eventually(async () =>
    expect(await read('/readyz')).toEqual({
      status: 200,
      body: {
        status: 'ready',
        checks: { database: 'ok', ledgerPool: 'ok', pollers: 'ok', searchAttributes: 'ok', mailTransport: 'ok' },
      },
    }),
  );
  expect((await read('/livez')).status).toBe(200);
  expect((await read('/nothing')).status).toBe(404);
  expect((await fetch(`${system.url}/metrics`)).status).toBe(404);
});

test('a worker without a relay is ready, since SMTP_URL says so on purpose', { timeout: 120_000 }, async () => {
  const other = await startSystem();
  onTestFinished(() => other.stop());
  await other.startWorker({ NODE_ENV: 'production', SMTP_URL: 'none', PUBLIC_URL: 'https://mail.example.com' });
  await eventually(async () => {
    const response = await fetch(`${other.adminUrls.worker}/readyz`);
    expect(await response.json()).toMatchObject({ status: 'ready', checks: { mailTransport: 'ok' } });
  }, 60_000);
});

interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  links?: { spanId: string }[];
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
}

/** An OpenTelemetry collector that keeps the spans it gets. */
async function startCollector() {
  const spans: ExportedSpan[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString());
    for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, close };
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const traced = { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, 'Content-Type': 'application/json' };

test("a request's trace reaches the customer's POST and the mail server, through row, workflow and activity", async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const api = await system.api();
  await api.post('/v1/webhooks', { url: receiver.url, events: ['contact.created'] });
  const post = (path: string, body: object) =>
    fetch(system.url + path, {
      method: 'POST',
      headers: { ...traced, Authorization: `Bearer ${api.key}` },
      body: JSON.stringify(body),
    });
  await post('/v1/contacts', { email: 'ada@example.net' });
  await post('/v1/emails', { from: 'Ada <ada@example.com>', to: 'bob@example.net', subject: 'Hello', text: 'Hello' });

  const received = await eventually(() => {
    const [first] = receiver.received;
    if (first === undefined) throw new Error('nothing received');
    return first;
  });
  const spans = await eventually(() => {
    const ofTrace = collector.spans.filter(({ traceId }) => traceId === TRACE);
    const names = ofTrace.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'POST /v1/contacts',
        'start deliverWebhook',
        'run attemptDelivery',
        'POST webhook',
        'POST /v1/emails',
        'start sendEmails',
        'run sendBatch',
        'send mail',
      ]),
    );
    return ofTrace;
  }, 30_000);
  const named = (name: string) => spans.find((span) => span.name === name);
  expect(received.headers.traceparent).toBe(`00-${TRACE}-${named('POST webhook')?.spanId}-01`);
  expect(named('POST webhook')?.parentSpanId).toBe(named('POST /v1/contacts')?.spanId);
  expect(named('send mail')?.parentSpanId).toBe(named('POST /v1/emails')?.spanId);
  expect(named('run attemptDelivery')?.parentSpanId).toBe(named('start deliverWebhook')?.spanId);

  const names = ['ada', 'bob', 'eve'];
  const emails = names.map((name) => `${name}@example.net`);
  for (const email of emails.slice(1)) await api.post('/v1/contacts', { email });
  const group = (await api.post('/v1/groups', { name: 'Readers', emails })).body.data;
  const campaign = async (): Promise<string> => {
    const reply = await api.post('/v1/campaigns', {
      name: 'News',
      subject: 'News',
      from_email: 'news@example.com',
      html: '<p>Hello</p>',
      group_ids: [group.id],
    });
    expect(reply.status, JSON.stringify(reply.body)).toBe(201);
    return reply.body.data.id;
  };
  const isCompleted = async (id: string) =>
    expect((await api.get(`/v1/campaigns/${id}`)).body.data.status).toBe('completed');
  const spansOf = (id: string) =>
    collector.spans.filter(({ attributes }) =>
      attributes.some(({ key, value }) => key === 'postroom.campaign.id' && value.stringValue === id),
    );
  // Decided by the caller not to be sampled.
  const unsampled = await campaign();
  await fetch(`${system.url}/v1/campaigns/${unsampled}/send`, {
    method: 'POST',
    headers: { traceparent: traced.traceparent.replace(/01$/, '00'), Authorization: `Bearer ${api.key}` },
  });
  await eventually(() => isCompleted(unsampled), 30_000);
  const sampled = await campaign();
  await post(`/v1/campaigns/${sampled}/send`, {});
  await eventually(() => isCompleted(sampled), 30_000);
  await eventually(() => {
    const ofCampaign = spansOf(sampled);
    expect(ofCampaign.every(({ traceId }) => traceId === TRACE)).toBe(true);
    const sent = ofCampaign.filter(({ name }) => name === 'send mail');
    expect(sent).toHaveLength(1); // of three messages
    const linkedFrom = ({ links = [] }: ExportedSpan) => links.map(({ spanId }) => spanId);
    const linksTo = (name: string, spanId?: string) =>
      ofCampaign.filter((span) => span.name === name && linkedFrom(span).includes(spanId ?? ''));
    const [page] = ofCampaign.filter(({ spanId }) => sent.flatMap(linkedFrom).includes(spanId));
    expect(page?.name).toBe('claim recipients');
    expect(page?.attributes).toContainEqual({ key: 'postroom.messages', value: { intValue: 3 } });
    expect(linksTo('record outcomes', sent[0]?.spanId)).toHaveLength(1);
    const run = collector.spans.find(({ spanId }) => spanId === page?.parentSpanId);
    expect(run?.name).toMatch(/^run /);
  }, 30_000);
  expect(spansOf(unsampled)).toEqual([]);
}, 120_000);

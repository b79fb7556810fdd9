import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually, startReceiver, startSystem } from '@postroom/testkit';
import { expect, onTestFinished, test } from 'vitest';

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
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans };
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const traced = { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, 'Content-Type': 'application/json' };

test("a request's trace reaches the customer's POST and the mail server, through row, workflow and activity", async () => {
  const collector = await startCollector();
  const receiver = await startReceiver();
  const system = await startSystem({
    env: { WEBHOOKS_ALLOW_PRIVATE: '1', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  onTestFinished(() => Promise.all([system.stop(), receiver.close()]).then(() => {}));
  await system.startWorker();
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

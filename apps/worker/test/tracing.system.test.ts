import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually, startReceiver, startSystem } from '@postroom/testkit';
import { expect, onTestFinished, test } from 'vitest';

interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
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
}, 120_000);

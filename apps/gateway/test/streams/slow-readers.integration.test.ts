import diagnostics from 'node:diagnostics_channel';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { inTransaction, record } from '@postroom/platform';
import { eventually, testApi } from '@postroom/testkit';
import { createClient } from 'graphql-sse';
import { expect, test } from 'vitest';
import { startGateway } from '../../src/gateway.ts';
import { EventStream } from '../../src/streams/event-stream.ts';
import { Operation } from '../../src/streams/operation.ts';

const EVENTS = 'subscription ($after: String) { eventRecorded(after: $after) { id data cursor } }';
const KILOBYTE = 1024;
/** Upper limit of the kernel buffers of a loopback connection, with a margin. */
const BUFFERS = 16 * KILOBYTE * KILOBYTE;

test('no more events are read while a client does not read; a stalled one is disconnected', async () => {
  let made = 0;
  let ended = false;
  async function* endless() {
    try {
      for (;;) yield { data: { number: made++, text: 'x'.repeat(64 * KILOBYTE) } };
    } finally {
      ended = true;
    }
  }
  let mostHeld = 0;
  const server = createServer((_request, response) => {
    const stream = new EventStream(response, { stallMs: 500 });
    const next = async (result: object) => {
      const sent = stream.send('next', JSON.stringify(result));
      mostHeld = Math.max(mostHeld, response.writableLength);
      await sent;
    };
    const operation = new Operation(endless(), { next, complete: async () => {} }, () => new Error('unused'));
    stream.onClose(() => void operation.stop());
    void operation.run();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = await openWithoutReading((server.address() as AddressInfo).port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await eventually(() => expect(ended).toBe(true));
  expect(made).toBeGreaterThan(1);
  expect(made * 64 * KILOBYTE).toBeLessThan(BUFFERS);
  expect(mostHeld).toBeLessThan(256 * KILOBYTE);
  socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test('a disconnected reader resumes with its last cursor, and gets every event once', async () => {
  const gateway = await startGateway({ host: '127.0.0.1', port: 0, stallMs: 500 });
  const api = await testApi();
  const { eventCursor } = (await api.graphql('{ eventCursor }')).body.data;
  const body = JSON.stringify({ query: EVENTS, variables: { after: eventCursor } });
  const head = [
    'POST /graphql/stream HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${api.key}`,
    'Content-Type: application/json',
    'Accept: text/event-stream',
    `Content-Length: ${body.length}`,
  ];
  const cutOff = nextStreamClosed();
  const socket = await openWithoutReading(Number(new URL(gateway.url).port), `${head.join('\r\n')}\r\n\r\n${body}`);
  // 40 MB: more than all buffers hold.
  const total = 400;
  for (let page = 0; page < 20; page++) await inTransaction((tx) => record(tx, api.projectId, large(total / 20)));
  await cutOff;
  const text = await readAll(socket);
  const before = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '']) => JSON.parse(json).data.eventRecorded);
  expect(before.length).toBeGreaterThan(0);
  expect(before.length).toBeLessThan(total);
  expect(text.length).toBeLessThan(BUFFERS);

  const ids: string[] = before.map(({ id }) => id);
  const client = createClient({
    url: `${gateway.url}/graphql/stream`,
    headers: { Authorization: `Bearer ${api.key}` },
  });
  const after = before.at(-1).cursor;
  for await (const { data } of client.iterate<{ eventRecorded: { id: string } }>({
    query: EVENTS,
    variables: { after },
  })) {
    ids.push(data?.eventRecorded.id ?? '');
    if (ids.length === total) break;
  }
  expect(ids.sort()).toEqual((await api.events()).map(({ id }) => id).sort());
  client.dispose();
  await gateway.stop();
});

const large = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    type: 'contact.created',
    data: { index, name: 'x'.repeat(100 * KILOBYTE) },
  }));

/** A client that does not read from its socket, so that the connection fills up. */
function openWithoutReading(port: number, request: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.pause();
      socket.write(request, () => resolve(socket));
    });
    socket.once('error', reject);
  });
}

/** Resolves when the server has closed the next event stream. */
function nextStreamClosed(): Promise<void> {
  return new Promise((resolve) => {
    const channel = 'http.server.request.start';
    const onRequest = (message: unknown) => {
      const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
      if (request.headers.accept !== 'text/event-stream') return;
      diagnostics.unsubscribe(channel, onRequest);
      response.once('close', resolve);
    };
    diagnostics.subscribe(channel, onRequest);
  });
}

/** Everything the other end sent before it closed. */
async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.removeAllListeners('error').on('error', () => {});
  socket.on('data', (chunk) => chunks.push(chunk)).resume();
  await closed;
  return Buffer.concat(chunks).toString('utf8');
}

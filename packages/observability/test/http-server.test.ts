import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpServer } from '../src/http-server.ts';

test('a client that takes its time with the headers is cut off, whether it says nothing or a byte now and then', async () => {
  const server = createHttpServer((_request, response) => response.end(), { headersMs: 300, requestMs: 600 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const dial = () => connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  const silent = dial();
  const slow = dial();
  slow.write('GET / HTTP/1.1\r\nHost: a\r\n');
  const drip = setInterval(() => slow.write('X'), 50);
  onTestFinished(() => clearInterval(drip));
  for (const socket of [silent, slow]) socket.resume();
  await Promise.all([silent, slow].map((socket) => once(socket, 'close')));
  expect([silent.destroyed, slow.destroyed]).toEqual([true, true]);
});

test('of a request that is answered before it is complete, the rest is not read for long', async () => {
  const server = createHttpServer((_request, response) => response.writeHead(405).end('no'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000000\r\n\r\n');
  const block = Buffer.alloc(65_536);
  const flood = () => {
    while (client.bytesWritten < 200_000_000 && client.write(block));
  };
  client.on('drain', flood);
  flood();
  const [answer] = (await once(client, 'data')) as [Buffer];
  expect(answer.toString()).toContain('405');
  await new Promise((closed) => client.once('close', closed));
  expect(client.bytesWritten).toBeLessThan(20_000_000);
});

test('a client that is told to close its connection gets the whole response first', async () => {
  const server = createHttpServer((_request, response) => response.end('x'.repeat(100_000)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (let time = 0; time < 5; time++) {
    const reply = await fetch(url, { method: 'POST', body: 'y'.repeat(2_000_000) });
    expect([reply.headers.get('connection'), (await reply.text()).length]).toEqual(['close', 100_000]);
  }
});

test('a request without a body keeps its connection, however soon it is answered', async () => {
  const server = createHttpServer((_request, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect([reply.headers.get('connection'), await reply.text()]).toEqual(['keep-alive', 'ok']);
});

test('the deadlines of a server are those for the internet unless it is told others', () => {
  const server = createHttpServer(() => {});
  expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 300_000, keepAliveTimeout: 65_000 });
  expect(server.timeout).toBe(120_000);
});

test('a target with a host, as proxies get it, is the path of that host', async () => {
  const server = createHttpServer((request, response) => response.end(`${request.headers.host} ${request.url}`));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const answerTo = async (target: string) => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write(`GET ${target} HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n`);
    const [, body = ''] = (await text(client)).split('\r\n\r\n');
    return body;
  };
  expect(await answerTo('http://api.example:8080/v1/contacts?limit=1')).toBe('api.example:8080 /v1/contacts?limit=1');
  expect(await answerTo('HTTPS://api.example')).toBe('api.example /');
  expect(await answerTo('http://api.example?a=http://b/')).toBe('api.example /?a=http://b/');
  expect(await answerTo('/v1?a=http://b/')).toBe('other.example /v1?a=http://b/');
});

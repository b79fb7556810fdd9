import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
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

test('the deadlines of a server are those for the internet unless it is told others', () => {
  const server = createHttpServer(() => {});
  expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 300_000, keepAliveTimeout: 65_000 });
  expect(server.timeout).toBe(120_000);
});

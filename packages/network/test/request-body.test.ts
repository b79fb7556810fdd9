import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createHttpServer } from '@postroom/observability';
import { expect, onTestFinished, test } from 'vitest';
import { ClientGone, MAX_JSON_VALUES, parseJsonBody, readBody } from '../src/request-body.ts';

/** A server that reads bodies of 1,000 bytes, a client that sends it `head`, and how reading ended. */
async function post(head: string, { timeoutMs = 60_000 } = {}) {
  const ended = Promise.withResolvers<unknown>();
  const server = createHttpServer((request, response) => {
    readBody(request, 1_000, { timeoutMs })
      .then((body) => ended.resolve(body.length), ended.resolve)
      .finally(() => response.end('answer'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  client.write(`POST / HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n`);
  return { client, ended: ended.promise };
}

/** How many bytes the server takes, of at most 100 MB. */
async function flood(client: Socket): Promise<number> {
  const block = Buffer.alloc(64 * 1024, 'x');
  client.resume();
  while (!client.destroyed && client.bytesWritten < 100_000_000) {
    const chunk = Buffer.concat([Buffer.from(`${block.length.toString(16)}\r\n`), block, Buffer.from('\r\n')]);
    if (!client.write(chunk)) await Promise.race([once(client, 'drain'), once(client, 'close')]).catch(() => {});
  }
  return client.bytesWritten;
}

test('a body of at most the limit is read whole', async () => {
  const { client, ended } = await post('Content-Length: 1000');
  client.write('x'.repeat(400));
  client.write('x'.repeat(600));
  expect(await ended).toBe(1_000);
});

test('a body over the limit is rejected at once, and its rest is not read', async () => {
  const announced = await post('Content-Length: 100000000');
  expect(await announced.ended).toMatchObject({ code: 'payload_too_large' });
  const [answer] = (await once(announced.client, 'data')) as [Buffer];
  expect(answer.toString()).toContain('200 OK');
  const { client, ended } = await post('Transfer-Encoding: chunked');
  const taken = await flood(client);
  expect(await ended).toMatchObject({ code: 'payload_too_large' });
  expect(taken).toBeLessThan(20_000_000);
});

test('a compressed body is rejected with its reason', async () => {
  const { client, ended } = await post('Content-Length: 9\r\nContent-Encoding: gzip');
  client.write('x'.repeat(9));
  expect(await ended).toMatchObject({ code: 'unsupported_media_type', message: 'Send the body without compression.' });
  const plain = await post('Content-Length: 9\r\nContent-Encoding: Identity');
  plain.client.write('x'.repeat(9));
  expect(await plain.ended).toBe(9);
});

test('a body that arrives too slowly is rejected', async () => {
  const { client, ended } = await post('Content-Length: 1000', { timeoutMs: 200 });
  const drip = setInterval(() => client.write('x'), 50);
  onTestFinished(() => clearInterval(drip));
  expect(await ended).toMatchObject({ code: 'timeout' });
});

test('a client that disconnects within its body needs no answer', async () => {
  const { client, ended } = await post('Content-Length: 1000');
  client.write('x', () => setTimeout(() => client.destroy(), 50));
  expect(await ended).toBeInstanceOf(ClientGone);
});

test.each([
  ['a list', (count: number) => Array<number>(count).fill(1)],
  ['objects', (count: number) => Array.from({ length: count / 2 }, () => ({ a: 1 }))],
  ['members', (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 0]))],
])('a JSON body has at most as many values as parsing takes a moment for: %s', (_, values) => {
  expect(Object.keys(parseJsonBody(Buffer.from(JSON.stringify(values(MAX_JSON_VALUES)))) as object)).not.toHaveLength(
    0,
  );
  const error = () => parseJsonBody(Buffer.from(JSON.stringify(values(MAX_JSON_VALUES + 2))));
  expect(error).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
});

test('commas and brackets in texts are no values', () => {
  const given = { 'a,"[{': '\\,",[{'.repeat(MAX_JSON_VALUES), b: '\\\\' };
  expect(parseJsonBody(Buffer.from(JSON.stringify(given)))).toEqual(given);
});

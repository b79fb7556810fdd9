import { createServer, get, type IncomingMessage, type RequestListener, type RequestOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import * as platform from '@postroom/platform';
import { expect, test } from 'vitest';
import { freePorts, hiddenAddress, HOST } from '../src/ports.ts';
import { SEARCH_ATTRIBUTES } from '../src/temporal.ts';
import { startUiProxy } from '../src/ui-proxy.ts';

test('Temporal starts with every search attribute that workflows are labeled with', () => {
  expect(SEARCH_ATTRIBUTES).toEqual([...platform.SEARCH_ATTRIBUTES]);
});

/** Starts a proxy for a UI that answers every request in the given way. */
async function withProxy(answer: RequestListener, use: (port: number) => Promise<void>) {
  const ui = createServer(answer);
  await new Promise<void>((resolve) => ui.listen(0, HOST, resolve));
  const [port = 0] = await freePorts(1);
  const proxy = await startUiProxy(port, { host: HOST, port: (ui.address() as AddressInfo).port });
  await use(port).finally(() => {
    proxy.close();
    ui.close();
  });
}

const answerTo = (options: RequestOptions) =>
  new Promise<IncomingMessage>((resolve) => get({ host: HOST, ...options }, resolve));

test.each([
  ['127.0.0.1', 200],
  ['localhost:3402', 200],
  ['[::1]:3402', 200],
  ['rebound.example', 403],
  ['localhost.rebound.example', 403],
])('the UI is served to %s with %d', async (host, status) => {
  await withProxy(
    (_, response) => response.setHeader('X-Content-Type-Options', 'nosniff').end('workflows'),
    async (port) => {
      const response = await answerTo({ port, headers: { host } });
      expect(response.statusCode).toBe(status);
      expect(response.headers['x-content-type-options']).toBe('nosniff');
      expect((await text(response)).includes('workflows')).toBe(status === 200);
    },
  );
});

test('other sites cannot frame the UI, and the UI can frame the details of its workflows', async () => {
  const policy = "default-src 'none'; frame-ancestors 'self'";
  await withProxy(
    ({ url }, response) =>
      response.writeHead(200, url === '/render' ? { 'Content-Security-Policy': policy } : {}).end(),
    async (port) => {
      expect((await answerTo({ port })).headers['content-security-policy']).toBe("frame-ancestors 'none'");
      expect((await answerTo({ port, path: '/render' })).headers['content-security-policy']).toBe(policy);
    },
  );
});

test.runIf(process.platform === 'linux')(
  'the UI, which answers requests for any host, has an address that nobody guesses',
  async () => {
    const found = await Promise.all(Array.from({ length: 20 }, hiddenAddress));
    expect(new Set(found).size).toBeGreaterThan(18);
    for (const address of found) expect(address).toMatch(/^127\.\d+\.\d+\.\d+$/);
    expect(found).not.toContain(HOST);
  },
);

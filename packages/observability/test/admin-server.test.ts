import { afterEach, expect, test } from 'vitest';
import { type AdminOptions, startAdminServer } from '../src/admin-server.ts';
import { createReadiness } from '../src/health.ts';

let stop = () => Promise.resolve();
afterEach(() => stop());

async function serve(options: Partial<AdminOptions>) {
  const server = await startAdminServer({
    host: '127.0.0.1',
    port: 0,
    readiness: createReadiness([]),
    metrics: () => Promise.resolve('postroom_due 1\n'),
    ...options,
  });
  ({ stop } = server);
  return async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, init);
    return { status: response.status, text: await response.text() };
  };
}

test('every response has nosniff and a policy', async () => {
  const server = await startAdminServer({
    host: '127.0.0.1',
    port: 0,
    readiness: createReadiness([]),
    metrics: () => Promise.resolve(''),
  });
  ({ stop } = server);
  for (const path of ['/livez', '/readyz', '/metrics', '/elsewhere']) {
    const { headers } = await fetch(`http://127.0.0.1:${server.port}${path}`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  }
});

test('metrics need the token if there is one', async () => {
  const get = await serve({ metricsToken: 'a token for prometheus' });
  const withToken = (token: string) => get('/metrics', { headers: { Authorization: `Bearer ${token}` } });
  expect((await get('/metrics')).status).toBe(401);
  expect((await withToken('another token')).status).toBe(401);
  expect(await withToken('a token for prometheus')).toEqual({ status: 200, text: 'postroom_due 1\n' });
});

test('a check that fails or hangs makes the program unready and says why; the process stays live', async () => {
  const get = await serve({
    readiness: createReadiness([
      { name: 'database', check: () => Promise.resolve() },
      { name: 'pollers', check: () => Promise.reject(new Error('no poller')) },
      { name: 'mailTransport', check: () => new Promise(() => {}) },
    ]),
  });
  const { status, text } = await get('/readyz');
  expect({ http: status, ...JSON.parse(text) }).toEqual({
    http: 503,
    status: 'not ready',
    checks: { database: 'ok', pollers: 'no poller', mailTransport: 'mailTransport: no answer within 2500 ms' },
  });
  expect((await get('/livez')).status).toBe(200);
});

test('metrics that cannot be read are an error, which Prometheus reports as a target that is down', async () => {
  const get = await serve({ metrics: () => Promise.reject(new Error('out of order')) });
  expect((await get('/metrics')).status).toBe(500);
});

test('nothing else is served, and nothing can be written', async () => {
  const get = await serve({});
  expect((await get('/')).status).toBe(404);
  expect((await get('/metrics', { method: 'POST' })).status).toBe(405);
});

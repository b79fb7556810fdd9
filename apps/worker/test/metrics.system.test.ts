import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, startReceiver, startSystem, type System } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const REFERENCE = readFileSync(join(import.meta.dirname, '../../../docs/reference/metrics.md'), 'utf8');

let system: System;
/** Metrics by program, once each has done some work. */
const pages: Record<'gateway' | 'worker', string> = { gateway: '', worker: '' };

beforeAll(async () => {
  const receiver = await startReceiver();
  system = await startSystem({ env: { WEBHOOKS_ALLOW_PRIVATE: '1' } });
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
afterAll(() => system.stop());

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

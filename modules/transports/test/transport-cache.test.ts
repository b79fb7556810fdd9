import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Transport } from '../src/transport.ts';
import { TRANSPORT_POLICY } from '../src/policy.ts';
import { TransportCache } from '../src/transport-cache.ts';

const closed: string[] = [];

const transport = (id: string): Transport => ({
  id,
  kind: 'smtp',
  width: 1,
  signing: 'whole',
  send: () => Promise.reject(new Error('not sent in this test')),
  close: () => Promise.resolve(void closed.push(id)),
});

let now = 1_000;

beforeEach(() => {
  closed.length = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Advances the clock; lru-cache reads it once per millisecond of real time. */
async function advance(ms: number): Promise<void> {
  now += ms;
  await sleep(10);
}

test('a transport that is no longer used, such as that of a deleted provider, is closed after an hour', async () => {
  const cache = new TransportCache();
  await cache.get({ id: 'deleted', revision: 1 }, () => transport('deleted'));
  const used = await cache.get({ id: 'used', revision: 1 }, () => transport('used'));
  await advance(TRANSPORT_POLICY.idleMs / 2 + 1);
  expect(await cache.get({ id: 'used', revision: 1 }, () => transport('another'))).toBe(used);
  await advance(TRANSPORT_POLICY.idleMs / 2 + 1);
  await cache.get({ id: 'new', revision: 1 }, () => transport('new'));
  await vi.waitFor(() => expect(closed).toEqual(['deleted']));
  expect(await cache.get({ id: 'used', revision: 1 }, () => transport('another'))).toBe(used);
});

test('changed settings open a new transport and close the old one', async () => {
  const cache = new TransportCache();
  await cache.get({ id: 'a', revision: 1 }, () => transport('old'));
  expect((await cache.get({ id: 'a', revision: 2 }, () => transport('new'))).id).toBe('new');
  await vi.waitFor(() => expect(closed).toEqual(['old']));
});

test('a transport that could not be opened is opened again on its next use', async () => {
  const cache = new TransportCache();
  const key = { id: 'a', revision: 1 };
  await expect(cache.get(key, () => Promise.reject(new Error('credentials unreadable')))).rejects.toThrow('unreadable');
  expect((await cache.get(key, () => transport('opened'))).id).toBe('opened');
  expect(closed).toEqual([]);
});

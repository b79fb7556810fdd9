import { config } from '@postroom/settings/config';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { Stopwatch } from '@postroom/concurrency';
import { eventually } from '@postroom/testkit';
import { isDatabaseBusy, isShared, paceBulkWork, pauseRatio } from '../src/bulk-pace.ts';
import { pool } from '../src/db.ts';
import { newId } from '../src/ids.ts';
import { REQUESTS, SharedRate } from '../src/shared-rate.ts';

const PROJECT = newId('prj');

// Bulk work of other tests never pauses.
const { BULK_PAUSE_RATIO } = config;
beforeAll(() => void (config.BULK_PAUSE_RATIO = 2));
afterAll(() => void Object.assign(config, { BULK_PAUSE_RATIO }));

test('bulk work does not pause while the database responds quickly, and gets a third of its time when it is slowest', () => {
  const ratios = [0, 7.5, 15, 22.5, 60, 60_000].map((delayMs) => pauseRatio(delayMs, 'alone'));
  expect(ratios).toEqual([0, 0, 1, 2, 2, 2]);
});

test('while other projects make requests, bulk work pauses sooner, and gets a ninth of its time when the database is slowest', () => {
  const ratios = [0, 1, 2, 5, 9, 60_000].map((delayMs) => pauseRatio(delayMs, 'shared'));
  expect(ratios).toEqual([0, 0, 1, 4, 8, 8]);
  // A database that is 8 ms away varies by some.
  expect([4, 8].map((delayMs) => pauseRatio(delayMs, 'shared', 8))).toEqual([0, 1]);
});

test('a project shares the installation while another makes requests, in whatever process', async () => {
  const [own, other] = [newId('prj'), newId('prj')];
  const rate = new SharedRate(`${REQUESTS} ${other}`, { ratePerSecond: 10, capacity: 10 });
  await rate.refill();
  await eventually(() => expect(isShared(own)).toBe(true));
});

/** Keeps the database busy for half a second, and resolves once that has been noticed. */
async function makeDatabaseBusy(): Promise<void> {
  // Uses all connections, as other work would.
  const connections = await Promise.all(Array.from({ length: pool.options.max ?? 0 }, () => pool.connect()));
  setTimeout(() => connections.forEach((connection) => connection.release()), 500);
  await vi.waitFor(
    async () => {
      await paceBulkWork(PROJECT, 0);
      expect(isDatabaseBusy(PROJECT)).toBe(true);
    },
    { timeout: 5_000, interval: 100 },
  );
}

test('bulk work pauses in proportion to its duration while the database responds slowly, or not at all', async () => {
  // At some time it responds as quickly as ever, whatever else the machine does.
  await eventually(async () => {
    await paceBulkWork(PROJECT, 0);
    expect(isDatabaseBusy(PROJECT)).toBe(false);
  });
  await makeDatabaseBusy();
  const began = performance.now();
  await paceBulkWork(PROJECT, 100);
  expect(performance.now() - began).toBeGreaterThan(99);
});

test('waits for anything but the database do not lengthen the pause, so a rate limit keeps its rate', async () => {
  const worked = new Stopwatch();
  await worked.measure(() => sleep(100));
  await sleep(1_000); // such as the wait for a rate limit
  await worked.measure(() => sleep(100));
  const measuredMs = worked.take();
  expect(measuredMs).toBeGreaterThan(190);
  expect(measuredMs).toBeLessThan(900);
  expect(worked.take()).toBe(0);
});

test('a pause ends when its signal aborts', async () => {
  const began = performance.now();
  await paceBulkWork(PROJECT, 60_000, AbortSignal.abort());
  expect(performance.now() - began).toBeLessThan(5_000);
});

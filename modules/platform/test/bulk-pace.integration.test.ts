import { expect, test, vi } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { BulkPacer, isDatabaseBusy, paceBulkWork, pauseRatio } from '../src/bulk-pace.ts';
import { pool } from '../src/db.ts';

test('bulk work does not pause while the database responds quickly, and gets a third of its time when it is slowest', () => {
  expect([0, 7.5, 15, 22.5, 60, 60_000].map(pauseRatio)).toEqual([0, 0, 1, 2, 2, 2]);
});

/** Keeps the database busy for half a second, and resolves once that has been noticed. */
async function makeDatabaseBusy(): Promise<void> {
  // Uses all connections, as other work would.
  const connections = await Promise.all(Array.from({ length: pool.options.max ?? 0 }, () => pool.connect()));
  setTimeout(() => connections.forEach((connection) => connection.release()), 500);
  await vi.waitFor(
    async () => {
      await paceBulkWork(0);
      expect(isDatabaseBusy()).toBe(true);
    },
    { timeout: 5_000, interval: 100 },
  );
}

test('bulk work pauses in proportion to its duration while the database responds slowly, or not at all', async () => {
  await paceBulkWork(60_000); // at once, as the database is idle
  expect(isDatabaseBusy()).toBe(false);
  await makeDatabaseBusy();
  const began = performance.now();
  await paceBulkWork(100);
  expect(performance.now() - began).toBeGreaterThan(99);
});

test('waits for anything but the database do not lengthen the pause, so a rate limit keeps its rate', async () => {
  const pacer = new BulkPacer();
  await pacer.measure(() => sleep(100));
  await sleep(1_000); // such as the wait for a rate limit
  await makeDatabaseBusy();
  const began = performance.now();
  await pacer.pause();
  const pausedMs = performance.now() - began;
  expect(pausedMs).toBeGreaterThan(99);
  expect(pausedMs).toBeLessThan(800);
});

test('a pause ends when its signal aborts', async () => {
  const began = performance.now();
  await paceBulkWork(60_000, AbortSignal.abort());
  expect(performance.now() - began).toBeLessThan(5_000);
});

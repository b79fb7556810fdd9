import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { pool } from '../src/db.ts';
import { newId } from '../src/ids.ts';
import { deleteIdleRates, SharedRate, type SharedRateOptions } from '../src/shared-rate.ts';

/** Rates of one name are independent of each other, as those of two processes are. */
const sharing = (count: number, options: SharedRateOptions): SharedRate[] => {
  const name = `test ${newId('key')}`;
  return Array.from({ length: count }, () => new SharedRate(name, options));
};

/** Takes tokens as fast as it gets them. @returns how many within this time. */
async function takeAll(rate: SharedRate, forMs: number): Promise<number> {
  const end = performance.now() + forMs;
  let taken = 0;
  while (performance.now() < end) {
    if (rate.tryTake()) taken++;
    else await Promise.race([rate.untilReady(5), sleep(Math.max(0, end - performance.now()))]);
  }
  return taken;
}

/** Whether a request is allowed: refused only where the bucket is empty. */
async function isAllowed(rate: SharedRate): Promise<boolean> {
  while (rate.available() < 1) {
    if (rate.isExhausted()) return false;
    await rate.refill();
  }
  return rate.tryTake();
}

const allowed = async (rate: SharedRate, count: number): Promise<number> =>
  (await Promise.all(Array.from({ length: count }, () => isAllowed(rate)))).filter(Boolean).length;

const WAITING = { ratePerSecond: 100, capacity: 10, aheadMs: 500 };

test('three processes that send as fast as they may share the rate, and none starves', async () => {
  const taken = await Promise.all(sharing(3, WAITING).map((rate) => takeAll(rate, 3_000)));
  const total = taken.reduce((sum, count) => sum + count, 0);
  expect(total).toBeLessThanOrEqual(300 + WAITING.capacity);
  expect(total).toBeGreaterThan(200);
  expect(Math.min(...taken)).toBeGreaterThan(10);
});

test('a lone process gets the whole rate, and what others reserved is free within a second of their end', async () => {
  const [first, second] = sharing(2, WAITING) as [SharedRate, SharedRate];
  expect(await takeAll(first, 1_000)).toBeGreaterThan(80);
  // `first` stops here, as if killed, with what it reserved in advance.
  await sleep(500);
  expect(await takeAll(second, 1_000)).toBeGreaterThan(80);
});

test('requests are refused once all processes together have made as many as the limit allows, not before', async () => {
  const rates = sharing(4, { ratePerSecond: 40, capacity: 40, credit: 2 });
  const began = performance.now();
  // Few of many: no process may keep the others from their share.
  expect(await Promise.all(rates.map((rate) => allowed(rate, 5)))).toEqual([5, 5, 5, 5]);
  const counts = await Promise.all(rates.map((rate) => allowed(rate, 40)));
  const total = 20 + counts.reduce((sum, count) => sum + count, 0);
  const seconds = (performance.now() - began) / 1000;
  expect(total).toBeLessThanOrEqual(Math.ceil(40 * (1 + seconds)) + 4 * 2);
  expect(total).toBeGreaterThanOrEqual(40);
});

test('rare requests take no slice, and are charged to the bucket of all processes', async () => {
  const [rare, busy] = sharing(2, { ratePerSecond: 0.1, capacity: 40, credit: 2 }) as [SharedRate, SharedRate];
  const rows = async () => (await pool.query('SELECT owed FROM shared_rates WHERE name = $1', [rare.name])).rows;
  expect([rare.tryTake(), rare.tryTake()]).toEqual([true, true]);
  expect(await rows()).toEqual([]);
  await expect.poll(rows).toEqual([{ owed: 2 }]);
  // The credit of the other one is in addition, until it is charged too.
  const count = await allowed(busy, 60);
  expect(count).toBeGreaterThanOrEqual(38);
  expect(count).toBeLessThanOrEqual(40);
});

test('without the database a process keeps its last share, and one that never had any is refused', async () => {
  const [known, unknown] = sharing(2, WAITING) as [SharedRate, SharedRate];
  await Promise.all([takeAll(known, 1_000), takeAll(sharing(1, WAITING)[0] as SharedRate, 1_000)]);
  const failure = `fail_${Date.now()}`;
  await pool.query(`
    CREATE FUNCTION ${failure}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'unreachable' USING ERRCODE = '08006'; END $$;
    CREATE TRIGGER ${failure} BEFORE INSERT ON shared_rates FOR EACH ROW WHEN (NEW.name = '${known.name}') EXECUTE FUNCTION ${failure}()`);
  onTestFinished(async () => {
    await pool.query(`DROP FUNCTION ${failure} CASCADE`);
  });
  await sleep(600); // what it had reserved is used up
  const taken = await takeAll(known, 2_000);
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThanOrEqual(2 * 100 + 2 * WAITING.capacity);
  await expect(unknown.refill()).rejects.toThrow('unreachable');
  expect(unknown.available()).toBe(0);
});

test('buckets that have been full for an hour are deleted', async () => {
  const [old, used] = [sharing(1, WAITING)[0] as SharedRate, sharing(1, WAITING)[0] as SharedRate];
  await Promise.all([old.refill(), used.refill()]);
  await pool.query(`UPDATE shared_rates SET spent_until = now() - interval '61 minutes' WHERE name = $1`, [old.name]);
  expect(await deleteIdleRates()).toBeGreaterThan(0);
  const { rows } = await pool.query('SELECT name FROM shared_rates WHERE name = ANY ($1)', [[old.name, used.name]]);
  expect(rows).toEqual([{ name: used.name }]);
});

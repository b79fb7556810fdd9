import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { FairSemaphore } from '../src/fair-semaphore.ts';
import { FairShare } from '../src/fair-share.ts';

/** Work that the test ends. */
function work(log: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const run = async () => {
    log.push(name);
    await promise;
  };
  return { run, end: resolve };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('no key has more at work than it may, and all together no more than there is room for', async () => {
  const semaphore = new FairSemaphore({ total: 3, perKey: 2 });
  const log: string[] = [];
  const all = ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => ({ name, ...work(log, name) }));
  const done = all.map(({ name, run }) => semaphore.run(name.slice(0, 1), run));
  await settle();
  expect(log).toEqual(['a1', 'a2', 'b1']);
  for (const { end } of all) end();
  await Promise.all(done);
  expect(log.toSorted()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
});

test('work that takes a quarter of a slot has more room, and does not overtake work that takes two', async () => {
  const semaphore = new FairSemaphore({ total: Infinity, perKey: 2 });
  const log: string[] = [];
  const all = ['s1', 's2', 's3', 's4', 's5', 'whole', 's6', 's7'].map((name) => ({ name, ...work(log, name) }));
  const done = all.map(({ name, run }) => semaphore.run('a', run, name === 'whole' ? 2 : 1 / 4));
  await settle();
  expect(log).toEqual(['s1', 's2', 's3', 's4', 's5']);
  for (const { end } of all.slice(0, 5)) end();
  await settle();
  expect(log).toEqual(['s1', 's2', 's3', 's4', 's5', 'whole']);
  for (const { end } of all) end();
  await Promise.all(done);
  expect(log.slice(6)).toEqual(['s6', 's7']);
});

test('keys that wait take turns: a hundred of one delay another by one', async () => {
  const semaphore = new FairSemaphore({ total: 1, perKey: 1 });
  const log: string[] = [];
  const first = work(log, 'a');
  const done = [semaphore.run('a', first.run)];
  for (let number = 0; number < 100; number++) done.push(semaphore.run('a', async () => void log.push('a')));
  done.push(semaphore.run('b', async () => void log.push('b')));
  first.end();
  await Promise.all(done);
  expect(log.indexOf('b')).toBeLessThanOrEqual(2);
  expect(log).toHaveLength(102);
});

test('what fails gives its room back, and more than may wait for a key is rate_limited', async () => {
  const semaphore = new FairSemaphore({ total: 2, perKey: 1, waitingPerKey: 1 });
  const log: string[] = [];
  const first = work(log, 'first');
  const running = semaphore.run('a', first.run);
  const waiting = semaphore.run('a', () => Promise.reject(new Error('broken')));
  const refused = semaphore.run('a', async () => {});
  await expect(refused).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
  await semaphore.run('b', async () => void log.push('b'));
  first.end();
  await running;
  await expect(waiting).rejects.toThrow('broken');
  await semaphore.run('a', async () => void log.push('a'));
  expect(log).toEqual(['first', 'b', 'a']);
});

test('a key has less room while others are active, and all of it again when they have been idle for two seconds', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const semaphore = new FairSemaphore({ total: Infinity, perKey: 3, perKeyShared: 1 });
    const take = () => semaphore.tryAcquire('a');
    const alone = [take(), take(), take()];
    expect(alone.map((release) => release !== undefined)).toEqual([true, true, true]);
    expect(take()).toBeUndefined();
    for (const release of alone) release?.();
    await semaphore.run('b', async () => {});
    const shared = [take(), take()];
    expect(shared.map((release) => release !== undefined)).toEqual([true, false]);
    vi.advanceTimersByTime(2_001);
    expect(take()).toBeDefined();
  } finally {
    vi.useRealTimers();
  }
});

test('a key has less room while its owner says that it shares the semaphore', () => {
  let isShared = true;
  const semaphore = new FairSemaphore({ total: 3, perKey: 3, perKeyShared: 1, isShared: () => isShared });
  expect([semaphore.tryAcquire('a'), semaphore.tryAcquire('a')].map((release) => release !== undefined)).toEqual([
    true,
    false,
  ]);
  isShared = false;
  expect(semaphore.tryAcquire('a')).toBeDefined();
});

test('next to others, a key that keeps a slot busy has less room than one with little work, and only it is paced', async () => {
  const paced: string[] = [];
  const semaphore = new FairSemaphore({
    total: Infinity,
    perKey: 9,
    perKeyShared: 2,
    isShared: () => true,
    lightBelow: 0.2,
    pace: async (key) => void paced.push(key),
  });
  await Promise.all(Array.from({ length: 4 }, () => semaphore.run('light', async () => {})));
  await Promise.all(Array.from({ length: 4 }, () => semaphore.run('heavy', () => sleep(200))));
  const roomOf = (key: string) =>
    Array.from({ length: 9 }, () => semaphore.tryAcquire(key)).filter((release) => release !== undefined).length;
  expect([roomOf('light'), roomOf('heavy')]).toEqual([4, 2]);
  expect(new Set(paced)).toEqual(new Set(['heavy']));
});

test('next to others, a key with more work than room is paced, however short its work is', async () => {
  const paced: string[] = [];
  const semaphore = new FairSemaphore({
    total: Infinity,
    perKey: 9,
    perKeyShared: 1,
    isShared: () => true,
    lightBelow: 1,
    pace: async (key) => void paced.push(key),
  });
  await Promise.all(Array.from({ length: 10 }, () => semaphore.run('a', async () => {})));
  expect(paced.length).toBeGreaterThanOrEqual(7);
});

test('paced work answers at once and keeps its slot until its pause is over', async () => {
  const pause = Promise.withResolvers<void>();
  const semaphore = new FairSemaphore({ total: 1, perKey: 1, pace: () => pause.promise });
  expect(await semaphore.run('a', async () => 'result')).toBe('result');
  expect(semaphore.tryAcquire('a')).toBeUndefined();
  pause.resolve();
  await settle();
  expect(semaphore.tryAcquire('a')).toBeDefined();
});

test('a share is as much as it leaves free, so there is always some for another key', () => {
  const share = new FairShare(8);
  const takeAll = (key: string) => {
    const releases: (() => void)[] = [];
    for (let release = share.tryAcquire(key); release !== undefined; release = share.tryAcquire(key))
      releases.push(release);
    return releases;
  };
  const a = takeAll('a');
  const b = takeAll('b');
  expect([a.length, b.length, takeAll('c').length]).toEqual([4, 2, 1]);
  for (const release of a) release();
  expect(takeAll('d').length).toBeGreaterThanOrEqual(2);
});

test('a semaphore is cheap enough for each request to have one', () => {
  const before = process.cpuUsage();
  const semaphores = Array.from({ length: 1_000 }, () => new FairSemaphore({ total: 2, perKey: 2 }));
  const { user, system } = process.cpuUsage(before);
  expect(semaphores).toHaveLength(1_000);
  expect(user + system).toBeLessThan(200_000); // microseconds
});

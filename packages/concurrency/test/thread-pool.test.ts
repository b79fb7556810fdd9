import { expect, test } from 'vitest';
import { onThread, ThreadError, type ThreadFunction } from '../src/thread-pool.ts';

/** A module whose functions take the requested CPU time. */
const MODULE = `data:text/javascript,${encodeURIComponent(`
  export const echo = (value) => value;
  export const fail = (message) => { throw new RangeError(message); };
  export const burn = (ms) => { const end = Date.now() + ms; while (Date.now() < end); return ms; };
  export const fill = () => { const all = []; for (;;) all.push('x'.repeat(1e6) + all.length, new Array(1e5).fill(all.length)); };
`)}`;
const fn = (name: string, timeLimitMs = 5_000): ThreadFunction => ({ module: MODULE, name, timeLimitMs });

test('a function runs on another thread: its result, or its error, comes back, and timers go on meanwhile', async () => {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  expect(await onThread(fn('echo'), 'a', { text: 'x', list: [1, null] })).toEqual({ text: 'x', list: [1, null] });
  ticks = 0;
  await onThread(fn('burn'), 'a', 300);
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(5);
  await expect(onThread(fn('fail'), 'a', 'too deep')).rejects.toThrow(new ThreadError('too deep'));
});

test('a call that takes longer than its limit is ended, and so is one that fills the memory; others go on', async () => {
  await onThread(fn('echo'), 'a', 1);
  await expect(onThread(fn('burn', 100), 'a', 60_000)).rejects.toMatchObject({ name: 'ThreadError', isTimeout: true });
  await expect(onThread(fn('fill', 30_000), 'a')).rejects.toMatchObject({ name: 'ThreadError', isTimeout: false });
  expect(await onThread(fn('echo'), 'a', 2)).toBe(2);
}, 60_000);

test('the time limit holds for the first call of a thread too, which does not include loading the module', async () => {
  const slow: ThreadFunction = {
    module: `data:text/javascript,${encodeURIComponent(`
      for (const end = Date.now() + 400; Date.now() < end; );
      export const burn = (ms) => { for (const end = Date.now() + ms; Date.now() < end; ); return ms; };
    `)}`,
    name: 'burn',
    timeLimitMs: 150,
  };
  expect(await onThread(slow, 'a', 10)).toBe(10);
  // Ends the idle threads, so that the last call has a new one.
  const ended = [1, 2, 3].map(() => onThread(fn('burn', 100), 'a', 60_000).catch((error: unknown) => error));
  for (const error of await Promise.all(ended)) expect(error).toMatchObject({ isTimeout: true });
  await expect(onThread(slow, 'a', 30_000)).rejects.toMatchObject({ isTimeout: true });
}, 20_000);

test('a caller with many costly calls delays no other caller by more than one of them', async () => {
  const costly = Array.from({ length: 12 }, () => onThread(fn('burn'), 'greedy', 200));
  const finished: string[] = [];
  const all = Promise.all(costly.map((call) => call.then(() => finished.push('greedy'))));
  await onThread(fn('echo'), 'modest', 1);
  finished.push('modest');
  await all;
  expect(finished.indexOf('modest')).toBeLessThan(finished.length - 4);
});

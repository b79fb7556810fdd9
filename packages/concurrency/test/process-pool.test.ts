import { expect, test } from 'vitest';
import { IsolatedCallError, type IsolatedFunction, runIsolated } from '../src/process-pool.ts';

/** A module whose functions take the requested CPU time, or more memory than there may be. */
const MODULE = `data:text/javascript,${encodeURIComponent(`
  export const echo = (value) => value;
  export const fail = (message) => { throw new RangeError(message); };
  export const burn = (ms) => { const end = Date.now() + ms; while (Date.now() < end); return ms; };
  export const fill = () => { const all = []; for (;;) all.push('x'.repeat(1e6) + all.length, new Array(1e5).fill(all.length)); };
  export const fillAtOnce = () => { const all = []; for (;;) all.push(Array.from({ length: 6e7 }, (_, index) => index)); };
  export const signal = async (name) => {
    process.kill(process.pid, name);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return 'went on';
  };
  export const about = () => ({ pid: process.pid, env: Object.keys(process.env), flags: process.execArgv });
`)}`;
const fn = (name: string, timeLimitMs = 5_000): IsolatedFunction => ({ module: MODULE, name, timeLimitMs });

test('a function runs in another process: its result, or its error, comes back, and timers go on meanwhile', async () => {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  expect(await runIsolated(fn('echo'), 'a', { text: 'x', list: [1, null] })).toEqual({ text: 'x', list: [1, null] });
  ticks = 0;
  await runIsolated(fn('burn'), 'a', 300);
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(5);
  await expect(runIsolated(fn('fail'), 'a', 'too deep')).rejects.toThrow(new IsolatedCallError('too deep'));
});

test('binary arguments and results keep their types and contents, also as a part of a larger buffer', async () => {
  const larger = new Uint8Array([9, 1, 2, 3, 9]);
  for (const bytes of [larger.subarray(1, 4), Buffer.from(larger.buffer, 1, 3), larger.slice(1, 4).buffer, undefined]) {
    const returned: unknown = await runIsolated(fn('echo'), 'a', bytes);
    expect(returned).toEqual(bytes);
    expect(Buffer.isBuffer(returned)).toBe(Buffer.isBuffer(bytes));
  }
});

test('a call that takes longer than its limit is ended, and so is one that fills the memory; others go on', async () => {
  await runIsolated(fn('echo'), 'a', 1);
  await expect(runIsolated(fn('burn', 100), 'a', 60_000)).rejects.toMatchObject({
    name: 'IsolatedCallError',
    isTimeout: true,
  });
  for (const name of ['fill', 'fillAtOnce'])
    await expect(runIsolated(fn(name, 120_000), 'a')).rejects.toMatchObject({
      name: 'IsolatedCallError',
      isTimeout: false,
      message: 'It took more than 512 MB of memory.',
    });
  expect(await runIsolated(fn('echo'), 'a', 2)).toBe(2);
}, 240_000);

test('a process that is killed fails its call with an error that does not blame the content, and the next call works', async () => {
  const killed = runIsolated(fn('signal'), 'a', 'SIGKILL').catch((error: unknown) => error);
  expect(await killed).toEqual(new Error('A process of the pool was ended by SIGKILL.'));
  expect(await killed).not.toBeInstanceOf(IsolatedCallError);
  expect(await runIsolated(fn('echo'), 'a', 1)).toBe(1);
  expect(await runIsolated(fn('signal'), 'a', 'SIGTERM')).toBe('went on');
});

test('a process that is killed while it is idle fails no call', async () => {
  const { pid } = await runIsolated<[], { pid: number }>(fn('about'), 'a');
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => isRunning(pid)).toBe(false);
  expect(await Promise.all([1, 2, 3, 4].map((value) => runIsolated(fn('echo'), 'a', value)))).toEqual([1, 2, 3, 4]);
});

test('a process gets no settings and no debugging flags', async () => {
  process.env['POSTROOM_SECRET_KEY'] ??= 'of the test';
  const { env, flags } = await runIsolated<[], { env: string[]; flags: string[] }>(fn('about'), 'a');
  expect(env.filter((name) => !name.startsWith('NODE_'))).toEqual([]);
  expect(flags).toEqual(['--max-old-space-size=512', '--max-semi-space-size=8']);
});

test('the time limit holds for the first call of a process too, which does not include loading the module', async () => {
  const slow: IsolatedFunction = {
    module: `data:text/javascript,${encodeURIComponent(`
      for (const end = Date.now() + 400; Date.now() < end; );
      export const burn = (ms) => { for (const end = Date.now() + ms; Date.now() < end; ); return ms; };
    `)}`,
    name: 'burn',
    timeLimitMs: 150,
  };
  expect(await runIsolated(slow, 'a', 10)).toBe(10);
  // Ends the idle processes, so that the last call has a new one.
  const ended = [1, 2, 3].map(() => runIsolated(fn('burn', 100), 'a', 60_000).catch((error: unknown) => error));
  for (const error of await Promise.all(ended)) expect(error).toMatchObject({ isTimeout: true });
  await expect(runIsolated(slow, 'a', 30_000)).rejects.toMatchObject({ isTimeout: true });
}, 20_000);

test('a caller with many costly calls delays no other caller by more than one of them', async () => {
  const costly = Array.from({ length: 12 }, () => runIsolated(fn('burn'), 'greedy', 200));
  const finished: string[] = [];
  const all = Promise.all(costly.map((call) => call.then(() => finished.push('greedy'))));
  await runIsolated(fn('echo'), 'modest', 1);
  finished.push('modest');
  await all;
  expect(finished.indexOf('modest')).toBeLessThan(finished.length - 4);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

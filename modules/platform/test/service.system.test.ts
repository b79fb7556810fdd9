import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** A program as the launcher starts it; `start` is the body of its service's start function. */
function program(start: string): ChildProcess {
  const code = `
    const { runService } = await import(${JSON.stringify(join(import.meta.dirname, '../src/service.ts'))});
    process.send('runs');
    setInterval(() => {}, 1000);
    await runService('test', async () => ${start});`;
  return spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

test('a program ends with its launcher, also while it is still waiting for what it stands on', async () => {
  const waiting = program('new Promise(() => {})');
  await once(waiting, 'message');
  waiting.disconnect();
  expect(await once(waiting, 'exit')).toEqual([1, null]);
});

test('a running service drains before it exits', async () => {
  const running = program('({ stop: async () => { process.exitCode = 0; } })');
  await once(running, 'message');
  expect(await once(running, 'message')).toEqual([{ ready: true }, undefined]);
  running.disconnect();
  expect(await once(running, 'exit')).toEqual([0, null]);
});

test('a service that fails drains and exits with status 1, so that it is restarted', async () => {
  const failing = program(`({
    failed: Promise.resolve(new Error('the service failed')),
    stop: async () => { process.send('drained'); },
  })`);
  const messages: unknown[] = [];
  failing.on('message', (message) => messages.push(message));
  expect(await once(failing, 'exit')).toEqual([1, null]);
  expect(messages).toEqual(['runs', { ready: true }, 'drained']);
});

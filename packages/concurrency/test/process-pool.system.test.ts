import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { isRunning, processId, waitForEnd } from '@postroom/embedded';
import { expect, onTestFinished, test } from 'vitest';

/** A program with an idle pool, in its own process group, and the processes of the pool. */
async function startProgram() {
  const program = fork(join(import.meta.dirname, 'process-pool.program.ts'), {
    execArgv: [],
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  onTestFinished(() => void program.kill('SIGKILL'));
  let output = '';
  for (const stream of [program.stdout, program.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const [pids] = (await once(program, 'message')) as [number[]];
  return { program, pool: [...new Set(pids)].map(processId).filter((id) => id !== undefined), output: () => output };
}

test('Ctrl-C in a terminal ends no call of a program that drains, and the program exits without output', async () => {
  const { program, pool, output } = await startProgram();
  program.send(500);
  await once(program, 'message');
  const interrupted = once(program, 'message');
  process.kill(-(program.pid ?? 0), 'SIGINT');
  expect((await interrupted)[0]).toBe('interrupted');
  expect((await once(program, 'message'))[0]).toBe('finished');
  program.disconnect();
  expect(await once(program, 'exit')).toEqual([0, null]);
  expect(await waitForEnd(pool, 10_000)).toEqual([]);
  expect(output()).toBe('');
});

test('the processes of a killed program end: idle ones at once, others after their call', async () => {
  const { program, pool } = await startProgram();
  expect(pool.filter(isRunning)).toHaveLength(3);
  program.send(1_000);
  await once(program, 'message');
  program.kill('SIGKILL');
  await once(program, 'exit');
  expect(await waitForEnd(pool, 10_000)).toEqual([]);
});

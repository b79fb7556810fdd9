import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';

/** Runs `postroom after-restore` with more settings than those of the tests. @returns what it prints. */
export async function runAfterRestore(settings: Record<string, string>, args: readonly string[]): Promise<string> {
  const program = join(import.meta.dirname, '../src/after-restore.ts');
  const env = { ...process.env, LOG_LEVEL: 'fatal', ...settings };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const status = await new Promise((resolve) => child.once('exit', resolve));
  expect([status, output]).toEqual([0, expect.anything()]);
  return output;
}

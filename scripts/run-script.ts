import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a script that prints a table; resolves with its output, without colors, and its exit code. */
export async function runScript(path: string, ...args: string[]): Promise<{ output: string; code: number | null }> {
  const program = spawn(process.execPath, [path, ...args], { env: { ...process.env, NO_COLOR: '1' } });
  let output = '';
  for (const stream of [program.stdout, program.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = (await once(program, 'close')) as [number | null];
  return { output, code };
}

/** The value of a name in the table that a script prints. */
export const figure = (output: string, name: string) => new RegExp(`│ ${name} +│ +(.+?) │`).exec(output)?.[1];

import { spawn } from 'node:child_process';

/** Runs a program, and kills it when it prints `killAt`. @returns what it printed, and its status. */
export async function runKillable(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  killAt?: string,
): Promise<{ printed: string; status: number | null }> {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  const read = (chunk: Buffer) => {
    printed += chunk.toString();
    if (killAt !== undefined && printed.includes(killAt)) child.kill('SIGKILL');
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { printed, status };
}

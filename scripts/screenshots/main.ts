import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../demo/client.ts';
import { fail, say } from '../demo/print.ts';
import { findSystem, type System } from '../demo/system.ts';
import { takePictures } from './shots.ts';
import { setTheStage } from './stage.ts';

const HELP = `npm run screenshots [-- --keep]

Starts a separate system, sends a campaign in it, and takes the screenshots of the README and the docs with Chromium.
CHROMIUM_PATH names the browser if it is not called chromium. Build the dashboard first: npm run build:dashboard.
With --keep the system keeps running until Ctrl-C, so that you can explore it.
`;

/** Starts a system in a temporary data folder, plays the scenario, takes the screenshots and cleans up. */
async function main(): Promise<void> {
  if (process.argv.includes('--help')) return void process.stdout.write(HELP);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort(new Error('Stopped.')));
  const folder = await mkdtemp(join(tmpdir(), 'postroom-pictures-'));
  const system = await findSystem(folder, stopping.signal);
  try {
    const api = new Client(system.url, system.keys.full ?? '', stopping.signal);
    const stage = await setTheStage(api, stopping.signal);
    const into = join(import.meta.dirname, '../../docs/screenshots');
    for (const { name, kilobytes } of await takePictures(system, stage, into))
      say('Picture', `${name}, ${kilobytes} kB`);
    if (process.argv.includes('--keep')) await keep(system, stopping.signal);
  } finally {
    await system.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Prints where the system is, and keeps it until it is stopped. */
async function keep({ url, owner }: System, stopped: AbortSignal): Promise<void> {
  say('Dashboard', `${url} (${owner.email}, password ${owner.password}); press Ctrl-C to stop`);
  const alive = setInterval(() => {}, 60_000);
  await new Promise((resolve) => stopped.addEventListener('abort', resolve));
  clearInterval(alive);
}

await main().catch((error: unknown) => {
  fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
});

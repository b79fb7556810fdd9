import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Postroom } from '../../sdk/typescript/src/index.ts';
import { fail, say } from '../demo/print.ts';
import { findSystem, type System } from '../demo/system.ts';
import { takeEveryPage } from './every-page.ts';
import { takePictures } from './shots.ts';
import { setTheStage } from './stage.ts';

const HELP = `npm run screenshots [-- --keep] [-- --every-page <folder>]

Starts a separate system, sends a campaign in it, and takes the screenshots of the README and the docs with Chromium.
CHROMIUM_PATH names the browser if it is not called chromium. Build the dashboard first: npm run build:dashboard.
With --every-page it takes every page of the dashboard into a folder instead, at the widths of a desktop and a phone and in both color
schemes, and lists axe violations, text that is cut off and pages that scroll horizontally.
With --keep the system keeps running until Ctrl-C, so that you can explore it.
`;

const OPTIONS = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    'every-page': { type: 'string' },
  },
});

/** Starts a system in a temporary data folder, plays the scenario, takes the screenshots and cleans up. */
async function main(): Promise<void> {
  if (OPTIONS.values.help) return void process.stdout.write(HELP);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort(new Error('Stopped.')));
  const folder = await mkdtemp(join(tmpdir(), 'postroom-pictures-'));
  // A delivery has its own page in the Temporal UI, also on a busy machine.
  process.env.WEBHOOK_WORKFLOWS = 'always';
  const system = await findSystem(folder, stopping.signal);
  try {
    const postroom = new Postroom({ apiKey: system.keys.full ?? '', baseUrl: system.url });
    const stage = await setTheStage(postroom, stopping.signal);
    const { values } = OPTIONS;
    if (values['every-page'] === undefined) {
      const into = join(import.meta.dirname, '../../docs/screenshots');
      for (const { name, kilobytes } of await takePictures(system, stage, into))
        say('Picture', `${name}, ${kilobytes} kB`);
    } else {
      const problems = await takeEveryPage(system, postroom, stage, values['every-page']);
      for (const { picture, problem } of problems) say('Problem', `${picture}: ${problem}`);
      if (problems.length > 0) process.exitCode = 1;
    }
    if (OPTIONS.values.keep) await keep(system, stopping.signal);
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

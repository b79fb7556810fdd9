import { parseArgs } from 'node:util';
import { runCommand } from '@postroom/errors';
import { startChild } from '../../bench/child.ts';
import { Postroom } from '../../sdk/typescript/src/index.ts';
import { bold, count, dim, fail, say, seconds } from '../demo/print.ts';
import { campaignUnderKills } from './campaign.ts';
import { type Check, counted, report } from './checks.ts';
import { type KillSchedule, scheduleKills } from './kills.ts';
import { journeysUnderKills } from './journeys.ts';
import { startSystem } from './system.ts';
import { webhooksUnderKills } from './webhooks.ts';

const HELP = `npm run chaos [-- options]

Starts a separate Postroom and sends a campaign, kills worker, gateway, Temporal and PostgreSQL repeatedly with kill -9, and
compares what arrived with the tables. Prints a table at the end, and exits with status 1 if any check in it fails.

  --recipients N   recipients of the campaign, default 20000
  --webhooks N     N deliveries to a healthy receiver, and some to others that drop connections, never respond,
                   return garbage, or return a gigabyte; a campaign is sent as well if --recipients is given
  --journeys       instead of a campaign, contacts who go through a journey, as many as --recipients
  --no-heal        with --webhooks: the failing receivers never recover, and their retries are not awaited
  --kills N        number of kills, distributed evenly; default 12
  --every MS       average time between kills, default 4000
  --seed N         seed for the order and times, default 1
  --keep           keep the data folder and print its path
`;

const options = {
  recipients: { type: 'string' },
  webhooks: { type: 'string' },
  journeys: { type: 'boolean', default: false },
  heal: { type: 'boolean', default: true },
  kills: { type: 'string', default: '12' },
  every: { type: 'string', default: '4000' },
  seed: { type: 'string', default: '1' },
  keep: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Enough to outlast a component that restarts: about a minute. */
const MAX_RETRIES = 12;

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const)
  process.on(signal, () => stopping.abort(new Error('Stopped.')));

await runCommand('postroom chaos', async () => {
  const { values } = parseArgs({ options, allowNegative: true });
  if (values.help) return void process.stdout.write(HELP);
  const plan = {
    count: wholeNumber('kills', values.kills),
    everyMs: wholeNumber('every', values.every),
    seed: wholeNumber('seed', values.seed),
  };
  const recipients = wholeNumber('recipients', values.recipients ?? '20000');
  const deliveries = wholeNumber('webhooks', values.webhooks ?? '0');
  try {
    process.exitCode = await main({ values, plan, recipients, deliveries });
  } catch (error) {
    // A failed scenario is investigated, so it prints the stack; a wrong option needs one line.
    fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = 1;
  }
});
// A scenario that waits for one that failed would keep its receivers open.
process.exit();

interface Run {
  values: ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];
  plan: { count: number; everyMs: number; seed: number };
  recipients: number;
  deliveries: number;
}

async function main({ values, plan: given, recipients, deliveries }: Run): Promise<number> {
  const began = Date.now();
  const at = (line: string) => say(seconds(Date.now() - began), line);
  const plan = { ...given, say: (line: string) => at(dim(line)) };
  const sink = await startChild('smtp-sink.ts');
  at('Starting PostgreSQL, Temporal, gateway and worker …');
  const { port } = sink.ready as { port: number };
  const system = await startSystem(`smtp://127.0.0.1:${port}`, plan.say);
  const postroom = new Postroom({ apiKey: system.key, baseUrl: system.url, maxRetries: MAX_RETRIES });
  const scenarios: ((kills: KillSchedule) => Promise<Check[]>)[] = [];
  if (values.journeys) scenarios.push((kills) => journeysUnderKills(system, postroom, sink, kills, recipients));
  else if (values.recipients !== undefined || values.webhooks === undefined)
    scenarios.push((kills) => campaignUnderKills(system, postroom, sink, kills, recipients));
  if (values.webhooks !== undefined)
    scenarios.push((kills) => webhooksUnderKills(system, postroom, kills, { deliveries, heal: values.heal }));
  const stop = () => void system.stop({ keep: values.keep }).then(() => process.exit(130));
  stopping.signal.addEventListener('abort', stop);
  try {
    const kills = scheduleKills(system, scenarios.length, plan);
    const parts = await Promise.all(scenarios.map((scenario) => scenario(kills)));
    const { byPart } = await kills.done;
    const killed = counted('kill -9 of worker, gateway, Temporal, PostgreSQL', Object.values(byPart).join(', '));
    const { ok, text } = report([
      killed,
      ...parts.flatMap((checks, index) => (index === 0 ? checks : [undefined, ...checks])),
    ]);
    console.log(`\n${text}\n${dim(`Seed ${count(plan.seed)}, ${seconds(Date.now() - began)} in all.`)}`);
    return ok ? 0 : 1;
  } finally {
    stopping.signal.removeEventListener('abort', stop);
    if (values.keep) at(`${bold('Kept:')} ${system.dataDir}`);
    await system.stop({ keep: values.keep });
    await sink.stop();
  }
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} must be a whole number, not "${text}".`);
}

/**
 * Measures what each operation costs, for the model in packages/capacity, and compares the model's prediction with mixes of all
 * operations at several sizes. Starts what bench/sending.ts starts.
 * Run: npm run bench -- capacity [options]
 *   --only OPERATIONS   some of the operations of the model; default all; `none` for the mixes alone
 *   --seconds N         length of each measurement at a rate, default 10
 *   --contacts N        contacts of the project, and recipients of a campaign, default 20000
 *   --fit SIZE          then run all operations at this multiple of the smallest mix, for twice as long, and set by it how much they
 *                       share
 *   --mix SIZE,SIZE     then predict such mixes, for which nothing was set
 *   --save              write the costs to packages/capacity/src/costs.json, where operations that were not measured stay, and the
 *                       mixes to mixes.json
 * `npm run generate` writes the result into the docs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type CostPoint,
  type Costs,
  delayAt,
  errorsOf,
  fitSharing,
  type Mix,
  type Operation,
  type OperationCost,
  OPERATIONS,
  PROGRAMS,
} from '@postroom/capacity';
import { prepareMix, type Quantity } from './load-mix.ts';
import { Meter, type Usage } from './meter.ts';
import { startSending } from './sending.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(OPERATIONS).join(',') },
    seconds: { type: 'string', default: '10' },
    contacts: { type: 'string', default: '20000' },
    save: { type: 'boolean', default: false },
    fit: { type: 'string' },
    mix: { type: 'string' },
  },
});
const [SECONDS, CONTACTS] = [Number(values.seconds), Number(values.contacts)];
const MIX_SECONDS = 2 * SECONDS;
const COSTS = new URL('../packages/capacity/src/costs.json', import.meta.url);
/** Workflows that begin with a worker have ended by then. */
const SETTLE_MS = 10_000;
const MIXES = new URL('../packages/capacity/src/mixes.json', import.meta.url);
const IDLE_MS = 15_000;
/** Operations before each measurement. */
const WARM_UP = 50;
const COMMAND = 'npm run bench -- capacity --fit 4 --mix 2,6,12 --save';

/** The rates per second at which each operation is measured, and the sizes of bursts that run as fast as possible, the largest last. */
const RATES: Record<Operation, { rates: number[]; bursts?: number[] }> = {
  campaignStart: { rates: [], bursts: [10] },
  campaign: { rates: [], bursts: [CONTACTS / 10, CONTACTS] },
  email: { rates: [5, 20, 40, 160], bursts: [5_000] },
  hit: { rates: [20, 200, 1_600] },
  // Up to some rate each has its own workflow, and then none: the use per second has a bend there.
  delivery: { rates: [5, 10, 20, 40, 80, 160], bursts: [5_000] },
  contact: { rates: [5, 20, 200] },
  read: { rates: [20, 400] },
  importStart: { rates: [], bursts: [10] },
  import: { rates: [], bursts: [2_000, 20_000] },
  event: { rates: [20, 400], bursts: [10_000] },
  step: { rates: [10, 30, 100], bursts: [12_000] },
};

/** What each measurement of these begins with, as a separate operation. */
const STARTS = { campaign: 'campaignStart', import: 'importStart' } as const;

type Start = (typeof STARTS)[keyof typeof STARTS];
const isStart = (operation: Operation): operation is Start => Object.values<Operation>(STARTS).includes(operation);

/** The smallest mix, per second. Campaigns and imports take their share at once. */
const MIX: Record<Exclude<Operation, Start>, number> = {
  email: 5,
  campaign: 20,
  hit: 5,
  delivery: 5,
  contact: 1,
  read: 10,
  import: 10,
  event: 10,
  step: 6,
};

const system = await startSending({ connections: '10', statements: false }, []);
const { pool } = await import('@postroom/platform');
const meter = new Meter(pool, {
  gateway: system.gateway.pid,
  worker: system.worker.pid,
  temporalMetrics: system.temporalMetrics,
});
const mix = await prepareMix(system, CONTACTS);
const costs = JSON.parse(readFileSync(COSTS, 'utf8')) as Costs;
const isOperation = (name: string): name is Operation => name in OPERATIONS;
const today = new Date().toISOString().slice(0, 10);

try {
  console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
  await mix.run('campaign', { count: 2_000 }); // its messages are also those of hits, and programs compile their code
  for (const operation of Object.keys(OPERATIONS).filter(isOperation)) await warmUp(operation, 200);
  // Autovacuum would clean up after one operation while another is measured. Each does its own part instead.
  await pool.query('VACUUM ANALYZE');
  await pool.query('ALTER SYSTEM SET autovacuum = off');
  await pool.query('SELECT pg_reload_conf()');
  await sleep(SETTLE_MS);
  if (values.only !== 'none') await measureCosts();
  if (values.fit !== undefined) await fit(Number(values.fit));
  if (values.mix !== undefined) await compareMixes(values.mix.split(',').map(Number));
} finally {
  await mix.stop();
  await system.stop();
}
process.exit(0);

/** Runs some of an operation, so that programs have compiled its code. One start is enough. */
async function warmUp(operation: Operation, count = WARM_UP): Promise<void> {
  await mix.run(operation, { count: isStart(operation) ? 1 : count });
}

async function compareMixes(sizes: readonly number[]): Promise<void> {
  const mixes: Mix[] = [];
  for (const size of sizes) mixes.push(await compare(size));
  if (values.save) writeFileSync(MIXES, `${JSON.stringify(mixes, null, 2)}\n`);
}

async function fit(size: number): Promise<void> {
  const measured = await compare(size);
  costs.sharing = { command: COMMAND, date: today, factor: fitSharing(measured, costs) };
  console.log('sharing', costs.sharing.factor);
  saveCosts();
}

function saveCosts(): void {
  if (values.save) writeFileSync(COSTS, `${JSON.stringify(costs, null, 2)}\n`);
}

async function measureCosts(): Promise<void> {
  costs.machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`;
  const idle = await meter.measure(() => sleep(IDLE_MS));
  costs.idle = { command: COMMAND, date: today, ...perOperation(idle, idle.seconds) };
  console.log('idle', JSON.stringify(costs.idle));
  for (const operation of values.only.split(',').filter(isOperation)) {
    costs.operations[operation] = await measureOperation(operation, costs.idle);
    saveCosts();
  }
}

async function measureOperation(operation: Operation, idle: Costs['idle']): Promise<OperationCost> {
  const points: CostPoint[] = [];
  const start =
    operation in STARTS ? costs.operations[STARTS[operation as keyof typeof STARTS]].points.at(-1) : undefined;
  const { rates, bursts = [] } = RATES[operation];
  const quantities: Quantity[] = [
    ...rates.map((rate) => ({ count: rate * SECONDS, rate })),
    ...bursts.map((count) => ({ count })),
  ];
  const grown = new Map<string, number>();
  for (const quantity of quantities) {
    await mix.prepare(operation, quantity);
    let seconds = 0;
    const usage = await meter.measure(
      async () => {
        const began = performance.now();
        await mix.run(operation, quantity);
        seconds = (performance.now() - began) / 1000;
        if (quantity === quantities.at(-1)) await pool.query('VACUUM');
      },
      () => warmUp(operation),
    );
    const point = { rate: quantity.rate ?? Math.round(quantity.count / seconds), count: quantity.count };
    points.push({ ...point, ...perOperation(usage, quantity.count, { idle, start }) });
    for (const [table, bytes] of Object.entries(usage.bytes)) grown.set(table, (grown.get(table) ?? 0) + bytes);
    console.log(operation, JSON.stringify(points.at(-1)));
  }
  const total = quantities.reduce((sum, { count }) => sum + count, 0);
  const bytes = Object.fromEntries(
    [...grown].map(([table, grew]) => [table, Math.round(grew / total)]).filter(([, each]) => Number(each) >= 5),
  ) as Record<string, number>;
  console.log(operation, JSON.stringify(bytes));
  return { command: COMMAND, date: today, points, bytes };
}

type Cost = Omit<CostPoint, 'rate' | 'count'>;

/** The use of each operation beyond what an idle installation uses in that time, and beyond a start. */
function perOperation(usage: Usage, count: number, { idle, start }: { idle?: Cost; start?: Cost | undefined } = {}) {
  const each = (of: (cost: Cost) => number) => {
    const others = (idle === undefined ? 0 : of(idle) * usage.seconds) + (start === undefined ? 0 : of(start));
    return Math.max(0, Math.round(((of(usage) - others) / count) * 100) / 100);
  };
  return {
    cpuUs: {
      gateway: each(({ cpuUs }) => cpuUs.gateway),
      worker: each(({ cpuUs }) => cpuUs.worker),
      postgres: each(({ cpuUs }) => cpuUs.postgres),
      temporal: each(({ cpuUs }) => cpuUs.temporal),
    },
    walBytes: each((cost) => cost.walBytes),
    pages: each((cost) => cost.pages),
    flushes: each((cost) => cost.flushes),
    actions: each((cost) => cost.actions),
  };
}

/** What a mix used, and the error of what the model predicts for it. */
async function compare(size: number): Promise<Mix> {
  const entries = Object.entries(MIX) as [keyof typeof MIX, number][];
  const quantities = entries.map(([operation, rate]) => ({
    operation,
    quantity: { count: rate * size * MIX_SECONDS, ...(RATES[operation].rates.length > 0 ? { rate: rate * size } : {}) },
  }));
  for (const { operation, quantity } of quantities) await mix.prepare(operation, quantity);
  const usage = await meter.measure(
    async () => {
      await Promise.all(quantities.map(({ operation, quantity }) => mix.run(operation, quantity)));
      await pool.query('VACUUM');
    },
    () => Promise.all(entries.map(([operation]) => warmUp(operation))),
  );
  const { seconds, speed } = usage;
  const perSecond = (used: number) => used / seconds;
  const measured: Mix = {
    command: COMMAND,
    date: today,
    size,
    seconds,
    speed,
    rates: {
      ...(Object.fromEntries(
        quantities.map(({ operation, quantity }) => [operation, perSecond(quantity.count)]),
      ) as Record<keyof typeof MIX, number>),
      campaignStart: perSecond(1),
      importStart: perSecond(1),
    },
    used: {
      cpu: {
        gateway: perSecond(usage.cpuUs.gateway) / 1e6,
        worker: perSecond(usage.cpuUs.worker) / 1e6,
        postgres: perSecond(usage.cpuUs.postgres) / 1e6,
        temporal: perSecond(usage.cpuUs.temporal) / 1e6,
      },
      walBytes: perSecond(usage.walBytes),
      writes: perSecond(usage.pages + usage.flushes),
      actions: perSecond(usage.actions),
      bytes: { all: perSecond(Object.values(usage.bytes).reduce((sum, each) => sum + each, 0)) },
    },
    delayMs: { p50: mix.delayAt(0.5), p99: mix.delayAt(0.99) },
  };
  const delay = delayAt([{ programs: PROGRAMS, cores: cpus().length }], measured.rates, speed, costs);
  console.log(
    `size ${size}: ${seconds.toFixed(1)} s, speed ${speed.toFixed(2)}, load average ${loadavg()[0]?.toFixed(1)}`,
  );
  for (const [what, { predicted, measured: used, error }] of Object.entries(errorsOf(measured, costs)))
    console.log(
      `  ${what.padEnd(22)} predicted ${predicted.toFixed(3)}, measured ${used.toFixed(3)}, error ${(error * 100).toFixed(0)} %`,
    );
  console.log(
    `  delay in ms: predicted ${(delay.service + delay.meanWait).toFixed(0)} on average, p99 ${(delay.service + delay.p99Wait).toFixed(0)}; measured p50 ${measured.delayMs.p50}, p99 ${measured.delayMs.p99}`,
  );
  return measured;
}

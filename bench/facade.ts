/**
 * Compares the cost of `/v1` with the same routes written by hand with Fastify and `pg` (by-hand.ts). The two servers alternate
 * under the same load, on one database created for the run. Prints requests per second, the 99th percentile and the CPU time per
 * request, and the median ratio of each. On a busy machine the ratios mean more than the figures; CPU time is disturbed the least.
 * Run: npm run bench -- facade [--rounds 5] [--seconds 3] [--only "GET /v1/contacts"] [--profile folder]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePorts, run, startPostgres } from '@postroom/embedded';
import { migrate } from '@postroom/migrations';
import autocannon from 'autocannon';
import pg from 'pg';
import type { Sample, Target } from './facade-sample.ts';
import { median } from './median.ts';
import { cpuMs } from './processes.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    profile: { type: 'string' },
  },
});
const [ROUNDS, SECONDS] = [Number(options.rounds), Number(options.seconds)];
const CONNECTIONS = 16;
const GOAL = { requests: 0.7, p99: 1.5 };

interface Figures {
  /** Requests per second. */
  rate: number;
  /** In milliseconds. */
  p99: number;
  /** The server's CPU time per request in milliseconds; undefined where the system does not report it. */
  cpu: number;
}

const folder = mkdtempSync(join(tmpdir(), 'postroom-bench-'));
chmodSync(folder, 0o711); // for PostgreSQL's own user, when root runs this
const [postgresPort = 0, gatewayPort = 0, handPort = 0] = await freePorts(3);
// Without fsync: the benchmark compares programs, not disks.
const postgres = await startPostgres(run, {
  folder: join(folder, 'postgres'),
  port: postgresPort,
  logFile: join(folder, 'postgres.log'),
  durable: false,
  removeAfter: folder,
});
interface Server {
  port: number;
  child: ChildProcess;
}

const servers: Server[] = [];
try {
  await migrate(postgres.url);
  process.env.DATABASE_URL = postgres.url;
  const { makeSample } = await import('./facade-sample.ts');
  const sample = await makeSample();
  const profile = options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
  const gateway = await startServer('../apps/gateway/src/main.ts', gatewayPort, profile);
  const byHand = await startServer('by-hand.ts', handPort);
  await compareAll(sample, gateway, byHand);
} finally {
  await Promise.all(servers.map(({ child }) => stopProcess(child)));
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function startServer(path: string, port: number, flags: string[] = []): Promise<Server> {
  const child = spawn(process.execPath, [...flags, join(import.meta.dirname, path)], {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      LOG_LEVEL: 'error',
      DATABASE_URL: postgres.url,
      GATEWAY_PORT: String(port),
      RATE_LIMIT_PER_SECOND: '1000000',
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      SMTP_URL: 'none',
      SYSTEM_MAIL_FROM: 'postroom@example.com',
      POSTROOM_SECRET_KEY: randomBytes(32).toString('base64'),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const server = { port, child };
  servers.push(server);
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) => reject(new Error(`${path} ended with ${code} before it was ready.`)));
  });
  return server;
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  await gone;
}

async function compareAll({ key, targets }: Sample, gateway: Server, byHand: Server): Promise<void> {
  console.log(`${ROUNDS} turns of ${SECONDS} s each, ${CONNECTIONS} connections`);
  console.log(`${''.padEnd(28)}${'gateway'.padStart(30)}${'by hand'.padStart(30)}   ratios of requests/s, p99, CPU`);
  for (const target of targets) {
    if (!target.title.includes(options.only)) continue;
    for (const server of [gateway, byHand]) await load(server, key, target);
    await analyze();
    const [ours, theirs]: [Figures[], Figures[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await load(gateway, key, target));
      theirs.push(await load(byHand, key, target));
    }
    console.log(`${target.title.padEnd(28)}${show(ours)}${show(theirs)}   ${ratios(ours, theirs)}`);
  }
}

/**
 * Autovacuum does this within a minute. Until then PostgreSQL plans for empty tables, and a connection that has cached such a
 * plan keeps scanning.
 */
async function analyze(): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query('ANALYZE');
  await client.end();
}

function ratios(ours: readonly Figures[], theirs: readonly Figures[]): string {
  const ratio = (figure: keyof Figures) =>
    median(ours.map((turn, round) => turn[figure] / (theirs[round]?.[figure] ?? Number.NaN)));
  const [requests, p99] = [ratio('rate'), ratio('p99')];
  const reached = requests >= GOAL.requests && p99 <= GOAL.p99;
  const text = `${requests.toFixed(2)}, ${p99.toFixed(2)}, ${ratio('cpu').toFixed(2)}`;
  return reached ? text : `${text}  (the goal is ${GOAL.requests} and ${GOAL.p99})`;
}

/** Sends requests for one turn; an unexpected response ends the benchmark. */
function load({ port, child }: Server, key: string, target: Target): Promise<Figures> {
  const times: number[] = [];
  const cpuBefore = cpuMs(child.pid ?? 0);
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const instance = autocannon(
      {
        url: `http://127.0.0.1:${port}`,
        connections: CONNECTIONS,
        duration: SECONDS,
        requests: [
          {
            method: target.method,
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            setupRequest: (request) => ({ ...request, ...target.next() }),
          },
        ],
      },
      (error: Error | null) => {
        const seconds = (performance.now() - started) / 1000;
        const p99 = times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)];
        if (error !== null || p99 === undefined) reject(error ?? new Error(`${target.title}: no responses.`));
        else resolve({ rate: times.length / seconds, p99, cpu: (cpuMs(child.pid ?? 0) - cpuBefore) / times.length });
      },
    );
    instance.on('response', (_client, status, _bytes, ms) => {
      times.push(ms);
      if (status !== target.status) reject(new Error(`${target.title} returned ${status} at port ${port}.`));
    });
  });
}

function show(turns: readonly Figures[]): string {
  const of = (figure: keyof Figures) => median(turns.map((turn) => turn[figure]));
  return `${of('rate').toFixed(0)}/s ${of('p99').toFixed(0)} ms ${of('cpu').toFixed(2)} ms`.padStart(30);
}

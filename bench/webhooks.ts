/**
 * Measures how fast events reach endpoints. Starts PostgreSQL, Temporal, a worker and a receiver, and removes them afterwards.
 * One run measures:
 * - signed POSTs by undici alone, the baseline for everything else;
 * - bursts to one endpoint, to 50 endpoints of 50 projects, and to 50 endpoints of one project, where each event goes to all;
 * - a stream at an even rate;
 * - 80 healthy endpoints, alone and together with 10 that hang and 10 that refuse connections;
 * - with --waiting 1000000, bursts during a backlog of a million deliveries to a hanging endpoint.
 *
 * Run: npm run bench -- webhooks [--events 5000] [--rate 100] [--seconds 10] [--workers 1] [--only bursts|paced|fairness|backlog]
 *   --temporal-server FILE --temporal-sql-tool FILE   a Temporal with its data in the same PostgreSQL (temporal-server.ts)
 *   --svix FILE [--redis FILE] [--svix-settings "NAME=value …"]   the same bursts with Svix's server, alternating (svix.ts)
 *   --statements   print the statements that took PostgreSQL the longest
 *   --profile DIR  write CPU profiles of the workers to this folder
 *
 * It exits after ten minutes at the latest.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePorts, run, startPostgres, startTemporal, temporalBinary } from '@postroom/embedded';
import { migrate } from '@postroom/migrations';
import { Connection } from '@temporalio/client';
import { Agent } from 'undici';
import { SENT } from './post.ts';
import { memoryMb } from './processes.ts';
import { showStatements, startCounting } from './statements.ts';
import { type Settings, startSvix, type Svix } from './svix.ts';
import { startTemporalServer } from './temporal-server.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '5000' },
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '10' },
    waiting: { type: 'string', default: '1000000' },
    only: { type: 'string' },
    workers: { type: 'string', default: '1' },
    'temporal-server': { type: 'string' },
    'temporal-sql-tool': { type: 'string' },
    svix: { type: 'string' },
    'svix-settings': { type: 'string', default: '' },
    redis: { type: 'string' },
    statements: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
const [EVENTS, RATE, SECONDS] = [Number(values.events), Number(values.rate), Number(values.seconds)];
const LIMIT_MS = 10 * 60_000;
const WAIT_MS = 90_000;
const RECORDED_MS = 1_000;
/** Events per statement when a backlog is recorded, and how long it is observed before the bursts. */
const PORTION = 50_000;
const BACKLOG_MS = 75_000;

setTimeout(() => {
  console.error('The benchmark took longer than ten minutes.');
  process.exit(1);
}, LIMIT_MS).unref();

const folder = mkdtempSync(join(tmpdir(), 'postroom-bench-'));
chmodSync(folder, 0o711); // for PostgreSQL's own user, when root runs this
const [postgresPort = 0, refusingPort = 0] = await freePorts(2);
const startDatabase = () =>
  startPostgres(run, {
    folder: join(folder, 'postgres'),
    port: postgresPort,
    logFile: join(folder, 'postgres.log'),
    durable: false,
    ...(values.statements ? {} : { removeAfter: folder }),
  });
const postgres = await startCounting(startDatabase, values.statements);
const temporal = await startGivenTemporal();
await migrate(postgres.url);
Object.assign(process.env, {
  NODE_ENV: 'production',
  LOG_LEVEL: 'error',
  DATABASE_URL: postgres.url,
  TEMPORAL_ADDRESS: temporal.address,
  PUBLIC_URL: 'http://127.0.0.1',
  SMTP_URL: 'none',
  SYSTEM_MAIL_FROM: 'postroom@example.com',
  WEBHOOKS_ALLOW_PRIVATE: '1',
  POSTROOM_SECRET_KEY: randomBytes(32).toString('base64'),
});
const { closeDatabase, newId, pool } = await import('@postroom/platform');
const { createEndpoint } = await import('@postroom/webhooks');

interface Figures {
  count: number;
  p50: number;
  p99: number;
}

const [receiver, ports] = await startProgram<{ port: number; hangingPort: number }>('webhooks-receiver.ts');
const workers = await Promise.all(
  Array.from({ length: Number(values.workers) }, () =>
    startProgram(
      '../apps/worker/src/main.ts',
      values.profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', values.profile],
    ),
  ),
);
const svix =
  values.svix === undefined
    ? undefined
    : await startSvix({
        program: values.svix,
        redis: values.redis,
        settings: Object.fromEntries(
          values['svix-settings'].split(' ').flatMap((pair) => (pair === '' ? [] : [pair.split('=')])),
        ) as Settings,
        postgresUrl: postgres.url,
        folder,
      });
const workerPids = new Set(workers.map(([{ pid }]) => pid));
const wants = (part: string) => values.only === undefined || values.only === part;
const good = (n: number) => `http://127.0.0.1:${ports.port}/hook/${n}`;
const PROGRAMS = ['worker', 'receiver', 'postgres', 'temporal', 'svix-server', 'redis-server'];

try {
  console.log(
    `load average at the start: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(', ')}`,
  );
  await burst('warm-up', 1, 200);
  if (wants('bursts')) await bursts();
  if (wants('paced')) await paced();
  if (wants('fairness')) await fairness();
  if (values.only === 'backlog') await backlog(Number(values.waiting));
  if (values.statements) await showStatements(pool);
} finally {
  await Promise.all([...workers.map(([child]) => child), receiver].map(stopProcess));
  await svix?.stop();
  await closeDatabase();
  await temporal.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function bursts(): Promise<void> {
  const alone = await postsAlone();
  const shapes = [
    { title: '1 endpoint', endpoints: 1, projects: 1 },
    { title: '50 endpoints of 50 projects', endpoints: 50, projects: 50 },
    { title: '50 endpoints of one project', endpoints: 50, projects: 1 },
  ];
  for (const { title, endpoints, projects } of shapes) {
    const rate = await burst(`burst to ${title}`, endpoints, EVENTS, { projects });
    console.log(`  ${(rate / alone).toFixed(2)} of the POSTs alone`);
    if (svix === undefined) continue;
    const peer = await burstBySvix(svix, title, { endpoints, projects }, EVENTS);
    console.log(`  ${(rate / peer).toFixed(2)} times Svix's rate`);
  }
}

/** 80 healthy endpoints, alternately alone and with 20 failing ones: measures how much they slow down. */
async function fairness(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) {
    const without = await burst('80 endpoints', 80, EVENTS);
    const beside = await burst('80 with 20 failing', 80, EVENTS, { failing: true });
    console.log(`  ${(beside / without).toFixed(2)} of the 80 alone`);
  }
}

/** A worker's memory during a backlog to a hanging endpoint, and the rate of bursts to others meanwhile. */
async function backlog(waiting: number): Promise<void> {
  await burst('burst to 1', 1, EVENTS);
  await burst('burst to 50', 50, EVENTS);
  const memory = () => Math.max(...[...workerPids].map((pid) => memoryMb(pid ?? 0).now));
  const before = memory();
  const projectId = await makeProject(0, false);
  await createEndpoint(projectId, { url: `http://127.0.0.1:${ports.hangingPort}/`, events: ['*'] });
  const began = Date.now();
  for (let left = waiting; left > 0; left -= PORTION) await record([projectId], Math.min(left, PORTION));
  console.log(
    `${waiting} deliveries wait for a hanging endpoint, recorded in ${((Date.now() - began) / 1000).toFixed(1)} s`,
  );
  const connection = await Connection.connect({ address: temporal.address });
  const most = { mb: 0, open: 0, inFlight: 0 };
  const looking = new AbortController();
  const look = async () => {
    while (!looking.signal.aborted) {
      const query = 'ExecutionStatus = "Running"';
      const { count } = await connection.workflowService.countWorkflowExecutions({ namespace: 'default', query });
      const { rows } = await pool.query<{ in_flight: number }>(
        'SELECT count(*)::int AS in_flight FROM deliveries WHERE project_id = $1 AND dispatched_at IS NOT NULL AND closed_at IS NULL',
        [projectId],
      );
      most.mb = Math.max(most.mb, memory());
      most.open = Math.max(most.open, Number(count));
      most.inFlight = Math.max(most.inFlight, rows[0]?.in_flight ?? 0);
      await pause(500);
    }
  };
  const looked = look();
  await pause(BACKLOG_MS); // its first attempts time out, and some of their retries
  await burst('burst to 1 meanwhile', 1, EVENTS);
  await burst('burst to 50 meanwhile', 50, EVENTS);
  looking.abort();
  await looked;
  await connection.close();
  console.log(
    `at most ${most.inFlight} of them in flight and ${most.open} workflows open; a worker had ${before} MB before and ${most.mb} MB at most`,
  );
}

/** The embedded Temporal, or one with its data in PostgreSQL. */
async function startGivenTemporal(): Promise<{ address: string; stop: () => Promise<void> }> {
  const { 'temporal-server': server, 'temporal-sql-tool': sqlTool } = values;
  if (server !== undefined && sqlTool !== undefined)
    return startTemporalServer({ server, sqlTool, postgresUrl: postgres.url, folder });
  const [port = 0, uiPort = 0] = await freePorts(2);
  const binary = await temporalBinary(undefined, console.log);
  return startTemporal(run, { binary, port, uiPort, logFile: join(folder, 'temporal.log') });
}

/** The machine's limit without Postroom: the same body, freshly signed, 32 requests at a time over keep-alive connections. */
async function postsAlone(): Promise<number> {
  const agent = new Agent({ connections: 32 });
  const { origin } = new URL(good(0));
  let left = EVENTS;
  const began = Date.now();
  const cpu = process.cpuUsage();
  const post = async () => {
    while (left-- > 0) {
      const body = `{"id":"evt_${left}","type":"email.delivered","created":"${new Date().toISOString()}","data":${SENT}}`;
      const t = Math.floor(Date.now() / 1000);
      const v1 = createHmac('sha256', 'whsec_bench').update(`${t}.${body}`).digest('hex');
      const headers = { 'content-type': 'application/json', 'x-webhook-signature': `t=${t},v1=${v1}` };
      const response = await agent.request({ origin, path: '/alone', method: 'POST', headers, body });
      await response.body.dump();
    }
  };
  await Promise.all(Array.from({ length: 32 }, post));
  const seconds = (Date.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await agent.close();
  await ask<Figures>('take');
  const rate = EVENTS / seconds;
  console.log(`POSTs alone: ${rate.toFixed(0)}/s, ${((user + system) / 1000 / EVENTS).toFixed(2)} ms of CPU each`);
  return rate;
}

/**
 * Records events at once, so that the given number of deliveries go out, and waits until the receiver has each. The endpoints are in that many
 * projects; each event goes to all endpoints of its project. Returns deliveries per second.
 */
async function burst(
  title: string,
  endpoints: number,
  deliveries: number,
  { failing = false, projects = 1 } = {},
): Promise<number> {
  const projectIds: string[] = [];
  while (projectIds.length < projects) projectIds.push(await makeProject(endpoints / projects, failing));
  const before = cpuByProgram();
  const began = Date.now();
  const each = Math.ceil(deliveries / endpoints);
  await record(projectIds, each);
  const figures = await arrived(each * endpoints);
  const seconds = (Date.now() - began) / 1000;
  report(title, figures, seconds, before);
  await recorded(projectIds);
  await pool.query('DELETE FROM webhook_endpoints WHERE project_id = ANY ($1)', [projectIds]);
  return figures.count / seconds;
}

/** Waits until first attempts are recorded, except for hanging endpoints; deleting rows earlier could conflict with the recording. */
async function recorded(projectIds: readonly string[]): Promise<void> {
  for (const deadline = Date.now() + RECORDED_MS; Date.now() < deadline; await pause(25)) {
    const { rows } = await pool.query<{ open: boolean }>(
      `SELECT EXISTS (SELECT FROM deliveries WHERE project_id = ANY ($1) AND state = 'queued' AND dispatched_at IS NOT NULL) AS open`,
      [projectIds],
    );
    if (rows[0]?.open === false) return;
  }
}

/** The same with Svix's server. Its measurement includes the API requests, as ours includes recording the events. */
async function burstBySvix(
  peer: Svix,
  title: string,
  { endpoints, projects }: { endpoints: number; projects: number },
  deliveries: number,
): Promise<number> {
  const urls = Array.from({ length: endpoints }, (_, n) => good(n));
  const applications: string[] = [];
  while (urls.length > 0) applications.push(await peer.createApplication(urls.splice(0, endpoints / projects)));
  await peer.send(applications, bodies(20)); // these fill its caches
  await arrived(20 * endpoints);
  const before = cpuByProgram();
  const began = Date.now();
  const each = Math.ceil(deliveries / endpoints);
  await peer.send(applications, bodies(each));
  const [accepted, { count }] = [Date.now(), await ask<{ count: number }>('count')];
  const figures = await arrived(each * endpoints);
  const ended = Date.now();
  report(`${peer.version} (${peer.queue}) to ${title}`, figures, (ended - began) / 1000, before);
  if (count < figures.count) {
    const rest = ((figures.count - count) / (ended - accepted)) * 1000;
    console.log(
      `  all was accepted after ${((accepted - began) / 1000).toFixed(1)} s; what was left then went at ${rest.toFixed(0)}/s`,
    );
  }
  return figures.count / ((ended - began) / 1000);
}

function* bodies(count: number): Generator<() => unknown> {
  for (let n = 0; n < count; n++)
    yield () => ({
      id: `evt_${n}`,
      type: 'email.delivered',
      created: new Date().toISOString(),
      data: JSON.parse(SENT),
    });
}

async function paced(): Promise<void> {
  const projectId = await makeProject(1, false);
  const before = cpuByProgram();
  const began = Date.now();
  const total = RATE * SECONDS;
  for (let sent = 0; sent < total; sent++) {
    const wait = began + (sent * 1000) / RATE - Date.now();
    if (wait > 0) await pause(wait);
    await record([projectId], 1);
  }
  const offered = (Date.now() - began) / 1000;
  const figures = await arrived(total);
  const seconds = (Date.now() - began) / 1000;
  report(`${RATE} a second, offered in ${offered.toFixed(1)} s`, figures, seconds, before);
}

async function makeProject(endpoints: number, failing: boolean): Promise<string> {
  const projectId = newId('prj');
  await pool.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  const bad = [`http://127.0.0.1:${ports.hangingPort}/`, `http://127.0.0.1:${refusingPort}/`];
  const urls = [
    ...Array.from({ length: endpoints }, (_, n) => good(n)),
    ...(failing ? Array.from({ length: 20 }, (_, n) => bad[n % 2] ?? '') : []),
  ];
  for (const url of urls) await createEndpoint(projectId, { url, events: ['*'] });
  return projectId;
}

/** Records events in one statement, as a campaign's page does: the same number in each project. */
async function record(projectIds: readonly string[], events: number): Promise<void> {
  await pool.query(
    `INSERT INTO events (id, project_id, type, data)
     SELECT postroom_id('evt'), project_id, 'email.delivered', $2::json
     FROM generate_series(1, $3::int), unnest($1::text[]) AS project_id`,
    [projectIds, SENT, events],
  );
}

async function arrived(expected: number): Promise<Figures> {
  const deadline = Date.now() + WAIT_MS;
  while ((await ask<{ count: number }>('count')).count < expected && Date.now() < deadline) await pause(25);
  const figures = await ask<Figures>('take');
  if (figures.count < expected) console.log(`  only ${figures.count} of ${expected} came in time`);
  return figures;
}

function report(title: string, { count, p50, p99 }: Figures, seconds: number, before: Map<string, number>): void {
  const after = cpuByProgram();
  const cpu = [...after].map(([name, used]) => `${name} ${((used - (before.get(name) ?? 0)) / count).toFixed(2)}`);
  const rate = (count / seconds).toFixed(0);
  console.log(
    `${title}: ${count} in ${seconds.toFixed(1)} s, ${rate}/s, p50 ${p50} ms, p99 ${p99} ms; CPU ms each: ${cpu.join(', ')}`,
  );
}

/** CPU time that each kind of child program has used, in milliseconds; empty without /proc. */
function cpuByProgram(): Map<string, number> {
  const stats = new Map<number, { name: string; parent: number; ms: number }>();
  for (const entry of listProcesses()) {
    const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(entry.stat) ?? [];
    const fields = rest.split(' ');
    stats.set(entry.pid, { name, parent: Number(fields[1]), ms: (Number(fields[11]) + Number(fields[12])) * 10 });
  }
  const used = new Map<string, number>();
  for (const [pid, { name, ms }] of stats) {
    if (pid === process.pid || !isBelowUs(pid, stats)) continue;
    const program = workerPids.has(pid)
      ? 'worker'
      : pid === receiver.pid
        ? 'receiver'
        : name === 'server'
          ? 'temporal'
          : name;
    if (!PROGRAMS.includes(program)) continue;
    used.set(program, (used.get(program) ?? 0) + ms);
  }
  return used;
}

function listProcesses(): { pid: number; stat: string }[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        try {
          return [{ pid: Number(name), stat: readFileSync(`/proc/${name}/stat`, 'latin1') }];
        } catch {
          return []; // it has just exited
        }
      });
  } catch {
    return [];
  }
}

function isBelowUs(pid: number, stats: ReadonlyMap<number, { parent: number }>): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = stats.get(at)?.parent) {
    if (at === process.pid) return true;
  }
  return false;
}

function ask<Reply>(word: 'count' | 'take'): Promise<Reply> {
  return new Promise((resolve) => {
    receiver.once('message', (reply) => resolve(reply as Reply));
    receiver.send(word);
  });
}

async function startProgram<Ready>(path: string, execArgv: string[] = []): Promise<[ChildProcess, Ready]> {
  const child = spawn(process.execPath, [...execArgv, join(import.meta.dirname, path)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ready = await new Promise<Ready>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Ready));
    child.once('exit', (code) => reject(new Error(`${path} ended with ${code} before it was ready.`)));
  });
  return [child, ready];
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  await gone;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

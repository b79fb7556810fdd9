/**
 * Measures how much a project slows down while another one uses all its limits. Starts PostgreSQL (fsync on), Temporal, a
 * gateway and a worker with default limits, a mail server and receivers, and removes them afterwards. A quiet project makes a few
 * requests per second: alone, then with the noisy one, then alone again. The noisy one floods the API with contacts and emails
 * from a large template, imports, sends a campaign, has hanging webhooks, counts segments, streams events and opens downloads
 * without reading them.
 * Run: npm run bench -- neighbour [options]
 *   --seconds N      duration of each measurement under load, default 40; those before and after take half as long
 *   --rate N         requests per second of each kind from the quiet project, default 5
 *   --contacts N     contacts of the noisy project, all recipients of its campaign; default 50000
 *   --connections N  connections to the mail server, default 10
 *   --control        instead of the noisy project's load, run one busy loop per core, which uses neither the API nor the database:
 *                    the factors are then those of a full machine
 *   --statements     print the statements that took PostgreSQL the longest under load
 */
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { startChild } from './child.ts';
import type { Neighbour, NeighbourFigures } from './neighbour-load.ts';
import { cpuBelow, cpuMs, memoryMb } from './processes.ts';
import { startSending } from './sending.ts';
import type { SinkStats } from './smtp-sink.ts';
import { showStatements } from './statements.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '40' },
    rate: { type: 'string', default: '5' },
    contacts: { type: 'string', default: '50000' },
    connections: { type: 'string', default: '10' },
    control: { type: 'boolean', default: false },
    statements: { type: 'boolean', default: false },
  },
});
const [SECONDS, RATE, CONTACTS] = [values.seconds, values.rate, values.contacts].map(Number) as [
  number,
  number,
  number,
];
const IMPORTS = 3;
const ROWS_PER_IMPORT = 20_000;
const HANGING_ENDPOINTS = 5;
const NOISY_KEYS = 3;
/** Time until all parts of the load are running, and until its end takes effect. */
const SETTLE_MS = 4_000;
/** Mail and events that have not arrived this long after a measurement count as lost. */
const ARRIVAL_MS = 30_000;

const system = await startSending(values, [], {
  RATE_LIMIT_PER_SECOND: '100',
  STREAMS_PER_CALLER: '50',
});
const { url, sink, gateway, worker } = system;
const { newId, pool } = await import('@postroom/platform');
const { createApiKey, createProject } = await import('@postroom/projects');
const { addLocalDomain } = await import('../modules/domains/src/domains.ts');
const { createEndpoint } = await import('@postroom/webhooks');

const dispatcher = new Agent({ connections: 50 });
const receiver = await startChild('webhooks-receiver.ts');
const load = await Promise.all(
  values.control
    ? Array.from({ length: availableParallelism() }, () => startChild('cpu-burner.ts'))
    : [startChild('neighbour-load.ts')],
);
const ports = receiver.ready as { port: number; hangingPort: number };

async function call(method: 'GET' | 'POST', path: string, key: string, body?: unknown): Promise<{ id: string }> {
  const response = await request(`${url}${path}`, {
    dispatcher,
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`${method} ${path} returned ${response.statusCode}: ${text}`);
  return (JSON.parse(text) as { data: { id: string } }).data;
}

/** The measured project: it has a sender and a working endpoint. */
async function prepareQuiet(): Promise<string> {
  const { id } = await createProject('Quiet');
  await addLocalDomain(id, 'quiet.example');
  await createEndpoint(id, { url: `http://127.0.0.1:${ports.port}/quiet`, events: ['contact.created'] });
  const { key } = await createApiKey({ name: 'quiet', scope: 'full', projects: [id] });
  for (let number = 0; number < 60; number++)
    await call('POST', '/v1/contacts', key, { email: `q${number}@readers.test` });
  return key;
}

/** The noisy project. */
async function prepareNoisy(): Promise<Neighbour> {
  const { id } = await createProject('Noisy');
  await addLocalDomain(id, 'noisy.example');
  for (let number = 0; number < HANGING_ENDPOINTS; number++) {
    const hanging = `http://127.0.0.1:${ports.hangingPort}/${number}`;
    await createEndpoint(id, { url: hanging, events: ['contact.created'] });
  }
  const keys: string[] = [];
  for (let number = 0; number < NOISY_KEYS; number++)
    keys.push((await createApiKey({ name: `noisy ${number}`, scope: 'full', projects: [id] })).key);
  const [key = ''] = keys;
  await pool.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
     SELECT postroom_id('ctc'), $1, 'reader' || i || '@readers.test', 'reader' || i || '@readers.test', 'Reader ' || i, 'api', now()
     FROM generate_series(1, $2::int) i`,
    [id, CONTACTS],
  );
  const groupId = newId('grp');
  await pool.query(`INSERT INTO groups (id, project_id, name, updated_at) VALUES ($1, $2, 'All', now())`, [
    groupId,
    id,
  ]);
  await pool.query(
    'INSERT INTO group_members (group_id, contact_id) SELECT $1, id FROM contacts WHERE project_id = $2',
    [groupId, id],
  );
  await pool.query('VACUUM ANALYZE');
  const cells = Array.from({ length: 100 }, (_, at) => `<tr><td>${at}</td><td>{{v${at}|none}}</td></tr>`).join('');
  const body = `<html><body><table>${cells}</table><p>${'Words that fill a page. '.repeat(500)}</p></body></html>`;
  const { id: templateId } = await call('POST', '/v1/templates', key, {
    name: 'Large',
    subject: 'Large {{v1|one}}',
    body,
  });
  await call('POST', `/v1/templates/${templateId}/publish`, key, {});
  const { id: campaignId } = await call('POST', '/v1/campaigns', key, {
    name: 'Noise',
    subject: 'News for {{name|you}}',
    from_name: 'Noisy',
    from_email: 'news@noisy.example',
    html: `<p>Hello {{name|there}}</p><p>${'Words that fill a page. '.repeat(200)}</p>`,
    group_ids: [groupId],
  });
  const rows = (file: number) =>
    Array.from({ length: ROWS_PER_IMPORT }, (_, at) => `import${file}.${at}@readers.test,Reader ${at}`);
  const imports = Array.from({ length: IMPORTS }, (_, file) => `email,name\r\n${rows(file).join('\r\n')}\r\n`);
  return { url, keys, templateId, campaignId, imports };
}

/** Latencies in milliseconds by kind. A lost item counts as the longest wait. */
type Times = Record<'mail' | 'webhook' | 'read' | 'write', number[]>;

let probes = 0;

/** The latencies of the quiet project over this many seconds. */
async function measure(key: string, seconds: number): Promise<Times> {
  await receiver.ask('take');
  sink.tell('reset');
  const times: Times = { mail: [], webhook: [], read: [], write: [] };
  const sentAt = new Map<string, number>();
  const timed = async (into: number[], work: Promise<unknown>) => {
    const began = performance.now();
    await work;
    into.push(performance.now() - began);
  };
  const asked: Promise<void>[] = [];
  const count = RATE * seconds;
  const began = performance.now();
  for (let number = 0; number < count; number++) {
    await sleep(Math.max(0, began + (number * 1000) / RATE - performance.now()));
    const to = `probe${probes++}@probe.test`;
    sentAt.set(to, Date.now());
    const mail = { from: 'hello@quiet.example', to: [to], subject: 'Hello', html: '<p>Hello</p>' };
    asked.push(timed(times.write, call('POST', '/v1/emails', key, mail)));
    asked.push(timed(times.write, call('POST', '/v1/contacts', key, { email: `c${to}` })));
    asked.push(timed(times.read, call('GET', '/v1/contacts?limit=50', key)));
  }
  await Promise.all(asked);
  let stats = await sink.ask<SinkStats>('stats');
  let received = await receiver.ask<{ count: number }>('count');
  for (const endsAt = Date.now() + ARRIVAL_MS; Date.now() < endsAt; await sleep(200)) {
    if (Object.keys(stats.probes).length >= count && received.count >= count) break;
    stats = await sink.ask<SinkStats>('stats');
    received = await receiver.ask<{ count: number }>('count');
  }
  for (const [to, at] of sentAt) times.mail.push((stats.probes[to] ?? Date.now()) - at);
  const { latencies } = await receiver.ask<{ latencies: number[] }>('take');
  times.webhook = [...latencies, ...Array.from({ length: Math.max(0, count - latencies.length) }, () => ARRIVAL_MS)];
  return times;
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const ms = (time: number) => `${time.toFixed(time < 10 ? 1 : 0)} ms`;
const TITLES = {
  mail: 'mail, from the request to the mail server',
  webhook: 'webhook, from the event to the receiver',
  read: 'API, GET a page of 50 contacts',
  write: 'API, POST an email or a contact',
};

function show(alone: Times, beside: Times): void {
  const load = values.control ? 'with control' : 'with neighbour';
  console.log(`\n| quiet project | alone p50 | alone p99 | ${load} p50 | ${load} p99 | maximum | p99 factor |`);
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  for (const [name, title] of Object.entries(TITLES)) {
    const [one, other] = [alone[name as keyof Times], beside[name as keyof Times]];
    const figures = [at(one, 0.5), at(one, 0.99), at(other, 0.5), at(other, 0.99), at(other, 1)].map(ms);
    console.log(`| ${title} | ${figures.join(' | ')} | ${(at(other, 0.99) / at(one, 0.99)).toFixed(1)} × |`);
  }
}

/** Ends the load of the noisy project and says how much of it there was. */
async function stopNeighbour({ campaignId }: Neighbour): Promise<string> {
  const [noise] = load;
  const figures = await noise!.ask<NeighbourFigures>('stop');
  const { rows } = await pool.query<{ sent: number; imported: number; attempts: number }>(
    `SELECT (SELECT accepted_count FROM campaigns WHERE id = $1) AS sent, (SELECT sum(rows)::int FROM imports) AS imported,
       (SELECT count(*)::int FROM attempts a JOIN projects p ON p.id = a.project_id WHERE p.name = 'Noisy') AS attempts`,
    [campaignId],
  );
  const [done] = rows;
  return `the noisy project: ${figures.requests} requests, ${figures.limited} of them refused by its limits, ${figures.failed} failed ${figures.failure}; ${figures.streams} streams, ${figures.downloads} unread downloads; ${done?.sent} of ${CONTACTS} messages of its campaign sent, ${done?.imported} of ${IMPORTS * ROWS_PER_IMPORT} rows imported, ${done?.attempts} attempts at hanging webhooks`;
}

/** Ends the busy loops of the control and says how many there were. */
async function stopBurners(): Promise<string> {
  await Promise.all(load.map((burner) => burner.stop('SIGKILL')));
  return `the control: ${load.length} busy loops, one per core, and no load by the noisy project`;
}

const cpu = () => ({
  gateway: cpuMs(gateway.pid),
  worker: cpuMs(worker.pid),
  'the load': load.reduce((sum, { pid }) => sum + cpuMs(pid), 0),
  PostgreSQL: cpuBelow('postgres'),
  Temporal: cpuBelow('temporal'),
});

try {
  console.log(
    `load average at the start: ${loadavg()
      .map((one) => one.toFixed(1))
      .join(', ')}`,
  );
  const key = await prepareQuiet();
  const neighbour = await prepareNoisy();
  await measure(key, 5); // a process's first requests are slow
  const before = await measure(key, SECONDS / 2);

  for (const child of load) child.tell(neighbour);
  await sleep(SETTLE_MS);
  const [cpuBefore, beganAt] = [cpu(), Date.now()];
  const beside = await measure(key, SECONDS);
  const [cpuAfter, seconds] = [cpu(), (Date.now() - beganAt) / 1000];
  const done = values.control ? await stopBurners() : await stopNeighbour(neighbour);
  console.log(`under load for ${seconds.toFixed(0)} s; ${done}`);
  const used = Object.entries(cpuAfter).map(
    ([name, after]) => `${name} ${((after - cpuBefore[name as keyof typeof cpuBefore]) / seconds / 10).toFixed(0)} %`,
  );
  console.log(`CPU of a core: ${used.join(', ')}; worker ${memoryMb(worker.pid).peak} MB at most`);
  if (values.statements) await showStatements(pool);
  await sleep(2 * SETTLE_MS);
  const after = await measure(key, SECONDS / 2);
  const alone = Object.fromEntries(
    Object.keys(TITLES).map((name) => [name, [...before[name as keyof Times], ...after[name as keyof Times]]]),
  ) as Times;
  show(before, beside);
  console.log('\nThe same, with the measurements before and after the load together as "alone":');
  show(alone, beside);
  console.log(
    `\nload average at the end: ${loadavg()
      .map((one) => one.toFixed(1))
      .join(', ')}`,
  );
} finally {
  await Promise.all([...load, receiver].map((child) => child.stop()));
  await dispatcher.close();
  await system.stop();
}

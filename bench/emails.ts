/**
 * Measures how fast transactional mail is accepted and sent, and its cost. Starts PostgreSQL (fsync on), Temporal, a gateway, a
 * worker with the settings of `npm start`, and a mail server that discards everything, and removes them afterwards. In each round
 * 50 clients POST single emails, then batches of 100. With listmonk, its `/api/tx` takes the same load in the same round.
 * Run: npm run bench -- emails [options]
 *   --emails N           default 20000
 *   --clients N          default 50
 *   --rounds N           default 1
 *   --connections N      connections to the mail server, default 10
 *   --only PARTS         some of single, batch, paced, listmonk; default all
 *   --pace N,N           emails per second, for ten seconds each, to measure latency; default 5,50,200
 *   --listmonk FILE      the listmonk binary
 *   --listmonk-dir DIR   its sources (see listmonk.ts)
 *   --statements         print the statements that took PostgreSQL the longest
 *   --profile DIR        write CPU profiles of the gateway and the worker to this folder
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startChild } from './child.ts';
import type { Listmonk } from './listmonk.ts';
import type { Load, LoadFigures } from './load.ts';
import { postTo } from './post.ts';
import { cpuBelow, cpuMs, memoryMb } from './processes.ts';
import { startSending } from './sending.ts';
import type { SinkStats } from './smtp-sink.ts';
import { showStatements } from './statements.ts';

const { values } = parseArgs({
  options: {
    emails: { type: 'string', default: '20000' },
    clients: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '10' },
    only: { type: 'string', default: 'single,batch,paced,listmonk' },
    pace: { type: 'string', default: '5,50,200' },
    listmonk: { type: 'string' },
    'listmonk-dir': { type: 'string' },
    statements: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
const [EMAILS, CLIENTS, ROUNDS] = [values.emails, values.clients, values.rounds].map(Number) as [
  number,
  number,
  number,
];
const PACED_SECONDS = 10;
const IN_A_BATCH = 100;
const BATCH_CLIENTS = 5;
/** An email that has not arrived this long after the last arrival counts as lost. */
const LOST_AFTER_MS = 15_000;

const system = await startSending(values, ['gateway', 'worker']);
const { url, projectId, key, sink, gateway, worker } = system;
const { pool } = await import('@postroom/platform');
const { addLocalDomain } = await import('../modules/domains/src/domains.ts');

const load = await startChild('load.ts');
await addLocalDomain(projectId, 'example.com');
const headers = { authorization: `Bearer ${key}` };
const templateId = await addTemplate();
const listmonk = await startPeer();

/** The sink records when mail to `probe.test` arrives. */
const addressOf = (number: string) => `user${number}@probe.test`;
/** Every turn uses new addresses: the rows of earlier turns stay, as in production. */
const itemOf = (turnNumber: number) =>
  JSON.stringify({
    from: 'Shop <shop@example.com>',
    to: [addressOf(`{i}.${turnNumber}`)],
    template_id: templateId,
    variables: { name: 'User Number {i}', order: 'A{i}' },
  });
let turns = 0;

async function addTemplate(): Promise<string> {
  const { id } = await post('/v1/templates', {
    name: 'Order',
    subject: 'Order {{order}}',
    body: '<p>Hello {{name}}, your order {{order}} is on its way.</p>',
  });
  await post(`/v1/templates/${id}/publish`);
  return id;
}

function post(path: string, body?: unknown) {
  return postTo({ url, key }, path, body);
}

async function startPeer(): Promise<(Listmonk & { template: number }) | undefined> {
  const peer = await system.startPeer();
  if (peer === undefined) return undefined;
  await peer.subscribe(EMAILS, (number) => `user${number}@probe.test`);
  const template = await peer.addTemplate(
    'Order {{ .Tx.Data.order }}',
    '<p>Hello {{ .Subscriber.Name }}, your order {{ .Tx.Data.order }} is on its way.</p>',
  );
  return { ...peer, template };
}

interface Turn {
  load: LoadFigures;
  stats: SinkStats;
  /** Emails that arrive at the mail server per second, from the first to the last. */
  delivered: number;
}

/** One turn of the load, until all mail has arrived or arrivals have stopped. */
async function turn(title: string, of: Load): Promise<Turn> {
  sink.tell('reset');
  const before = readCpu();
  const figures = await load.ask<LoadFigures>(of);
  if (figures.refused > 0) console.log(`  ${figures.refused} were refused: ${figures.refusal}`);
  const stats = await untilDelivered(of.items);
  const cpu = readCpu();
  const each = Object.entries(cpu)
    .map(([name, ms]) => [name, Math.round(((ms - (before[name] ?? 0)) * 1000) / of.items)] as const)
    .filter(([, us]) => us > 0);
  const delivered = (stats.mails - 1) / ((stats.lastAt - stats.firstAt) / 1000);
  const accepted = of.items / figures.seconds;
  console.log(
    `${title}: ${accepted.toFixed(0)}/s accepted, response p50 ${figures.p50.toFixed(1)} ms, p99 ${figures.p99.toFixed(1)} ms; ${delivered.toFixed(0)}/s delivered; twice ${stats.duplicates}, lost ${of.items - stats.addresses}; ${Math.round(stats.bytes / stats.mails)} bytes each`,
  );
  console.log(`  CPU µs each: ${each.map(([name, us]) => `${name} ${us}`).join(', ')}`);
  return { load: figures, stats, delivered };
}

async function untilDelivered(expected: number): Promise<SinkStats> {
  for (const began = Date.now(); ; await sleep(100)) {
    const stats = await sink.ask<SinkStats>('stats');
    const idleMs = Date.now() - Math.max(began, stats.lastAt);
    if (stats.addresses >= expected || idleMs > LOST_AFTER_MS) return stats;
  }
}

/** One turn of Postroom, with the time from a row's commit to its arrival, and the outcomes of the rows. */
async function ours(title: string, of: Partial<Load>): Promise<Turn> {
  const beganAt = new Date();
  const result = await turn(title, {
    url: `${url}/v1/emails`,
    headers,
    item: itemOf(turns++),
    items: EMAILS,
    connections: CLIENTS,
    ...of,
  });
  await sleep(500); // the last outcomes are being recorded
  const { rows } = await pool.query<{ email: string; at: number; state: string }>(
    'SELECT email, (extract(epoch FROM created_at) * 1000)::float AS at, state FROM messages WHERE project_id = $1 AND created_at >= $2',
    [projectId, beganAt],
  );
  const waits = rows
    .flatMap(({ email, at }) => (result.stats.probes[email] === undefined ? [] : [result.stats.probes[email] - at]))
    .sort((a, b) => a - b);
  const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))]?.toFixed(0) ?? '-';
  const states = Object.entries(Object.groupBy(rows, ({ state }) => state));
  console.log(
    `  from its row to the mail server: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms; ${states.map(([state, some]) => `${some?.length} ${state}`).join(', ')}; worker ${memoryMb(worker.pid).now} MB`,
  );
  return result;
}

function theirs(peer: Listmonk & { template: number }): Promise<Turn> {
  const item = JSON.stringify({
    subscriber_email: addressOf('{i}'),
    template_id: peer.template,
    data: { order: 'A{i}' },
    content_type: 'html',
  });
  const of = { url: `${peer.url}/api/tx`, headers: peer.headers, item, items: EMAILS, connections: CLIENTS };
  return turn(`listmonk ${peer.version}`, of);
}

function readCpu(): Record<string, number> {
  return {
    gateway: cpuMs(gateway.pid),
    worker: cpuMs(worker.pid),
    PostgreSQL: cpuBelow('postgres'),
    Temporal: cpuBelow('temporal'),
    listmonk: listmonk === undefined ? 0 : cpuMs(listmonk.pid),
    sink: cpuMs(sink.pid),
    load: cpuMs(load.pid),
  };
}

const loads = () => loadavg().map((one) => one.toFixed(1));
const wants = (part: string) => values.only.split(',').includes(part);
const batches = { url: `${url}/v1/emails/batch`, before: '{"emails":[', after: ']}', each: IN_A_BATCH };

try {
  console.log(`load average at the start: ${loads().join(', ')}`);
  await ours('warm-up', { items: 500, connections: 4 });
  await pool.query('VACUUM ANALYZE'); // autovacuum does this within a minute; until then PostgreSQL plans for empty tables
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const peer = listmonk !== undefined && wants('listmonk') ? await theirs(listmonk) : undefined;
    const single = wants('single') ? await ours(`POST /v1/emails, ${CLIENTS} clients`, {}) : undefined;
    if (wants('batch'))
      await ours(`batches of ${IN_A_BATCH}, ${BATCH_CLIENTS} clients`, { ...batches, connections: BATCH_CLIENTS });
    if (peer !== undefined && single !== undefined) {
      ratios.push(single.delivered / peer.delivered);
      console.log(`  ${ratios.at(-1)?.toFixed(2)} of what listmonk delivered a second`);
    }
  }
  if (ratios.length > 1)
    console.log(`median ratio ${ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)]?.toFixed(2)}`);
  if (wants('paced'))
    for (const ratePerSecond of values.pace.split(',').map(Number))
      await ours(`${ratePerSecond} a second`, { items: ratePerSecond * PACED_SECONDS, ratePerSecond });
  if (values.statements) await showStatements(pool);
  console.log(`load average at the end: ${loads().join(', ')}`);
} finally {
  await load.stop();
  await system.stop();
}

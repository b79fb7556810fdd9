/**
 * Measures the rate and the cost of sending a campaign. Starts PostgreSQL (fsync on), Temporal, a gateway, a worker and a mail
 * server that discards everything, and removes them afterwards. Transactional emails are sent during the campaign to measure
 * their latency.
 * Run: npm run bench -- campaign [options]
 *   --recipients N     default 100000
 *   --kb N             size of a message in KB, default 2.5
 *   --rounds N         campaigns in sequence, default 1
 *   --connections N    connections to the mail server, default 10
 *   --workers N        default 1; CAMPAIGN_SHARDS=always in the environment makes all of them send a campaign
 *   --pin              give each worker one core
 *   --delay MS         how long the mail server takes for each message, default 0
 *   --dkim             sign with DKIM (RSA, 2048 bits)
 *   --local-time       send at a local time of the recipients, all in one time zone, after the snapshot has been taken
 *   --webhooks         deliver every event to an endpoint of the benchmark
 *   --emails N         transactional emails per second during the campaign, default 10
 *   --slowest N        print the steps of the N slowest of these
 *   --snapshot         also compare the recipient snapshot with a bare INSERT … SELECT of the same number of equally wide rows
 *   --statements       print the statements that took PostgreSQL the longest
 *   --profile DIR      write a CPU profile of the worker to this folder
 *   --listmonk FILE    the listmonk binary, which sends a campaign after each of ours
 *   --listmonk-dir DIR its sources (see listmonk.ts)
 */
import { createServer } from 'node:http';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import type { Listmonk } from './listmonk.ts';
import { cpuBelow, cpuMs, machineMs, memoryMb } from './processes.ts';
import { startSending } from './sending.ts';
import type { SinkStats } from './smtp-sink.ts';
import { showStatements } from './statements.ts';

const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '100000' },
    kb: { type: 'string', default: '2.5' },
    rounds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '10' },
    workers: { type: 'string', default: '1' },
    pin: { type: 'boolean', default: false },
    delay: { type: 'string', default: '0' },
    dkim: { type: 'boolean', default: false },
    'local-time': { type: 'boolean', default: false },
    webhooks: { type: 'boolean', default: false },
    emails: { type: 'string', default: '10' },
    slowest: { type: 'string', default: '0' },
    snapshot: { type: 'boolean', default: false },
    statements: { type: 'boolean', default: false },
    profile: { type: 'string' },
    listmonk: { type: 'string' },
    'listmonk-dir': { type: 'string' },
  },
});
const [RECIPIENTS, KB, ROUNDS, EMAILS] = [values.recipients, values.kb, values.rounds, values.emails].map(Number) as [
  number,
  number,
  number,
  number,
];

const system = await startSending(values, ['worker']);
const { url, projectId, key, sink, gateway, worker, workers } = system;
sink.tell({ delayMs: Number(values.delay) });
const { db, newId, pool } = await import('@postroom/platform');
const { addLocalDomain } = await import('../modules/domains/src/domains.ts');
const { createDkimKey } = await import('../modules/domains/src/dkim/keys.ts');
const { createEndpoint } = await import('@postroom/webhooks');

const listmonk = await startPeer();
const received = { count: 0 };
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    received.count++;
    response.writeHead(204).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));

const api = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const reply = (await response.json()) as { data: Campaign };
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${JSON.stringify(reply)}`);
  return reply.data;
};

interface Campaign {
  id: string;
  status: string;
  startedAt: string;
  completedAt: string | null;
  progress: { accepted: number; unknown: number; failed: number };
}

/** listmonk with a list of the same number of subscribers, if its binary was given. */
async function startPeer(): Promise<(Listmonk & { list: number }) | undefined> {
  const peer = await system.startPeer();
  if (peer === undefined) return undefined;
  return { ...peer, list: await peer.subscribe(RECIPIENTS, (number) => `subscriber${number}@readers.test`) };
}

/** The group of all contacts. */
async function prepare(): Promise<string> {
  const domain = await addLocalDomain(projectId, 'example.com');
  if (values.dkim) {
    const { selector, privateKey } = await createDkimKey(domain.id);
    await db.dkimKey.create({ data: { domainId: domain.id, selector, privateKey } });
  }
  if (values.webhooks) {
    const { port } = receiver.address() as AddressInfo;
    await createEndpoint(projectId, { url: `http://127.0.0.1:${port}/`, events: ['*'] });
  }
  const groupId = newId('grp');
  await pool.query('INSERT INTO groups (id, project_id, name, updated_at) VALUES ($1, $2, $3, now())', [
    groupId,
    projectId,
    'All',
  ]);
  // In parts, because a statement may take 15 seconds.
  const part = 20_000;
  for (let from = 0; from < RECIPIENTS; from += part)
    await pool.query(
      `WITH readers AS (
         INSERT INTO contacts (id, project_id, email, email_key, name, source, custom_fields, updated_at)
         SELECT postroom_id('ctc'), $1, 'reader' || i || '@readers.test', 'reader' || i || '@readers.test', 'Reader Number ' || i, 'api',
           jsonb_build_object('plan', (ARRAY['free', 'pro', 'enterprise'])[i % 3 + 1], 'city', 'City ' || i % 500), now()
         FROM generate_series($2::int, $3::int) i RETURNING id
       ) INSERT INTO group_members (group_id, contact_id) SELECT $4, id FROM readers`,
      [projectId, from + 1, Math.min(from + part, RECIPIENTS), groupId],
    );
  if (values['local-time']) await api('POST', '/v1/custom-fields', { key: 'zone', type: 'text' });
  await pool.query('VACUUM ANALYZE');
  return groupId;
}

const WORDS =
  'We have gathered what changed this month, with notes on each of the releases and what to look at first. ';

/** A campaign with three variables and an unsubscribe link, padded to its size. */
function html(): string {
  const head = '<h1>Hello {{name|there}}</h1><p>You are on {{plan|no plan}}, in {{city|your city}}.</p>';
  // Half of a message is its text part.
  const filling = WORDS.repeat(Math.max(1, Math.round((KB * 1024 - 900) / 2 / WORDS.length)));
  return `<!doctype html><html><body>${head}<p>${filling}</p><p><a href="https://example.com/offer">See the offer</a></p></body></html>`;
}

/** Starts a campaign now, or so that its messages are due at the beginning of a minute, at least half a minute from now. */
async function start(id: string): Promise<void> {
  if (!values['local-time']) return void (await api('POST', `/v1/campaigns/${id}/send`));
  const dueAt = new Date(Math.ceil((Date.now() + 30_000) / 60_000) * 60_000);
  await api('POST', `/v1/campaigns/${id}/schedule`, {
    local_time: dueAt.toISOString().slice(0, 16),
    time_zone_field: 'zone',
  });
}

/** @returns messages per second, from the first to the last. */
async function sendOne(group: string): Promise<number> {
  sink.tell('reset');
  received.count = 0;
  const before = readCpu();
  const { id } = await api('POST', '/v1/campaigns', {
    name: `Bench ${newId('cmp')}`,
    subject: 'News for {{name|you}}',
    from_name: 'Bench',
    from_email: 'news@example.com',
    html: html(),
    group_ids: [group],
  });
  const probes = new Probes();
  let most = 0;
  const watching = setInterval(() => (most = Math.max(most, memoryMb(worker.pid).now)), 100);
  const beganAt = Date.now();
  const machineBefore = machineMs();
  await start(id);
  let campaign: Campaign;
  do {
    await sleep(250);
    campaign = await api('GET', `/v1/campaigns/${id}`);
  } while (campaign.status === 'scheduled' || campaign.status === 'sending');
  const machine = machineMs();
  await probes.stop();
  const completedMs = Date.parse(campaign.completedAt ?? '') - beganAt;
  if (values.webhooks) await untilReceived(RECIPIENTS);
  clearInterval(watching);
  const stats = await sink.ask<SinkStats>('stats');
  const cpu = readCpu();
  const mails = stats.mails - Object.keys(stats.probes).length;
  const seconds = (stats.lastAt - stats.firstAt) / 1000;
  const each = (program: keyof typeof cpu) => (((cpu[program] - before[program]) * 1000) / mails).toFixed(0);
  console.log(
    `${mails} messages of ${Math.round(stats.bytes / stats.mails)} bytes, ${stats.duplicates} twice; ${campaign.status}, ${JSON.stringify(campaign.progress)}`,
  );
  console.log(
    `  ${(mails / seconds).toFixed(0)}/s from the first to the last (${seconds.toFixed(1)} s); first ${((stats.firstAt - beganAt) / 1000).toFixed(1)} s and completed ${(completedMs / 1000).toFixed(1)} s after it was sent`,
  );
  console.log(
    `  CPU µs each: worker ${each('worker')}, PostgreSQL ${each('postgres')}, Temporal ${each('temporal')}, gateway ${each('gateway')}, sink ${each('sink')}`,
  );
  const whole =
    machine.busy + machine.idle + machine.stolen - machineBefore.busy - machineBefore.idle - machineBefore.stolen;
  const part = (what: keyof typeof machine) => (((machine[what] - machineBefore[what]) / whole) * 100).toFixed(0);
  console.log(
    `  the machine, from its start to its end: busy ${part('busy')} %, idle ${part('idle')} %, taken by others of its host ${part('stolen')} %`,
  );
  const { now, peak } = memoryMb(worker.pid);
  console.log(`  worker: ${most} MB at most while it was sent, ${now} MB now, ${peak} MB ever`);
  console.log(`  POST /v1/emails meanwhile: ${probes.figures(stats.probes)}`);
  await probes.showSlowest(stats.probes, { campaignId: id, beganAt });
  if (values.webhooks) console.log(`  ${received.count} webhooks received`);
  return mails / seconds;
}

/** The same with listmonk, which adds no text part, so its HTML is padded to the full size. */
async function sendTheirs(peer: Listmonk & { list: number }, ours: number): Promise<void> {
  sink.tell('reset');
  const before = { peer: cpuMs(peer.pid), postgres: cpuBelow('postgres'), sink: cpuMs(sink.pid) };
  const filling = WORDS.repeat(Math.max(1, Math.round((KB * 1024 - 400) / WORDS.length)));
  const status = await peer.sendCampaign(peer.list, {
    subject: 'News for {{ .Subscriber.Name }}',
    html: `<h1>Hello {{ .Subscriber.Name }}</h1><p>You are on {{ .Subscriber.Attribs.plan }}, in {{ .Subscriber.Attribs.city }}.</p><p>${filling}</p><p><a href="https://example.com/offer@TrackLink">See the offer</a></p>`,
  });
  while ((await status()) !== 'finished') await sleep(250);
  const stats = await sink.ask<SinkStats>('stats');
  const rate = stats.mails / ((stats.lastAt - stats.firstAt) / 1000);
  const each = (ms: number) => ((ms * 1000) / stats.mails).toFixed(0);
  console.log(
    `listmonk ${peer.version}: ${stats.mails} messages of ${Math.round(stats.bytes / stats.mails)} bytes, ${rate.toFixed(0)}/s from the first to the last`,
  );
  console.log(
    `  CPU µs each: listmonk ${each(cpuMs(peer.pid) - before.peer)}, PostgreSQL ${each(cpuBelow('postgres') - before.postgres)}, sink ${each(cpuMs(sink.pid) - before.sink)}; ${memoryMb(peer.pid).peak} MB at most`,
  );
  console.log(`  ours: ${(ours / rate).toFixed(2)} of its messages a second`);
}

async function untilReceived(events: number): Promise<void> {
  for (const giveUpAt = Date.now() + 300_000; received.count < events && Date.now() < giveUpAt;) await sleep(100);
}

function readCpu() {
  return {
    worker: workers.reduce((sum, { pid }) => sum + cpuMs(pid), 0),
    gateway: cpuMs(gateway.pid),
    sink: cpuMs(sink.pid),
    postgres: cpuBelow('postgres'),
    temporal: cpuBelow('temporal'),
  };
}

/** Transactional emails at an even rate, each timed from its request to its response and to its arrival at the mail server. */
class Probes {
  readonly #responseMs: number[] = [];
  readonly #sentAt = new Map<string, number>();
  readonly #respondedAt = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout | undefined;

  constructor() {
    if (EMAILS > 0)
      this.#timer = setInterval(() => {
        const one = this.#send().finally(() => this.#underWay.delete(one));
        this.#underWay.add(one);
      }, 1000 / EMAILS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
    await sleep(EMAILS > 0 ? 3_000 : 0); // the last ones are still in flight
  }

  async #send(): Promise<void> {
    const address = `probe${newId('eml')}@probe.test`.toLowerCase();
    const began = Date.now();
    this.#sentAt.set(address, began);
    await api('POST', '/v1/emails', {
      from: 'news@example.com',
      to: [address],
      subject: 'A receipt',
      text: 'Thank you.',
    });
    this.#respondedAt.set(address, Date.now());
    this.#responseMs.push(Date.now() - began);
  }

  /** The slowest ones in the order of their requests, each step in milliseconds after the previous one. */
  async showSlowest(
    arrived: Record<string, number>,
    { campaignId, beganAt }: { campaignId: string; beganAt: number },
  ): Promise<void> {
    const count = Number(values.slowest);
    if (count === 0) return;
    const ms = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float`;
    const { rows: milestones } = await pool.query<Record<'snapshot' | 'claimed' | 'done', number | null>>(
      `SELECT ${ms('frozen_at')} AS snapshot, ${ms('completed_at')} AS done,
         (SELECT ${ms('min(claimed_at)')} FROM messages m WHERE m.campaign_id = c.id) AS claimed FROM campaigns c WHERE id = $1`,
      [campaignId],
    );
    const after = (at: number | null | undefined) => (at == null ? '-' : String(Math.round(at - beganAt)));
    const [{ snapshot, claimed, done } = {}] = milestones;
    console.log(
      `  the campaign, ms after it was sent: snapshot began ${after(snapshot)}, first claim ${after(claimed)}, completed ${after(done)}`,
    );
    const { rows } = await pool.query<{ email: string; row: number; claimed: number | null; settled: number | null }>(
      `SELECT email, ${ms('created_at')} AS row, ${ms('claimed_at')} AS claimed, ${ms('accepted_at')} AS settled
       FROM messages WHERE project_id = $1 AND email = ANY ($2)`,
      [projectId, [...this.#sentAt.keys()]],
    );
    const timed = rows.map((row) => ({
      ...row,
      sent: this.#sentAt.get(row.email) ?? 0,
      came: arrived[row.email] ?? Infinity,
    }));
    const slowest = timed.toSorted((a, b) => b.came - b.sent - (a.came - a.sent)).slice(0, count);
    for (const { email, sent, row, claimed, came, settled } of slowest.toSorted((a, b) => a.sent - b.sent)) {
      const responded = this.#respondedAt.get(email) ?? 0;
      console.log(
        `  requested at ${after(sent)}: row +${Math.round(row - sent)}, response +${responded - sent}, claimed +${Math.round((claimed ?? 0) - sent)}, at the mail server +${came - sent}, settled +${Math.round((settled ?? 0) - sent)}`,
      );
    }
  }

  figures(arrived: Record<string, number>): string {
    const ways = [...this.#sentAt].flatMap(([address, at]) =>
      arrived[address] === undefined ? [] : [arrived[address] - at],
    );
    return `${this.#responseMs.length}, response p50 ${at(this.#responseMs, 0.5)} ms, p99 ${at(this.#responseMs, 0.99)} ms; ${ways.length} at the mail server, p50 ${at(ways, 0.5)} ms, p99 ${at(ways, 0.99)} ms`;
  }
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Alternates snapshots with a bare INSERT … SELECT of the same number of equally wide rows into a table of the same shape. */
async function compareSnapshot(group: string): Promise<void> {
  const { snapshotRecipients } = await import('../modules/campaigns/src/snapshot-recipients.ts');
  await pool.query('DROP TABLE IF EXISTS bare');
  await pool.query(
    'CREATE TABLE bare (LIKE messages INCLUDING DEFAULTS INCLUDING INDEXES INCLUDING STORAGE) WITH (fillfactor = 40)',
  );
  const ratios: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const id = newId('cmp');
    await pool.query(
      `INSERT INTO campaigns (id, project_id, name, status, group_ids, updated_at) VALUES ($1, $2, $1, 'sending', ARRAY[$3], now())`,
      [id, projectId, group],
    );
    const bare = await timed(() =>
      pool.query(
        `INSERT INTO bare (id, project_id, campaign_id, contact_id, email, state)
         SELECT postroom_id('eml'), project_id, $2, id, email, 'planned' FROM contacts WHERE project_id = $1`,
        [projectId, id],
      ),
    );
    const snapshot = await timed(() => snapshotRecipients(id));
    ratios.push(snapshot.ms / bare.ms);
    console.log(
      `snapshot of ${RECIPIENTS}: ${(snapshot.ms / 1000).toFixed(2)} s, ${(snapshot.cpuMs / 1000).toFixed(2)} s of CPU; bare INSERT … SELECT: ${(bare.ms / 1000).toFixed(2)} s, ${(bare.cpuMs / 1000).toFixed(2)} s of CPU; ratio ${(snapshot.ms / bare.ms).toFixed(2)}, of CPU ${(snapshot.cpuMs / bare.cpuMs).toFixed(2)}`,
    );
    await pool.query('DELETE FROM campaigns WHERE id = $1', [id]);
    await pool.query('DELETE FROM messages WHERE campaign_id = $1', [id]);
    await pool.query('TRUNCATE bare');
    await pool.query('VACUUM messages');
    await pool.query('CHECKPOINT');
  }
  console.log(`  median ratio ${at(ratios, 0.5).toFixed(2)}`);
  await pool.query('DROP TABLE bare');
}

async function timed(work: () => Promise<unknown>): Promise<{ ms: number; cpuMs: number }> {
  const [cpu, began] = [cpuBelow('postgres'), performance.now()];
  await work();
  return { ms: performance.now() - began, cpuMs: cpuBelow('postgres') - cpu };
}

try {
  console.log(
    `load average at the start: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(', ')}`,
  );
  console.log(`worker after its start: ${memoryMb(worker.pid).now} MB, ${memoryMb(worker.pid).peak} MB at most`);
  const group = await prepare();
  for (let round = 0; round < ROUNDS; round++) {
    if (values.snapshot) await compareSnapshot(group);
    const ours = await sendOne(group);
    if (listmonk !== undefined) await sendTheirs(listmonk, ours);
  }
  if (values.statements) await showStatements(pool);
} finally {
  await system.stop();
  receiver.closeAllConnections();
  receiver.close();
}

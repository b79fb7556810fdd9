/**
 * How fast a campaign goes out, and what it costs: a PostgreSQL that keeps what it is told (fsync on), a Temporal, a gateway,
 * a worker and a mail server that throws everything away, all on this machine and gone afterwards. Beside the campaign,
 * transactional emails go through the gateway, to see what they have to wait for.
 * Run: npm run bench -- campaign [options]
 *   --recipients N     100000 unless given
 *   --kb N             size of a message, 2.5 unless given
 *   --rounds N         campaigns, one after the other; 1 unless given
 *   --connections N    to the mail server; 10 unless given
 *   --dkim             with a DKIM signature (RSA, 2048 bits)
 *   --webhooks         an endpoint of this bench receives every event
 *   --emails N         transactional emails a second beside it; 10 unless given
 *   --slowest N        the N slowest of these, step by step
 *   --freeze           measures the recipient snapshot as well, beside a bare INSERT … SELECT of as many rows of that width
 *   --statements       the statements that took PostgreSQL longest
 *   --profile DIR      leaves a CPU profile of the worker there
 *   --listmonk FILE    the program of listmonk, which sends a campaign as well after each of ours
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
    dkim: { type: 'boolean', default: false },
    webhooks: { type: 'boolean', default: false },
    emails: { type: 'string', default: '10' },
    slowest: { type: 'string', default: '0' },
    freeze: { type: 'boolean', default: false },
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
const { url, projectId, key, sink, gateway, worker } = system;
const { db, newId, pool } = await import('@postroom/platform');
const { addLocalDomain } = await import('../modules/domains/src/domains.ts');
const { createDkimKey } = await import('../modules/domains/src/dkim/keys.ts');
const { createEndpoint } = await import('@postroom/webhooks');

const listmonk = await startPeer();
const heard = { count: 0 };
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    heard.count++;
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
  const answer = (await response.json()) as { data: Campaign };
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer.data;
};

interface Campaign {
  id: string;
  status: string;
  startedAt: string;
  completedAt: string | null;
  progress: { accepted: number; unknown: number; failed: number };
}

/** listmonk with a list of as many subscribers, when it is there. */
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
  await pool.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source, custom_fields, updated_at)
     SELECT postroom_id('ctc'), $1, 'reader' || i || '@readers.test', 'reader' || i || '@readers.test', 'Reader Number ' || i, 'api',
       jsonb_build_object('plan', (ARRAY['free', 'pro', 'enterprise'])[i % 3 + 1], 'city', 'City ' || i % 500), now()
     FROM generate_series(1, $2::int) i`,
    [projectId, RECIPIENTS],
  );
  const groupId = newId('grp');
  await pool.query('INSERT INTO groups (id, project_id, name, updated_at) VALUES ($1, $2, $3, now())', [
    groupId,
    projectId,
    'All',
  ]);
  await pool.query(
    'INSERT INTO group_members (group_id, contact_id) SELECT $1, id FROM contacts WHERE project_id = $2',
    [groupId, projectId],
  );
  await pool.query('VACUUM ANALYZE');
  return groupId;
}

const WORDS =
  'We have gathered what changed this month, with notes on each of the releases and what to look at first. ';

/** A campaign of three variables beside the link to unsubscribe by, filled up to its size. */
function html(): string {
  const head = '<h1>Hello {{name|there}}</h1><p>You are on {{plan|no plan}}, in {{city|your city}}.</p>';
  // Half of a message is its text part.
  const filling = WORDS.repeat(Math.max(1, Math.round((KB * 1024 - 900) / 2 / WORDS.length)));
  return `<!doctype html><html><body>${head}<p>${filling}</p><p><a href="https://example.com/offer">See the offer</a></p></body></html>`;
}

/** @returns messages a second, from the first to the last. */
async function sendOne(group: string): Promise<number> {
  sink.tell('reset');
  heard.count = 0;
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
  await api('POST', `/v1/campaigns/${id}/send`);
  let campaign: Campaign;
  do {
    await sleep(250);
    campaign = await api('GET', `/v1/campaigns/${id}`);
  } while (campaign.status === 'sending');
  const machine = machineMs();
  await probes.stop();
  const completedMs = Date.parse(campaign.completedAt ?? '') - beganAt;
  if (values.webhooks) await untilHeard(RECIPIENTS);
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
    `  ${(mails / seconds).toFixed(0)}/s from the first to the last (${seconds.toFixed(1)} s); completed ${(completedMs / 1000).toFixed(1)} s after it was sent`,
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
  if (values.webhooks) console.log(`  ${heard.count} webhooks received`);
  return mails / seconds;
}

/** The same by listmonk, which puts no text part beside the HTML: so its HTML is filled up to the whole size. */
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

async function untilHeard(events: number): Promise<void> {
  for (const giveUpAt = Date.now() + 300_000; heard.count < events && Date.now() < giveUpAt;) await sleep(100);
}

function readCpu() {
  return {
    worker: cpuMs(worker.pid),
    gateway: cpuMs(gateway.pid),
    sink: cpuMs(sink.pid),
    postgres: cpuBelow('postgres'),
    temporal: cpuBelow('temporal'),
  };
}

/** Transactional emails at an even pace, each timed from its request to its answer and to the mail server. */
class Probes {
  readonly #answers: number[] = [];
  readonly #sentAt = new Map<string, number>();
  readonly #answeredAt = new Map<string, number>();
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
    await sleep(EMAILS > 0 ? 3_000 : 0); // the last ones are on their way
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
    this.#answeredAt.set(address, Date.now());
    this.#answers.push(Date.now() - began);
  }

  /** The slowest ones in the order of their requests, each step in milliseconds after the one before. */
  async showSlowest(
    arrived: Record<string, number>,
    { campaignId, beganAt }: { campaignId: string; beganAt: number },
  ): Promise<void> {
    const count = Number(values.slowest);
    if (count === 0) return;
    const ms = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float`;
    const { rows: milestones } = await pool.query<Record<'frozen' | 'claimed' | 'done', number | null>>(
      `SELECT ${ms('frozen_at')} AS frozen, ${ms('completed_at')} AS done,
         (SELECT ${ms('min(claimed_at)')} FROM messages m WHERE m.campaign_id = c.id) AS claimed FROM campaigns c WHERE id = $1`,
      [campaignId],
    );
    const after = (at: number | null | undefined) => (at == null ? '-' : String(Math.round(at - beganAt)));
    const [{ frozen, claimed, done } = {}] = milestones;
    console.log(
      `  the campaign, ms after it was sent: freeze began ${after(frozen)}, first claim ${after(claimed)}, completed ${after(done)}`,
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
      const answered = this.#answeredAt.get(email) ?? 0;
      console.log(
        `  asked at ${after(sent)}: row +${Math.round(row - sent)}, answered +${answered - sent}, claimed +${Math.round((claimed ?? 0) - sent)}, at the mail server +${came - sent}, settled +${Math.round((settled ?? 0) - sent)}`,
      );
    }
  }

  figures(arrived: Record<string, number>): string {
    const ways = [...this.#sentAt].flatMap(([address, at]) =>
      arrived[address] === undefined ? [] : [arrived[address] - at],
    );
    return `${this.#answers.length}, answered p50 ${at(this.#answers, 0.5)} ms, p99 ${at(this.#answers, 0.99)} ms; ${ways.length} at the mail server, p50 ${at(ways, 0.5)} ms, p99 ${at(ways, 0.99)} ms`;
  }
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Freezing beside a bare INSERT … SELECT of as many rows of that width into a table of the same shape, in turn. */
async function compareFreeze(group: string): Promise<void> {
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
    const frozen = await timed(() => snapshotRecipients(id));
    ratios.push(frozen.ms / bare.ms);
    console.log(
      `freeze of ${RECIPIENTS}: ${(frozen.ms / 1000).toFixed(2)} s, ${(frozen.cpuMs / 1000).toFixed(2)} s of CPU; bare INSERT … SELECT: ${(bare.ms / 1000).toFixed(2)} s, ${(bare.cpuMs / 1000).toFixed(2)} s of CPU; ratio ${(frozen.ms / bare.ms).toFixed(2)}, of CPU ${(frozen.cpuMs / bare.cpuMs).toFixed(2)}`,
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
    if (values.freeze) await compareFreeze(group);
    const ours = await sendOne(group);
    if (listmonk !== undefined) await sendTheirs(listmonk, ours);
  }
  if (values.statements) await showStatements(pool);
} finally {
  await system.stop();
  receiver.closeAllConnections();
  receiver.close();
}

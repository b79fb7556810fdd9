/**
 * Measures the latency of transactional mail, from the request to the mail server: alone, while another project has endpoints that
 * hang, and while another project sends a campaign. Each round measures all three, in a rotating order. It starts PostgreSQL
 * (fsync on), Temporal, a gateway, a worker with default limits, a mail server and a receiver, and removes them afterwards.
 * Run: npm run bench -- isolation [options]
 *   --rounds N       default 3
 *   --seconds N      duration of each measurement, default 30
 *   --rate N         emails per second, default 10
 *   --endpoints N    endpoints that accept connections and never respond, default 50
 *   --events N       events per second, each of which goes to all of those; default 4
 *   --contacts N     recipients of each campaign, default 200000: it must last longer than the measurement
 *   --connections N  connections to the mail server, default 10
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startChild } from './child.ts';
import { postTo } from './post.ts';
import { startSending } from './sending.ts';
import type { SinkStats } from './smtp-sink.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '30' },
    rate: { type: 'string', default: '10' },
    endpoints: { type: 'string', default: '50' },
    events: { type: 'string', default: '4' },
    contacts: { type: 'string', default: '200000' },
    connections: { type: 'string', default: '10' },
    statements: { type: 'boolean', default: false },
  },
});
const { rounds, seconds, rate, endpoints, events, contacts } = Object.fromEntries(
  Object.entries(values).map(([name, value]) => [name, Number(value)]),
) as Record<'rounds' | 'seconds' | 'rate' | 'endpoints' | 'events' | 'contacts', number>;
/** Time until a load is running. */
const SETTLE_MS = 3_000;
/** Mail that has not arrived this long after a measurement counts as lost. */
const ARRIVAL_MS = 60_000;

const system = await startSending(values, []);
const { newId, pool } = await import('@postroom/platform');
const { createApiKey, createProject } = await import('@postroom/projects');
const { addLocalDomain } = await import('../modules/domains/src/domains.ts');
const { createEndpoint } = await import('@postroom/webhooks');
const receiver = await startChild('webhooks-receiver.ts');
const { hangingPort } = receiver.ready as { hangingPort: number };

function post(path: string, key: string, body: unknown) {
  return postTo({ url: system.url, key }, path, body);
}

async function newProject(name: string): Promise<{ id: string; key: string }> {
  const { id } = await createProject(name);
  await addLocalDomain(id, `${name}.example`);
  const { key } = await createApiKey({ name, scope: 'full', projects: [id] });
  return { id, key };
}

/** What runs alongside the mail: returns how to end it, and what it has done. */
type Load = (number: number) => Promise<() => Promise<string>>;

const nothing: Load = async () => async () => '';

const hangingEndpoints: Load = async (number) => {
  const { id, key } = await newProject(`hooks${number}`);
  for (let at = 0; at < endpoints; at++)
    await createEndpoint(id, { url: `http://127.0.0.1:${hangingPort}/${number}/${at}`, events: ['contact.created'] });
  let isRunning = true;
  const running = (async () => {
    for (let at = 0; isRunning; at++) {
      await post('/v1/contacts', key, { email: `reader${at}@readers.test` });
      await sleep(1_000 / events);
    }
  })();
  return async () => {
    isRunning = false;
    await running;
    const { rows } = await pool.query<{ attempts: number; deliveries: number }>(
      `SELECT (SELECT count(*)::int FROM deliveries WHERE project_id = $1) AS deliveries,
         (SELECT count(*)::int FROM attempts WHERE project_id = $1) AS attempts`,
      [id],
    );
    await pool.query('UPDATE webhook_endpoints SET enabled = false WHERE project_id = $1', [id]);
    return `${rows[0]?.attempts} of ${rows[0]?.deliveries} deliveries attempted at ${endpoints} hanging endpoints`;
  };
};

/** Inserted in portions: one statement may not take longer than a request. */
const PORTION = 10_000;

/** The project with the recipients of the campaigns. */
async function prepareNews() {
  const project = await newProject('news');
  const groupId = newId('grp');
  await pool.query(`INSERT INTO groups (id, project_id, name, updated_at) VALUES ($1, $2, 'All', now())`, [
    groupId,
    project.id,
  ]);
  for (let from = 1; from <= contacts; from += PORTION)
    await pool.query(
      `WITH contact AS (
         INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
         SELECT postroom_id('ctc'), $1, 'reader' || i || '@readers.test', 'reader' || i || '@readers.test', 'Reader ' || i, 'api', now()
         FROM generate_series($3::int, $4::int) i RETURNING id
       ) INSERT INTO group_members (group_id, contact_id) SELECT $2, id FROM contact`,
      [project.id, groupId, from, Math.min(contacts, from + PORTION - 1)],
    );
  await pool.query('VACUUM ANALYZE contacts, group_members');
  return { ...project, groupId };
}

const news = await prepareNews();

const campaign: Load = async (number) => {
  const { key, groupId } = news;
  const { id: campaignId } = await post('/v1/campaigns', key, {
    name: `News ${number}`,
    subject: 'News for {{name|you}}',
    from_email: 'news@news.example',
    html: `<p>Hello {{name|there}}</p><p>${'Words that fill a page. '.repeat(100)}</p>`,
    group_ids: [groupId],
  });
  await post(`/v1/campaigns/${campaignId}/send`, key, {});
  const read = async () => {
    const { rows } = await pool.query<{ sent: number }>('SELECT accepted_count AS sent FROM campaigns WHERE id = $1', [
      campaignId,
    ]);
    return rows[0]?.sent ?? 0;
  };
  while ((await read()) === 0) await sleep(100);
  return async () => {
    const sent = await read();
    if (sent < contacts) await post(`/v1/campaigns/${campaignId}/cancel`, key, {});
    return `${sent} of ${contacts} messages of the campaign sent${sent < contacts ? '' : ': it ended too early'}`;
  };
};

const quiet = await newProject('quiet');
let probes = 0;

/** Latencies in milliseconds. A lost message counts as the longest wait. */
async function measure(forSeconds: number): Promise<number[]> {
  const sentAt = new Map<string, number>();
  const requests: Promise<unknown>[] = [];
  const began = performance.now();
  for (let number = 0; number < rate * forSeconds; number++) {
    await sleep(Math.max(0, began + (number * 1_000) / rate - performance.now()));
    const to = `probe${probes++}@probe.test`;
    sentAt.set(to, Date.now());
    const mail = { from: 'hello@quiet.example', to: [to], subject: 'Your receipt', html: '<p>Thank you</p>' };
    requests.push(post('/v1/emails', quiet.key, mail));
  }
  await Promise.all(requests);
  const arrived = async () => (await system.sink.ask<SinkStats>('stats')).probes;
  let times = await arrived();
  const endsAt = Date.now() + ARRIVAL_MS;
  while (Date.now() < endsAt && [...sentAt.keys()].some((to) => times[to] === undefined)) {
    await sleep(200);
    times = await arrived();
  }
  return [...sentAt].map(([to, at]) => (times[to] ?? Date.now()) - at);
}

function share(of: readonly number[], part: number): number {
  const sorted = of.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

const LOADS = [
  ['alone', nothing],
  [`alongside ${endpoints} hanging endpoints`, hangingEndpoints],
  ["alongside another project's campaign", campaign],
] as const;
const FIGURES = [
  ['p50', 0.5],
  ['p99', 0.99],
  ['maximum', 1],
] as const;
const results = new Map<string, number[][]>(LOADS.map(([name]) => [name, []]));
const load = () => `load average ${loadavg()[0]?.toFixed(1)}`;

try {
  await measure(5); // a process's first requests are slow
  for (let round = 0; round < rounds; round++) {
    for (const at of LOADS.keys()) {
      const [name, start] = LOADS[(at + round) % LOADS.length]!;
      const before = load();
      const end = await start(round);
      await sleep(SETTLE_MS);
      const times = await measure(seconds);
      const done = await end();
      results.get(name)?.push(times);
      const figures = FIGURES.map(([title, part]) => `${title} ${share(times, part)} ms`);
      console.log(`round ${round + 1}, ${name}: ${[...figures, ...(done === '' ? [] : [done]), before].join('; ')}`);
      await sleep(2 * SETTLE_MS);
    }
  }
  console.log(`\n| transactional mail, ${rate} a second, median (spread) of ${rounds} rounds | p50 | p99 | maximum |`);
  console.log('| --- | --- | --- | --- |');
  for (const [name, all] of results) {
    const cells = FIGURES.map(([, part]) => {
      const each = all.map((times) => share(times, part));
      return `${share(each, 0.5)} ms (${Math.min(...each)} to ${Math.max(...each)})`;
    });
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
} finally {
  await receiver.stop();
  await system.stop();
}

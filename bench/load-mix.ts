// The operations of bench/capacity.ts: each does a number of them, evenly spread over a time or as fast as possible, and returns when
// everything that follows from them is done.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Operation } from '@postroom/capacity';
import { type Child, startChild } from './child.ts';
import { CHANGING_STEPS } from './journey-steps.ts';
import type { Load, LoadFigures } from './load.ts';
import { postTo, SENT } from './post.ts';
import type { startSending } from './sending.ts';
import type { SinkStats } from './smtp-sink.ts';
import type { Hits } from './tracking-hits.ts';

/** A number of operations, per second over a time in seconds; without a rate as fast as possible. */
export interface Quantity {
  count: number;
  rate?: number;
}

const CLIENTS = 50;
const EVENTS_IN_A_REQUEST = 10;
/** Steps that change something, of each contact that goes through the journey of this benchmark. */
const STEPS_OF_A_CONTACT = 3;
const POLL_MS = 100;
const LOST_MS = 120_000;
/** Events of webhooks are recorded this often. */
const RECORD_MS = 50;
const LINKS = 8;
/** Opens and clicks are of the last campaign with this many messages. */
const ENOUGH_FOR_HITS = 1_000;

type System = Awaited<ReturnType<typeof startSending>>;

/** Prepares a project with contacts, a template, a journey, a webhook and a campaign to all contacts, which is sent once. */
export async function prepareMix(system: System, contacts: number) {
  const { url, projectId, key, sink } = system;
  const { newId, pool } = await import('@postroom/platform');
  const { createProject } = await import('@postroom/projects');
  const { createEndpoint } = await import('@postroom/webhooks');
  const { trackingToken } = await import('@postroom/tracking');
  const { addLocalDomain } = await import('../modules/domains/src/domains.ts');
  const headers = { authorization: `Bearer ${key}` };
  const [receiver, children] = [await startChild('webhooks-receiver.ts'), [] as Child[]];
  const { id: listening } = await createProject('Webhooks');

  await addLocalDomain(projectId, 'example.com');
  const { port } = receiver.ready as { port: number };
  await createEndpoint(listening, { url: `http://127.0.0.1:${port}/hook`, events: ['*'] });
  const templateId = await addTemplate();
  /** Ids of groups by their number of contacts. */
  const groups = new Map<number, string>();
  await addContacts(contacts);
  const contactIds = (await pool.query<{ id: string }>('SELECT id FROM contacts ORDER BY id')).rows.map(({ id }) => id);
  let tokens: string[] = [];
  let hitsSoFar = 0;
  /** From the commit of the rows of transactional emails to their arrival at the mail server, in milliseconds. */
  let delays: number[] = [];

  const operations: Record<Operation, (quantity: Quantity) => Promise<void>> = {
    email: async (quantity) => {
      const run = randomBytes(4).toString('hex');
      sink.tell('reset');
      const item = {
        from: 'Shop <shop@example.com>',
        to: [`{i}.${run}@probe.test`],
        template_id: templateId,
        variables: { name: 'User Number {i}', order: 'A{i}' },
      };
      await request('/v1/emails', item, quantity);
      let arrived: [string, number][] = [];
      await until(async () => {
        const { probes } = await sink.ask<SinkStats>('stats');
        arrived = Object.entries(probes).filter(([address]) => address.includes(run));
        return arrived.length >= quantity.count;
      });
      const { rows } = await pool.query<{ email: string; at: number }>(
        'SELECT email, (extract(epoch FROM created_at) * 1000)::float AS at FROM messages WHERE email = ANY ($1)',
        [arrived.map(([address]) => address)],
      );
      const made = new Map(rows.map(({ email, at }) => [email, at]));
      delays = arrived.map(([address, at]) => at - (made.get(address) ?? at)).sort((a, b) => a - b);
    },
    campaignStart: async ({ count }) => {
      for (let campaign = 0; campaign < count; campaign++) await operations.campaign({ count: 1 });
    },
    campaign: async ({ count }) => {
      const { id } = await post('/v1/campaigns', {
        name: `Bench ${newId('cmp')}`,
        subject: 'News for {{name|you}}',
        from_name: 'Bench',
        from_email: 'news@example.com',
        html: campaignHtml(),
        group_ids: [await groupOf(count)],
      });
      await post(`/v1/campaigns/${id}/send`);
      await until(() => has(`SELECT status = 'completed' AS done FROM campaigns WHERE id = $1`, [id]));
      if (count < ENOUGH_FOR_HITS) return;
      const { rows } = await pool.query<{ id: string }>(
        `SELECT id FROM messages WHERE campaign_id = $1 AND state = 'accepted'`,
        [id],
      );
      tokens = rows.map((row) => trackingToken(row.id));
      hitsSoFar = 0;
    },
    hit: async ({ count, rate = 1_000 }) => {
      const child = await started('tracking-hits.ts');
      const some = Array.from({ length: count }, (_, at) => tokens[(hitsSoFar + at) % tokens.length]);
      hitsSoFar += count;
      await child.ask<Hits>({ origin: url, tokens: some, rate, seconds: count / rate });
      await until(() => has('SELECT NOT EXISTS (SELECT FROM tracking_hits WHERE verdict IS NULL) AS done', []));
    },
    delivery: async ({ count, rate }) => {
      const began = performance.now();
      await receiver.ask('take');
      for (let recorded = 0; recorded < count;) {
        const due = rate === undefined ? count : Math.ceil(((performance.now() - began) / 1000) * rate);
        const events = Math.min(count, due) - recorded;
        if (events > 0) await recordEvents(events);
        recorded += events;
        await sleep(rate === undefined ? 0 : Math.max(RECORD_MS, 1000 / rate));
      }
      await until(async () => (await receiver.ask<{ count: number }>('count')).count >= count);
      await until(() =>
        has(`SELECT NOT EXISTS (SELECT FROM deliveries WHERE project_id = $1 AND state = 'queued') AS done`, [
          listening,
        ]),
      );
    },
    contact: (quantity) => {
      const run = randomBytes(4).toString('hex');
      const item = { email: `{i}.${run}@readers.test`, name: 'Reader Number {i}' };
      return request('/v1/contacts', item, quantity);
    },
    read: async (quantity) => {
      const run = contactIds.slice(0, 1_000);
      await request(`/v1/contacts/${run[Math.floor(Math.random() * run.length)]}`, undefined, quantity);
    },
    importStart: async ({ count }) => {
      for (let file = 0; file < count; file++) await operations.import({ count: 1 });
    },
    import: async ({ count }) => {
      const run = randomBytes(4).toString('hex');
      const rows = Array.from({ length: count }, (_, at) => `${run}.${at}@imported.test,Person ${at}`);
      const response = await fetch(`${url}/v1/imports`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'text/csv' },
        body: ['email,name', ...rows].join('\n'),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`POST /v1/imports returned ${response.status}: ${text}`);
      const { id } = (JSON.parse(text) as { data: { id: string } }).data;
      await until(() => has(`SELECT status = 'completed' AS done FROM imports WHERE id = $1`, [id]));
    },
    event: async (quantity) => {
      const run = randomBytes(4).toString('hex');
      const item = {
        name: 'order placed',
        email: 'reader{i}@readers.test',
        id: `{i}.${run}`,
        properties: { total: 49.9, plan: 'pro' },
      };
      await request('/v1/events', item, quantity, { before: '{"events":[', after: ']}', each: EVENTS_IN_A_REQUEST });
    },
    step: async ({ count, rate }) => {
      const journey = await pausedJourney();
      const runs = Math.ceil(count / STEPS_OF_A_CONTACT);
      const withinMs = rate === undefined ? 0 : (count / rate) * 1000;
      await enroll(journey, runs, withinMs);
      await post(`/v1/journeys/${journey}/resume`);
      await sleep(withinMs);
      await until(() =>
        has('SELECT count(*) >= $2 AS done FROM enrollments WHERE journey_id = $1 AND ended_at IS NOT NULL', [
          journey,
          runs,
        ]),
      );
    },
  };
  return {
    /** Creates the group that a campaign is sent to, so that the campaign is measured without it. */
    prepare: async (operation: Operation, { count }: Quantity) => {
      if (operation === 'campaign') await groupOf(count);
    },
    run: (operation: Operation, quantity: Quantity) => operations[operation](quantity),
    /** Of the last transactional emails, at a share of them. */
    delayAt: (share: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0,
    stop: () => Promise.all([receiver, ...children].map((child) => child.stop())),
  };

  async function started(program: string): Promise<Child> {
    const child = await startChild(program);
    children.push(child);
    return child;
  }

  async function request(path: string, item: object | undefined, quantity: Quantity, of: Partial<Load> = {}) {
    const child = await started('load.ts');
    const figures = await child.ask<LoadFigures>({
      url: `${url}${path}`,
      headers,
      method: item === undefined ? 'GET' : 'POST',
      item: item === undefined ? '' : JSON.stringify(item),
      items: quantity.count,
      connections: CLIENTS,
      ...(quantity.rate === undefined ? {} : { ratePerSecond: quantity.rate / (of.each ?? 1) }),
      ...of,
    } satisfies Load);
    if (figures.refused > 0) throw new Error(`${path}: ${figures.refused} refused, the first with ${figures.refusal}`);
  }

  function post(path: string, body?: unknown) {
    return postTo({ url, key }, path, body);
  }

  async function has(sql: string, values: unknown[]): Promise<boolean> {
    return (await pool.query<{ done: boolean }>(sql, values)).rows[0]?.done ?? false;
  }

  async function addTemplate(): Promise<string> {
    const { id } = await post('/v1/templates', {
      name: 'Order',
      subject: 'Order {{order}}',
      body: '<p>Hello {{name}}, your order {{order}} is on its way.</p>',
    });
    await post(`/v1/templates/${id}/publish`);
    return id;
  }

  async function addContacts(count: number): Promise<void> {
    await pool.query(
      `INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
       SELECT postroom_id('ctc'), $1, 'reader' || i || '@readers.test', 'reader' || i || '@readers.test', 'Reader ' || i, 'api', now()
       FROM generate_series(0, $2::int - 1) i`,
      [projectId, count],
    );
    await groupOf(count);
    await pool.query('VACUUM ANALYZE');
  }

  /** The id of the group of the first `count` contacts, which is created when it is first needed. */
  async function groupOf(count: number): Promise<string> {
    const known = groups.get(count);
    if (known !== undefined) return known;
    const id = newId('grp');
    await pool.query('INSERT INTO groups (id, project_id, name, updated_at) VALUES ($1, $2, $1, now())', [
      id,
      projectId,
    ]);
    await pool.query(
      `INSERT INTO group_members (group_id, contact_id)
       SELECT $1, id FROM contacts WHERE project_id = $2 ORDER BY id LIMIT $3`,
      [id, projectId, count],
    );
    groups.set(count, id);
    return id;
  }

  async function recordEvents(count: number): Promise<void> {
    await pool.query(
      `INSERT INTO events (id, project_id, type, data)
       SELECT postroom_id('evt'), $1, 'email.sent', $2::json FROM generate_series(1, $3::int)`,
      [listening, SENT, count],
    );
  }

  async function pausedJourney(): Promise<string> {
    const { id } = await post('/v1/journeys', {
      name: `Bench ${newId('cmp')}`,
      definition: { entry: { type: 'manual' }, steps: CHANGING_STEPS },
    });
    await post(`/v1/journeys/${id}/publish`);
    await post(`/v1/journeys/${id}/pause`);
    return id;
  }

  /** Inserts runs of the first contacts that fall due evenly spread over a time. */
  async function enroll(journeyId: string, count: number, withinMs: number): Promise<void> {
    await pool.query(
      `INSERT INTO enrollments (id, project_id, journey_id, contact_id, version, step_id, due_at, arrived_at)
       SELECT postroom_id('enr'), $1, $2, id, 1, 'half', now() + $4 * random() * interval '1 millisecond', now()
       FROM contacts WHERE project_id = $1 ORDER BY id LIMIT $3`,
      [projectId, journeyId, count, withinMs],
    );
  }
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + LOST_MS; !(await isDone()); await sleep(POLL_MS))
    if (performance.now() > deadline) throw new Error('It has not ended within two minutes.');
}

function campaignHtml(): string {
  const text = 'We have gathered what changed this month, with notes on each of the releases. '.repeat(8);
  const links = Array.from({ length: LINKS }, (_, at) => `<a href="https://example.com/news/${at}">More</a>`).join(' ');
  return `<!doctype html><html><body><h1>Hello {{name|there}}</h1><p>${text}</p><p>${links}</p></body></html>`;
}

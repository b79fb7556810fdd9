/**
 * How long a backtest of a journey takes that is compared with another definition, against all events of a project. Starts a
 * separate system with a worker.
 * Run: npm run bench -- backtests [--contacts 100000] [--events 1000000]
 */
import { parseArgs } from 'node:util';
import { startSending } from './sending.ts';

const { values } = parseArgs({
  options: { contacts: { type: 'string', default: '100000' }, events: { type: 'string', default: '1000000' } },
});
const [CONTACTS, EVENTS] = [Number(values.contacts), Number(values.events)];
const DAYS = 30;

const system = await startSending({ connections: '10', statements: false }, []);
const { pool } = await import('@postroom/platform');
const { addLocalDomain } = await import('@postroom/domains');
const headers = { authorization: `Bearer ${system.key}`, 'content-type': 'application/json' };

interface Result {
  id: string;
  status: string;
  processed: number;
  listed: number;
  candidate: { contacts: number; messages: number; reachedGoal: number };
  baseline: { contacts: number; messages: number; reachedGoal: number };
}

async function call<T>(path: string, body?: object): Promise<T> {
  const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(system.url + path, { headers, ...request });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { data: T }).data;
}

/** Contacts and events of the last 30 days, of three names, evenly spread; none triggers a journey. */
async function addData(): Promise<void> {
  await pool.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source, created_at, updated_at)
     SELECT postroom_id('ctc'), $1, 'user' || i || '@example.com', 'user' || i || '@example.com', '', 'api', now() - interval '40 days', now()
     FROM generate_series(0, $2::int - 1) i`,
    [system.projectId, CONTACTS],
  );
  for (let from = 0; from < EVENTS; from += CONTACTS)
    await pool.query(
      `INSERT INTO custom_events (project_id, occurred_at, id, contact_id, name, properties)
       SELECT $1, now() - (random() * 29.9) * interval '1 day', postroom_id('cev'), c.id,
         (ARRAY['signed up', 'cart updated', 'order placed'])[1 + floor(random() * 3)::int], jsonb_build_object('total', floor(random() * 100), 'plan', 'pro')
       FROM contacts c WHERE c.project_id = $1 ORDER BY c.id LIMIT $2`,
      [system.projectId, Math.min(CONTACTS, EVENTS - from)],
    );
  await pool.query('ANALYZE contacts, custom_events');
}

/** A welcome series with waits, a condition, a split and a goal. */
const definition = (templateId: string, days: number) => {
  const send = (id: string, next?: string) => ({
    id,
    type: 'send',
    template_id: templateId,
    from: 'news@example.com',
    next,
  });
  return {
    entry: { type: 'event', event: 'signed up', where: [{ property: 'plan', op: 'is', value: 'pro' }] },
    reentry: { after_days: 7 },
    goal: { event: 'order placed', where: [{ property: 'total', op: 'at_least', value: 80 }] },
    quiet_hours: { from: '22:00', to: '07:00' },
    time_zone: 'Europe/Berlin',
    frequency_cap: { messages: 3, days: 7 },
    steps: [
      send('welcome', 'days'),
      { id: 'days', type: 'wait', for: { days }, next: 'morning' },
      { id: 'morning', type: 'wait_until', time: '09:00', weekdays: [1, 2, 3, 4, 5], next: 'cart' },
      {
        id: 'cart',
        type: 'wait_for_event',
        event: 'cart updated',
        timeout: { days: 2 },
        next: 'half',
        on_timeout: 'opened',
      },
      { id: 'opened', type: 'condition', message: { step_id: 'welcome', outcome: 'opened' }, yes: 'half', no: null },
      {
        id: 'half',
        type: 'split',
        branches: [
          { percent: 50, next: 'offer' },
          { percent: 50, next: null },
        ],
      },
      send('offer'),
    ],
  };
};

await addData();
await addLocalDomain(system.projectId, 'example.com');
const template = await call<{ id: string }>('/v1/templates', { name: 'Hello', subject: 'Hello', body: '<p>Hello</p>' });
await call(`/v1/templates/${template.id}/publish`, {});
const began = performance.now();
const { id } = await call<Result>('/v1/backtests', {
  days: DAYS,
  candidate: { definition: definition(template.id, 2) },
  baseline: { definition: definition(template.id, 1) },
  assume: { opened: 40 },
});
let found = await call<Result>(`/v1/backtests/${id}`);
while (found.status === 'running') {
  await new Promise((resolve) => setTimeout(resolve, 250));
  found = await call<Result>(`/v1/backtests/${id}`);
}
const seconds = (performance.now() - began) / 1000;
const side = ({ contacts, messages, reachedGoal }: Result['candidate']) =>
  `${contacts} contacts, ${messages} messages, ${reachedGoal} conversions`;
console.log(
  `backtest: ${found.status}, ${found.processed} contacts and ${EVENTS} events in ${seconds.toFixed(1)} s, ${found.listed} listed`,
);
console.log(`candidate: ${side(found.candidate)}; baseline: ${side(found.baseline)}`);
await system.stop();
process.exit(0);

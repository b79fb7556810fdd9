/**
 * Measures how many steps of journeys are carried out per second, how late contacts are that fall due within a minute, and how many
 * events are accepted per second with their rows committed. Starts PostgreSQL (fsync on), Temporal, a gateway and a worker with the
 * settings of `npm start`.
 * Run: npm run bench -- journeys [options]
 *   --contacts N   contacts that go through three steps, default 20000
 *   --due N        contacts that fall due within a minute, default 100000
 *   --events N     events, in requests of 100, default 100000
 *   --only PARTS   some of steps, due, events; default all
 *   --statements   print the statements that took PostgreSQL the longest
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startChild } from './child.ts';
import { CHANGING_STEPS } from './journey-steps.ts';
import type { Load, LoadFigures } from './load.ts';
import { postTo } from './post.ts';
import { startSending } from './sending.ts';
import { showStatements } from './statements.ts';

const { values } = parseArgs({
  options: {
    contacts: { type: 'string', default: '20000' },
    due: { type: 'string', default: '100000' },
    events: { type: 'string', default: '100000' },
    only: { type: 'string', default: 'steps,due,events' },
    statements: { type: 'boolean', default: false },
  },
});
const [CONTACTS, DUE, EVENTS] = [Number(values.contacts), Number(values.due), Number(values.events)];
const parts = values.only.split(',');
/** How long contacts have waited when they fall due, … */
const WAIT_MS = 60_000;
/** … the time in which they do, … */
const DUE_WITHIN_MS = 60_000;
/** … and the time until the first one does. */
const LEAD_MS = 20_000;
const IN_A_REQUEST = 100;
const CLIENTS = 10;

const system = await startSending({ connections: '10', statements: values.statements }, []);
const { pool } = await import('@postroom/platform');
const headers = { authorization: `Bearer ${system.key}` };
await addContacts(Math.max(CONTACTS, DUE, EVENTS));
console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
if (parts.includes('steps')) await measureSteps();
if (parts.includes('due')) await measureLateness();
if (parts.includes('events')) await measureEvents();
if (values.statements) await showStatements(pool);
await system.stop();
process.exit(0);

async function addContacts(count: number): Promise<void> {
  await pool.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
     SELECT postroom_id('ctc'), $1, 'user' || i || '@example.com', 'user' || i || '@example.com', '', 'api', now()
     FROM generate_series(0, $2::int - 1) i`,
    [system.projectId, count],
  );
  await pool.query('ANALYZE contacts');
}

/** Three steps that change something, from a resumed journey until the last contact has left it. */
async function measureSteps(): Promise<void> {
  const id = await pausedJourney('Steps', CHANGING_STEPS);
  await enroll(id, CONTACTS, 'half');
  const began = performance.now();
  await post(`/v1/journeys/${id}/resume`);
  await untilEnded(id, CONTACTS);
  const seconds = (performance.now() - began) / 1000;
  const steps = await stepsOf(id);
  console.log(`steps: ${steps} in ${seconds.toFixed(1)} s, ${(steps / seconds).toFixed(0)}/s`);
}

/** Contacts whose wait ends evenly spread over a minute. Late is the time until the transaction that moves them begins. */
async function measureLateness(): Promise<void> {
  const id = await pausedJourney('Due', [{ id: 'wait', type: 'wait', for: { minutes: 1 } }]);
  await enroll(id, DUE, 'wait', LEAD_MS, DUE_WITHIN_MS);
  const { rows: dues } = await pool.query<{ ms: number }>(
    `SELECT extract(epoch FROM min(due_at) - now())::float * 1000 AS ms FROM enrollments WHERE journey_id = $1`,
    [id],
  );
  await post(`/v1/journeys/${id}/resume`);
  await untilEnded(id, DUE);
  const { rows } = await pool.query<{ p50: number; p95: number; p99: number; most: number }>(
    `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY late) AS p50, percentile_cont(0.95) WITHIN GROUP (ORDER BY late) AS p95,
       percentile_cont(0.99) WITHIN GROUP (ORDER BY late) AS p99, max(late) AS most
     FROM (SELECT extract(epoch FROM s.left_at - s.arrived_at)::float - ${WAIT_MS / 1000} AS late
           FROM enrollment_steps s JOIN enrollments e ON e.id = s.enrollment_id WHERE e.journey_id = $1) AS lateness`,
    [id],
  );
  const { p50 = 0, p95 = 0, p99 = 0, most = 0 } = rows[0] ?? {};
  const figures = [p50, p95, p99, most].map((seconds) => `${seconds.toFixed(2)} s`);
  console.log(
    `due: ${DUE} within a minute, the first ${((dues[0]?.ms ?? 0) / 1000).toFixed(1)} s after the journey was ready; late p50 ${figures[0]}, p95 ${figures[1]}, p99 ${figures[2]}, at most ${figures[3]}`,
  );
}

async function measureEvents(): Promise<void> {
  const load = await startChild('load.ts');
  const figures = await load.ask<LoadFigures>({
    url: `${system.url}/v1/events`,
    headers,
    item: '{"name":"order placed","email":"user{i}@example.com","id":"order-{i}","properties":{"total":49.9,"plan":"pro"}}',
    before: '{"events":[',
    after: ']}',
    each: IN_A_REQUEST,
    items: EVENTS,
    connections: CLIENTS,
  } satisfies Load);
  if (figures.refused > 0) console.log(`  ${figures.refused} were refused: ${figures.refusal}`);
  const { rows } = await pool.query<{ count: number }>('SELECT count(*)::int AS count FROM custom_events');
  const stored = rows[0]?.count ?? 0;
  console.log(
    `events: ${stored} of ${EVENTS} stored, ${(stored / figures.seconds).toFixed(0)}/s in requests of ${IN_A_REQUEST} by ${CLIENTS} clients; response p50 ${figures.p50.toFixed(0)} ms, p99 ${figures.p99.toFixed(0)} ms`,
  );
  await load.stop();
}

/** A published journey that is paused, so that contacts can be inserted. */
async function pausedJourney(name: string, steps: object[]): Promise<string> {
  const { id } = await post('/v1/journeys', { name, definition: { entry: { type: 'manual' }, steps } });
  await post(`/v1/journeys/${id}/publish`);
  await post(`/v1/journeys/${id}/pause`);
  return id;
}

/**
 * Inserts runs of the first contacts, at a step where they have waited for a minute when they fall due: evenly spread over
 * `withinMs`, from `leadMs` after the rows are there on.
 */
async function enroll(journeyId: string, count: number, stepId: string, leadMs = 0, withinMs = 0): Promise<void> {
  await pool.query(
    `INSERT INTO enrollments (id, project_id, journey_id, contact_id, version, step_id)
     SELECT postroom_id('enr'), $1, $2, id, 1, $3 FROM contacts ORDER BY id LIMIT $4`,
    [system.projectId, journeyId, stepId, count],
  );
  await pool.query(
    `UPDATE enrollments e SET due_at = o.due_at, arrived_at = o.due_at - $4 * interval '1 millisecond'
     FROM (SELECT id, clock_timestamp() + ($2 + $3 * random()) * interval '1 millisecond' AS due_at
           FROM enrollments WHERE journey_id = $1) o
     WHERE e.id = o.id`,
    [journeyId, leadMs, withinMs, WAIT_MS],
  );
  await pool.query('ANALYZE enrollments');
}

async function untilEnded(journeyId: string, count: number): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ ended: number }>(
      'SELECT count(*)::int AS ended FROM enrollments WHERE journey_id = $1 AND ended_at IS NOT NULL',
      [journeyId],
    );
    if ((rows[0]?.ended ?? 0) >= count) return;
    await sleep(250);
  }
}

async function stepsOf(journeyId: string): Promise<number> {
  const { rows } = await pool.query<{ steps: number }>(
    `SELECT count(*)::int AS steps FROM enrollment_steps s JOIN enrollments e ON e.id = s.enrollment_id
     WHERE e.journey_id = $1`,
    [journeyId],
  );
  return rows[0]?.steps ?? 0;
}

function post(path: string, body?: unknown) {
  return postTo(system, path, body);
}

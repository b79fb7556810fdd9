import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../../bench/child.ts';
import type { Postroom } from '../../sdk/typescript/src/index.ts';
import { importContacts } from '../demo/import.ts';
import { progress } from '../demo/print.ts';
import { type Check, counted, must } from './checks.ts';
import type { Kills, KillSchedule } from './kills.ts';
import { nothingMoves, settled } from './settled.ts';
import type { System } from './system.ts';

/** The worker's default connections to the sink. Together with the delay per mail they determine the rate. */
const CONNECTIONS = 10;
/** Components are down for a while after a kill, so sending takes longer than its rate implies. */
const SHARE_OF_KILLS = 0.7;
const MESSAGES_PER_CONTACT = 2;
/** Steps that every contact goes through. */
const STEPS = ['hello', 'ordered', 'half', 'thanks'];
const PORTIONS = 20;
const EVENTS_A_REQUEST = 1_000;
const SENDER = 'hello@demo.postroom.example';

const addressOf = (index: number) => `traveller${index}@travellers.test`;

/** Kills components while contacts enter a journey by events and go through it, then compares rows and mail. */
export async function journeysUnderKills(
  system: System,
  postroom: Postroom,
  sink: Child,
  kills: KillSchedule,
  contacts: number,
): Promise<Check[]> {
  const { groupId } = await prepare(postroom, contacts);
  const mails = contacts * MESSAGES_PER_CONTACT;
  const killsMs = kills.count * kills.everyMs;
  sink.tell({ delayMs: Math.max(1, Math.round((SHARE_OF_KILLS * killsMs * CONNECTIONS) / mails)) });
  await kills.begin();
  // In portions over the time of the kills, so that each kill finds contacts at each step.
  const [killed] = await Promise.all([kills.done, feed(system, contacts, killsMs)]);
  sink.tell({ delayMs: 0 });
  await allEnded(system, contacts);
  await settled(system.pool, [], () => 0);
  return compare({ system, sink, killed, contacts, groupId });
}

async function prepare(postroom: Postroom, contacts: number): Promise<{ groupId: string }> {
  const addresses = Array.from({ length: contacts }, (_, index) => addressOf(index));
  await importContacts(postroom, ['email', ...addresses].join('\n'), { group_name: 'All of them' });
  const template = async (name: string) => {
    const { id } = await postroom.templates.create({ name, subject: name, body: '<p>Hello {{name|there}}</p>' });
    await postroom.templates.publish(id);
    return id;
  };
  // A group is never empty, so it has one of the contacts already.
  const group = await postroom.groups.create({ name: 'Half of them', emails: addresses.slice(0, 1) });
  const journey = await postroom.journeys.create({
    name: 'Chaos',
    definition: {
      entry: { type: 'event', event: 'started' },
      steps: [
        { id: 'hello', type: 'send', template_id: await template('Hello'), from: SENDER, next: 'ordered' },
        { id: 'ordered', type: 'wait_for_event', event: 'ordered', next: 'half' },
        {
          id: 'half',
          type: 'split',
          branches: [
            { percent: 50, next: 'join' },
            { percent: 50, next: 'thanks' },
          ],
        },
        { id: 'join', type: 'join_group', group_id: group.id, next: 'thanks' },
        { id: 'thanks', type: 'send', template_id: await template('Thanks'), from: SENDER },
      ],
    },
  });
  await postroom.journeys.publish(journey.id);
  return { groupId: group.id };
}

/** Each portion of the contacts starts, and orders in the next portion's time. */
async function feed(system: System, contacts: number, forMs: number): Promise<void> {
  const until = (portion: number) => Math.floor((contacts * portion) / PORTIONS);
  for (let portion = 0; portion <= PORTIONS; portion++) {
    if (portion > 0) await track(system, 'ordered', until(portion - 1), until(portion));
    if (portion < PORTIONS) await track(system, 'started', until(portion), until(portion + 1));
    await sleep(forMs / PORTIONS);
  }
}

const RETRY_MS = 200;
const GIVE_UP_MS = 120_000;

/** Tracks an event of each contact. The ids make it safe to repeat a request that got no response. */
async function track(system: System, name: string, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += EVENTS_A_REQUEST) {
    const count = Math.min(EVENTS_A_REQUEST, to - first);
    const events = Array.from({ length: count }, (_, at) => {
      const email = addressOf(first + at);
      return { id: `${name} ${email}`, name, email };
    });
    for (const giveUpAt = Date.now() + GIVE_UP_MS; !(await isTracked(system, events)); await sleep(RETRY_MS))
      if (Date.now() > giveUpAt) throw new Error(`No response to events "${name}" for ${GIVE_UP_MS / 1000} seconds.`);
  }
}

async function isTracked(system: System, events: object[]): Promise<boolean> {
  try {
    const response = await fetch(`${system.url}/v1/events`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${system.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ events }),
      signal: AbortSignal.timeout(30_000),
    });
    const { data } = (await response.json()) as { data?: { accepted: number; duplicates: number } };
    if (response.status >= 400 && response.status < 500) throw new TypeError(`Events were refused: ${response.status}`);
    return data !== undefined && data.accepted + data.duplicates === events.length;
  } catch (error) {
    if (error instanceof TypeError && error.message.startsWith('Events were refused')) throw error;
    return false;
  }
}

/** Waits until every contact has gone through the journey, or until none moves. */
async function allEnded({ pool }: System, contacts: number): Promise<void> {
  const stuck = nothingMoves();
  for (;;) {
    const { rows } = await pool.query<{ ended: number; steps: number }>(
      `SELECT (SELECT count(*)::int FROM enrollments WHERE ended_at IS NOT NULL) AS ended,
         (SELECT count(*)::int FROM enrollment_steps) AS steps`,
    );
    const { ended = 0, steps = 0 } = rows[0] ?? {};
    progress(`${ended} of ${contacts} contacts have gone through the journey`, ended / contacts);
    if (ended >= contacts || stuck(`${ended} ${steps}`)) return;
    await sleep(500);
  }
}

interface Facts {
  system: System;
  sink: Child;
  killed: Kills;
  contacts: number;
  groupId: string;
}

interface Runs {
  runs: number;
  completed: number;
  twice: number;
  steps: number;
  repeated: number;
  skipped: number;
  wrongGroup: number;
}

async function compare({ system, sink, killed, contacts, groupId }: Facts): Promise<Check[]> {
  const got = new Map(await sink.ask<[string, number][]>('counts'));
  const { rows: journeys } = await system.pool.query<Runs>(
    `WITH steps AS (SELECT enrollment_id, step_id, count(*) AS times FROM enrollment_steps GROUP BY 1, 2),
       joined AS (
         SELECT e.contact_id FROM enrollments e JOIN steps s ON s.enrollment_id = e.id WHERE s.step_id = 'join'
       ),
       members AS (SELECT contact_id FROM group_members WHERE group_id = $2)
     SELECT count(*)::int AS runs, count(*) FILTER (WHERE status = 'completed')::int AS completed,
       count(*)::int - count(DISTINCT contact_id)::int AS twice,
       (SELECT coalesce(sum(times), 0)::int FROM steps) AS steps,
       (SELECT count(*)::int FROM steps WHERE times > 1) AS repeated,
       $1::int * ${STEPS.length} - (SELECT count(*)::int FROM steps WHERE step_id = ANY ($3)) AS skipped,
       (SELECT count(*)::int FROM joined WHERE contact_id NOT IN (SELECT contact_id FROM members))
         + (SELECT greatest(0, count(*)::int - 1) FROM members WHERE contact_id NOT IN (SELECT contact_id FROM joined))
         AS "wrongGroup"
     FROM enrollments`,
    [contacts, groupId, STEPS],
  );
  const { rows: messages } = await system.pool.query<{ email: string; subject: string; state: string }>(
    'SELECT email, subject, state::text FROM messages',
  );
  const { runs = 0, completed = 0, twice, steps, repeated, skipped, wrongGroup } = journeys[0] ?? ({} as Partial<Runs>);
  const inState = (...states: string[]) => messages.filter(({ state }) => states.includes(state));
  const unknown = inState('unknown').length;
  const { byPart, inFlight } = killed;
  const kills = Object.values(byPart).reduce((sum, times) => sum + times, 0);
  const planned = countsOf(messages);
  const settledOnes = countsOf(messages.filter(({ state }) => state !== 'unknown' && state !== 'failed'));
  return [
    must('Contacts that entered', [runs, contacts], ([entered, all]) => entered === all),
    must('Contacts that went through the journey', completed, (value) => value === contacts),
    must('Contacts that entered twice', twice ?? 0, isNone),
    counted('Steps carried out', steps ?? 0),
    must('Steps carried out twice', repeated ?? 0, isNone),
    must('Steps skipped', skipped ?? 0, isNone),
    must('Contacts in the group by mistake, or not in it', wrongGroup ?? 0, isNone),
    undefined,
    must('Messages', messages.length, (value) => value === contacts * MESSAGES_PER_CONTACT),
    must(
      'Messages of a step to a contact after the first',
      messages.length - new Set(messages.map(({ email, subject }) => `${email} ${subject}`)).size,
      isNone,
    ),
    must('Unknown, of those claimed at the kills', [unknown, inFlight.messages], ([a = 0, b = 0]) => a <= b),
    must('At most, with two on each connection', 2 * CONNECTIONS * kills, (most) => unknown <= most),
    must('Duplicates at the mail server', exceeding(got, planned), isNone),
    must('Neither received nor listed as failed or unknown', exceeding(settledOnes, got), isNone),
    must('Messages left open', inState('planned', 'claimed').length, isNone),
  ];
}

function countsOf(rows: readonly { email: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { email } of rows) counts.set(email, (counts.get(email) ?? 0) + 1);
  return counts;
}

/** How much more there is in the first than in the second, over all addresses. */
function exceeding(counts: ReadonlyMap<string, number>, others: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [email, count] of counts) sum += Math.max(0, count - (others.get(email) ?? 0));
  return sum;
}

const isNone = (value: unknown) => value === 0;

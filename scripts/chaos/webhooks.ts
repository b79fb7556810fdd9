import type { Postroom } from '../../sdk/typescript/src/index.ts';
import { type Check, must } from './checks.ts';
import type { Kills, KillSchedule } from './kills.ts';
import { type Manner, Receiver } from './receivers.ts';
import { settled, settledOrWaiting } from './settled.ts';
import type { System } from './system.ts';

const FAILING: readonly Manner[] = ['drop', 'stall', 'garbage', 'flood'];
/** Events for each failing receiver. */
const FOR_FAILING = 50;
/** We read 4 KB of a response; the rest is what the system's buffers took. */
const MOST_OF_A_FLOOD = 32 * 1024 * 1024;

/** Deliveries to one healthy receiver and four failing ones, while components are killed. */
export async function webhooksUnderKills(
  system: System,
  postroom: Postroom,
  kills: KillSchedule,
  /** `heal`: the failing receivers recover after the kills, and their retries are awaited. */
  { deliveries, heal }: { deliveries: number; heal: boolean },
): Promise<Check[]> {
  const healthy = await Receiver.start('healthy');
  const failing = await Promise.all(FAILING.map((manner) => Receiver.start(manner)));
  try {
    const endpoints = new Map<string, Receiver>();
    for (const receiver of [healthy, ...failing]) {
      const event = receiver === healthy ? 'email.delivered' : 'email.opened';
      const { id } = await postroom.webhooks.create({ url: receiver.url, events: [event] });
      endpoints.set(id, receiver);
    }
    await record(system, 'email.opened', FOR_FAILING);
    await kills.begin();
    // In portions over the time of the kills, so that each kill finds some in flight.
    const [killed] = await Promise.all([kills.done, feed(system, deliveries, kills.count * kills.everyMs)]);
    if (heal) for (const receiver of failing) receiver.manner = 'healthy';
    const received = () => [healthy, ...failing].reduce((sum, receiver) => sum + receiver.events.size, 0);
    await (heal ? settled : settledOrWaiting)(system.pool, [...endpoints.keys()], received);
    return await compare(system, { healthy, failing, endpoints, deliveries, heal, killed });
  } finally {
    await Promise.all([healthy, ...failing].map((receiver) => receiver.stop()));
  }
}

const PORTIONS = 20;

async function feed(system: System, events: number, forMs: number): Promise<void> {
  for (let portion = 0; portion < PORTIONS; portion++) {
    const share = Math.floor((events * (portion + 1)) / PORTIONS) - Math.floor((events * portion) / PORTIONS);
    await record(system, 'email.delivered', share);
    await new Promise((resolve) => setTimeout(resolve, forMs / PORTIONS));
  }
}

/** Records events of a type that nothing else records, in one statement, as a campaign's page does; retries while the database is down. */
async function record({ pool, projectId }: System, type: string, events: number): Promise<void> {
  const { rows } = await again(() =>
    pool.query<{ have: number }>('SELECT count(*)::int AS have FROM events WHERE type = $1', [type]),
  );
  const target = (rows[0]?.have ?? 0) + events;
  await again(() =>
    // A commit whose response was lost in a kill has already counted.
    pool.query(
      `INSERT INTO events (id, project_id, type, data)
       SELECT postroom_id('evt'), $1, $2, '{"email":"ada@example.com","message_id":"eml_1","subject":"News"}'::json
       FROM generate_series(1, $3::int - (SELECT count(*)::int FROM events WHERE type = $2))`,
      [projectId, type, target],
    ),
  );
}

async function again<T>(work: () => Promise<T>): Promise<T> {
  for (const giveUpAt = Date.now() + 120_000; ;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

interface Facts {
  healthy: Receiver;
  failing: readonly Receiver[];
  endpoints: ReadonlyMap<string, Receiver>;
  deliveries: number;
  heal: boolean;
  killed: Kills;
}

async function compare(system: System, facts: Facts): Promise<Check[]> {
  const { healthy, failing, endpoints, deliveries, heal, killed } = facts;
  const { rows } = await system.pool.query<{ endpoint_id: string; state: string; event_id: string }>(
    'SELECT endpoint_id, state::text, event_id FROM deliveries WHERE endpoint_id = ANY ($1)',
    [[...endpoints.keys()]],
  );
  const toHealthy = rows.filter((row) => endpoints.get(row.endpoint_id) === healthy);
  const { rows: stuck } = await system.pool.query<{ stuck: number }>(
    `SELECT count(*)::int AS stuck FROM deliveries
     WHERE closed_at IS NULL AND dispatched_at IS NOT NULL AND next_attempt_at < now() - interval '2 minutes'`,
  );
  const { rows: numbers } = await system.pool.query<{ highest: number }>(
    `SELECT coalesce(max(a.number), 0)::int AS highest FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
     WHERE d.endpoint_id = ANY ($1)`,
    [[...endpoints].filter(([, receiver]) => receiver === healthy).map(([id]) => id)],
  );
  const flood = failing.find(({ mostFlood }) => mostFlood > 0);
  return [
    must('Deliveries to a healthy receiver', toHealthy.length, (value) => value === deliveries),
    must('Not acknowledged', toHealthy.filter(({ state }) => state !== 'acknowledged').length, isNone),
    must('Not received', toHealthy.filter(({ event_id: id }) => !healthy.events.has(id)).length, isNone),
    must(
      'Received again, of those in flight at the kills',
      [healthy.duplicates, killed.inFlight.deliveries],
      ([again = 0, inFlight = 0]) => again <= inFlight,
    ),
    must('Attempts used up by kills', Math.max(0, (numbers[0]?.highest ?? 0) - 1), isNone),
    undefined,
    ...FAILING.map((manner, at) => {
      const receiver = failing[at];
      const theirs = rows.filter((row) => endpoints.get(row.endpoint_id) === receiver);
      const done = theirs.filter(({ state }) => state === 'acknowledged').length;
      const name = `Deliveries to one that ${IN_WORDS[manner]}: acknowledged`;
      return must(name, [done, theirs.length], ([a = 0, b = 0]) => b === FOR_FAILING && (!heal || a === b));
    }),
    must(
      'Largest part of a gigabyte that was read, in KB',
      Math.round((flood?.mostFlood ?? 0) / 1024),
      (kb) => kb < MOST_OF_A_FLOOD / 1024,
    ),
    must('Deliveries that are stuck', stuck[0]?.stuck ?? 0, isNone),
  ];
}

const isNone = (value: unknown) => value === 0;

const IN_WORDS: Record<Manner, string> = {
  healthy: 'is healthy',
  drop: 'drops connections',
  stall: 'never responds',
  garbage: 'returns garbage',
  flood: 'returns a gigabyte',
};

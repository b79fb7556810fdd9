import { setTimeout as sleep } from 'node:timers/promises';
import { PARTS, type Part, type System } from './system.ts';

/** Work in flight at each kill, which may have been interrupted. */
interface InFlight {
  /** Messages that were claimed and not settled. */
  messages: number;
  /** Deliveries claimed by a workflow whose attempt was not recorded. */
  deliveries: number;
}

export interface Kills {
  byPart: Record<Part, number>;
  inFlight: InFlight;
}

/** The same numbers for the same seed (mulberry32), so that a run is as repeatable as a system of many processes can be. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The kills of a run: they begin when each scenario has its work under way. */
export interface KillSchedule {
  /** Resolves when all scenarios have called it. */
  begin: () => Promise<void>;
  /** Resolves after the last kill. */
  done: Promise<Kills>;
  count: number;
  /** Average time between two, in milliseconds. */
  everyMs: number;
}

/** Schedules `count` kills for as many scenarios. The seed decides their order and times. */
export function scheduleKills(
  system: System,
  scenarios: number,
  { count, everyMs, seed, say }: { count: number; everyMs: number; seed: number; say: (line: string) => void },
): KillSchedule {
  const random = seededRandom(seed);
  const begun = Promise.withResolvers<void>();
  let preparing = scenarios;
  const begin = () => {
    if (--preparing === 0) begun.resolve();
    return begun.promise;
  };
  const done = begun.promise.then(() => killAll(system, orderOf(count, random), { everyMs, random, say }));
  return { begin, done, count, everyMs };
}

/** Each component equally often, in random order. */
export function orderOf(kills: number, random: () => number): Part[] {
  const order = Array.from({ length: kills }, (_, index) => PARTS[index % PARTS.length] as Part);
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [order[at], order[other]] = [order[other] as Part, order[at] as Part];
  }
  return order;
}

/** Kills one component after another, about every `everyMs`, and counts the work in flight at each kill. */
async function killAll(
  system: System,
  order: readonly Part[],
  { everyMs, random, say }: { everyMs: number; random: () => number; say: (line: string) => void },
): Promise<Kills> {
  const byPart: Kills['byPart'] = { worker: 0, gateway: 0, temporal: 0, postgres: 0 };
  const sum: InFlight = { messages: 0, deliveries: 0 };
  for (const part of order) {
    await sleep(everyMs * (0.5 + random()));
    const before = await inFlight(system);
    await system.kill(part);
    byPart[part]++;
    // A dead worker changes nothing more, so what it had is known exactly; the others only lose requests that are being sent to them.
    const cut = part === 'worker' ? await inFlight(system) : before;
    sum.messages += cut.messages;
    sum.deliveries += cut.deliveries;
    say(`kill -9 ${part}: ${cut.messages} messages and ${cut.deliveries} deliveries in flight`);
  }
  return { byPart, inFlight: sum };
}

const WITHIN_MS = 120_000;

/** Retries while the database is down. What an older attempt has in flight is still unknown, and counts too. */
async function inFlight({ pool }: System): Promise<InFlight> {
  for (const deadline = Date.now() + WITHIN_MS; ; await sleep(100)) {
    try {
      const { rows } = await pool.query<InFlight>(
        `SELECT (SELECT count(*)::int FROM messages WHERE state = 'claimed' OR (state = 'unknown' AND unsent_at > now() - interval '15 seconds')) AS messages,
           (SELECT count(*)::int FROM deliveries WHERE dispatched_at IS NOT NULL AND closed_at IS NULL) AS deliveries`,
      );
      if (rows[0] !== undefined) return rows[0];
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

import { databaseTime, db, emailDomain, invalid, isId, notFound, pool } from '@postroom/platform';

/**
 * The default plan: messages on the first, second, … day with mail. Mailbox providers expect a new domain to start
 * small and roughly double.
 */
export const DEFAULT_WARMUP_STEPS = [
  50, 100, 200, 400, 800, 1_500, 3_000, 6_000, 10_000, 20_000, 40_000, 70_000, 100_000, 150_000,
];

const MAX_STEPS = 90;
const MAX_MESSAGES = 10_000_000;

/** A domain's warm-up status today. */
export interface Warmup {
  steps: number[];
  since: Date;
  /** Today's step, from 1. After the last one, the domain is warm. */
  step: number;
  isWarm: boolean;
  /** Campaign messages allowed today; null when the domain is warm. */
  todayLimit: number | null;
  /** Campaign messages sent today. */
  todaySent: number;
}

/**
 * Starts a warm-up plan today, or removes it with `null`.
 * @throws DomainError `not_found`, `validation_error` for an invalid plan.
 */
export async function setWarmup(projectId: string, id: string, steps: readonly number[] | null): Promise<void> {
  if (steps !== null) checkSteps(steps);
  if (!isId('dom', id)) throw notFound('domain');
  const data =
    steps === null
      ? { warmupSteps: [], warmupSince: null }
      : { warmupSteps: [...steps], warmupSince: new Date(databaseTime().toISOString().slice(0, 10)) };
  const { count } = await db.$transaction((tx) => tx.domain.updateMany({ where: { id, projectId }, data }));
  if (count === 0) throw notFound('domain');
}

function checkSteps(steps: readonly number[]): void {
  if (steps.length === 0 || steps.length > MAX_STEPS)
    throw invalid({ field: 'steps', message: `must be an array of 1 to ${MAX_STEPS} daily limits` });
  const bad = steps.findIndex((step) => step < 1 || step > MAX_MESSAGES);
  if (bad !== -1) throw invalid({ field: `steps.${bad}`, message: `must be between 1 and ${MAX_MESSAGES}` });
  const shrinking = steps.findIndex((step, index) => index > 0 && step < (steps[index - 1] ?? 0));
  if (shrinking !== -1)
    throw invalid({ field: `steps.${shrinking}`, message: 'must not be less than the limit of the previous day' });
}

/** A step is a day with mail, so days without mail do not advance the plan. */
const PLAN = `
  SELECT d.id, d.domain, d.warmup_steps AS steps, d.warmup_since AS since, (now() AT TIME ZONE 'UTC')::date::text AS today,
    (SELECT count(*)::int FROM domain_volumes v WHERE v.domain_id = d.id AND v.day >= d.warmup_since
      AND v.day < (now() AT TIME ZONE 'UTC')::date AND v.messages > 0) AS done,
    coalesce((SELECT v.messages FROM domain_volumes v WHERE v.domain_id = d.id
      AND v.day = (now() AT TIME ZONE 'UTC')::date), 0) AS sent
  FROM domains d WHERE d.warmup_since IS NOT NULL`;

interface Plan {
  id: string;
  domain: string;
  steps: number[];
  since: Date;
  /** Today, in UTC. */
  today: string;
  done: number;
  sent: number;
}

/** The warm-ups of these domains by domain id; domains without one are omitted. */
export async function warmupsOf(domainIds: readonly string[]): Promise<Map<string, Warmup>> {
  const { rows } = await pool.query<Plan>(`${PLAN} AND d.id = ANY ($1)`, [domainIds]);
  return new Map(rows.map((plan) => [plan.id, warmupOf(plan)]));
}

function warmupOf({ steps, since, done, sent }: Plan): Warmup {
  const isWarm = done >= steps.length;
  return { steps, since, step: done + 1, isWarm, todayLimit: steps[done] ?? null, todaySent: sent };
}

/** Whether the day `$2` has not ended. */
const IS_TODAY = "$2::date = (now() AT TIME ZONE 'UTC')::date";

/**
 * Reserves up to `limit` messages of the day's quota in one statement, so that concurrent campaigns never exceed it.
 */
const RESERVE = `
  WITH today AS (
    SELECT domain_id, day, greatest(0, least($4::int, $3::int - messages)) AS granted FROM domain_volumes
    WHERE domain_id = $1 AND day = $2::date AND ${IS_TODAY} FOR NO KEY UPDATE
  ), counted AS (
    UPDATE domain_volumes v SET messages = v.messages + t.granted FROM today t
    WHERE v.domain_id = t.domain_id AND v.day = t.day AND t.granted > 0
  )
  SELECT granted FROM today`;

/** A warming domain's quota for a day. Sending that began before midnight ends its day, since the next one has another quota. */
export class DayVolume {
  readonly #key: readonly [domainId: string, day: string];
  readonly domain: string;
  /** Campaign messages allowed on the day. */
  readonly limit: number;
  /** Those of the days after it. */
  readonly later: readonly number[];

  /** @param day in UTC, as YYYY-MM-DD. */
  constructor(domainId: string, domain: string, day: string, [limit, ...later]: readonly [number, ...number[]]) {
    this.#key = [domainId, day];
    this.domain = domain;
    this.limit = limit;
    this.later = later;
  }

  /** Reserves up to `count` messages of the day's quota; returns the number granted, 0 when it is used up or the day has ended. */
  async take(count: number): Promise<number> {
    await pool.query(
      `INSERT INTO domain_volumes (domain_id, day) SELECT $1, $2::date WHERE ${IS_TODAY} ON CONFLICT DO NOTHING`,
      [...this.#key],
    );
    const { rows } = await pool.query<{ granted: number }>(RESERVE, [...this.#key, this.limit, count]);
    return rows[0]?.granted ?? 0;
  }

  /** Messages left of the day's quota. */
  async left(): Promise<number> {
    return this.limit - Math.min(this.limit, (await this.#read()).messages);
  }

  /** Whether nothing is left and the day has not ended, so that sending must wait for the next one. */
  async isUsedUp(): Promise<boolean> {
    const { messages, isToday } = await this.#read();
    return isToday && messages >= this.limit;
  }

  async #read(): Promise<{ messages: number; isToday: boolean }> {
    const { rows } = await pool.query<{ messages: number; isToday: boolean }>(
      `SELECT ${IS_TODAY} AS "isToday",
         coalesce((SELECT messages FROM domain_volumes WHERE domain_id = $1 AND day = $2::date), 0) AS messages`,
      [...this.#key],
    );
    return rows[0] as { messages: number; isToday: boolean };
  }

  /** Releases reserved messages that were not sent, also after the day has ended. Those of a killed process stay counted. */
  async release(count: number): Promise<void> {
    if (count === 0) return;
    await pool.query(
      'UPDATE domain_volumes SET messages = greatest(0, messages - $3) WHERE domain_id = $1 AND day = $2::date',
      [...this.#key, count],
    );
  }
}

/** Today's quota for an address; undefined if its domain is not in warm-up. */
export async function dayVolume(projectId: string, fromEmail: string): Promise<DayVolume | undefined> {
  const domain = emailDomain(fromEmail);
  const { rows } = await pool.query<Plan>(`${PLAN} AND d.project_id = $1 AND d.domain = $2`, [projectId, domain]);
  const [plan] = rows;
  const [limit, ...later] = plan?.steps.slice(plan.done) ?? [];
  return plan === undefined || limit === undefined
    ? undefined
    : new DayVolume(plan.id, plan.domain, plan.today, [limit, ...later]);
}

/** Start of the next day of a plan, in UTC. */
export function nextDay(): Date {
  const now = databaseTime();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1));
}

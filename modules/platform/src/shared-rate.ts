import { setTimeout as sleep } from 'node:timers/promises';
import { coalesce } from '@postroom/concurrency';
import { pool } from './db.ts';
import { logger } from '@postroom/observability';

export interface SharedRateOptions {
  /** Tokens per second, over all processes. */
  ratePerSecond: number;
  /** The most tokens that accumulate while none are used. */
  capacity: number;
  /** How far in advance tokens may be reserved, in milliseconds: for work that waits for its token. */
  aheadMs?: number;
  /** Tokens that a process may spend before it takes a slice. They are charged within half a second. */
  credit?: number;
}

/** A slice that is used up within this time, in milliseconds, is followed by one twice as large. */
const SLICE_MS = 500;
/** After this time without a slice, in milliseconds, the next one is small again. */
const IDLE_MS = 2_000;
/** The shortest time between two requests for tokens when there were too few, in milliseconds. */
const MIN_RETRY_MS = 100;
/** Tokens spent on credit are charged after this time, in milliseconds, those of all rates in one statement. */
const CHARGE_MS = 500;
/** Lapsed tokens are returned with the next slice, if the last one was taken within this time, in milliseconds. */
const RETURN_MS = 1_000;
/** How long to wait before the database is asked again after a failure, in milliseconds. */
const FAILURE_RETRY_MS = 1_000;

/** The kind of rate that limits the requests of callers and projects; its name precedes their id. */
export const REQUESTS = 'requests';

/** Tokens of this process. Token n, from 0, is ready at `firstAt + n * stepMs`, but not before `takenAt`. */
interface Slice {
  takenAt: number;
  firstAt: number;
  stepMs: number;
  count: number;
  used: number;
}

/** The tokens that a request got from the bucket. Times are milliseconds from the response. */
interface Grant {
  granted: number;
  /** Token n, from 0, is ready after `firstMs + n / rate`. */
  firstMs: number;
  /** When the bucket has its next token. */
  nextMs: number;
  /** Tokens left in the bucket. */
  left: number;
}

/**
 * This process's part of a rate that holds over all processes (docs/decisions/shared-limits.md). The bucket is a row, and a
 * process takes tokens from it in slices, which grow with their use to half a second's worth. All rates of a process share one
 * statement, and a rate that is not used costs nothing. Without the database a process continues at its last share.
 */
export class SharedRate {
  readonly name: string;
  #ratePerSecond: number;
  #capacity: number;
  readonly #aheadMs: number;
  #credit: number;
  #slices: Slice[] = [];
  /** Tokens spent on credit and not charged yet, and those that the current request charges. */
  #owed = 0;
  #charging = 0;
  /** Tokens of this process that have lapsed since the last request. */
  #lapsed = 0;
  /** Tokens that callers wait for. */
  #waiting = 0;
  #size = 1;
  #askedAt = -Infinity;
  #isAskingAhead = false;
  #asking: Promise<void> | undefined;
  /** The bucket is known to have no token until then. */
  #emptyUntil = 0;
  #left: number;
  /** Tokens per second of the last slice, and when it was taken. */
  #share = 0;
  #grantedAt = -Infinity;
  /** The time for which this process has tokens already. */
  #coveredUntil = 0;
  #isDisconnected = false;

  constructor(name: string, { ratePerSecond, capacity, aheadMs = 0, credit = 0 }: SharedRateOptions) {
    this.name = name;
    this.#ratePerSecond = ratePerSecond;
    this.#capacity = capacity;
    this.#aheadMs = aheadMs;
    this.#credit = credit;
    this.#left = capacity;
  }

  /** Changes the rate. Tokens that were taken already are kept. */
  setRate({ ratePerSecond, capacity, credit = 0 }: Omit<SharedRateOptions, 'aheadMs'>): void {
    this.#ratePerSecond = ratePerSecond;
    this.#capacity = capacity;
    this.#credit = credit;
  }

  /** Tokens that may be spent now. */
  available(): number {
    const now = performance.now();
    const credit = now < this.#emptyUntil ? 0 : Math.max(0, this.#credit - this.#owed);
    return this.#ready(now) + credit;
  }

  /** Whether the bucket has just been found empty. Otherwise `refill` may get more. */
  isExhausted(): boolean {
    return performance.now() < this.#emptyUntil;
  }

  /** Tokens that this process may still use, as far as it knows. */
  remaining(): number {
    return Math.max(0, this.#ready(performance.now()) + this.#left - this.#owed);
  }

  /** Spends one token. @returns false if none is available. */
  tryTake(): boolean {
    if (this.available() < 1) return false;
    const slice = this.#slices.find(({ used, count }) => used < count);
    if (slice === undefined || this.#ready(performance.now()) < 1) {
      this.#owed++;
      chargeSoon(this);
      return true;
    }
    slice.used++;
    this.#fetchAhead();
    return true;
  }

  /** Takes a slice with a token for each concurrent call. There may still be none. @throws if the database can't be reached and never gave a share. */
  async refill(): Promise<void> {
    this.#waiting++;
    try {
      await this.#ask();
    } finally {
      this.#waiting--;
    }
  }

  /** Resolves when a token may be available for one of this many waiting callers. */
  async untilReady(waiting: number): Promise<void> {
    const now = performance.now();
    const readyAt = this.#nextReadyAt(now) ?? this.#emptyUntil;
    if (readyAt > now) return sleep(readyAt - now);
    this.#waiting += waiting;
    try {
      await this.#ask();
    } catch {
      await sleep(FAILURE_RETRY_MS);
    } finally {
      this.#waiting -= waiting;
    }
  }

  /** Charges what was spent on credit. */
  charge(): void {
    if (this.#owed > 0) void this.#ask().catch(() => {});
  }

  /** Starts a request: returns the parameters of `TAKE`. `owed` is negative if tokens are returned. */
  demand(): { rate: number; burstSeconds: number; aheadSeconds: number; owed: number; wanted: number } {
    const rate = this.#ratePerSecond;
    const now = performance.now();
    const isNeeded = this.#waiting > 0 || this.#isAskingAhead;
    if (isNeeded) this.#resize(now);
    this.#charging = this.#owed;
    this.#owed = 0;
    this.#ready(now);
    const returned = now - this.#grantedAt < RETURN_MS ? this.#lapsed : 0;
    this.#lapsed = 0;
    return {
      rate,
      burstSeconds: this.#capacity / rate,
      aheadSeconds: this.#aheadMs / 1000,
      owed: this.#charging - returned,
      wanted: isNeeded ? this.#waiting + this.#size : 0,
    };
  }

  /** Adds the tokens that were granted. @param wanted the number that was asked for. */
  receive({ granted, firstMs, nextMs, left }: Grant, wanted: number): void {
    const now = performance.now();
    this.#isDisconnected = false;
    this.#charging = 0;
    this.#left = left;
    if (granted > 0) {
      const elapsedMs = Math.max(SLICE_MS, now - this.#grantedAt);
      this.#share = Math.min(this.#ratePerSecond, (granted / elapsedMs) * 1000);
      this.#addSlice(granted, now + firstMs, now);
    }
    if (granted >= wanted && left >= 1) return;
    // Spread at random, so that the process which asks first is not always the same.
    const retryMs = Math.max(MIN_RETRY_MS, this.#aheadMs / 2) * (0.75 + Math.random() / 2);
    if (granted < wanted || nextMs > 0) this.#emptyUntil = now + Math.max(nextMs, retryMs);
  }

  /** Continues at the last share while the database can't be reached. @throws `error` if there was none. */
  #continueAtLastShare(error: unknown): void {
    this.#owed += this.#charging;
    this.#charging = 0;
    const now = performance.now();
    if (!this.#isDisconnected)
      logger.warn({ err: error, rate: this.name }, 'shared rate not read; keeping the last share');
    this.#isDisconnected = true;
    if (this.#share === 0) throw error;
    const count = Math.floor((this.#share * Math.min(FAILURE_RETRY_MS, Math.max(0, now - this.#coveredUntil))) / 1000);
    if (count > 0) {
      this.#addSlice(count, now, now);
      this.#coveredUntil = now;
    }
    this.#emptyUntil = now + Math.max(MIN_RETRY_MS, 1000 / this.#share);
  }

  #addSlice(count: number, firstAt: number, now: number): void {
    this.#grantedAt = now;
    this.#coveredUntil = Math.max(now, firstAt + (count * 1000) / this.#ratePerSecond);
    this.#slices.push({ takenAt: now, firstAt, stepMs: 1000 / this.#ratePerSecond, count, used: 0 });
  }

  #ask(): Promise<void> {
    this.#asking ??= takeTokens(this)
      .catch((error: unknown) => this.#continueAtLastShare(error))
      .finally(() => {
        this.#asking = undefined;
        this.#isAskingAhead = false;
      });
    return this.#asking;
  }

  /** Takes the next slice before this one is used up, while it is used fast. */
  #fetchAhead(): void {
    if (this.#size < 4 || this.#asking !== undefined || this.#unused() > this.#size / 4 || this.isExhausted()) return;
    this.#isAskingAhead = true;
    void this.#ask().catch(() => {});
  }

  #unused(): number {
    return this.#slices.reduce((sum, { count, used }) => sum + count - used, 0);
  }

  #resize(now: number): void {
    const elapsedMs = now - this.#askedAt;
    this.#askedAt = now;
    const smallest = Math.max(1, this.#credit);
    const grown = elapsedMs < SLICE_MS ? this.#size * 2 : elapsedMs > IDLE_MS ? smallest : this.#size;
    this.#size = Math.max(smallest, Math.min(grown, Math.ceil((this.#ratePerSecond * SLICE_MS) / 1000)));
  }

  /** Counts the tokens that are ready, and drops those that the bucket would not have kept either. */
  #ready(now: number): number {
    const keepMs = (this.#capacity / this.#ratePerSecond) * 1000;
    let ready = 0;
    for (const slice of this.#slices) {
      const lapsed = Math.max(0, readyAt(slice, now - keepMs) - slice.used);
      slice.used += lapsed;
      this.#lapsed += lapsed;
      ready += Math.max(0, readyAt(slice, now) - slice.used);
    }
    while ((this.#slices[0]?.used ?? 0) >= (this.#slices[0]?.count ?? Infinity)) this.#slices.shift();
    return ready;
  }

  #nextReadyAt(now: number): number | undefined {
    this.#ready(now);
    const slice = this.#slices.find(({ used, count }) => used < count);
    return slice === undefined ? undefined : Math.max(slice.takenAt, slice.firstAt + slice.used * slice.stepMs);
  }
}

/** How many tokens of the slice are ready at a time. */
function readyAt({ takenAt, firstAt, stepMs, count }: Slice, now: number): number {
  // A timer may end a little early.
  return now < takenAt ? 0 : Math.max(0, Math.min(count, Math.floor((now - firstAt) / stepMs + 1.001)));
}

/**
 * Takes tokens from the buckets, which the row locks decide. A bucket with tokens for `burst` seconds is full, and nobody takes
 * tokens from more than `ahead` seconds in the future.
 */
const TAKE = `
  INSERT INTO shared_rates AS r (name, rate, base, horizon, owed, granted, spent_until)
  SELECT w.name, w.rate, w.base, w.horizon, w.owed, w.granted, w.base + w.granted * interval '1 s' / w.rate
  FROM (
    SELECT t.*, horizon - ahead * interval '1 s' - burst * interval '1 s' + greatest(0, owed) * interval '1 s' / rate AS base,
      greatest(0, least(wanted, floor((burst + ahead) * rate + 0.001)::int - greatest(0, owed))) AS granted
    FROM (
      SELECT u.*, clock.now + u.ahead * interval '1 s' AS horizon
      FROM unnest($1::text[], $2::float8[], $3::float8[], $4::float8[], $5::int[], $6::int[]) AS u(name, rate, burst, ahead, owed, wanted),
        (SELECT clock_timestamp() AS now) AS clock
    ) AS t
  ) AS w
  ORDER BY w.name
  ON CONFLICT (name) DO UPDATE SET (rate, horizon, owed, base, granted, spent_until) = (
    SELECT excluded.rate, excluded.horizon, excluded.owed, b.base, g.granted, b.base + g.granted * interval '1 s' / excluded.rate
    FROM (SELECT greatest(excluded.base, r.spent_until + excluded.owed * interval '1 s' / excluded.rate) AS base) AS b
    CROSS JOIN LATERAL (
      SELECT greatest(0, least(excluded.granted, floor(extract(epoch FROM excluded.horizon - b.base) * excluded.rate + 0.001)::int)) AS granted
    ) AS g
  )
  RETURNING name, granted, rate,
    (extract(epoch FROM base - horizon) * 1000)::float8 AS "baseMs",
    (extract(epoch FROM spent_until - horizon) * 1000)::float8 AS "spentMs"`;

interface Taken {
  name: string;
  granted: number;
  rate: number;
  /** Relative to the horizon. */
  baseMs: number;
  spentMs: number;
}

const takeTokens = coalesce<SharedRate, void>(async (rates) => {
  // One statement can't take from a row twice, as two revisions of a provider would.
  const byName = [...Map.groupBy(rates, ({ name }) => name).values()];
  for (let round = 0; byName.some(({ length }) => length > round); round++)
    await takeFromEach(byName.flatMap((same) => same.slice(round, round + 1)));
  return rates.map(() => undefined);
});

async function takeFromEach(rates: readonly SharedRate[]): Promise<void> {
  const demands = rates.map((rate) => ({ ...rate.demand(), name: rate.name }));
  const { rows } = await pool.query<Taken>({
    name: 'shared-rates',
    text: TAKE,
    values: [
      demands.map(({ name }) => name),
      demands.map(({ rate }) => rate),
      demands.map(({ burstSeconds }) => burstSeconds),
      demands.map(({ aheadSeconds }) => aheadSeconds),
      demands.map(({ owed }) => owed),
      demands.map(({ wanted }) => wanted),
    ],
  });
  const taken = new Map(rows.map((row) => [row.name, row]));
  for (const [index, rate] of rates.entries()) {
    const demand = demands[index];
    const row = taken.get(rate.name);
    if (demand === undefined || row === undefined) continue;
    const aheadMs = demand.aheadSeconds * 1000;
    const stepMs = 1000 / row.rate;
    rate.receive(
      {
        granted: row.granted,
        firstMs: row.baseMs + aheadMs + stepMs,
        nextMs: row.spentMs + stepMs,
        left: Math.max(0, Math.floor((-row.spentMs / 1000) * row.rate + 0.001)),
      },
      demand.wanted,
    );
  }
}

const onCredit = new Set<SharedRate>();
let chargeTimer: NodeJS.Timeout | undefined;

function chargeSoon(rate: SharedRate): void {
  onCredit.add(rate);
  chargeTimer ??= setTimeout(() => {
    chargeTimer = undefined;
    const rates = [...onCredit];
    onCredit.clear();
    for (const each of rates) each.charge();
  }, CHARGE_MS).unref();
}

/** Deletes buckets that have been full for an hour. @returns their number. */
export async function deleteIdleRates(): Promise<number> {
  const { rowCount } = await pool.query(`DELETE FROM shared_rates WHERE spent_until < now() - interval '1 hour'`);
  return rowCount ?? 0;
}

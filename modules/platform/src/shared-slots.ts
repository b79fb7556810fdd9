import { randomUUID } from 'node:crypto';
import { coalesce } from '@postroom/concurrency';
import { logger } from '@postroom/observability';
import { pool } from './db.ts';

export interface SharedSlotsOptions {
  /** Slots, over all processes. */
  most: number;
  /**
   * Slots that each process may use without a lease, and leases beyond those in use once it needs more. Without them each slot waits
   * for a lease, and there are never more than `most` in use.
   */
  spare?: number;
  /** Called when nothing is in use or leased any more. */
  onIdle?: () => void;
}

/** How long a lease lasts unless it is renewed, in milliseconds. The slots of a killed process are free again after this time. */
const LEASE_MS = 4_000;
/** How often a lease is renewed, in milliseconds. A share follows what others want within this time. */
const RENEW_MS = 1_000;
/** How soon a process that got too few slots asks again, in milliseconds. */
const RETRY_MS = 250;
/** With fewer slots than processes, each has them for this long in turn, in milliseconds. */
const TURN_MS = 5_000;

interface Waiter {
  count: number;
  resolve: () => void;
}

/** Requests of `lease_slots`, as it reads them. */
interface LeaseRequest {
  name: string;
  holder: string;
  used: number;
  wanted: number;
  most: number;
}

/**
 * This process's part of a number of slots that all processes share, such as the connections to a mail server
 * (docs/decisions/shared-limits.md). It leases some for a few seconds, as many as it uses while others leave them, and renews the
 * lease in the background: using a slot that is leased costs no statement. All leases of a process share one statement.
 */
export class SharedSlots {
  readonly name: string;
  /** Called when others have a right to slots that are in use here: `excess` is how many. */
  onExcess: (() => void) | undefined;
  readonly #holder = randomUUID();
  #most: number;
  #spare: number;
  readonly #onIdle: (() => void) | undefined;
  #used = 0;
  /** The most slots in use since the last request. */
  #peak = 0;
  /** Slots that the last request needed. */
  #askedFor = 0;
  #leased = 0;
  #share = 0;
  #expiresAt = -Infinity;
  #waiters: Waiter[] = [];
  #asking: Promise<void> | undefined;
  #isEnding = false;
  #askAt = 0;
  /** Until then, others are known to leave no more slots than are leased. */
  #exhaustedUntil = 0;

  constructor(name: string, { most, spare = 0, onIdle }: SharedSlotsOptions) {
    this.name = name;
    this.#most = most;
    this.#spare = spare;
    this.#onIdle = onIdle;
  }

  /** Changes the number of slots. Slots in use are kept. */
  setMost({ most, spare = 0 }: Pick<SharedSlotsOptions, 'most' | 'spare'>): void {
    this.#most = most;
    this.#spare = spare;
  }

  /** @returns the slot's release function; undefined if this process has none left. `acquire` or `untilReady` may get more. */
  tryAcquire(): (() => void) | undefined {
    if (this.#used >= this.#usable()) return undefined;
    this.#used++;
    this.#peak = Math.max(this.#peak, this.#used);
    activate(this);
    let isReleased = false;
    return () => {
      if (!isReleased) this.#release();
      isReleased = true;
    };
  }

  /** Whether others have just been found to leave none. */
  isExhausted(): boolean {
    return performance.now() < this.#exhaustedUntil;
  }

  /** Slots in use to which others have a right. */
  get excess(): number {
    return performance.now() < this.#expiresAt ? Math.max(0, this.#used - Math.max(this.#share, this.#spare)) : 0;
  }

  /** As `tryAcquire`, but leases more if others leave any. */
  async acquire(): Promise<(() => void) | undefined> {
    for (;;) {
      const release = this.tryAcquire();
      if (release !== undefined || this.isExhausted()) return release;
      const waiter = this.#wait(1, () => {});
      // A request that is under way does not count this caller; the next one does.
      await (this.#asking ?? this.#ask());
      this.#waiters = this.#waiters.filter((one) => one !== waiter);
    }
  }

  /** Resolves when a slot may be free for one of this many waiting callers, or after `timeoutMs`. */
  untilReady(waiting: number, timeoutMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const waiter = this.#wait(waiting, resolve);
      if (timeoutMs !== undefined) setTimeout(() => this.#stopWaiting(waiter), timeoutMs).unref();
      if (!this.isExhausted()) void this.#ask();
    });
  }

  /** Renews the lease if it is time to. @returns false if nothing is in use or leased any more. */
  tick(now: number): boolean {
    const isUnused = this.#used + this.#waiters.length === 0;
    const isLeased = this.#leased > 0 || this.#asking !== undefined;
    if (isUnused && !isLeased) {
      this.#onIdle?.();
      return false;
    }
    const needsLease = isLeased || this.#waiters.length > 0 || this.#used > this.#spare;
    if (needsLease && (now >= this.#askAt || (isUnused && this.#spare === 0))) void this.#ask();
    return true;
  }

  /** Returns all slots, because the process ends and with it what uses them. */
  async end(): Promise<void> {
    await this.#asking;
    this.#isEnding = true;
    await this.#ask();
  }

  /** Starts a request: the slots in use, and those wanted. */
  request(): LeaseRequest {
    if (this.#isEnding) return { name: this.name, holder: this.#holder, used: 0, wanted: 0, most: this.#most };
    const waiting = this.#waiters.reduce((sum, { count }) => sum + count, 0);
    const needed = Math.max(this.#used, this.#peak) + waiting;
    this.#peak = this.#used;
    this.#askedFor = needed;
    const isLeased = needed > this.#spare;
    const wanted = isLeased ? Math.min(this.#most, needed + this.#spare) : 0;
    return { name: this.name, holder: this.#holder, used: isLeased ? this.#used : 0, wanted, most: this.#most };
  }

  /** Takes over a lease. @param askedAt when the request was made, from which the lease counts. */
  receive([leased, , , share]: Lease, askedAt: number): void {
    const now = performance.now();
    this.#leased = leased;
    this.#share = share;
    this.#expiresAt = askedAt + LEASE_MS;
    const isShort = Math.max(this.#spare, Math.min(leased, share)) < this.#askedFor;
    // Spread at random, so that the process which asks first is not always the same.
    const waitMs = isShort && this.#waiters.length > 0 ? RETRY_MS * (0.75 + Math.random() / 2) : RENEW_MS;
    this.#askAt = now + waitMs;
    this.#exhaustedUntil = isShort ? now + Math.min(waitMs, RETRY_MS) : 0;
    if (this.excess > 0) this.onExcess?.();
    this.#wake();
  }

  /** The request failed. If that continues, the lease ends. */
  receiveNothing(): void {
    this.#askAt = performance.now() + RENEW_MS;
    this.#exhaustedUntil = this.#askAt;
  }

  #usable(): number {
    const leased = performance.now() < this.#expiresAt ? Math.min(this.#leased, this.#share) : 0;
    return Math.max(leased, this.#spare);
  }

  #release(): void {
    const { excess } = this;
    this.#used--;
    if (excess > 0) void this.#ask(); // another process waits for it
    this.#wake();
  }

  #wait(count: number, resolve: () => void): Waiter {
    const waiter = { count, resolve };
    this.#waiters.push(waiter);
    if (this.isExhausted()) this.#askAt = Math.min(this.#askAt, this.#exhaustedUntil);
    activate(this);
    return waiter;
  }

  #stopWaiting(waiter: Waiter): void {
    this.#waiters = this.#waiters.filter((one) => one !== waiter);
    waiter.resolve();
  }

  #wake(): void {
    let free = this.#usable() - this.#used;
    while (free > 0 && this.#waiters[0] !== undefined) {
      free -= this.#waiters[0].count;
      this.#stopWaiting(this.#waiters[0]);
    }
  }

  #ask(): Promise<void> {
    this.#asking ??= lease(this).finally(() => {
      this.#asking = undefined;
      // Some began to wait after the request.
      if (this.#waiters.length > 0 && !this.#isEnding && !this.isExhausted()) void this.#ask();
    });
    return this.#asking;
  }
}

/** Slots, slots wanted, when the lease expires in Unix milliseconds, and the share. */
type Lease = [leased: number, wanted: number, expiresAt: number, share: number];

/** The row's lock decides between processes. */
const LEASE = `
  INSERT INTO shared_slots AS s (name, holders, request, updated_at)
  SELECT r->>'name', lease_slots('{}', r), r, clock_timestamp()
  FROM jsonb_array_elements($1::jsonb) AS r ORDER BY r->>'name'
  ON CONFLICT (name) DO UPDATE SET
    holders = lease_slots(s.holders, excluded.request), request = excluded.request, updated_at = excluded.updated_at
  RETURNING s.name, s.holders->(s.request->>'holder') AS lease`;

const lease = coalesce<SharedSlots, void>(async (all) => {
  // One statement can't change a row twice, as the pools of a provider's old and new settings would.
  const byName = [...Map.groupBy(all, ({ name }) => name).values()];
  for (let round = 0; byName.some(({ length }) => length > round); round++) {
    const some = byName.flatMap((same) => same.slice(round, round + 1));
    await leaseEach(some).then(
      () => (isFailing = false),
      (error: unknown) => {
        if (!isFailing) logger.warn({ err: error }, 'leases of shared slots not renewed; will retry');
        isFailing = true;
        for (const slots of some) slots.receiveNothing();
      },
    );
  }
  return all.map(() => undefined);
});

let isFailing = false;

async function leaseEach(all: readonly SharedSlots[]): Promise<void> {
  const askedAt = performance.now();
  const requests = all.map((slots) => ({ ...slots.request(), leaseMs: LEASE_MS, turnMs: TURN_MS }));
  const { rows } = await pool.query<{ name: string; lease: Lease | null }>({
    name: 'shared-slots',
    text: LEASE,
    values: [JSON.stringify(requests)],
  });
  const leases = new Map(rows.map((row) => [row.name, row.lease]));
  for (const slots of all) slots.receive(leases.get(slots.name) ?? [0, 0, 0, 0], askedAt);
}

const active = new Set<SharedSlots>();
let ticker: NodeJS.Timeout | undefined;

function activate(slots: SharedSlots): void {
  active.add(slots);
  ticker ??= setInterval(tickAll, RETRY_MS).unref();
}

function tickAll(): void {
  const now = performance.now();
  for (const slots of active) if (!slots.tick(now)) active.delete(slots);
  if (active.size > 0) return;
  clearInterval(ticker);
  ticker = undefined;
}

/** Returns all slots of this process, which is about to exit, so that others need not wait for the end of its leases. */
export async function endLeases(): Promise<void> {
  await Promise.all([...active].map((slots) => slots.end()));
}

/** Deletes rows whose leases ended an hour ago. @returns their number. */
export async function deleteIdleSlots(): Promise<number> {
  const { rowCount } = await pool.query(`DELETE FROM shared_slots WHERE updated_at < now() - interval '1 hour'`);
  return rowCount ?? 0;
}

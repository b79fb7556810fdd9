import type { Observation } from './inspect/assess.ts';
import { type Part, PARTS, type Status } from './records.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** When a domain is checked, and how long its records may be missing. */
export interface Schedule {
  /** Delays between checks after a domain was added; when they run out, the last one repeats. */
  waitsMs: readonly number[];
  /** A part not found within this time after the domain was added is `failed`. */
  pendingMs: number;
  /** Interval between checks from then on. */
  settledMs: number;
  /** Interval between checks while a part is `failing` or its name servers do not answer. */
  failingMs: number;
  /** How long a part may be `failing` before it is `failed`. */
  graceMs: number;
  /** How long name servers may be unresponsive before their records count as lost. */
  silenceMs: number;
}

/** The first check is immediate, then these apply: most people publish within minutes, some within days. */
export const SCHEDULE: Schedule = {
  waitsMs: [
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    4 * MINUTE,
    8 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    4 * HOUR,
  ],
  pendingMs: 72 * HOUR,
  settledMs: DAY,
  failingMs: HOUR,
  graceMs: 3 * DAY,
  silenceMs: DAY,
};

/** A part's status, and while relevant, its start in Unix milliseconds. */
export interface PartState {
  status: Status;
  failingSince?: number;
  silentSince?: number;
}

export type PartStates = Record<Part, PartState>;

/**
 * The next state of a part. `pending` becomes `verified` when found, or `failed` after 72 hours. `verified` becomes
 * `failing` when lost, and `failed` after 3 days. Once found again, any state becomes `verified`.
 */
export function nextState(
  { status, failingSince, silentSince }: PartState,
  verdict: Observation['verdict'],
  { now, addedAt, schedule }: { now: number; addedAt: number; schedule: Schedule },
): PartState {
  if (verdict === 'right') return { status: 'verified' };
  const quiet = verdict === 'unanswered' ? { silentSince: silentSince ?? now } : {};
  if (status === 'pending') return { status: now - addedAt >= schedule.pendingMs ? 'failed' : 'pending', ...quiet };
  if (status === 'verified') {
    // A single unanswered query is not a loss; receivers retry too.
    const isLost = verdict === 'wrong' || now - (silentSince ?? now) >= schedule.silenceMs;
    return isLost ? { status: 'failing', failingSince: now } : { status: 'verified', ...quiet };
  }
  if (status === 'failing' && now - (failingSince ?? now) < schedule.graceMs) {
    return { status: 'failing', failingSince: failingSince ?? now };
  }
  return { status: 'failed' };
}

/** A domain has the status of its worst part. */
export function worstStatus(parts: PartStates): Status {
  const worstFirst: Status[] = ['failed', 'failing', 'pending', 'verified'];
  return worstFirst.find((status) => PARTS.some((part) => parts[part].status === status)) ?? 'pending';
}

/** A verified domain may send during its grace period (spec: Campaign, "must still be verified"). */
export function maySend(verification: Status, blockedAt: Date | null): boolean {
  return (verification === 'verified' || verification === 'failing') && blockedAt === null;
}

/** Milliseconds until the next check, early enough for every change that depends only on time. */
export function nextWait(
  parts: PartStates,
  clock: { now: number; addedAt: number; schedule: Schedule },
  tracking?: { state: PartState; addedAt: number },
): number {
  const { now, schedule } = clock;
  const waits = PARTS.map((part) => waitFor(parts[part], clock.addedAt));
  if (tracking !== undefined) waits.push(waitFor(tracking.state, tracking.addedAt));
  return Math.max(Math.min(...waits), MIN_WAIT_MS);

  function waitFor({ status, failingSince = now, silentSince }: PartState, addedAt: number): number {
    if (status === 'pending')
      return Math.min(growingWait(now - addedAt, schedule.waitsMs), addedAt + schedule.pendingMs - now);
    if (status === 'failing') return Math.min(schedule.failingMs, failingSince + schedule.graceMs - now);
    return silentSince === undefined ? schedule.settledMs : schedule.failingMs;
  }
}

const MIN_WAIT_MS = 50;

/** The first delay that ends after this age, or the last one. */
function growingWait(ageMs: number, waitsMs: readonly number[]): number {
  let passed = 0;
  for (const wait of waitsMs) {
    passed += wait;
    if (passed > ageMs) return wait;
  }
  return waitsMs.at(-1) ?? 0;
}

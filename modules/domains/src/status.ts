import type { Observation } from './inspect/judge.ts';
import { type Part, PARTS, type Status } from './records.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** When a domain is looked at, and how long it may go without a record. */
export interface Schedule {
  /** The waits between checks after a domain was added; the last one is repeated. */
  waitsMs: readonly number[];
  /** A part that has not been seen for this long after the domain was added is `failed`. */
  pendingMs: number;
  /** Between checks from then on, for ever. */
  settledMs: number;
  /** Between checks while a part is `failing`, or its name servers are silent. */
  failingMs: number;
  /** How long a part may be `failing` before it is `failed`. */
  graceMs: number;
  /** How long name servers may give no answer before their records count as lost. */
  silenceMs: number;
}

/** The first check comes at once, then these; most people publish within minutes, some within days. */
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

/** How a part stands, and since when in milliseconds; the latter only while it matters. */
export interface PartState {
  status: Status;
  failingSince?: number;
  silentSince?: number;
}

export type PartStates = Record<Part, PartState>;

/**
 * The next state of a part: `pending` becomes `verified` when seen and `failed` when not seen for 72 hours; `verified`
 * becomes `failing` when lost, and after 3 days without it `failed`; seen again, it is `verified` from any of them.
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
    // One look-up without an answer is no loss; receivers ask again too.
    const isLost = verdict === 'wrong' || now - (silentSince ?? now) >= schedule.silenceMs;
    return isLost ? { status: 'failing', failingSince: now } : { status: 'verified', ...quiet };
  }
  if (status === 'failing' && now - (failingSince ?? now) < schedule.graceMs) {
    return { status: 'failing', failingSince: failingSince ?? now };
  }
  return { status: 'failed' };
}

/** The whole domain is as its worst part. */
export function wholeStatus(parts: PartStates): Status {
  const worstFirst: Status[] = ['failed', 'failing', 'pending', 'verified'];
  return worstFirst.find((status) => PARTS.some((part) => parts[part].status === status)) ?? 'pending';
}

/** Mail may go out while a verified domain is in its days of grace (spec: Campaign, "must still be verified"). */
export function maySend(verification: Status, blockedAt: Date | null): boolean {
  return (verification === 'verified' || verification === 'failing') && blockedAt === null;
}

/** Milliseconds until the next check. No change that time alone brings is noticed late. */
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

/** The first of the waits that end after this age; the last when all have passed. */
function growingWait(ageMs: number, waitsMs: readonly number[]): number {
  let passed = 0;
  for (const wait of waitsMs) {
    passed += wait;
    if (passed > ageMs) return wait;
  }
  return waitsMs.at(-1) ?? 0;
}

import { databaseNow } from '@postroom/clock';

import { classify, type SendOutcome } from '@postroom/smtp';
import { MAIL_POLICY } from './policy.ts';

/** The fields of a claimed message that decide its next step. */
export interface Claimed {
  id: string;
  deferrals: number;
  deferredAt: Date | null;
}

/** Translates the outcome of one send into the outcome to record. Messages that may have been sent are never retried (design: Sending). */
export function settlementOf(row: Claimed, outcome: SendOutcome, now = databaseNow()): Settlement {
  const { id } = row;
  const { answer } = outcome;
  switch (outcome.kind) {
    case 'accepted':
    case 'unknown':
      return { id, state: outcome.kind, answer };
    case 'refused':
      // Our credentials or settings are at fault, so the message stays queued and the sender stops.
      if (outcome.verdict === 'configuration') return { id, state: 'planned', answer };
      return {
        id,
        state: 'failed',
        answer,
        hardBounce: outcome.verdict === 'hard_bounce',
        softBounce: outcome.verdict === 'soft_bounce',
      };
    case 'deferred':
      if (outcome.untried === true) return { id, state: 'planned', answer: null };
      // A host-wide deferral backs off the whole sender, so the message itself needs no extra delay.
      return deferral(row, answer, outcome.scope === 'host' ? 0 : outcome.waitMs, now);
  }
}

/** Handles an unexpected error: the message is retried a few times, like a deferral, and then fails with the error as its answer. */
export function settlementOfError(row: Claimed, error: unknown): Settlement {
  const answer = `Could not be sent: ${error instanceof Error ? error.message : String(error)}`.slice(0, 500);
  if (row.deferrals + 1 >= MAIL_POLICY.deferral.maxUnexpected) return { id: row.id, state: 'failed', answer };
  return {
    id: row.id,
    state: 'planned',
    answer,
    waitMs: MAIL_POLICY.deferral.delaysMs[row.deferrals] ?? 0,
    deferred: true,
  };
}

function deferral(
  { id, deferrals, deferredAt }: Claimed,
  answer: string,
  requestedMs: number | undefined,
  now: number,
): Settlement {
  const waitMs =
    requestedMs ?? MAIL_POLICY.deferral.delaysMs[Math.min(deferrals, MAIL_POLICY.deferral.delaysMs.length - 1)] ?? 0;
  const expired = deferredAt !== null && now + waitMs > deferredAt.getTime() + MAIL_POLICY.deferral.lifetimeMs;
  if (expired) {
    const softBounce = classify(answer).verdict === 'soft_bounce';
    return {
      id,
      state: 'failed',
      answer: `Gave up because the server deferred the message for too long: ${answer}`,
      softBounce,
    };
  }
  return { id, state: 'planned', answer, waitMs, deferred: true };
}

/** The outcome of a claimed message, as the ledger records it. `planned` means that it is retried after `waitMs`. */
export interface Settlement {
  id: string;
  state: 'accepted' | 'failed' | 'suppressed' | 'unknown' | 'planned';
  /** The server's answer; null when the claim was released without sending. */
  answer: string | null;
  /** Delay before the next attempt, in milliseconds. */
  waitMs?: number;
  /** Whether the server deferred it (4xx), which counts towards giving up. */
  deferred?: boolean;
  /** The rendered subject, if it differs from the campaign's. */
  subject?: string | undefined;
  /** The address does not exist: suppress it. */
  hardBounce?: boolean;
  /** The address can't receive mail now; several in a row suppress it. */
  softBounce?: boolean;
}

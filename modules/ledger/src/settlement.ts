import { DEFERRAL_DELAYS_MS, MESSAGE_LIFETIME_MS } from './deferral-schedule.ts';
import type { Settlement } from './ledger.ts';
import { classify, type SendOutcome } from '@postroom/smtp';

/** What the ledger knows of a message that is claimed, as far as it decides what comes next. */
export interface Claimed {
  id: string;
  deferrals: number;
  deferredAt: Date | null;
}

/** What the outcome of one send means for its row. Only a definite refusal goes again (design: Sending). */
export function settlementOf(row: Claimed, outcome: SendOutcome, now = Date.now()): Settlement {
  const { id } = row;
  const { answer } = outcome;
  switch (outcome.kind) {
    case 'accepted':
    case 'unknown':
      return { id, state: outcome.kind, answer };
    case 'refused':
      // Our credentials or settings are at fault, so the message is kept and its sender is stopped.
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
      // What the server says to everybody holds the sender up, and no message more than another.
      return deferral(row, answer, outcome.scope === 'host' ? 0 : outcome.waitMs, now);
  }
}

/** A message is tried so often when something unforeseen comes in between each time. */
const MAX_UNEXPECTED = 4;

/** What an error that nobody foresaw means for a row: it goes again a few times, as after a "later", and then fails with its reason. */
export function unexpected(row: Claimed, error: unknown): Settlement {
  const answer = `It could not be sent: ${error instanceof Error ? error.message : String(error)}`.slice(0, 500);
  if (row.deferrals + 1 >= MAX_UNEXPECTED) return { id: row.id, state: 'failed', answer };
  return { id: row.id, state: 'planned', answer, waitMs: DEFERRAL_DELAYS_MS[row.deferrals] ?? 0, deferred: true };
}

function deferral(
  { id, deferrals, deferredAt }: Claimed,
  answer: string,
  namedMs: number | undefined,
  now: number,
): Settlement {
  const waitMs = namedMs ?? DEFERRAL_DELAYS_MS[Math.min(deferrals, DEFERRAL_DELAYS_MS.length - 1)] ?? 0;
  const expired = deferredAt !== null && now + waitMs > deferredAt.getTime() + MESSAGE_LIFETIME_MS;
  if (expired) {
    const softBounce = classify(answer).verdict === 'soft_bounce';
    return { id, state: 'failed', answer: `Given up, the server has said "later" for too long: ${answer}`, softBounce };
  }
  return { id, state: 'planned', answer, waitMs, deferred: true };
}

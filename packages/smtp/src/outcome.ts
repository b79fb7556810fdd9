import { cleanLine } from '@postroom/errors';
import { classify, type Phase } from './classify.ts';
import type { Stop } from './reply-rules.ts';

/** Outcome of one send attempt. This package never retries; the caller decides whether to send again. */
export type SendOutcome =
  | { readonly kind: 'accepted'; readonly answer: string }
  /**
   * Definitely not accepted, and worth retrying: after `waitMs` milliseconds if the server or its rules state a delay. Scope
   * `host` applies to every message for this server, not just this one.
   */
  | {
      readonly kind: 'deferred';
      readonly answer: string;
      readonly waitMs?: number | undefined;
      readonly scope: 'message' | 'host';
      readonly stop?: Stop | undefined;
      /** The server could not be reached or did not speak SMTP; another server may work. */
      readonly unreachable?: true | undefined;
      /** No server has seen the message, so this does not count as a deferral. */
      readonly untried?: true | undefined;
    }
  /** Definitely not accepted. For `configuration` the message is fine: stop the sender and keep the message. */
  | { readonly kind: 'refused'; readonly answer: string; readonly verdict: Refusal; readonly stop?: Stop | undefined }
  /** The server may have received the whole message, but its reply was lost. The message may or may not have been delivered. */
  | { readonly kind: 'unknown'; readonly answer: string };

/** Why a message failed. `other` counts neither against the recipient nor against the sender. */
export type Refusal = 'hard_bounce' | 'soft_bounce' | 'policy' | 'content' | 'configuration' | 'other';

/** Maps a complete non-2xx reply to the outcome of its message. */
export function outcomeOf(code: number, answer: string, phase: Phase): SendOutcome {
  const { verdict, waitMs, stop } = classify(answer, phase);
  switch (verdict) {
    case 'throttle':
      return { kind: 'deferred', answer, waitMs, scope: 'host', stop };
    case 'greylist':
      return { kind: 'deferred', answer, waitMs, scope: 'message', stop };
    case 'policy':
    case 'content':
    case 'configuration':
      return { kind: 'refused', answer, verdict, stop };
    default:
      // A 4xx code asks for a retry, whatever the text says.
      if (code >= 500 && verdict !== 'transient') return { kind: 'refused', answer, verdict, stop };
      return { kind: 'deferred', answer, waitMs, scope: code === 421 || phase === 'mail' ? 'host' : 'message', stop };
  }
}

/** Maps a non-2xx reply to a message's command to an outcome. A 3xx makes no sense there, so it counts as a host failure. */
export function refusalOf(reply: { readonly code: number; answer(): string }, phase: Phase): SendOutcome {
  const answer = reply.answer();
  return reply.code >= 400 ? outcomeOf(reply.code, answer, phase) : hostDeferred(answer);
}

/** A failure of the connection to the server rather than of the message. */
export function hostDeferred(answer: string, waitMs?: number): SendOutcome {
  return { kind: 'deferred', answer: cleanLine(answer), waitMs, scope: 'host', unreachable: true };
}

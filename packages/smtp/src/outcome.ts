import { classify } from './classify.ts';
import type { Phase, Stop } from './classify.ts';

/** What became of a message. Nothing here was sent twice: whoever wants a message to go again sends it again. */
export type SendOutcome =
  | { readonly kind: 'accepted'; readonly answer: string }
  /**
   * Certainly not accepted, and worth another try: after `waitMs` where the server or the rules for it name a time. Of
   * scope `host` it concerns every message to this server, not this one.
   */
  | {
      readonly kind: 'deferred';
      readonly answer: string;
      readonly waitMs?: number | undefined;
      readonly scope: 'message' | 'host';
      readonly stop?: Stop | undefined;
      /** The server could not be reached, or not be talked to: another one may be. */
      readonly unreachable?: true | undefined;
      /** No server was asked: it does not count as its "later". */
      readonly untried?: true | undefined;
    }
  /** Certainly not accepted. Of `configuration` no message is at fault: the sender is to be stopped and the message kept. */
  | { readonly kind: 'refused'; readonly answer: string; readonly verdict: Refusal; readonly stop?: Stop | undefined }
  /** The final dot may have reached the server, whose answer did not reach us. Nobody can know. */
  | { readonly kind: 'unknown'; readonly answer: string };

/** Why a message failed. `other` counts neither against the recipient nor against the sender. */
export type Refusal = 'hard_bounce' | 'soft_bounce' | 'policy' | 'content' | 'configuration' | 'other';

/** What a complete reply other than 2xx means for the message it answers. */
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
      // A first digit of 4 asks to try again, whatever the words say.
      if (code >= 500 && verdict !== 'transient') return { kind: 'refused', answer, verdict, stop };
      return { kind: 'deferred', answer, waitMs, scope: code === 421 || phase === 'mail' ? 'host' : 'message', stop };
  }
}

/** What a reply other than 2xx to a command of a message means for it; one that asks for more makes no sense there. */
export function refusalOf(reply: { readonly code: number; answer(): string }, phase: Phase): SendOutcome {
  const answer = reply.answer();
  return reply.code >= 400 ? outcomeOf(reply.code, answer, phase) : hostDeferred(answer);
}

/** A failure of the way to the server rather than of the message. */
export function hostDeferred(answer: string, waitMs?: number): SendOutcome {
  return { kind: 'deferred', answer: oneLine(answer), waitMs, scope: 'host', unreachable: true };
}

/** An answer as the ledger keeps it: one line of 500 characters at most. */
export function oneLine(text: string): string {
  const clean = text
    // eslint-disable-next-line no-control-regex -- a server may say anything
    .replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ')
    .trim();
  return clean.length > 500
    ? clean
        .slice(0, 499)
        .toWellFormed()
        .replace(/\ufffd$/, '') + '…'
    : clean;
}

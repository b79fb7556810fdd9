import type { Phase } from './classify.ts';
import { mailCommand, type PreparedMessage, rcptCommand } from './envelope.ts';
import type { ServerCapabilities } from './handshake.ts';
import { refusalOf, type SendOutcome } from './outcome.ts';
import type { ReplyReader } from './replies.ts';
import { dotUnstuff } from './dot-stuffing.ts';

/** A message with its outcome. */
interface Completed<M> {
  message: M;
  outcome: SendOutcome;
}

/**
 * Several messages pipelined in one write (RFC 3030): MAIL, RCPT and BDAT with data for each. The client doesn't wait for
 * replies in between, so every message but the first starts with RSET: a transaction that a refusal left open must not leak
 * into the next message. Replies arrive in command order.
 *
 * Once the batch is written, only the server's replies determine the outcomes.
 */
export class BdatBatch<M extends PreparedMessage> {
  /** The entire write, one character per octet. */
  readonly text: string;
  readonly #messages: M[];
  /** Index of the first message without an outcome. */
  #head = 0;
  #step: 'reset' | Phase;
  #refusal: SendOutcome | undefined;
  /** Whether the server accepted at least one message. */
  hasAccepted = false;
  /** Whether the server may have an open transaction after the last reply. */
  needsReset = false;
  /** The last reply, if it was 421: the server closes the connection and processes nothing further (RFC 5321 §3.8). */
  closingReply: string | undefined;

  /** @param needsReset whether the server may have an open transaction */
  constructor(messages: M[], capabilities: ServerCapabilities, needsReset: boolean) {
    this.#messages = messages;
    this.#step = needsReset ? 'reset' : 'mail';
    let text = needsReset ? 'RSET\r\n' : '';
    for (const [index, message] of messages.entries()) {
      const data = message.dotted ? dotUnstuff(message.data) : message.data;
      if (index > 0) text += 'RSET\r\n';
      text += `${mailCommand(message, capabilities)}${rcptCommand(message, capabilities)}BDAT ${data.length} LAST\r\n${data}`;
    }
    this.text = text;
  }

  /** Messages still awaiting their final reply, next one first. */
  get pending(): M[] {
    return this.#messages.slice(this.#head);
  }

  /** Whether every message has an outcome. */
  get isDone(): boolean {
    return this.#head === this.#messages.length;
  }

  /** The phase that the next reply answers; undefined for RSET. */
  get phase(): Phase | undefined {
    return this.#step === 'reset' ? undefined : this.#step;
  }

  /** The refusal that the server has already given for the next message. */
  get refusal(): SendOutcome | undefined {
    return this.#refusal;
  }

  /** Processes the next reply. @returns the message that it completes, if any. */
  reply(reply: ReplyReader): Completed<M> | undefined {
    const { code } = reply;
    // Some servers continue after a 421; their later replies then count.
    this.closingReply = code === 421 ? reply.answer() : undefined;
    if (this.#step !== 'final') {
      if (code >= 300 && (this.#step !== 'reset' || this.closingReply))
        this.#refusal ??= refusalOf(reply, this.phase ?? 'mail');
      this.#step = NEXT[this.#step];
      return undefined;
    }
    const message = this.#messages[this.#head++] as M;
    const outcome: SendOutcome =
      code < 300 ? { kind: 'accepted', answer: reply.answer() } : (this.#refusal ?? refusalOf(reply, 'final'));
    this.needsReset = outcome.kind !== 'accepted';
    this.hasAccepted ||= !this.needsReset;
    this.#refusal = undefined;
    this.#step = 'reset';
    return { message, outcome };
  }
}

const NEXT = { reset: 'mail', mail: 'rcpt', rcpt: 'final', data: 'final' } as const;

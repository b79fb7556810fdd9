import type { Phase } from './classify.ts';
import { mailCommand, type Prepared, rcptCommand } from './envelope.ts';
import type { Abilities } from './handshake.ts';
import { refusalOf, type SendOutcome } from './outcome.ts';
import type { ReplyReader } from './replies.ts';
import { dotUnstuff } from './dot-stuffing.ts';

/** A message whose last reply has come. */
interface Closed<M> {
  message: M;
  outcome: SendOutcome;
}

/**
 * Whole messages in one write (RFC 3030): MAIL, RCPT and BDAT of each, with its data. Nobody waits for an answer in between, so
 * all but the first begin with RSET: what a refused one left open must not become a part of the next. Answers come in order.
 *
 * From the write on, only the server's answers tell what became of the messages.
 */
export class BdatBatch<M extends Prepared> {
  /** All of it, one character per octet. */
  readonly text: string;
  readonly #messages: M[];
  /** The first message that is not closed. */
  #head = 0;
  #step: 'reset' | Phase;
  #refusal: SendOutcome | undefined;
  /** Whether the server took one of them. */
  hasTaken = false;
  /** Whether the server may hold an open transaction after the last answer. */
  isDirty = false;
  /** Its last answer, when that was 421: it closes the connection then, and takes nothing of what follows (RFC 5321 §3.8). */
  goodbye: string | undefined;

  /** @param isDirty whether the server may hold an open transaction */
  constructor(messages: M[], abilities: Abilities, isDirty: boolean) {
    this.#messages = messages;
    this.#step = isDirty ? 'reset' : 'mail';
    let text = isDirty ? 'RSET\r\n' : '';
    for (const [index, message] of messages.entries()) {
      const data = message.dotted ? dotUnstuff(message.data) : message.data;
      if (index > 0) text += 'RSET\r\n';
      text += `${mailCommand(message, abilities)}${rcptCommand(message, abilities)}BDAT ${data.length} LAST\r\n${data}`;
    }
    this.text = text;
  }

  /** The messages whose last reply has not come, the next one first. */
  get open(): M[] {
    return this.#messages.slice(this.#head);
  }

  /** Whether each message has had its last reply. */
  get isDone(): boolean {
    return this.#head === this.#messages.length;
  }

  /** What the next reply is about: a command, `final` for the data with it; undefined for RSET. */
  get phase(): Phase | undefined {
    return this.#step === 'reset' ? undefined : this.#step;
  }

  /** What the server has said against the next message, which it will not take then. */
  get refusal(): SendOutcome | undefined {
    return this.#refusal;
  }

  /** Takes the next reply; @returns the message that it closes, if it is the last one about it. */
  reply(reply: ReplyReader): Closed<M> | undefined {
    const { code } = reply;
    // Some servers say 421 and go on: what they answer then counts.
    this.goodbye = code === 421 ? reply.answer() : undefined;
    if (this.#step !== 'final') {
      if (code >= 300 && (this.#step !== 'reset' || this.goodbye))
        this.#refusal ??= refusalOf(reply, this.phase ?? 'mail');
      this.#step = NEXT[this.#step];
      return undefined;
    }
    const message = this.#messages[this.#head++] as M;
    const outcome: SendOutcome =
      code < 300 ? { kind: 'accepted', answer: reply.answer() } : (this.#refusal ?? refusalOf(reply, 'final'));
    this.isDirty = outcome.kind !== 'accepted';
    this.hasTaken ||= !this.isDirty;
    this.#refusal = undefined;
    this.#step = 'reset';
    return { message, outcome };
  }
}

const NEXT = { reset: 'mail', mail: 'rcpt', rcpt: 'final', data: 'final' } as const;

import type { Prepared } from './envelope.ts';
import { mailCommand, rcptCommand, unfit } from './envelope.ts';
import type { Abilities } from './handshake.ts';
import { hostDeferred, oneLine, outcomeOf, refusalOf } from './outcome.ts';
import type { SendOutcome } from './outcome.ts';
import type { Phase } from './classify.ts';
import type { ReplyReader } from './replies.ts';
import type { Timeouts } from './timeouts.ts';
import { BdatBatch } from './bdat-batch.ts';
import type { ConnectionHandler, SmtpConnection } from './connection.ts';

/** Longer messages go out in blocks of this size, so that a cut before the last one is known to be one. */
const BLOCK = 64 * 1024;
/** Ends a message, whose data ends with a line break. */
const DOT = '.\r\n';

/** Messages that go out in one write at most. When the connection breaks, nobody knows what became of them. */
const LARGEST_WINDOW = 8;
/** A server that answers a window sooner gets a larger one next, one that takes twice as long a smaller one, in milliseconds. */
const WINDOW_MS = 50;

/** What a dialogue asks of the pool it belongs to. */
export interface SessionHost<M extends Prepared> {
  /** The next message that waits, if it is not longer than so many octets, which the dialogue then owns. */
  next(octets: number): M | undefined;
  /** How many of those that wait are the part of one connection. */
  share(): number;
  /** Exactly once for each message a dialogue owned. */
  settle(message: M, outcome: SendOutcome): void;
  /** It has nothing to do; `begin` makes it ask for the next message. */
  resting(dialogue: SmtpSession<M>): void;
  /** It takes no more messages, and is about to end. */
  leaving(dialogue: SmtpSession<M>): void;
  /**
   * It is over; `fruitless` says how, when it was given messages and the server answered none.
   * @returns how long to wait before the server is tried again, in milliseconds
   */
  ended(dialogue: SmtpSession<M>, fruitless: string | undefined): number;
}

export interface SessionOptions {
  timeouts: Timeouts;
  /** After so many messages it says goodbye. */
  mostMessages: number;
  /** A server that answers several messages in one write sooner than this gets more in the next, in milliseconds. */
  windowMs?: number | undefined;
}

type Step = 'reset' | 'mail' | 'rcpt' | 'data';

/**
 * The mail transactions of one connection. With PIPELINING (RFC 2920) the body of a message and MAIL, RCPT and DATA of
 * the next go out in one write, so that a message costs one write and one round trip.
 *
 * A message is in one of three places: `opening` (its MAIL, RCPT or DATA is not answered yet), `leaving in blocks`, or
 * waiting for the reply to its final dot. A connection that breaks makes the last one unknown, and no other.
 *
 * With CHUNKING several messages go out in one write, a window, when the server took the last one and took it quickly: the
 * first message of a connection, and after a rest, goes by DATA, so that a connection which the server has given up makes none
 * unknown. A break in a window makes all of it unknown that is not answered.
 */
export class SmtpSession<M extends Prepared> implements ConnectionHandler {
  readonly #wire: SmtpConnection;
  readonly #abilities: Abilities;
  readonly #timeouts: Timeouts;
  readonly #host: SessionHost<M>;
  readonly #windowMs: number;
  #messagesLeft: number;
  /** Messages of the next window; with fewer than two the next message goes by DATA. */
  #windowSize = 1;
  #window: BdatBatch<M> | undefined;
  /** When a window or a final dot was written, in milliseconds. */
  #writtenAt = 0;
  /** How many messages had an answer of the server's. */
  #answered = 0;

  #opening: M | undefined;
  #step: Step = 'mail';
  /** The opening message was refused: it is settled, and only replies to its commands are still to come. */
  #openingRefused = false;
  #inBlocks: M | undefined;
  #awaitingFinal = false;
  /** Whose final reply is awaited; none after a lone dot. */
  #final: M | undefined;
  /** The server may hold an open transaction, which RSET ends. */
  #dirty = false;
  #quitting = false;
  #over = false;

  constructor(wire: SmtpConnection, abilities: Abilities, host: SessionHost<M>, options: SessionOptions) {
    this.#wire = wire;
    this.#abilities = abilities;
    this.#timeouts = options.timeouts;
    this.#messagesLeft = options.mostMessages;
    this.#windowMs = options.windowMs ?? WINDOW_MS;
    this.#host = host;
    wire.handler = this;
  }

  /** Messages that it has in hand at most as things go. */
  get windowSize(): number {
    return this.#windowSize;
  }

  /** Starts on whatever waits, or reports itself idle. */
  begin(): void {
    this.#windowSize = 1;
    this.#advance();
  }

  /** Says goodbye, as soon as nothing is under way. */
  quit(): void {
    this.#messagesLeft = 0;
    if (this.#quitting || this.#over || this.#isBusy) return;
    this.#quitting = true;
    this.#wire.write('QUIT\r\n');
    this.#wire.wait(this.#timeouts.quitMs);
    this.#host.leaving(this);
  }

  /** Ends at once; each message it holds has the outcome of its place. */
  abort(reason: string): void {
    this.#wire.break(reason);
  }

  expired(): void {
    if (this.#isBusy) this.#wire.break('The server did not answer in time');
    else if (this.#quitting) this.#wire.break('The server did not say goodbye');
    else this.quit();
  }

  reply(reply: ReplyReader): void {
    if (this.#window) this.#onWindow(reply, this.#window);
    else if (this.#awaitingFinal) this.#onFinal(reply);
    else if (this.#inBlocks) this.#onEarlyReply(reply, this.#inBlocks);
    else if (this.#opening) this.#onOpening(reply, this.#opening);
    // Most often 221 to our QUIT, or 421 to a connection that was idle for long.
    else return this.#wire.break(reply.answer());
    this.#setDeadline();
  }

  get #isBusy(): boolean {
    return this.#awaitingFinal || (this.#window ?? this.#opening ?? this.#inBlocks) !== undefined;
  }

  broken(reason: string): void {
    this.#over = true;
    const [final, inBlocks, window] = [this.#final, this.#inBlocks, this.#window];
    const opening = this.#openingRefused ? undefined : this.#opening;
    const fruitless = this.#answered === 0 && (final ?? inBlocks ?? opening) !== undefined;
    const waitMs = this.#host.ended(this, fruitless ? reason : undefined);
    if (window) this.#breakWindow(window, reason, waitMs);
    if (final) this.#settle(final, this.#brokenOff('final') ?? { kind: 'unknown', answer: oneLine(reason) });
    if (inBlocks) this.#settle(inBlocks, hostDeferred(reason, waitMs));
    if (opening) this.#settle(opening, hostDeferred(reason, waitMs));
  }

  /** A refusal is one even if its last line never came; anything less leaves open what the server did. */
  #brokenOff(phase: Phase | undefined): SendOutcome | undefined {
    const { unfinished } = this.#wire.replies;
    if (!phase || !unfinished || unfinished.code < 400) return undefined;
    return outcomeOf(unfinished.code, unfinished.answer, phase);
  }

  #settle(message: M, outcome: SendOutcome): void {
    this.#host.settle(message, outcome);
  }

  #setDeadline(): void {
    const { finalMs, blockMs, dataMs, commandMs, idleMs } = this.#timeouts;
    if (this.#over || this.#quitting) return;
    if (this.#awaitingFinal || this.#window) this.#wire.wait(finalMs);
    else if (this.#inBlocks) this.#wire.wait(blockMs);
    else if (this.#opening) this.#wire.wait(this.#step === 'data' ? dataMs : commandMs);
    else this.#wire.wait(idleMs);
  }

  /** After a message, with nothing under way: the next, or idle, or goodbye. */
  #advance(): void {
    if (this.#windowSize > 1) this.#openWindow();
    if (!this.#window) this.#openNext('');
    if (!this.#opening && !this.#window) {
      if (this.#messagesLeft <= 0) this.quit();
      else this.#host.resting(this);
    }
    this.#setDeadline();
  }

  /** Writes `before`, and in the same write the commands of the next message if one waits. */
  #openNext(before: string): void {
    const next = this.#nextFit();
    if (!next) {
      if (before !== '') this.#wire.write(before);
      return;
    }
    this.#messagesLeft--;
    this.#opening = next;
    this.#openingRefused = false;
    this.#step = this.#dirty ? 'reset' : 'mail';
    let commands = before;
    if (this.#dirty) commands += 'RSET\r\n';
    if (this.#abilities.pipelining)
      commands += `${mailCommand(next, this.#abilities)}${rcptCommand(next, this.#abilities)}DATA\r\n`;
    else if (!this.#dirty) commands += mailCommand(next, this.#abilities);
    this.#dirty = false;
    this.#wire.write(commands);
  }

  /** Writes as many of the messages that wait as its window and its part of them allow, if that is more than one. */
  #openWindow(): void {
    const most = Math.min(this.#windowSize, this.#messagesLeft, this.#host.share());
    if (most < 2) return;
    const messages: M[] = [];
    for (let octets = 0; messages.length < most;) {
      const next = this.#nextFit(BLOCK - octets);
      if (!next) break;
      octets += next.data.length;
      messages.push(next);
    }
    if (messages.length === 0) return;
    this.#messagesLeft -= messages.length;
    this.#window = new BdatBatch(messages, this.#abilities, this.#dirty);
    this.#writtenAt = performance.now();
    this.#wire.write(this.#window.text);
  }

  #onWindow(reply: ReplyReader, window: BdatBatch<M>): void {
    const { code } = reply;
    if (window.phase === 'final' && code >= 300 && code < 400) {
      return this.#wire.break(`The server answered a message with ${code}`);
    }
    const closed = window.reply(reply);
    if (!closed) return;
    this.#answered++;
    this.#settle(closed.message, closed.outcome);
    if (!window.isDone) return;
    this.#window = undefined;
    if (window.goodbye) return this.#wire.break(window.goodbye);
    this.#dirty = window.isDirty;
    this.#fitWindow(window.hasTaken);
    this.#advance();
  }

  #breakWindow(window: BdatBatch<M>, reason: string, waitMs: number): void {
    const rest: SendOutcome = window.goodbye
      ? hostDeferred(window.goodbye, waitMs)
      : { kind: 'unknown', answer: oneLine(reason) };
    const [next, ...others] = window.open;
    if (next) this.#settle(next, window.refusal ?? this.#brokenOff(window.phase) ?? rest);
    for (const message of others) this.#settle(message, rest);
  }

  /** After something was answered: the next window is larger when the server took it quickly, and there is none when it took nothing. */
  #fitWindow(hasTaken: boolean): void {
    if (!this.#abilities.chunking) return;
    const ms = performance.now() - this.#writtenAt;
    if (!hasTaken) this.#windowSize = 1;
    else if (ms < this.#windowMs) this.#windowSize = Math.min(LARGEST_WINDOW, this.#windowSize * 2);
    else if (ms > this.#windowMs * 2) this.#windowSize = Math.max(1, this.#windowSize / 2);
  }

  /** The next message that the server can take, of so many octets at most. */
  #nextFit(octets = Infinity): M | undefined {
    while (this.#messagesLeft > 0) {
      const next = this.#host.next(octets);
      const refusal = next && unfit(next, this.#abilities);
      if (!refusal) return next;
      this.#settle(next, refusal);
    }
    return undefined;
  }

  #onOpening(reply: ReplyReader, message: M): void {
    const { code } = reply;
    if (code === 421) {
      this.#refuse(message, reply, this.#step === 'reset' ? 'mail' : this.#step);
      return this.#wire.break(reply.answer());
    }
    switch (this.#step) {
      case 'reset':
        this.#step = 'mail';
        if (!this.#abilities.pipelining) this.#wire.write(mailCommand(message, this.#abilities));
        return;
      case 'mail':
        if (!isPositive(code)) this.#refuse(message, reply, 'mail');
        return this.#go('rcpt', rcptCommand(message, this.#abilities));
      case 'rcpt':
        if (!isPositive(code)) this.#refuse(message, reply, 'rcpt');
        return this.#go('data', 'DATA\r\n');
      case 'data':
        return this.#onData(reply, message);
    }
  }

  /** To the next command, which is on its way already when commands are pipelined. */
  #go(step: Step, command: string): void {
    this.#step = step;
    if (this.#abilities.pipelining) return;
    if (!this.#openingRefused) return this.#wire.write(command);
    this.#dirty = step === 'data';
    this.#opening = undefined;
    this.#advance();
  }

  #onData(reply: ReplyReader, message: M): void {
    this.#opening = undefined;
    if (reply.code === 354) {
      if (!this.#openingRefused) return this.#sendBody(message);
      // The server wants data though it took no recipient: a lone dot ends that (RFC 2920 §3.1).
      return this.#afterDot(DOT, undefined);
    }
    if (!this.#openingRefused) this.#refuse(message, reply, 'data');
    if (reply.code < 400) return this.#wire.break(`The server answered DATA with ${reply.code}`);
    this.#dirty = true;
    this.#advance();
  }

  #sendBody(message: M): void {
    if (message.data.length <= BLOCK) return this.#afterDot(message.data + DOT, message);
    this.#inBlocks = message;
    this.#writeBlock(message, 0);
  }

  /** Writes a block and, when the system has taken it, the next; the last one goes with the dot. */
  #writeBlock(message: M, from: number): void {
    if (this.#over || this.#inBlocks !== message) return;
    const { data } = message;
    const to = from + BLOCK;
    if (to >= data.length) {
      this.#inBlocks = undefined;
      this.#afterDot(data.slice(from) + DOT, message);
    } else {
      this.#wire.write(data.slice(from, to), (error) => {
        if (!error) this.#writeBlock(message, to);
      });
    }
    this.#setDeadline();
  }

  /** Issues the write that holds a final dot. From here on only the server's reply tells what became of the message. */
  #afterDot(text: string, message: M | undefined): void {
    this.#awaitingFinal = true;
    this.#final = message;
    this.#writtenAt = performance.now();
    // The next window waits for this answer, which tells whether there is to be one.
    if (this.#abilities.pipelining && this.#windowSize < 2) this.#openNext(text);
    else this.#wire.write(text);
  }

  #onFinal(reply: ReplyReader): void {
    const { code } = reply;
    const message = this.#final;
    if (code >= 300 && code < 400) return this.#wire.break(`The server answered the final dot with ${code}`);
    this.#awaitingFinal = false;
    this.#final = undefined;
    if (message) {
      const answer = reply.answer();
      this.#answered++;
      this.#fitWindow(isPositive(code));
      this.#settle(message, isPositive(code) ? { kind: 'accepted', answer } : outcomeOf(code, answer, 'final'));
    }
    if (code === 421) this.#wire.break(reply.answer());
    else if (!this.#opening) this.#advance();
  }

  /** The server spoke before it had the whole message, to refuse it. Its dot was never sent. */
  #onEarlyReply(reply: ReplyReader, message: M): void {
    this.#inBlocks = undefined;
    if (reply.code >= 400) this.#refuse(message, reply, 'data');
    else this.#settle(message, hostDeferred(reply.answer()));
    this.#wire.break('The server spoke before the end of the message');
  }

  #refuse(message: M, reply: ReplyReader, phase: Phase): void {
    if (this.#openingRefused) return;
    this.#openingRefused = true;
    this.#answered++;
    this.#settle(message, refusalOf(reply, phase));
  }
}

function isPositive(code: number): boolean {
  return code >= 200 && code < 300;
}

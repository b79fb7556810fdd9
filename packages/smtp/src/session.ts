import { cleanLine } from '@postroom/errors';
import type { PreparedMessage } from './envelope.ts';
import { mailCommand, rcptCommand, recordWriteIntent, unsupportedReason } from './envelope.ts';
import type { ServerCapabilities } from './handshake.ts';
import { hostDeferred, outcomeOf, refusalOf } from './outcome.ts';
import type { SendOutcome } from './outcome.ts';
import type { Phase } from './classify.ts';
import type { ReplyReader } from './replies.ts';
import { SMTP_POLICY } from './policy.ts';
import type { Timeouts } from './timeouts.ts';
import { BdatBatch } from './bdat-batch.ts';
import type { ConnectionHandler, SmtpConnection } from './connection.ts';

const { batch: BATCH, blockBytes: BLOCK_BYTES } = SMTP_POLICY;
/** Terminates a message whose data ends with CRLF. */
const FINAL_DOT = '.\r\n';
const OUT_OF_STEP = 'The server sent a reply too many, so its replies no longer match our commands';
/** A reply about an address (RFC 3463 §3.2), which answers MAIL or RCPT. */
const ADDRESS_STATUS = /^2\d\d 2\.1\.\d/;

/** The pool, as its sessions see it. */
export interface SessionHost<M extends PreparedMessage> {
  /** Dequeues the next message if it is at most `maxBytes` long; the session then owns it. */
  next(maxBytes: number): M | undefined;
  /** How many queued messages each connection should take. */
  fairShare(): number;
  /** Called exactly once for each message that the session owned. */
  settle(message: M, outcome: SendOutcome): void;
  /** Takes messages back, which another connection sends next. The session no longer owns them. */
  requeue(messages: readonly M[]): void;
  /** The session is idle; `start` makes it fetch the next message. */
  sessionIdle(session: SmtpSession<M>): void;
  /** The session takes no more messages and is about to end. */
  sessionQuitting(session: SmtpSession<M>): void;
  /**
   * The session has ended. `failure` is set if it had messages and the server answered none of them.
   * @returns the backoff before the server is retried, in milliseconds.
   */
  sessionEnded(session: SmtpSession<M>, failure: string | undefined): number;
}

export interface SessionOptions {
  timeouts: Timeouts;
  /** Messages after which the session quits. */
  maxMessages: number;
  /** Batches answered faster than this grow, in milliseconds. */
  fastReplyMs?: number | undefined;
}

type Step = 'reset' | 'mail' | 'rcpt' | 'data';

/**
 * Runs the mail transactions of one connection. With PIPELINING (RFC 2920) a message's body and the next message's MAIL, RCPT
 * and DATA go out in one write, so each message costs one write and one round trip.
 *
 * A message is in one of three states: `opening` (MAIL, RCPT or DATA unanswered), `writingBlocks`, or awaiting the final reply.
 * If the connection fails, only a message awaiting its final reply is unknown.
 *
 * A server may close a connection after any number of messages, or when it was idle for a while. If it has answered some and the
 * next one is only being opened, that one goes back to the pool. Each connection sends at least one message, so this ends.
 *
 * With CHUNKING, once the server has accepted a message quickly, several messages are sent in one write (a batch). The first
 * message of a connection, or after it was idle, always uses DATA, so a connection that the server has already closed leaves
 * nothing unknown. If the connection fails during a batch, all its unanswered messages are unknown.
 */
export class SmtpSession<M extends PreparedMessage> implements ConnectionHandler {
  readonly #connection: SmtpConnection;
  readonly #capabilities: ServerCapabilities;
  readonly #timeouts: Timeouts;
  readonly #host: SessionHost<M>;
  readonly #fastReplyMs: number;
  #messagesLeft: number;
  /** Size of the next batch; below two, the next message uses DATA. */
  #batchSize = 1;
  #batch: BdatBatch<M> | undefined;
  /** When the last batch or final dot was written, in milliseconds. */
  #writtenAt = 0;
  /** Messages that the server has answered. */
  #answeredCount = 0;
  /** The reply to the last final dot that accepted a message. */
  #accepted = '';

  #opening: M | undefined;
  #step: Step = 'mail';
  /** The refusal of the opening message. It counts once the reply to DATA shows that it answers this message's commands. */
  #refusal: SendOutcome | undefined;
  /** The server accepted the recipient of the opening message. */
  #hasRecipient = false;
  #writingBlocks: M | undefined;
  #awaitingFinal = false;
  /** Message whose final reply is awaited; undefined after a lone dot. */
  #final: M | undefined;
  /** The server may have an open transaction, which RSET ends. */
  #needsReset = false;
  #quitting = false;
  #closed = false;

  constructor(
    connection: SmtpConnection,
    capabilities: ServerCapabilities,
    host: SessionHost<M>,
    options: SessionOptions,
  ) {
    this.#connection = connection;
    this.#capabilities = capabilities;
    this.#timeouts = options.timeouts;
    this.#messagesLeft = options.maxMessages;
    this.#fastReplyMs = options.fastReplyMs ?? BATCH.fastReplyMs;
    this.#host = host;
    connection.handler = this;
  }

  /** Maximum messages in flight at the current batch size. */
  get batchSize(): number {
    return this.#batchSize;
  }

  /** Starts sending queued messages, or reports the session as idle. */
  start(): void {
    this.#batchSize = 1;
    this.#advance();
  }

  /** Sends QUIT once nothing is in flight. */
  quit(): void {
    this.#messagesLeft = 0;
    if (this.#quitting || this.#closed || this.#isBusy) return;
    this.#quitting = true;
    this.#connection.write('QUIT\r\n');
    this.#connection.wait(this.#timeouts.quitMs);
    this.#host.sessionQuitting(this);
  }

  /** Closes the connection immediately; each owned message settles according to its state. */
  abort(reason: string): void {
    this.#connection.fail(reason);
  }

  onTimeout(): void {
    if (this.#isBusy) this.#connection.fail('Timed out waiting for a reply');
    else if (this.#quitting) this.#connection.fail('Timed out waiting for the reply to QUIT');
    else this.quit();
  }

  onReply(reply: ReplyReader): void {
    if (this.#batch) this.#onBatchReply(reply, this.#batch);
    else if (this.#awaitingFinal) this.#onFinal(reply);
    else if (this.#writingBlocks) this.#onEarlyReply(reply, this.#writingBlocks);
    else if (this.#opening) this.#onOpening(reply, this.#opening);
    // Usually 221 to our QUIT, or 421 on an idle connection.
    else return this.#connection.fail(reply.answer());
    this.#setDeadline();
  }

  get #isBusy(): boolean {
    return this.#awaitingFinal || (this.#batch ?? this.#opening ?? this.#writingBlocks) !== undefined;
  }

  onClosed(reason: string): void {
    this.#closed = true;
    const [final, writingBlocks, batch, opening] = [this.#final, this.#writingBlocks, this.#batch, this.#opening];
    const unfinished = this.#unfinishedRefusal();
    if (unfinished) this.#answeredCount++;
    const refusal = this.#refusal ?? (final ? undefined : unfinished);
    const isFailure = this.#answeredCount === 0 && !refusal && (final ?? writingBlocks ?? opening) !== undefined;
    const waitMs = this.#host.sessionEnded(this, isFailure ? reason : undefined);
    if (batch) this.#failBatch(batch, reason, waitMs, unfinished);
    if (final) this.#settle(final, unfinished ?? { kind: 'unknown', answer: cleanLine(reason) });
    if (writingBlocks) this.#settle(writingBlocks, unfinished ?? hostDeferred(reason, waitMs));
    if (!opening) return;
    const isUnanswered = this.#step === 'reset' || this.#step === 'mail';
    const isEnd = final ? unfinished !== undefined : this.#connection.isLost;
    const isOver = refusal ? isReconnect(refusal) : isUnanswered && isEnd;
    if (isOver && this.#answeredCount > 0) this.#host.requeue([opening]);
    else this.#settle(opening, refusal ?? hostDeferred(reason, waitMs));
  }

  /**
   * The refusal in a reply that has no end, which counts all the same. It is about one message: deferred like the others, that message would
   * be repeated, and hold up the server, again and again.
   */
  #unfinishedRefusal(): SendOutcome | undefined {
    const { unfinished } = this.#connection.replies;
    const phase = this.#phase;
    if (!phase || !unfinished || unfinished.code < 400) return undefined;
    return outcomeOf(unfinished.code, unfinished.answer, phase);
  }

  /** The phase that the next reply answers; undefined if it is about no message. */
  get #phase(): Phase | undefined {
    if (this.#batch) return this.#batch.phase;
    if (this.#awaitingFinal) return this.#final && 'final';
    if (this.#writingBlocks) return 'data';
    return this.#opening && this.#step !== 'reset' ? this.#step : undefined;
  }

  #settle(message: M, outcome: SendOutcome): void {
    this.#host.settle(message, outcome);
  }

  #setDeadline(): void {
    const { finalMs, blockMs, dataMs, commandMs, idleMs } = this.#timeouts;
    if (this.#closed || this.#quitting) return;
    if (this.#awaitingFinal || this.#batch) this.#connection.wait(finalMs);
    else if (this.#writingBlocks) this.#connection.wait(blockMs);
    else if (this.#opening) this.#connection.wait(this.#step === 'data' ? dataMs : commandMs);
    else this.#connection.wait(idleMs);
  }

  /** With nothing in flight: sends the next message, goes idle, or quits. */
  #advance(): void {
    if (this.#isOutOfStep) return this.#failOutOfStep();
    if (this.#batchSize > 1) this.#sendBatch();
    if (!this.#batch) this.#sendCommands('');
    if (!this.#opening && !this.#batch) {
      if (this.#messagesLeft <= 0) this.quit();
      else this.#host.sessionIdle(this);
    }
    this.#setDeadline();
  }

  /** Writes `before` and, in the same write, the commands of the next queued message. */
  #sendCommands(before: string): void {
    const next = this.#dequeue();
    if (!next) {
      if (before !== '') this.#connection.write(before);
      return;
    }
    this.#messagesLeft--;
    this.#opening = next;
    this.#refusal = undefined;
    this.#step = this.#needsReset ? 'reset' : 'mail';
    let commands = before;
    if (this.#needsReset) commands += 'RSET\r\n';
    if (this.#capabilities.pipelining)
      commands += `${mailCommand(next, this.#capabilities)}${rcptCommand(next, this.#capabilities)}DATA\r\n`;
    else if (!this.#needsReset) commands += mailCommand(next, this.#capabilities);
    this.#needsReset = false;
    this.#connection.write(commands);
  }

  /** Writes a batch of queued messages, up to the batch size and this connection's fair share, if that is more than one. */
  #sendBatch(): void {
    const most = Math.min(this.#batchSize, this.#messagesLeft, this.#host.fairShare());
    if (most < 2) return;
    const messages: M[] = [];
    for (let octets = 0; messages.length < most;) {
      const next = this.#dequeue(BLOCK_BYTES - octets);
      if (!next) break;
      octets += next.data.length;
      messages.push(next);
    }
    if (messages.length === 0) return;
    this.#messagesLeft -= messages.length;
    this.#batch = new BdatBatch(messages, this.#capabilities, this.#needsReset);
    recordWriteIntent(messages);
    this.#writtenAt = performance.now();
    this.#connection.write(this.#batch.text);
  }

  #onBatchReply(reply: ReplyReader, batch: BdatBatch<M>): void {
    const { code } = reply;
    if (batch.phase === 'final' && code >= 300 && code < 400) {
      return this.#connection.fail(`The server replied ${code} to the message data`);
    }
    if (batch.phase === 'final' && this.#answersAnAddress(reply)) return this.#connection.fail(OUT_OF_STEP);
    const completed = batch.reply(reply);
    if (!completed) return;
    this.#answeredCount++;
    this.#settle(completed.message, completed.outcome);
    if (!batch.isDone) return;
    this.#batch = undefined;
    if (batch.closingReply) return this.#connection.fail(batch.closingReply);
    this.#needsReset = batch.needsReset;
    this.#adjustBatchSize(batch.hasAccepted);
    this.#advance();
  }

  #failBatch(batch: BdatBatch<M>, reason: string, waitMs: number, unfinished: SendOutcome | undefined): void {
    const fallback: SendOutcome = batch.closingReply
      ? hostDeferred(batch.closingReply, waitMs)
      : { kind: 'unknown', answer: cleanLine(reason) };
    if (this.#answeredCount > 0 && batch.closingReply && batch.refusal && isReconnect(batch.refusal))
      return this.#host.requeue(batch.pending);
    const [next, ...others] = batch.pending;
    if (next) this.#settle(next, batch.refusal ?? unfinished ?? fallback);
    for (const message of others) this.#settle(message, fallback);
  }

  /** Doubles the batch size after fast replies, halves it after slow ones, and disables batching if nothing was accepted. */
  #adjustBatchSize(hasAccepted: boolean): void {
    if (!this.#capabilities.chunking) return;
    const ms = performance.now() - this.#writtenAt;
    if (!hasAccepted) this.#batchSize = 1;
    else if (ms < this.#fastReplyMs) this.#batchSize = Math.min(BATCH.maxSize, this.#batchSize * 2);
    else if (ms > this.#fastReplyMs * 2) this.#batchSize = Math.max(1, this.#batchSize / 2);
  }

  /** The next queued message of at most `maxBytes` that the server can accept. Refuses those it can't. */
  #dequeue(maxBytes = Infinity): M | undefined {
    while (this.#messagesLeft > 0) {
      const next = this.#host.next(maxBytes);
      const refusal = next && unsupportedReason(next, this.#capabilities);
      if (!refusal) return next;
      this.#settle(next, refusal);
    }
    return undefined;
  }

  #onOpening(reply: ReplyReader, message: M): void {
    const { code } = reply;
    if (code === 421) {
      this.#refuse(reply, this.#step === 'reset' ? 'mail' : this.#step);
      return this.#connection.fail(reply.answer());
    }
    switch (this.#step) {
      case 'reset':
        this.#step = 'mail';
        if (this.#capabilities.pipelining) return;
        if (this.#isOutOfStep) return this.#failOutOfStep();
        this.#connection.write(mailCommand(message, this.#capabilities));
        return;
      case 'mail':
        if (!isPositive(code)) this.#refuse(reply, 'mail');
        return this.#advanceTo('rcpt', rcptCommand(message, this.#capabilities), message);
      case 'rcpt':
        this.#hasRecipient = isPositive(code);
        if (!this.#hasRecipient) this.#refuse(reply, 'rcpt');
        return this.#advanceTo('data', 'DATA\r\n', message);
      case 'data':
        return this.#onData(reply, message);
    }
  }

  /** Advances to the next command, which has already been sent if commands are pipelined. */
  #advanceTo(step: Step, command: string, message: M): void {
    this.#step = step;
    if (this.#capabilities.pipelining) return;
    if (this.#isOutOfStep) return this.#failOutOfStep();
    if (!this.#refusal) return this.#connection.write(command);
    this.#needsReset = step === 'data';
    this.#settleOpening(message, this.#refusal);
    this.#advance();
  }

  #onData(reply: ReplyReader, message: M): void {
    if (this.#isOutOfStep) return this.#failOutOfStep();
    if (reply.code === 354) {
      if (!this.#refusal) {
        this.#opening = undefined;
        return this.#sendBody(message);
      }
      // After a refused sender, a lone dot would send an empty message to the recipient.
      if (this.#hasRecipient) return this.#connection.fail('The server refused the sender and accepted the recipient');
      this.#settleOpening(message, this.#refusal);
      // The server expects data although it refused the recipient: a lone dot ends the transaction (RFC 2920 §3.1).
      return this.#sendFinal(FINAL_DOT, undefined);
    }
    if (reply.code < 400) {
      // It answers another command, so an earlier refusal may answer another message.
      this.#refusal = undefined;
      return this.#connection.fail(`The server replied ${reply.code} to DATA`);
    }
    this.#settleOpening(message, this.#refusal ?? refusalOf(reply, 'data'));
    this.#needsReset = true;
    this.#advance();
  }

  #settleOpening(message: M, refusal: SendOutcome): void {
    this.#opening = undefined;
    this.#refusal = undefined;
    this.#answeredCount++;
    this.#settle(message, refusal);
  }

  /** Whether the server sent more than the answers to our commands. Valid only while no command is unanswered. */
  get #isOutOfStep(): boolean {
    return this.#connection.replies.hasMore;
  }

  /** Nothing that the server said about the opening message can be trusted. */
  #failOutOfStep(): void {
    this.#refusal = undefined;
    this.#connection.fail(OUT_OF_STEP);
  }

  /** Whether the reply accepts an address, unless this server accepts messages in that way too. */
  #answersAnAddress(reply: ReplyReader): boolean {
    return reply.code < 300 && ADDRESS_STATUS.test(reply.answer()) && !ADDRESS_STATUS.test(this.#accepted);
  }

  #sendBody(message: M): void {
    if (message.data.length <= BLOCK_BYTES) return this.#sendFinal(message.data + FINAL_DOT, message);
    this.#writingBlocks = message;
    this.#writeBlock(message, 0);
  }

  /** Writes a block and, once the OS has accepted it, the next one; the last one includes the final dot. */
  #writeBlock(message: M, from: number): void {
    if (this.#closed || this.#writingBlocks !== message) return;
    const { data } = message;
    const to = from + BLOCK_BYTES;
    if (to >= data.length) {
      this.#writingBlocks = undefined;
      this.#sendFinal(data.slice(from) + FINAL_DOT, message);
    } else {
      this.#connection.write(data.slice(from, to), (error) => {
        if (!error) this.#writeBlock(message, to);
      });
    }
    this.#setDeadline();
  }

  /** Writes the final dot. From here on, only the server's reply determines the outcome. */
  #sendFinal(text: string, message: M | undefined): void {
    this.#awaitingFinal = true;
    this.#final = message;
    if (message) recordWriteIntent([message]);
    this.#writtenAt = performance.now();
    // A batch may follow, depending on this reply, so don't pipeline the next message.
    if (this.#capabilities.pipelining && this.#batchSize < 2) this.#sendCommands(text);
    else this.#connection.write(text);
  }

  #onFinal(reply: ReplyReader): void {
    const { code } = reply;
    const message = this.#final;
    if (code >= 300 && code < 400) return this.#connection.fail(`The server replied ${code} to the final dot`);
    this.#awaitingFinal = false;
    this.#final = undefined;
    if (message) {
      const answer = reply.answer();
      this.#answeredCount++;
      this.#adjustBatchSize(isPositive(code));
      if (isPositive(code)) this.#accepted = answer;
      this.#settle(message, isPositive(code) ? { kind: 'accepted', answer } : outcomeOf(code, answer, 'final'));
    }
    if (code === 421) this.#connection.fail(reply.answer());
    else if (!this.#opening) this.#advance();
  }

  /** The server replied before the whole message was sent. Its final dot never went out, so it was not accepted. */
  #onEarlyReply(reply: ReplyReader, message: M): void {
    this.#writingBlocks = undefined;
    this.#answeredCount++;
    this.#settle(message, refusalOf(reply, 'data'));
    this.#connection.fail('The server replied before the end of the message');
  }

  /** Notes the refusal of the opening message. */
  #refuse(reply: ReplyReader, phase: Phase): void {
    this.#refusal ??= refusalOf(reply, phase);
  }
}

/** Whether the refusal only asks to continue on another connection. */
function isReconnect(refusal: SendOutcome): boolean {
  return refusal.kind === 'deferred' && refusal.scope === 'host' && refusal.waitMs === 0;
}

function isPositive(code: number): boolean {
  return code >= 200 && code < 300;
}

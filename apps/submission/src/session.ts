import { createHash } from 'node:crypto';
import { MAX_RECIPIENTS, type SendEmailInput, sendEmailsOnce } from '@postroom/emails';
import { type Caller, emailKey, jsonProblem } from '@postroom/platform';
import { authenticate, takeRequest } from '@postroom/projects';
import { readMessage } from './message.ts';
import { Refusal } from './refusal.ts';

/** Maximum message size in bytes, including base64 attachments. */
export const MAX_MESSAGE_BYTES = 40 * 1024 * 1024;
/** Maximum memory for messages being received, in bytes: in total and per API key. */
const MAX_HELD_BYTES = 512 * 1024 * 1024;
const MAX_HELD_BYTES_PER_KEY = 128 * 1024 * 1024;

export interface Credentials {
  username: string;
  password: string;
}

/** Authenticates SMTP clients and submits their messages. */
export class SubmissionSession {
  readonly #inProgress = new Set<Promise<string>>();
  #heldBytes = 0;
  readonly #heldByKey = new Map<string, number>();
  #isStopping = false;

  /**
   * Authenticates an API key, without caching, so a revoked key stops working immediately. A project id as the username
   * selects the project. @throws Refusal, DomainError `unauthorized`.
   */
  async identify({ username, password }: Credentials): Promise<{ caller: Caller; projectId: string }> {
    if (this.#isStopping) throw new Refusal(421, '4.3.2 The server is shutting down; try again later');
    const named = username.startsWith('prj_') ? username : undefined;
    const caller = await authenticate(`Bearer ${password.trim()}`, named);
    if (named === undefined && (caller.projects === 'all' || caller.projects.length > 1)) {
      throw new Refusal(535, "5.7.8 This API key covers several projects: give the project's id as the username");
    }
    return { caller, projectId: caller.projectId };
  }

  /** Receives and commits a message. @returns the text of the 250 reply. */
  async take(
    stream: AsyncIterable<Buffer> & { sizeExceeded: boolean },
    credentials: Credentials,
    recipients: readonly string[],
  ): Promise<string> {
    const chunks: Buffer[] = [];
    let length = 0;
    let isOverLimit = false;
    try {
      for await (const chunk of stream) {
        const keyBytes = (this.#heldByKey.get(credentials.password) ?? 0) + chunk.length;
        isOverLimit ||= this.#heldBytes + chunk.length > MAX_HELD_BYTES || keyBytes > MAX_HELD_BYTES_PER_KEY;
        if (stream.sizeExceeded || isOverLimit) continue; // clients read the reply only after sending everything
        chunks.push(chunk);
        length += chunk.length;
        this.#heldBytes += chunk.length;
        this.#heldByKey.set(credentials.password, keyBytes);
      }
      if (stream.sizeExceeded)
        throw new Refusal(552, `5.3.4 Message exceeds the maximum of ${MAX_MESSAGE_BYTES} bytes`);
      if (isOverLimit) throw new Refusal(451, '4.3.1 Too many large messages at once; try again later');
      const commit = this.#commit(Buffer.concat(chunks, length), credentials, recipients);
      this.#inProgress.add(commit);
      return await commit.finally(() => this.#inProgress.delete(commit));
    } finally {
      this.#heldBytes -= length;
      const keyBytes = (this.#heldByKey.get(credentials.password) ?? 0) - length;
      if (keyBytes > 0) this.#heldByKey.set(credentials.password, keyBytes);
      else this.#heldByKey.delete(credentials.password);
    }
  }

  async #commit(raw: Buffer, credentials: Credentials, recipients: readonly string[]): Promise<string> {
    if (raw.includes(0)) throw new Refusal(550, '5.6.0 A message must not contain a NUL character');
    const { caller, projectId } = await this.identify(credentials);
    const { allowed, of, limit } = await takeRequest(caller.id, projectId);
    const who = of === 'project' ? 'This project' : 'This key';
    if (!allowed) throw new Refusal(451, `4.7.0 ${who} may send at most ${limit} messages per second; try again`);
    const input = await readMessage(projectId, raw, recipients);
    const { attachments: _, alternatives: __, ...texts } = input;
    const problem = jsonProblem(texts);
    if (problem !== undefined) throw new Refusal(550, `5.6.0 ${problem.path} ${problem.message}`);
    const emails = await sendEmailsOnce(projectId, split(input, recipients), idempotencyKey(raw, recipients));
    const [first = { id: '', status: 'suppressed' }] = emails;
    if (emails.every(({ status }) => status === 'suppressed')) {
      throw new Refusal(550, `5.7.1 ${first.id} was not sent: its recipients bounced, complained or were suppressed`);
    }
    const status = emails.find((email) => email.status !== 'suppressed')?.status ?? first.status;
    return `2.0.0 ${first.id} ${status}${emails.length === 1 ? '' : ` in ${emails.length} messages`}`;
  }

  /** Rejects new messages and drains commits in flight: a 421 for a committed message would make the client send it again. */
  async finish(): Promise<void> {
    this.#isStopping = true;
    await Promise.allSettled(this.#inProgress);
  }
}

/** Splits a mail into emails within the recipient limit. Each address gets exactly one, and all have the same headers. */
function split(input: SendEmailInput, recipients: readonly string[]): SendEmailInput[] {
  const addresses = [...new Map(recipients.map((address) => [emailKey(address), address])).values()];
  const blind = new Set((input.bcc ?? []).map(emailKey));
  return Array.from({ length: Math.ceil(addresses.length / MAX_RECIPIENTS) }, (_, index) => {
    const part = addresses.slice(index * MAX_RECIPIENTS, (index + 1) * MAX_RECIPIENTS);
    return { ...input, recipients: part, bcc: part.filter((address) => blind.has(emailKey(address))) };
  });
}

/**
 * Idempotency key for client retries: identical bytes to the same recipients are the same message. Undefined without a
 * Message-ID, since a retry can't then be told from a second, identical message.
 */
function idempotencyKey(raw: Buffer, recipients: readonly string[]): string | undefined {
  const end = raw.indexOf('\r\n\r\n');
  const headers = raw.subarray(0, end === -1 ? raw.length : end).toString('latin1');
  if (!/^message-id:/im.test(headers)) return undefined;
  return `smtp:${createHash('sha256')
    .update(raw)
    .update(`\n${recipients.toSorted().join('\n')}`)
    .digest('hex')}`;
}

import { createHash } from 'node:crypto';
import { signInToSubmit, type Submitter } from '@postroom/emails';
import { ChunkList } from '@postroom/network/chunk-list';
import { jsonProblem } from '@postroom/platform';
import { Refusal } from '@postroom/network/smtp-server';
import { readMessage } from './message.ts';

/** Maximum message size in bytes, including base64 attachments. */
export const MAX_MESSAGE_BYTES = 40 * 1024 * 1024;
/** Maximum memory for messages being received, in bytes: in total and per project, which may also use only as much as it leaves free. */
const MAX_HELD_BYTES = { total: 512 * 1024 * 1024, perProject: 128 * 1024 * 1024 };

export interface Credentials {
  username: string;
  password: string;
}

/** A client that has signed in. */
export interface SignedIn {
  credentials: Credentials;
  /** The id of its `Submitter`: its project, as far as this cell knows. */
  id: string;
}

/** Authenticates SMTP clients and submits their messages. */
export class SubmissionSession {
  readonly #inProgress = new Set<Promise<string>>();
  #heldBytes = 0;
  readonly #heldBy = new Map<string, number>();
  readonly #maxHeld: typeof MAX_HELD_BYTES;
  #isStopping = false;

  constructor(maxHeldBytes = MAX_HELD_BYTES) {
    this.#maxHeld = maxHeldBytes;
  }

  /** Authenticates an API key. A project id as the username selects the project. @throws Refusal, DomainError as `signInToSubmit`. */
  async identify({ username, password }: Credentials): Promise<Submitter> {
    if (this.#isStopping) throw new Refusal(421, '4.3.2 The server is shutting down; try again later');
    return signInToSubmit({
      key: password.trim(),
      named: username.startsWith('prj_') ? username : undefined,
    });
  }

  /** Receives and commits a message. @returns the text of the 250 reply. */
  async take(
    stream: AsyncIterable<Buffer> & { sizeExceeded: boolean },
    { credentials, id }: SignedIn,
    recipients: readonly string[],
  ): Promise<string> {
    const { total, perProject } = this.#maxHeld;
    const chunks = new ChunkList();
    let isOverLimit = false;
    try {
      for await (const chunk of stream) {
        const bytes = (this.#heldBy.get(id) ?? 0) + chunk.length;
        isOverLimit ||= bytes > Math.min(perProject, total - this.#heldBytes - chunk.length);
        if (stream.sizeExceeded || isOverLimit) continue; // clients read the reply only after sending everything
        chunks.push(chunk);
        this.#heldBytes += chunk.length;
        this.#heldBy.set(id, bytes);
      }
      if (stream.sizeExceeded)
        throw new Refusal(552, `5.3.4 Message exceeds the maximum of ${MAX_MESSAGE_BYTES} bytes`);
      if (isOverLimit) throw new Refusal(451, '4.3.1 Too many large messages at once; try again later');
      const commit = this.#commit(chunks.concat(), credentials, recipients);
      this.#inProgress.add(commit);
      return await commit.finally(() => this.#inProgress.delete(commit));
    } finally {
      this.#heldBytes -= chunks.length;
      const bytes = (this.#heldBy.get(id) ?? 0) - chunks.length;
      if (bytes > 0) this.#heldBy.set(id, bytes);
      else this.#heldBy.delete(id);
    }
  }

  async #commit(raw: Buffer, credentials: Credentials, recipients: readonly string[]): Promise<string> {
    if (raw.includes(0)) throw new Refusal(550, '5.6.0 A message must not contain a NUL character');
    const submitter = await this.identify(credentials);
    await submitter.begin();
    const input = await readMessage(submitter.id, raw, recipients);
    const { attachments: _, alternatives: __, ...texts } = input;
    const problem = jsonProblem(texts);
    if (problem !== undefined) throw new Refusal(550, `5.6.0 ${problem.path} ${problem.message}`);
    const emails = await submitter.send({ input, recipients, idempotencyKey: idempotencyKey(raw, recipients) });
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

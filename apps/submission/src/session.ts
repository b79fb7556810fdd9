import { createHash } from 'node:crypto';
import { MAX_RECIPIENTS, type SendEmailInput, sendEmailsOnce } from '@postroom/emails';
import { type Caller, emailKey, jsonProblem } from '@postroom/platform';
import { authenticate, takeRequest } from '@postroom/projects';
import { readMessage } from './message.ts';
import { Refusal } from './refusal.ts';

/** The largest mail taken, in bytes, with its attachments in base64. */
export const MAX_MESSAGE_BYTES = 40 * 1024 * 1024;
/** Mail that is in memory at once, in bytes: over all connections, and over those with one key. */
const MAX_HELD_BYTES = 512 * 1024 * 1024;
const MAX_HELD_BYTES_PER_KEY = 128 * 1024 * 1024;

export interface Credentials {
  username: string;
  password: string;
}

/** Who may hand over mail, and what becomes of it. */
export class SubmissionSession {
  readonly #taking = new Set<Promise<string>>();
  #heldBytes = 0;
  readonly #heldByKey = new Map<string, number>();
  #isFinishing = false;

  /**
   * Whose key a client gave. It is looked up each time, so that a revoked one is refused at once. A user name that is a project's
   * id selects the project.
   */
  async identify({ username, password }: Credentials): Promise<{ caller: Caller; projectId: string }> {
    if (this.#isFinishing) throw new Refusal(421, '4.3.2 The server is ending; come again');
    const named = username.startsWith('prj_') ? username : undefined;
    const caller = await authenticate(`Bearer ${password.trim()}`, named);
    if (named === undefined && (caller.projects === 'all' || caller.projects.length > 1)) {
      throw new Refusal(535, "5.7.8 This API key covers several projects: give the project's id as the user name");
    }
    return { caller, projectId: caller.projectId };
  }

  /** Resolves with the words after 250 once the mail is committed. */
  async take(
    stream: AsyncIterable<Buffer> & { sizeExceeded: boolean },
    credentials: Credentials,
    recipients: readonly string[],
  ): Promise<string> {
    const chunks: Buffer[] = [];
    let length = 0;
    let isFull = false;
    try {
      for await (const chunk of stream) {
        const ofKey = (this.#heldByKey.get(credentials.password) ?? 0) + chunk.length;
        isFull ||= this.#heldBytes + chunk.length > MAX_HELD_BYTES || ofKey > MAX_HELD_BYTES_PER_KEY;
        if (stream.sizeExceeded || isFull) continue; // a client listens only when it has said all
        chunks.push(chunk);
        length += chunk.length;
        this.#heldBytes += chunk.length;
        this.#heldByKey.set(credentials.password, ofKey);
      }
      if (stream.sizeExceeded) throw new Refusal(552, `5.3.4 A mail has ${MAX_MESSAGE_BYTES} bytes at most`);
      if (isFull) throw new Refusal(451, '4.3.1 Too many large mails arrive at once; try again');
      const taking = this.#commit(Buffer.concat(chunks, length), credentials, recipients);
      this.#taking.add(taking);
      return await taking.finally(() => this.#taking.delete(taking));
    } finally {
      this.#heldBytes -= length;
      const ofKey = (this.#heldByKey.get(credentials.password) ?? 0) - length;
      if (ofKey > 0) this.#heldByKey.set(credentials.password, ofKey);
      else this.#heldByKey.delete(credentials.password);
    }
  }

  async #commit(raw: Buffer, credentials: Credentials, recipients: readonly string[]): Promise<string> {
    if (raw.includes(0)) throw new Refusal(550, '5.6.0 A mail must not contain a NUL character');
    const { caller, projectId } = await this.identify(credentials);
    const { allowed, of, limit } = takeRequest(caller.id, projectId);
    const who = of === 'project' ? 'This project' : 'This key';
    if (!allowed) throw new Refusal(451, `4.7.0 ${who} may send ${limit} mails a second; try again`);
    const input = await readMessage(projectId, raw, recipients);
    const { attachments: _, alternatives: __, ...texts } = input;
    const problem = jsonProblem(texts);
    if (problem !== undefined) throw new Refusal(550, `5.6.0 ${problem.path} ${problem.message}`);
    const emails = await sendEmailsOnce(projectId, split(input, recipients), onceKey(raw, recipients));
    const [first = { id: '', status: 'suppressed' }] = emails;
    if (emails.every(({ status }) => status === 'suppressed')) {
      throw new Refusal(550, `5.7.1 ${first.id} is not sent: its recipients bounced, complained or were suppressed`);
    }
    const status = emails.find((email) => email.status !== 'suppressed')?.status ?? first.status;
    return `2.0.0 ${first.id} ${status}${emails.length === 1 ? '' : ` in ${emails.length} messages`}`;
  }

  /** Takes no more and waits for what is being kept: a 421 for a mail that is kept all the same would bring it again. */
  async finish(): Promise<void> {
    this.#isFinishing = true;
    await Promise.allSettled(this.#taking);
  }
}

/** The emails that a mail becomes: each goes to as many addresses as one may, each address gets one, and all show the same. */
function split(input: SendEmailInput, recipients: readonly string[]): SendEmailInput[] {
  const each = [...new Map(recipients.map((address) => [emailKey(address), address])).values()];
  const blind = new Set((input.bcc ?? []).map(emailKey));
  return Array.from({ length: Math.ceil(each.length / MAX_RECIPIENTS) }, (_, index) => {
    const part = each.slice(index * MAX_RECIPIENTS, (index + 1) * MAX_RECIPIENTS);
    return { ...input, recipients: part, bcc: part.filter((address) => blind.has(emailKey(address))) };
  });
}

/**
 * The same bytes for the same addresses under a Message-ID are the same mail: so a client sends it again that got no answer.
 * Without a Message-ID nothing tells a repetition from a second mail.
 */
function onceKey(raw: Buffer, recipients: readonly string[]): string | undefined {
  const end = raw.indexOf('\r\n\r\n');
  const headers = raw.subarray(0, end === -1 ? raw.length : end).toString('latin1');
  if (!/^message-id:/im.test(headers)) return undefined;
  return `smtp:${createHash('sha256')
    .update(raw)
    .update(`\n${recipients.toSorted().join('\n')}`)
    .digest('hex')}`;
}

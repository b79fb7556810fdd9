import { type Caller, DomainError, emailKey, isId, RateLimited } from '@postroom/platform';
import { authenticate, hashKey, isWellFormedKey, takeRequest } from '@postroom/projects';
import { cellOf, forwardTo, MAX_HOPS, PROJECTS_BY } from '@postroom/projects/cells';
import { type AlternativeInput, MAX_RECIPIENTS, type SendEmailInput } from './email-input.ts';
import { type QueuedEmail, sendEmailsOnce } from './emails.ts';

/** An API key, and the project that was named with it. */
export interface SubmissionKey {
  key: string;
  named: string | undefined;
}

/** A mail that a client submits as a whole. */
interface SubmittedMail {
  input: SendEmailInput;
  /** Each address gets exactly one email. */
  recipients: readonly string[];
  /** A second submission with the same key has no effect; undefined if it can't be told from another mail. */
  idempotencyKey: string | undefined;
}

/** Who has signed in to submit mail. */
export interface Submitter {
  /** A name for what this submitter uses of this process. */
  id: string;
  /** Called before each mail. @throws RateLimited. */
  begin: () => Promise<void>;
  /** Accepts a mail as `sendEmail` does. @returns the emails that it became. */
  send: (mail: SubmittedMail) => Promise<QueuedEmail[]>;
}

/** What another cell forwards. */
export const SUBMISSION = 'submit';
interface Submission extends SubmissionKey {
  mail?: Omit<SubmittedMail, 'input'> & { input: Omit<SendEmailInput, 'alternatives'> };
  /** With their content in base64. */
  alternatives?: (Omit<AlternativeInput, 'content'> & { content: string })[] | undefined;
}

/**
 * Authenticates a key in the cell that has its project, without caching, so a revoked key stops working immediately.
 * @param hops how often it was forwarded.
 * @throws DomainError `unauthorized`, `forbidden`; `timeout` while the project is being moved, or if its cell does not answer.
 */
export async function signInToSubmit(by: SubmissionKey, hops = 0): Promise<Submitter> {
  const cell = hops < MAX_HOPS ? await cellOfKey(by) : undefined;
  if (cell !== undefined) {
    const submit = (submission: Submission) => forwardTo<QueuedEmail[]>(cell, SUBMISSION, submission, hops);
    await submit(by);
    const send = ({ input: { alternatives, ...input }, ...mail }: SubmittedMail) =>
      submit({
        ...by,
        mail: { ...mail, input },
        alternatives: alternatives?.map((part) => ({ ...part, content: part.content.toString('base64') })),
      });
    return { id: by.key, begin: () => Promise.resolve(), send };
  }
  const caller = await authenticate(`Bearer ${by.key}`, by.named);
  const projectId = projectOf(caller, by.named);
  return {
    id: projectId,
    begin: () => takeMail(caller.id, projectId),
    send: (mail) => sendEmailsOnce(projectId, splitByRecipients(mail), mail.idempotencyKey),
  };
}

/** Does what another cell forwarded: signs in, and accepts the mail if there is one. @param text its JSON. */
export async function answerSubmission(text: string, hops: number): Promise<QueuedEmail[]> {
  const { key, named, mail, alternatives } = JSON.parse(text) as Submission;
  const submitter = await signInToSubmit({ key, named }, hops);
  if (mail === undefined) return [];
  await submitter.begin();
  const { scheduledAt } = mail.input;
  const input: SendEmailInput = {
    ...mail.input,
    scheduledAt: scheduledAt == null ? undefined : new Date(scheduledAt),
    alternatives: alternatives?.map((part) => ({ ...part, content: Buffer.from(part.content, 'base64') })),
  };
  return submitter.send({ ...mail, input });
}

function cellOfKey({ key, named }: SubmissionKey): Promise<string | undefined> {
  if (named !== undefined && isId('prj', named))
    return cellOf({ kind: 'project', name: named, sql: PROJECTS_BY.project });
  return isWellFormedKey(key)
    ? cellOf({ kind: 'key', name: hashKey(key), sql: PROJECTS_BY.key })
    : Promise.resolve(undefined);
}

function projectOf(caller: Caller, named: string | undefined): string {
  if (named === undefined && (caller.projects === 'all' || caller.projects.length > 1))
    throw new DomainError(
      'unauthorized',
      "This API key covers several projects: give the project's id as the username",
    );
  return caller.projectId;
}

async function takeMail(callerId: string, projectId: string): Promise<void> {
  const { allowed, of, limit } = await takeRequest(callerId, projectId);
  const who = of === 'project' ? 'This project' : 'This key';
  if (!allowed) throw new RateLimited(`${who} may send at most ${limit} messages per second; try again`, 1);
}

/** Splits a mail into emails within the recipient limit. Each address gets exactly one, and all have the same headers. */
function splitByRecipients({ input, recipients }: SubmittedMail): SendEmailInput[] {
  const addresses = [...new Map(recipients.map((address) => [emailKey(address), address])).values()];
  const blind = new Set((input.bcc ?? []).map(emailKey));
  return Array.from({ length: Math.ceil(addresses.length / MAX_RECIPIENTS) }, (_, index) => {
    const part = addresses.slice(index * MAX_RECIPIENTS, (index + 1) * MAX_RECIPIENTS);
    return { ...input, recipients: part, bcc: part.filter((address) => blind.has(emailKey(address))) };
  });
}

import type { FieldProblem, Tx } from '@postroom/platform';
import { checkSenders, type EmailRows, insert, rowsOf, suppressedAddresses } from './emails.ts';
import { Problems, type ReadEmail, readEmail, recipientsOf, type SendEmailInput } from './email-input.ts';
import { ContentBudget, type RenderedContent, renderContent, BATCH_TOO_LONG } from './render-content.ts';

/** An email on behalf of another module, to a contact or to someone who may become one. */
export interface ContactEmailInput extends SendEmailInput {
  /** The id of the message, since its content may name it. */
  id: string;
  /** Undefined if the recipient is no contact. */
  contactId?: string | undefined;
  /** The template that its content is from, if the module has read it. */
  madeFrom?: string | undefined;
  /** The variables that show nothing if the contact has no value. Others need one, unless the placeholder has a default. */
  mayBeBlank?: readonly string[] | undefined;
  /** Whether it must not go to addresses that unsubscribed; it then gets the headers of RFC 8058. */
  needsConsent: boolean;
}

/** An email whose rows can be inserted, or the first reason why it can't be sent, or that it has to be prepared again, with others. */
export type PreparedEmail = EmailRows | { problem: FieldProblem; isPostponed?: true };

/** Emails rendered at the same time: few at first, since what does not fit the budget is rendered in vain. */
const CONCURRENT = { first: 8, most: 128 };
const POSTPONED = { problem: { field: 'html', message: BATCH_TOO_LONG }, isPostponed: true } as const;

/** A validated email with rendered content. */
interface ContactDraft extends ReadEmail, RenderedContent {
  templateId: string | null;
  input: ContactEmailInput;
}

/**
 * Validates and renders emails of one sender, each with its own problem, so that a contact without the variables of a template
 * does not block the others. What is beyond `budget` is postponed.
 * @throws DomainError `forbidden` if the sender may not send.
 */
export async function prepareEmails(
  projectId: string,
  inputs: readonly ContactEmailInput[],
  budget = new ContentBudget(),
): Promise<PreparedEmail[]> {
  const drafts: (ContactDraft | Exclude<PreparedEmail, EmailRows>)[] = [];
  for (let count = CONCURRENT.first; drafts.length < inputs.length; count = Math.min(2 * count, CONCURRENT.most)) {
    const some = inputs.slice(drafts.length, drafts.length + count);
    drafts.push(...(await Promise.all(some.map((input) => draftOf(projectId, input, budget)))));
  }
  const valid = drafts.filter((draft): draft is ContactDraft => !('problem' in draft));
  const mailboxes = await checkSenders(projectId, valid);
  const reasonsFor = async (needsConsent: boolean) => {
    const some = valid.filter(({ input }) => input.needsConsent === needsConsent);
    const addresses = some.flatMap(recipientsOf).map(({ email }) => email);
    return suppressedAddresses(projectId, addresses, { needsConsent });
  };
  const [withConsent, others] = await Promise.all([reasonsFor(true), reasonsFor(false)]);
  return drafts.map((draft) => {
    if ('problem' in draft) return draft;
    const { id, contactId, needsConsent } = draft.input;
    const mailboxId = mailboxes.get(draft.from.email) ?? null;
    return rowsOf({ projectId, mailboxId, id, contactId, needsConsent }, draft, needsConsent ? withConsent : others);
  });
}

async function draftOf(
  projectId: string,
  input: ContactEmailInput,
  budget: ContentBudget,
): Promise<ContactDraft | Exclude<PreparedEmail, EmailRows>> {
  if (budget.isUsedUp) return POSTPONED;
  const problems = new Problems();
  const email = readEmail(input, problems);
  const content = await renderContent(projectId, input, problems, {
    mayBeBlank: input.mayBeBlank,
    isOneOfMany: true,
    budget,
  });
  const [problem] = problems.found;
  if (problem?.message === BATCH_TOO_LONG) return POSTPONED;
  const templateId = input.madeFrom ?? input.templateId ?? null;
  return problem === undefined ? { input, templateId, ...email, ...content } : { problem };
}

/** Queues prepared emails in the caller's transaction. */
export async function insertPrepared(tx: Tx, emails: readonly EmailRows[]): Promise<void> {
  if (emails.length > 0) await insert(emails, { tx });
}

import { getContact } from '@postroom/contacts';
import { formatMailbox, type QueuedEmail, sendEmails } from '@postroom/emails';
import { getTemplate, newestContent } from '@postroom/templates';
import { MAX_SUBJECT_LENGTH, renderForRecipient, renderSubject, type Values } from '@postroom/templating';
import { testUnsubscribeUrl, webVersionUrl } from '@postroom/unsubscribe';
import { assertValid, DomainError, emailProblem, invalid, oneLineProblems } from '@postroom/platform';
import { type CampaignContent, contentOf, getCampaign, missingParts, templatesOf } from '@postroom/campaigns';

export interface TestSendInput {
  /** Recipients of the test: at most ten addresses. */
  emails: readonly string[];
  /** The contact whose values fill the placeholders; without one, they show their defaults. */
  contactId?: string | null | undefined;
}

const MAX_TESTS = 10;

/** Tests are untracked: their opens and clicks are not engagement, and links should show their real targets. */
const UNTRACKED = { trackOpens: false, trackClicks: false };

/**
 * Sends a campaign in its current form to a few addresses, as transactional mail with `[Test]` before the subject.
 * @throws DomainError `not_found`, `validation_error` for a bad address or a missing field, `forbidden`.
 */
export async function sendTest(projectId: string, id: string, input: TestSendInput): Promise<QueuedEmail[]> {
  const campaign = await getCampaign(projectId, id);
  checkAddresses(input.emails);
  const { problems, body } = await missingParts(campaign);
  const [problem, ...others] = problems.filter(
    ({ field }) => !/^(recipients|groupIds|segmentIds|excluded)/.test(field),
  );
  if (problem !== undefined)
    throw new DomainError('validation_error', 'The campaign is incomplete.', [problem, ...others]);
  return send(await contentOf({ ...campaign, ...body }), input, { campaign_id: id });
}

/** A test of a template needs a sender, which a template has not. */
export interface TemplateTestInput extends TestSendInput {
  fromEmail: string;
  fromName?: string | null | undefined;
}

/**
 * Sends a template, with its unpublished changes, to a few addresses as a campaign would send it.
 * @throws DomainError `not_found`, `validation_error` for a bad address, `forbidden` if the sender's domain may not send.
 */
export async function sendTemplateTest(
  projectId: string,
  id: string,
  { fromEmail, fromName, ...input }: TemplateTestInput,
): Promise<QueuedEmail[]> {
  const template = await getTemplate(projectId, id);
  const { subject, body } = await newestContent(template);
  checkAddresses(input.emails);
  const problem = emailProblem(fromEmail.trim());
  if (problem !== undefined) throw invalid({ field: 'fromEmail', message: problem });
  assertValid(oneLineProblems({ fromName }));
  const content = await contentOf({
    ...NO_CONTENT,
    projectId,
    fromEmail: fromEmail.trim(),
    fromName: fromName ?? null,
    subject: subject ?? template.name,
    html: body,
  });
  return send(content, input, { template_id: id });
}

const NO_CONTENT = {
  previewText: null,
  replyTo: null,
  text: null,
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  utmTerm: null,
  utmContent: null,
};

async function send(
  content: CampaignContent,
  { emails, contactId }: TestSendInput,
  metadata: Record<string, string>,
): Promise<QueuedEmail[]> {
  const { projectId, fromEmail, fromName, replyTo } = content;
  const contact = contactId == null ? undefined : await getContact(projectId, contactId);
  const rendered = renderContent(content, {
    ...(contact?.customFields as Values | undefined),
    name: contact?.hasName === true ? contact.name : null,
    email: contact?.email ?? emails[0],
    unsubscribe_url: testUnsubscribeUrl(),
    view_in_browser_url: webVersionUrl(testUnsubscribeUrl()),
    postal_address: content.postalAddress,
  });
  const from = formatMailbox({ email: fromEmail ?? '', name: fromName });
  return sendEmails(
    projectId,
    emails.map((to) => ({
      from,
      to: [to],
      ...(replyTo === null ? {} : { replyTo: [replyTo] }),
      ...rendered,
      tags: ['test'],
      metadata,
      ...UNTRACKED,
    })),
  );
}

function checkAddresses(emails: readonly string[]): void {
  if (emails.length === 0 || emails.length > MAX_TESTS) {
    throw invalid({ field: 'emails', message: `must be 1 to ${MAX_TESTS} addresses` });
  }
  const problems = emails.flatMap((email, index) => {
    const message = emailProblem(email.trim());
    return message === undefined ? [] : [{ field: `emails.${index}`, message }];
  });
  assertValid(problems);
}

function renderContent(content: CampaignContent, values: Values): { subject: string; html: string; text?: string } {
  const { subject, html, text } = templatesOf(content);
  return {
    subject: `[Test] ${renderSubject(subject, values)}`.slice(0, MAX_SUBJECT_LENGTH).toWellFormed(),
    html: renderForRecipient(html, values),
    ...(text === undefined ? {} : { text: renderForRecipient(text, values) }),
  };
}

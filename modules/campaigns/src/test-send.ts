import { getContact } from '@postroom/contacts';
import { formatMailbox, type QueuedEmail, sendEmails } from '@postroom/emails';
import { renderTemplate, type Values } from '@postroom/templates/render';
import { testUnsubscribeUrl } from '@postroom/unsubscribe';
import { assertValid, DomainError, emailProblem, invalid } from '@postroom/platform';
import { getCampaign } from './campaigns.ts';
import { type CampaignContent, templatesOf } from './content.ts';
import { missingParts } from './sending.ts';

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
export async function sendTest(
  projectId: string,
  id: string,
  { emails, contactId }: TestSendInput,
): Promise<QueuedEmail[]> {
  const campaign = await getCampaign(projectId, id);
  checkAddresses(emails);
  const { problems, body } = await missingParts(campaign);
  const [problem, ...others] = problems.filter(({ field }) => !/^(recipients|groupIds|segmentIds)/.test(field));
  if (problem !== undefined)
    throw new DomainError('validation_error', 'The campaign is incomplete.', [problem, ...others]);
  const contact = contactId == null ? undefined : await getContact(projectId, contactId);
  const content = renderContent(
    { ...campaign, ...body },
    {
      ...(contact?.customFields as Values | undefined),
      name: contact?.name,
      email: contact?.email ?? emails[0],
      unsubscribe_url: testUnsubscribeUrl(),
    },
  );
  const from = formatMailbox({ email: campaign.fromEmail ?? '', name: campaign.fromName });
  const replyTo = campaign.replyTo === null ? {} : { replyTo: [campaign.replyTo] };
  return sendEmails(
    projectId,
    emails.map((to) => ({
      from,
      to: [to],
      ...replyTo,
      ...content,
      tags: ['test'],
      metadata: { campaign_id: id },
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
  const [subject, html, text] = templatesOf(content);
  return {
    subject: `[Test] ${renderTemplate(subject, values)}`,
    html: renderTemplate(html, values),
    ...(text === undefined ? {} : { text: renderTemplate(text, values) }),
  };
}

import { namesThatMayBeBlank } from '@postroom/contacts';
import { type ContactEmailInput, type PreparedEmail, prepareEmails } from '@postroom/emails';
import { cancelPlanned } from '@postroom/ledger';
import { databaseNow, newId, sql, type Tx } from '@postroom/platform';
import { escapeHtml } from '@postroom/templating';
import { CONFIRM_URL } from './check-form.ts';
import type { PublicForm } from './public-form.ts';
import { confirmUrl } from './token.ts';

/** How long a link to confirm is valid, in days. */
export const LINK_DAYS = 7;

/** Whom a mail goes to, and what they submitted. */
export interface Subscriber {
  submissionId: string;
  email: string;
  name: string | undefined;
  customFields: Record<string, unknown>;
}

/** An email whose rows can be inserted. */
export type Mail = Exclude<PreparedEmail, { problem: unknown }>;

/**
 * Prepares the email with the link to confirm, and its repetition if the form has one. A template that can't be used any more is
 * replaced by the default content, so that no subscriber is lost.
 * @throws DomainError `forbidden` if the sender may not send.
 */
export async function prepareMails(
  form: PublicForm,
  subscriber: Subscriber,
): Promise<{ mail: Mail; reminder: Mail | undefined; reminderAt: Date | null }> {
  const { reminderAfterHours: hours } = form;
  const reminderAt = hours === null ? null : new Date(databaseNow() + hours * 3_600_000);
  const url = confirmUrl(subscriber.submissionId);
  const times = [null, ...(reminderAt === null ? [] : [reminderAt])];
  const mayBeBlank = form.templateId === null ? [] : await namesThatMayBeBlank(form.projectId);
  const ofTemplate =
    form.templateId === null
      ? []
      : await prepare(form, times, (at) => ({ ...templateContent(form, subscriber, { url, at }), mayBeBlank }));
  const isUsable = ofTemplate.length > 0 && ofTemplate.every((email) => !('problem' in email) && hasLink(email, url));
  const prepared = isUsable
    ? ofTemplate
    : await prepare(form, times, (at) => defaultContent(form, subscriber, { url, at }));
  const [mail, reminder] = prepared.map((email) => {
    if ('problem' in email)
      throw new Error(`The email of form ${form.id}: ${email.problem.field} ${email.problem.message}`);
    return email;
  });
  return { mail: mail as Mail, reminder, reminderAt };
}

/** Cancels the reminders that are still to be sent for submissions that match `where`, SQL with the parameter `$1`. */
export async function cancelReminders(tx: Tx, where: string, value: string): Promise<void> {
  // Submissions are locked before their messages, in the same order as when one is confirmed.
  await sql(tx, `SELECT FROM form_submissions WHERE ${where} AND confirmed_at IS NULL ORDER BY id FOR UPDATE`, [value]);
  const ids = `id IN (SELECT reminder_id FROM form_submissions WHERE ${where} AND confirmed_at IS NULL AND reminder_id IS NOT NULL)`;
  await cancelPlanned(ids, value, 'Canceled because the reminder is no longer needed.', tx);
}

const prepare = (
  form: PublicForm,
  times: (Date | null)[],
  contentOf: (at: Date | null) => Partial<ContactEmailInput>,
) =>
  prepareEmails(
    form.projectId,
    times.map((at) => ({
      id: newId('eml'),
      needsConsent: false,
      from: form.from ?? '',
      to: [],
      ...(form.replyTo === null ? {} : { replyTo: [form.replyTo] }),
      metadata: { form_id: form.id },
      // The link must lead here, and confirm one person.
      trackOpens: false,
      trackClicks: false,
      scheduledAt: at,
      ...contentOf(at),
    })),
  );

interface Link {
  url: string;
  /** When it is sent, for a reminder. */
  at: Date | null;
}

const subjectAt = (subject: string, at: Date | null) => (at === null ? subject : `Reminder: ${subject}`);

function templateContent(form: PublicForm, { email, name, customFields }: Subscriber, { url, at }: Link) {
  const subject = form.subject ?? form.templateSubject;
  return {
    to: [email],
    ...(subject === null ? {} : { subject: subjectAt(subject, at) }),
    templateId: form.templateId,
    variables: { ...customFields, name: name ?? null, email, form_title: form.title, [CONFIRM_URL]: url },
  };
}

const hasLink = ({ draft }: Mail, url: string) => draft.html?.includes(url) === true;

/** Without the name: anyone could make us send a text of theirs. */
function defaultContent(form: PublicForm, { email }: Subscriber, { url, at }: Link) {
  const { sender } = form.brand;
  const ask = `Please confirm that ${sender} may send email to ${email}.`;
  const note = `The link is valid for ${LINK_DAYS} days. If you did not ask for this, ignore this email: you will not be subscribed.`;
  const footer = form.brand.postalAddress;
  const text = [ask, '', url, '', note, ...(footer === null ? [] : ['', footer])].join('\n');
  const html = `<!doctype html>
<html lang="en"><body style="font-family: sans-serif; line-height: 1.5">
<p>${escapeHtml(ask)}</p>
<p><a href="${escapeHtml(url)}">Confirm subscription</a></p>
<p>${escapeHtml(note)}</p>
${footer === null ? '' : `<p style="white-space: pre-line">${escapeHtml(footer)}</p>`}
</body></html>
`;
  const subject = form.subject ?? `Confirm your subscription to ${sender}`;
  return { to: [email], subject: subjectAt(subject, at), text: `${text}\n`, html };
}

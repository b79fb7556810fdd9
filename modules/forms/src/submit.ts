import {
  type CheckedContact,
  isSuppressed,
  lockSuppressions,
  readContact,
  readSchema,
  retryOnCollision,
  valueOfField,
} from '@postroom/contacts';
import { insertPrepared } from '@postroom/emails';
import { assertValid, type FieldProblem, lockUntilCommit, newId, pool, sql, type Tx } from '@postroom/platform';
import { inVisitorTransaction } from '@postroom/projects';
import { CUSTOM_PREFIX } from './check-form.ts';
import { cancelReminders, LINK_DAYS, type Mail, prepareMails } from './confirmation-mail.ts';
import { subscribe } from './confirm.ts';
import { type ShownField, shownFields } from './forms.ts';
import { SUBMISSION_ID } from './ids.ts';
import type { PublicForm } from './public-form.ts';

/** What a visitor filled in. */
export interface SubmittedValues {
  email: string;
  name: string | undefined;
  customFields: Record<string, unknown>;
  /** Whether the visitor ticked the checkbox of the consent text. */
  consent: boolean;
}

/** Submissions of an address to a form that are accepted per hour and per day. Others have no effect, and no different response. */
const PER_HOUR = 1;
const PER_DAY = 5;
/** The same for all forms of a project with double opt-in: anyone could submit all of them to fill a mailbox. */
const PROJECT_PER_HOUR = 5;
const PROJECT_PER_DAY = 10;

/**
 * Accepts what a visitor submitted. With double opt-in nothing happens to the contact until the address is confirmed. The outcome does
 * not tell whether the address is known, suppressed, or was submitted a moment ago.
 * @param network where it came from, a /24 or a /48
 * @throws DomainError `validation_error` naming each invalid field, `forbidden` if the form's sender may not send.
 */
export async function submit(form: PublicForm, given: SubmittedValues, network: string | undefined): Promise<void> {
  const contact = await checkSubmittedValues(form, given);
  if (!form.doubleOptIn) return subscribeAtOnce(form, contact, network);
  const open = await sql<{ id: string }>(
    pool,
    'SELECT id FROM form_submissions WHERE form_id = $1 AND email_key = $2 AND project_id = $3 AND confirmed_at IS NULL',
    [form.id, contact.key, form.projectId],
  );
  const id = open[0]?.id ?? newId(SUBMISSION_ID);
  const { email, name, customFields } = contact;
  // Before the limits are known, so that a response takes equally long for all addresses.
  const mails = await prepareMails(form, { submissionId: id, email, name, customFields });
  await inVisitorTransaction(form.projectId, async (tx) => {
    if (!(await isWithinLimits(tx, form, contact.key))) return;
    await cancelReminders(tx, 'id = $1', id);
    if (!(await saveSubmission(tx, form, { id, contact, network, ...mails }))) return;
    await insertPrepared(tx, [mails.mail, ...(mails.reminder === undefined ? [] : [mails.reminder])]);
  });
}

/**
 * Subscribes without a confirmation. Since anyone could have entered the address, an existing contact is only added to groups, and a
 * suppressed address, such as of someone who unsubscribed, is left alone.
 */
async function subscribeAtOnce(form: PublicForm, contact: CheckedContact, network: string | undefined): Promise<void> {
  await retryOnCollision(() =>
    inVisitorTransaction(form.projectId, async (tx) => {
      await lockSuppressions(tx, form.projectId);
      if (!(await isWithinLimits(tx, form, contact.key))) return;
      if (await isSuppressed(tx, form.projectId, contact.email)) return;
      const id = newId(SUBMISSION_ID);
      await saveSubmission(tx, form, { id, contact, network });
      await subscribe(tx, form, { id, contact, network, isConfirmed: false });
    }),
  );
}

/**
 * Locks the address against other submissions to the project, and counts its submissions and reminders of the last day. It counts up
 * to `clock_timestamp()`: a transaction that held the lock before this one may have begun after this one's `now()`.
 */
async function isWithinLimits(tx: Tx, form: PublicForm, key: string): Promise<boolean> {
  await lockUntilCommit(tx, `form submissions ${form.projectId} ${key}`);
  const [counted] = await sql<{ hour: number; day: number; emailsPerHour: number; emailsPerDay: number }>(
    tx,
    `SELECT count(*) FILTER (WHERE is_of_form AND is_recent)::int AS hour, count(*) FILTER (WHERE is_of_form)::int AS day,
       count(*) FILTER (WHERE is_email AND is_recent)::int AS "emailsPerHour", count(*) FILTER (WHERE is_email)::int AS "emailsPerDay"
     FROM (SELECT s.form_id = $3 AS is_of_form, s.message_id IS NOT NULL AS is_email, at > now() - interval '1 hour' AS is_recent
       FROM form_submissions s CROSS JOIN LATERAL unnest(s.submitted_at || s.reminder_at) AS at
       WHERE s.project_id = $1 AND s.email_key = $2 AND at > now() - interval '1 day' AND at <= clock_timestamp()) AS submissions`,
    [form.projectId, key, form.id],
  );
  const { hour = 0, day = 0, emailsPerHour = 0, emailsPerDay = 0 } = counted ?? {};
  if (hour >= PER_HOUR || day >= PER_DAY) return false;
  return !form.doubleOptIn || (emailsPerHour < PROJECT_PER_HOUR && emailsPerDay < PROJECT_PER_DAY);
}

interface Saved {
  id: string;
  contact: CheckedContact;
  network: string | undefined;
  mail?: Mail | undefined;
  reminder?: Mail | undefined;
  reminderAt?: Date | null;
}

/** Inserts a submission, or updates one that is not confirmed yet. @returns false if it has just been confirmed. */
async function saveSubmission(tx: Tx, form: PublicForm, { id, contact, network, mail, reminder, reminderAt }: Saved) {
  const rows = await sql(
    tx,
    `INSERT INTO form_submissions AS s (id, project_id, form_id, email, email_key, name, custom_fields, consent_text, submitted_from,
       submitted_at, message_id, reminder_id, reminder_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, ARRAY[now()], $10, $11, $12, now() + interval '${LINK_DAYS} days')
     ON CONFLICT (id) DO UPDATE SET email = excluded.email, name = excluded.name, custom_fields = excluded.custom_fields,
       consent_text = excluded.consent_text, submitted_from = excluded.submitted_from, message_id = excluded.message_id,
       reminder_id = excluded.reminder_id, reminder_at = excluded.reminder_at, expires_at = excluded.expires_at,
       submitted_at = ARRAY(SELECT at FROM unnest(s.submitted_at || CASE WHEN s.reminder_at <= now() THEN s.reminder_at END) AS at
         WHERE at > now() - interval '1 day') || excluded.submitted_at
       WHERE s.confirmed_at IS NULL
     RETURNING id`,
    [
      id,
      form.projectId,
      form.id,
      contact.email,
      contact.key,
      contact.name ?? null,
      JSON.stringify(contact.customFields),
      form.consentText,
      network ?? null,
      mail?.id ?? null,
      reminder?.id ?? null,
      reminderAt ?? null,
    ],
  );
  return rows.length > 0;
}

/** Whether a field was left blank: pages submit those too. What is known of a contact stays then. */
const isBlank = (value: unknown): boolean => typeof value === 'string' && value.trim() === '';

/** Checks a submission against the form's fields. Values of fields that it does not ask for, and blank ones, are ignored. */
async function checkSubmittedValues(form: PublicForm, given: SubmittedValues): Promise<CheckedContact> {
  const [fields, schema] = await Promise.all([shownFields(form), readSchema(pool, form.projectId)]);
  const asked = fields.filter(({ key }) => key !== 'name').map(({ key }) => key.slice(CUSTOM_PREFIX.length));
  const customFields = Object.fromEntries(
    Object.entries(given.customFields).filter(([key, value]) => asked.includes(key) && !isBlank(value)),
  );
  const name = fields.some(({ key }) => key === 'name') && !isBlank(given.name) ? given.name : undefined;
  const { contact, problems } = readContact({ email: given.email, name, customFields }, schema);
  const missing = fields.filter((field) => field.required && isMissing(field, contact ?? { name, customFields }));
  const all: FieldProblem[] = [
    ...problems.map(({ field, message }) => ({ field: field.replace(/^customFields\./, CUSTOM_PREFIX), message })),
    ...missing.map(({ key }) => ({ field: key, message: 'is required' })),
    ...(form.consentText !== null && !given.consent ? [{ field: 'consent', message: 'is required' }] : []),
  ];
  assertValid(all.filter(({ field }, index) => all.findIndex((other) => other.field === field) === index));
  return contact as CheckedContact;
}

function isMissing(
  { key, type }: ShownField,
  { name, customFields }: Pick<SubmittedValues, 'name' | 'customFields'>,
): boolean {
  const value = key === 'name' ? name : valueOfField(customFields, key.slice(CUSTOM_PREFIX.length));
  // A checkbox that must be ticked.
  if (type === 'boolean') return value !== true && value !== 'true';
  return value === undefined || value === '';
}

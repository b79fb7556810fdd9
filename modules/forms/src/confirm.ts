import {
  type CheckedContact,
  clearUnsubscribed,
  contactSubscribed,
  contactUpdated,
  FACTS_COLUMNS,
  type ContactFacts,
  lockSuppressions,
  retryOnCollision,
  writeContacts,
} from '@postroom/contacts';
import { joinGroup, rejoinGroups } from '@postroom/groups';
import { pool, record, sql, type Tx } from '@postroom/platform';
import { inVisitorTransaction } from '@postroom/projects';
import { cancelReminders } from './confirmation-mail.ts';
import { formConfirmed } from './events.ts';
import type { Form } from './ids.ts';

/**
 * The outcome of a link. `blocked`: the address bounced, complained, or was suppressed by the project. `used`: it was confirmed, but gets no
 * email any more, such as after it unsubscribed.
 */
export type Confirmation = 'confirmed' | 'used' | 'expired' | 'blocked';

interface Submission {
  projectId: string;
  formId: string;
  email: string;
  key: string;
  name: string | null;
  customFields: Record<string, string | number | boolean>;
  consentText: string | null;
  isConfirmed: boolean;
  isExpired: boolean;
  /** Whether its address is that of a contact that gets email. */
  isSubscribed: boolean;
}

const FIND = `
  SELECT project_id AS "projectId", form_id AS "formId", email, email_key AS key, name, custom_fields AS "customFields", consent_text AS "consentText",
    confirmed_at IS NOT NULL AS "isConfirmed", expires_at <= now() AS "isExpired",
    EXISTS (SELECT FROM contacts c WHERE c.project_id = s.project_id AND c.email_key = s.email_key AND NOT c.suppressed) AS "isSubscribed"
  FROM form_submissions s WHERE id = $1`;

/**
 * Confirms a submission: subscribes its contact, which it creates if need be, and records the consent. All of it is one transaction,
 * so that a link has its effect once however often it is used.
 */
export async function confirm(id: string, network: string | undefined): Promise<Confirmation> {
  const [known] = await sql<Submission>(pool, FIND, [id]);
  if (known === undefined) return 'expired';
  return retryOnCollision(() =>
    inVisitorTransaction(known.projectId, async (tx) => {
      // Locked first, as in every transaction that writes suppressions and addresses, so that none deadlock.
      await lockSuppressions(tx, known.projectId);
      const [submission] = await sql<Submission>(tx, `${FIND} FOR UPDATE OF s`, [id]);
      if (submission?.isConfirmed === true) return usedLinkState(submission);
      if (submission === undefined || submission.isExpired) return 'expired';
      const { projectId, formId, email, key, name, customFields } = submission;
      const [form] = await sql<FormFacts>(
        tx,
        'SELECT id, project_id AS "projectId", name, group_ids AS "groupIds" FROM forms WHERE id = $1',
        [formId],
      );
      if (form === undefined) return 'expired';
      if ((await blockedAddresses(tx, projectId, [key])).has(key)) return 'blocked';
      const hadUnsubscribed = await clearUnsubscribed(tx, projectId, email);
      const contact = { email, key, name: name ?? undefined, customFields, cleared: [] };
      await cancelReminders(tx, 'id = $1', id);
      await subscribe(tx, form, { id, contact, network, isConfirmed: true, hadUnsubscribed });
      return 'confirmed';
    }),
  );
}

/** What a link is about. `open`: it has not been used. */
export interface LinkState {
  formId: string;
  email: string;
  consentText: string | null;
  state: 'open' | Exclude<Confirmation, 'blocked'>;
}

const usedLinkState = ({ isSubscribed }: Submission) => (isSubscribed ? 'confirmed' : 'used');

/** The state of a link; undefined if its submission is gone. */
export async function linkState(id: string): Promise<LinkState | undefined> {
  const [row] = await sql<Submission>(pool, FIND, [id]);
  if (row === undefined) return undefined;
  const { formId, email, consentText, isConfirmed, isExpired } = row;
  return { formId, email, consentText, state: isConfirmed ? usedLinkState(row) : isExpired ? 'expired' : 'open' };
}

type FormFacts = Pick<Form, 'id' | 'projectId' | 'name' | 'groupIds'>;

/**
 * Writes the contact of a submission, adds it to the form's groups and marks the submission as confirmed, in the caller's transaction.
 * Only a confirmed submission changes an existing contact, or returns it to groups that it left.
 */
export async function subscribe(
  tx: Tx,
  form: FormFacts,
  {
    id,
    contact,
    network,
    isConfirmed,
    hadUnsubscribed = false,
  }: {
    id: string;
    contact: CheckedContact;
    network: string | undefined;
    isConfirmed: boolean;
    /** Whether the caller has removed the reason `unsubscribed` from the address. */
    hadUnsubscribed?: boolean;
  },
): Promise<void> {
  const { projectId } = form;
  const [written] = await writeContacts(tx, projectId, [contact], {
    onConflict: isConfirmed ? 'update' : 'skip',
    source: 'form',
  });
  if (written === undefined || written.status === 'suppressed')
    throw new Error(`The contact of ${id} was not written.`);
  const contactId = written.id;
  let changed = 0;
  for (const groupId of form.groupIds.toSorted())
    changed += (await joinGroup(tx, projectId, groupId, [contactId])).length;
  if (isConfirmed) changed += await rejoinGroups(tx, contactId, form.groupIds);
  const [facts] = await sql<ContactFacts>(tx, `SELECT ${FACTS_COLUMNS} FROM contacts c WHERE c.id = $1`, [contactId]);
  if (facts === undefined) throw new Error(`The contact ${contactId} no longer exists.`);
  // Created and renamed contacts already have an event that says the same.
  const isKnown = written.status === 'existing';
  await record(tx, projectId, [
    ...(isKnown && !written.renamed && changed > 0 ? [contactUpdated(facts)] : []),
    ...(isKnown && hadUnsubscribed ? [contactSubscribed(facts)] : []),
    formConfirmed({ form, contact: facts, submissionId: id }),
  ]);
  await sql(
    tx,
    'UPDATE form_submissions SET confirmed_at = now(), confirmed_from = $2, contact_id = $3, reminder_at = CASE WHEN reminder_at <= now() THEN reminder_at END WHERE id = $1',
    [id, network ?? null, contactId],
  );
}

/** Those of the canonical addresses that are suppressed for another reason than that their owner unsubscribed; the values are `true`. */
export async function blockedAddresses(tx: Tx, projectId: string, keys: readonly string[]): Promise<Map<string, true>> {
  const found = await sql<{ key: string }>(
    tx,
    `SELECT key FROM unnest($2::text[]) AS key WHERE ${isBlocked('$1', 'key')}`,
    [projectId, keys],
  );
  return new Map(found.map(({ key }) => [key, true]));
}

/** The same as a condition on an address, as SQL. */
export const isBlocked = (projectId: string, key: string): string =>
  `EXISTS (SELECT FROM suppressions x WHERE x.project_id = ${projectId}
     AND x.email_key IN (${key}, erased_key(${projectId}, ${key})) AND x.reason <> 'unsubscribed')`;

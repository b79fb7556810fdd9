import {
  assertValid,
  coalesceByProject,
  coalesceReads,
  conflictIfTaken,
  currentTraceparent,
  databaseTime,
  DomainError,
  emailKey,
  emailProblem,
  inTransaction,
  isId,
  newId,
  normalizeEmail,
  notFound,
  oneLineProblems,
  pool,
  record,
  recordTraced,
  sql,
  type Tx,
  versionConflict,
  type FieldProblem,
  normalizeText,
} from '@postroom/platform';
import { coerceValues, type CustomFieldValues } from '@postroom/custom-fields';
import { readSchema } from './custom-fields.ts';
import { contactCreated, contactDeleted, type ContactFacts, contactUpdated, FACTS_COLUMNS } from './events.ts';
import { shownName } from './names.ts';
import {
  isSuppressed,
  lockSuppressions,
  resubscribe,
  suppress,
  SUPPRESSION_STATUS_SQL,
  type SuppressionActor,
  type SuppressionStatus,
} from './suppressions.ts';
import type { CONTACT_SOURCES } from './sql.ts';

/** Where a contact came from. */
export type ContactSource = (typeof CONTACT_SOURCES)[number];

export interface Contact {
  id: string;
  email: string;
  /** As shown; `hasName` tells whether it is the contact's own. */
  name: string;
  /** Whether it has a name. If not, `name` is the local part of its address, and templates use their fallback. */
  hasName: boolean;
  source: ContactSource;
  customFields: CustomFieldValues;
  suppressionStatus: SuppressionStatus;
  createdAt: Date;
  updatedAt: Date;
  /** Its segments, if they were read with the page. */
  segments?: { id: string; name: string }[];
}

export interface CreateContactInput {
  email: string;
  name?: string | null | undefined;
  customFields?: unknown;
}

export interface UpdateContactInput {
  name?: string | null | undefined;
  email?: string | null | undefined;
  customFields?: unknown;
  subscribed?: boolean | null | undefined;
  /** The `updatedAt` that the change is based on (optimistic concurrency). */
  updatedAt?: Date | null | undefined;
}

/** The columns of the contact `c`, without its suppression status. */
const OWN_COLUMNS = `${FACTS_COLUMNS}, c.name <> '' AS "hasName", c.source, c.custom_fields AS "customFields", c.created_at AS "createdAt",
  c.updated_at AS "updatedAt"`;

/** The columns of the contact `c`. */
export const CONTACT_COLUMNS = `${OWN_COLUMNS}, ${SUPPRESSION_STATUS_SQL} AS "suppressionStatus"`;

/**
 * Creates a contact, or returns the existing contact with that address unchanged. A unique constraint resolves
 * concurrent creates.
 * @throws DomainError `validation_error` for the address, the name or a custom field, `conflict` when the address of a
 * new contact is suppressed (spec: Contacts).
 */
export async function createContact(
  projectId: string,
  input: CreateContactInput,
  source: ContactSource = 'api',
): Promise<{ contact: Contact; created: boolean }> {
  const { name, customFields } = await checkFields(pool, projectId, input);
  const email = checkEmail(input.email);
  for (;;) {
    const contact = await insertContact({
      projectId,
      source,
      email,
      name,
      customFields,
      traceparent: currentTraceparent(),
    });
    if (contact !== undefined) return { contact, created: true };
    const existing = await findByEmail(pool, projectId, email);
    if (existing !== undefined) return { contact: existing, created: false };
    if (await isSuppressed(pool, projectId, email)) throw addressSuppressed(email);
    // The conflicting contact or suppression was removed in the meantime; try again.
  }
}

/**
 * Skips existing and suppressed addresses. The same statement records the events, so it needs no explicit transaction.
 * Rows are checked and inserted in constraint order, so that concurrent statements can't deadlock. `OFFSET 0` has them sorted before they
 * are checked.
 */
const INSERT = `
  WITH given AS (
    SELECT * FROM json_to_recordset($1::json) AS g(id text, project_id text, email text, email_key text, name text, source contact_source,
      custom_fields jsonb, at timestamptz, event_id text, event_type text, event_data json, traceparent text)
  ), created AS (
    INSERT INTO contacts AS c (id, project_id, email, email_key, name, source, custom_fields, created_at, updated_at)
    SELECT id, project_id, email, email_key, name, source, custom_fields, at, at
      FROM (SELECT * FROM given ORDER BY project_id, email_key OFFSET 0) AS g
     WHERE NOT suppressed_until_commit(project_id, email_key) ORDER BY project_id, email_key
    ON CONFLICT (project_id, email_key) DO NOTHING
    RETURNING ${CONTACT_COLUMNS}
  ), event AS (
    ${recordTraced('SELECT event_id, project_id, event_type, event_data, traceparent FROM given JOIN created USING (id)')}
  ) SELECT * FROM created`;

/** `name` is empty if it has none. */
interface NewContact extends Pick<Contact, 'email' | 'name' | 'customFields' | 'source'> {
  projectId: string;
  /** Of the request, because one statement inserts the contacts of several. */
  traceparent: string | null;
}

/** Inserts a contact; returns `undefined` if it was skipped. */
const insertContact = coalesceByProject<NewContact, Contact | undefined>(
  ({ projectId }) => projectId,
  async (contacts) => {
    const given = contacts.map(({ projectId, email, name, source, customFields, traceparent }) => {
      const id = newId('ctc');
      const { type, data } = contactCreated({ id, email, name: shownName({ name, email }) });
      return {
        id,
        project_id: projectId,
        email,
        email_key: emailKey(email),
        name,
        source,
        custom_fields: customFields,
        at: databaseTime(), // the time in the id: filters by time rely on it
        event_id: newId('evt'),
        event_type: type,
        event_data: data,
        traceparent,
      };
    });
    const { rows } = await pool.query<Contact>({
      name: 'contacts-insert',
      text: INSERT,
      values: [JSON.stringify(given)],
    });
    const created = new Map(rows.map((row) => [row.id, row]));
    return given.map(({ id }) => created.get(id));
  },
);

/** Keys are the project id and the contact id, separated by a space. */
const readContact = coalesceReads<Contact>(async (keys) => {
  const pairs = keys.map((pair) => pair.split(' ', 2));
  const { rows } = await pool.query<Contact & { projectId: string }>({
    name: 'contacts',
    text: `SELECT c.project_id AS "projectId", ${CONTACT_COLUMNS} FROM unnest($1::text[], $2::text[]) AS wanted(project, contact)
      JOIN contacts c ON c.project_id = wanted.project AND c.id = wanted.contact`,
    values: [pairs.map(([project]) => project), pairs.map(([, contact]) => contact)],
  });
  return new Map(rows.map((row) => [`${row.projectId} ${row.id}`, row]));
});

/** The project's contacts with these ids, without those that no longer exist. */
export async function findContacts(projectId: string, ids: readonly string[]): Promise<Map<string, Contact>> {
  const { rows } = await pool.query<Contact>({
    name: 'contacts-by-id',
    text: `SELECT ${CONTACT_COLUMNS} FROM contacts c WHERE c.project_id = $1 AND c.id = ANY ($2)`,
    values: [projectId, ids],
  });
  return new Map(rows.map((row) => [row.id, row]));
}

/** A contact of the project, or `not_found` (spec: Contacts). */
export async function getContact(projectId: string, id: string): Promise<Contact> {
  const contact = isId('ctc', id) ? await readContact(`${projectId} ${id}`) : undefined;
  if (contact === undefined) throw notFound('contact');
  return contact;
}

/**
 * Updates the fields provided. `customFields` replaces all values; a null or blank name leaves the contact without one.
 * `subscribed: false` adds an unsubscribe suppression for the address, attributed to `by`; `true` clears it.
 * Unsubscribes and complaints carry over to a new address.
 * @throws DomainError `not_found`, `validation_error`, or `conflict` when the new address is taken or suppressed, or
 * when the contact was modified since `updatedAt`.
 */
export async function updateContact(
  projectId: string,
  id: string,
  input: UpdateContactInput,
  by: SuppressionActor = { origin: 'api' },
): Promise<Contact> {
  if (!isId('ctc', id)) throw notFound('contact');
  return inTransaction(async (tx) => {
    if (input.email != null || input.subscribed != null) await lockSuppressions(tx, projectId);
    const before = await lockContact(tx, projectId, id);
    const after = await applyChanges(tx, projectId, before, input);
    if (input.updatedAt != null && input.updatedAt.getTime() !== before.updatedAt.getTime())
      throw versionConflict('contact', 'updatedAt');
    if (emailKey(after.email) !== emailKey(before.email))
      await moveAddress(tx, projectId, id, before.email, after.email);
    await writeChanges(tx, projectId, before, after);
    if (input.subscribed === true) await resubscribe(tx, projectId, after.email);
    if (input.subscribed === false) await suppress(tx, projectId, [{ email: after.email, reason: 'unsubscribed' }], by);
    const [contact] = await sql<Contact>(tx, `SELECT ${CONTACT_COLUMNS} FROM contacts c WHERE c.id = $1`, [id]);
    return contact as Contact;
  });
}

/** Deletes a contact permanently. Suppressions of its address stay (spec: Contacts). */
export async function deleteContact(projectId: string, id: string): Promise<void> {
  if (!isId('ctc', id)) throw notFound('contact');
  await inTransaction(async (tx) => {
    if ((await deleteContacts(tx, projectId, [id])) === 0) throw notFound('contact');
  });
}

/** Deletes contacts in the caller's transaction, in a fixed order to prevent deadlocks. @returns how many there were. */
export async function deleteContacts(tx: Tx, projectId: string, ids: readonly string[]): Promise<number> {
  const rows = await sql<ContactFacts>(
    tx,
    `WITH locked AS (SELECT id FROM contacts WHERE project_id = $1 AND id = ANY ($2) ORDER BY id FOR UPDATE)
     DELETE FROM contacts c USING locked WHERE c.id = locked.id RETURNING ${FACTS_COLUMNS}`,
    [projectId, [...ids]],
  );
  await record(tx, projectId, rows.map(contactDeleted));
  return rows.length;
}

/**
 * Locks contacts by id or by canonical address until the end of the transaction, so that none is deleted or changes its address,
 * in a fixed order to prevent deadlocks.
 */
export async function lockContacts(
  tx: Tx,
  projectId: string,
  { ids, keys }: { ids: readonly string[]; keys: readonly string[] },
): Promise<{ id: string; email: string; emailKey: string }[]> {
  return sql(
    tx,
    `SELECT id, email, email_key AS "emailKey" FROM contacts
      WHERE project_id = $1 AND (id = ANY ($2) OR email_key = ANY ($3)) ORDER BY id FOR KEY SHARE`,
    [projectId, ids, keys],
  );
}

/** Validates and normalizes an address; a `validation_error` names the field `email`. */
export function checkEmail(email: string): string {
  assertValid(addressProblems(email));
  return normalizeEmail(email.trim());
}

function addressProblems(email: string): FieldProblem[] {
  const problem = emailProblem(email.trim());
  return problem === undefined ? [] : [{ field: 'email', message: problem }];
}

/** The normalized name; `undefined` when blank. */
export function checkName(name: string | null | undefined): string | undefined {
  assertValid(oneLineProblems({ name }));
  return normalizeText(name ?? '') || undefined;
}

/** Validates and normalizes what a request says of one contact; a `validation_error` names each problem. */
async function checkFields(tx: Tx, projectId: string, { email, name, customFields }: UpdateContactInput) {
  const { values, problems } =
    customFields == null ? { values: {}, problems: [] } : coerceValues(customFields, await readSchema(tx, projectId));
  assertValid([...(email == null ? [] : addressProblems(email)), ...oneLineProblems({ name }), ...problems]);
  return { name: checkName(name) ?? '', customFields: values };
}

async function findByEmail(tx: Tx, projectId: string, email: string): Promise<Contact | undefined> {
  const [contact] = await sql<Contact>(
    tx,
    `SELECT ${CONTACT_COLUMNS} FROM contacts c WHERE c.project_id = $1 AND c.email_key = $2`,
    [projectId, emailKey(email)],
  );
  return contact;
}

/** A contact as stored: `name` is empty if it has none. */
type Stored = Pick<Contact, 'id' | 'email' | 'name' | 'customFields'>;

async function lockContact(tx: Tx, projectId: string, id: string): Promise<Stored & Pick<Contact, 'updatedAt'>> {
  const [contact] = await sql<Stored & Pick<Contact, 'updatedAt'>>(
    tx,
    `SELECT id, email, name, custom_fields AS "customFields", updated_at AS "updatedAt" FROM contacts
     WHERE project_id = $1 AND id = $2 FOR UPDATE`,
    [projectId, id],
  );
  if (contact === undefined) throw notFound('contact');
  return contact;
}

/** The contact with the changes applied. */
async function applyChanges(tx: Tx, projectId: string, before: Stored, input: UpdateContactInput): Promise<Stored> {
  const { name, customFields } = await checkFields(tx, projectId, input);
  return {
    id: before.id,
    email: input.email == null ? before.email : checkEmail(input.email),
    name: input.name === undefined ? before.name : name,
    customFields: input.customFields === undefined ? before.customFields : customFields,
  };
}

/**
 * Rejects a suppressed address, copies unsubscribes and complaints (but not bounces) to the new address, and records
 * both addresses.
 */
async function moveAddress(tx: Tx, projectId: string, id: string, from: string, to: string): Promise<void> {
  if (await isSuppressed(tx, projectId, to)) throw addressSuppressed(to);
  await sql(
    tx,
    `INSERT INTO suppressions (id, project_id, email, email_key, reason, origin, added_by_id)
     SELECT postroom_id('sup'), project_id, $3, $4, reason, origin, added_by_id FROM suppressions
      WHERE project_id = $1 AND email_key = $2 AND reason IN ('unsubscribed', 'complained')
     ON CONFLICT DO NOTHING`,
    [projectId, emailKey(from), to, emailKey(to)],
  );
  await sql(
    tx,
    `INSERT INTO contact_addresses (contact_id, email_key, project_id) SELECT $1, unnest($2::text[]), $3
     ON CONFLICT (contact_id, email_key) DO UPDATE SET changed_at = now()`,
    [id, [emailKey(from), emailKey(to)], projectId],
  );
}

/** The time of a change: always later than the previous one, so that concurrent modifications are detected. */
export const NEXT_UPDATED_AT = `greatest(now(), updated_at + interval '1 millisecond')`;

/** Writes changes. Only name and address changes record `contact.updated` (spec: Event types). */
async function writeChanges(tx: Tx, projectId: string, before: Stored, after: Stored): Promise<void> {
  const renamed = after.name !== before.name || after.email !== before.email;
  if (!renamed && after.customFields === before.customFields) return;
  // Setting the address takes the lock of suppressions, which must be taken before the lock of the contact.
  const address = after.email === before.email ? [] : [after.email, emailKey(after.email)];
  await sql(
    tx,
    `UPDATE contacts SET ${address.length > 0 ? 'email = $4, email_key = $5,' : ''} name = $2, custom_fields = $3::jsonb, updated_at = ${NEXT_UPDATED_AT} WHERE id = $1`,
    [before.id, after.name, JSON.stringify(after.customFields), ...address],
  ).catch(conflictIfTaken('email', `A contact with the address ${after.email} already exists.`));
  if (renamed) await record(tx, projectId, [contactUpdated({ ...after, name: shownName(after) })]);
}

/** What is wrong with a contact whose address is suppressed. */
export const SUPPRESSED: FieldProblem = { field: 'email', message: "is on the project's suppression list" };

const addressSuppressed = (email: string) =>
  new DomainError('conflict', `${email} is on the project's suppression list. Remove the suppression first.`, [
    SUPPRESSED,
  ]);

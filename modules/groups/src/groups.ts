import { type ContactFacts, contactUpdated, FACTS_COLUMNS, getContact } from '@postroom/contacts';
import {
  nameContains,
  conflictIfTaken,
  db,
  DomainError,
  emptyUpdate,
  emailKey,
  inPages,
  invalid,
  isId,
  newId,
  notFound,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readRows,
  type RowsQuery,
  record,
  sql,
  type Tx,
  checkDisplayName,
  checkLimit,
} from '@postroom/platform';

type Group = Prisma.GroupModel;

export interface CreateGroupInput {
  name: string;
  contactIds?: readonly string[] | null | undefined;
  emails?: readonly string[] | null | undefined;
}

export interface UpdateGroupInput {
  name?: string | null | undefined;
  contactIds?: readonly string[] | null | undefined;
}

/**
 * Creates a group from the contacts that resolve; ignores ids and emails that match no contact.
 * @throws DomainError `validation_error` if none resolves, `conflict` if the name is taken (spec: Groups).
 */
export async function createGroup(projectId: string, input: CreateGroupInput) {
  const name = checkDisplayName(input.name);
  return db.$transaction(async (tx) => {
    const contacts = await resolveContacts(tx, projectId, input);
    if (contacts.length === 0)
      throw noMember(input.contactIds == null && input.emails != null ? 'emails' : 'contactIds');
    const group = await tx.group.create({ data: { id: newId('grp'), projectId, name } }).catch(nameTaken(name));
    await addMembers(
      tx,
      group.id,
      contacts.map((contact) => contact.id),
    );
    for (let at = 0; at < contacts.length; at += EVENTS_PER_STATEMENT)
      await record(tx, projectId, contacts.slice(at, at + EVENTS_PER_STATEMENT).map(contactUpdated));
    await checkCount(tx, projectId);
    return group;
  }, LARGE);
}

const MAX_GROUPS = 5_000;

/** Call it in the transaction that inserted a group. @throws DomainError `conflict` beyond `MAX_GROUPS`. */
async function checkCount(tx: Tx, projectId: string): Promise<void> {
  await checkLimit(tx, { of: projectId, rows: 'groups', max: MAX_GROUPS }, async () => {
    const [counted] = await sql<{ rows: number }>(
      tx,
      'SELECT count(*)::int AS rows FROM groups WHERE project_id = $1',
      [projectId],
    );
    return counted?.rows ?? 0;
  });
}

/** A group may begin with 100,000 members, each with an event. No statement may come near its timeout. */
const LARGE = { timeout: 120_000 };
const EVENTS_PER_STATEMENT = 10_000;

/** @throws DomainError `not_found` (spec: Groups). */
export async function getGroup(projectId: string, id: string, query: RowsQuery = {}): Promise<Group> {
  const group = isId('grp', id) ? await db.group.findFirst({ ...query, where: { id, projectId } }) : null;
  if (group === null) throw notFound('group');
  return group;
}

/** Groups of a list that are read at once, each perhaps with as many ids as an answer lists. */
const GROUPS_AT_ONCE = 50;

/**
 * Lists the project's groups, or those of one contact, newest first (spec: Endpoints). `query` is the Prisma query of a GraphQL
 * selection.
 * @throws DomainError `not_found` if the project has no such contact.
 */
export async function listGroups(
  projectId: string,
  {
    contactId,
    search,
    ...page
  }: PageArgs & { contactId?: string | null | undefined; search?: string | null | undefined },
  query: RowsQuery,
): Promise<Page<Group>> {
  if (contactId != null) await getContact(projectId, contactId);
  const ofContact = contactId == null ? {} : { members: { some: { contactId } } };
  return readRows(db.group, 'grp', page, { projectId, ...ofContact, ...nameContains(search) }, query, GROUPS_AT_ONCE);
}

/**
 * Renames a group, replaces its whole member list, or both; omitted fields are unchanged (spec: Groups).
 * @throws DomainError `not_found`, `validation_error` for an empty update or one that leaves no member, `conflict`.
 */
export async function updateGroup(projectId: string, id: string, input: UpdateGroupInput) {
  const { contactIds } = input;
  await getGroup(projectId, id);
  if (input.name == null && contactIds == null) throw emptyUpdate();
  const name = input.name == null ? undefined : checkDisplayName(input.name);
  const contacts =
    contactIds == null ? undefined : await db.$transaction((tx) => resolveContacts(tx, projectId, { contactIds }));
  if (contacts?.length === 0) throw noMember('contactIds');
  if (contacts !== undefined)
    await removeAllButPage(
      projectId,
      id,
      contacts.map((contact) => contact.id),
    );
  return db.$transaction(async (tx) => {
    const group = await lockGroup(tx, projectId, id);
    if (contacts !== undefined) await replaceMembers(tx, projectId, id, contacts);
    if (name !== undefined) await tx.group.update({ where: { id }, data: { name } }).catch(nameTaken(name));
    return group;
  });
}

/** The outcome of adding contacts to a group. */
export interface AddedContacts {
  /** The number of distinct contacts in the request that exist, including existing members (spec: Groups, rule 4). */
  matched: number;
  /** The number of those that were not members. */
  added: number;
  /** The addresses in the request that no contact has. */
  unknownEmails: string[];
}

/** Adds the contacts that resolve to the group; existing members are not duplicated. */
export async function addContacts(
  projectId: string,
  id: string,
  input: Omit<CreateGroupInput, 'name'>,
): Promise<AddedContacts> {
  return db.$transaction(async (tx) => {
    await lockGroup(tx, projectId, id);
    if (input.contactIds == null && input.emails == null) {
      throw new DomainError('validation_error', 'Provide contactIds, emails or both.');
    }
    const contacts = await resolveContacts(tx, projectId, input);
    const added = await addAndRecord(tx, projectId, id, contacts);
    const known = new Set(contacts.map(({ email }) => emailKey(email)));
    const unknownEmails = (input.emails ?? []).filter((email) => !known.has(emailKey(email)));
    return { matched: contacts.length, added, unknownEmails };
  });
}

/**
 * Removes contacts from a group; ignores contacts that are not members.
 * @returns the number removed.
 * @throws DomainError `not_found`, `validation_error` if no member would be left (spec: Group, rule 1).
 */
export async function removeContacts(projectId: string, id: string, contactIds: readonly string[]): Promise<number> {
  return db.$transaction((tx) => removeContactsIn(tx, projectId, id, contactIds));
}

/** The same in the caller's transaction. */
export async function removeContactsIn(
  tx: Tx,
  projectId: string,
  id: string,
  contactIds: readonly string[],
): Promise<number> {
  await lockGroup(tx, projectId, id);
  const rows = await sql<{ contact_id: string }>(
    tx,
    'DELETE FROM group_members WHERE group_id = $1 AND contact_id = ANY ($2) RETURNING contact_id',
    [id, [...contactIds]],
  );
  const [remaining] = await sql(tx, 'SELECT 1 FROM group_members WHERE group_id = $1 LIMIT 1', [id]);
  if (remaining === undefined) {
    throw new DomainError('validation_error', 'A group must have at least one member. Delete the group instead.');
  }
  const removed = await resolveContacts(tx, projectId, { contactIds: rows.map((row) => row.contact_id) });
  await record(tx, projectId, removed.map(contactUpdated));
  return rows.length;
}

/** Adds contacts of the project to a group in the caller's transaction. @returns how many were not members before. */
export async function addContactsIn(
  tx: Tx,
  projectId: string,
  id: string,
  contactIds: readonly string[],
): Promise<number> {
  await lockGroup(tx, projectId, id);
  return addAndRecord(tx, projectId, id, await resolveContacts(tx, projectId, { contactIds }));
}

/** Adds contacts to a locked group, with an event for each new member. @returns how many were not members before. */
async function addAndRecord(
  tx: Tx,
  projectId: string,
  id: string,
  contacts: Awaited<ReturnType<typeof resolveContacts>>,
): Promise<number> {
  const added = new Set(
    await addMembers(
      tx,
      id,
      contacts.map((contact) => contact.id),
    ),
  );
  await record(tx, projectId, contacts.filter((contact) => added.has(contact.id)).map(contactUpdated));
  return added.size;
}

/** The groups of each contact, ordered by name. */
export async function groupsOf(
  projectId: string,
  contactIds: readonly string[],
): Promise<Map<string, { id: string; name: string }[]>> {
  const rows = await sql<{ contact_id: string; id: string; name: string }>(
    pool,
    `SELECT m.contact_id, g.id, g.name FROM group_members m JOIN groups g ON g.id = m.group_id AND g.project_id = $1
     WHERE m.contact_id = ANY ($2) ORDER BY g.name`,
    [projectId, [...contactIds]],
  );
  const groups = new Map<string, { id: string; name: string }[]>();
  for (const { contact_id: contactId, ...group } of rows) {
    const known = groups.get(contactId);
    if (known === undefined) groups.set(contactId, [group]);
    else known.push(group);
  }
  return groups;
}

/**
 * Finds or creates the group with a name and returns its id. The caller must add a member to a new group before it commits.
 * @throws DomainError `conflict` if the project has too many groups.
 */
export async function findOrCreateGroup(tx: Tx, projectId: string, name: string): Promise<string> {
  const id = newId('grp');
  const [group] = await sql<{ id: string }>(
    tx,
    `INSERT INTO groups (id, project_id, name) VALUES ($1, $2, $3)
     ON CONFLICT (project_id, name) DO UPDATE SET name = excluded.name RETURNING id`,
    [id, projectId, checkDisplayName(name)],
  );
  if (group?.id === id) await checkCount(tx, projectId);
  return group?.id ?? '';
}

/**
 * Adds existing contacts to a group in the caller's transaction; does nothing if the group has been deleted. The caller records
 * the events.
 * @returns the ids of the contacts that were not members before.
 */
export async function joinGroup(
  tx: Tx,
  projectId: string,
  id: string,
  contactIds: readonly string[],
): Promise<string[]> {
  const [group] = await sql(tx, 'SELECT 1 FROM groups WHERE project_id = $1 AND id = $2 FOR KEY SHARE', [
    projectId,
    id,
  ]);
  return group === undefined ? [] : addMembers(tx, id, [...contactIds].sort());
}

/** Deletes a group and keeps its contacts (spec: Group, rule 3). Interrupted, it leaves a group with fewer members. */
export async function deleteGroup(projectId: string, id: string): Promise<void> {
  await removeAllButPage(projectId, id, []);
  await db.$transaction(async (tx) => {
    await lockGroup(tx, projectId, id);
    const members = await removePage(tx, projectId, id, []);
    await tx.group.delete({ where: { id } });
    await record(tx, projectId, members.map(contactUpdated));
  });
}

/**
 * Joins the contact `c` of each `contact_id`. Until PostgreSQL has analyzed a new project's rows, it expects one contact there, and would
 * read all of them for each member. `OFFSET 0` makes it look each up by its id.
 */
const contactOf = (rows: string): string =>
  `CROSS JOIN LATERAL (SELECT * FROM contacts WHERE id = ${rows}.contact_id OFFSET 0) c`;

/** The members of a group that an answer lists, and of all groups of an answer. */
export const MAX_LISTED = 10_000;
const MAX_LISTED_TOGETHER = 100_000;

/** A member that still exists. */
export interface Member {
  id: string;
  email: string;
  name: string;
}

const LISTED_MEMBERS = `
  SELECT m.group_id, c.id, c.email, c.name FROM groups g
  CROSS JOIN LATERAL (
    SELECT group_id, contact_id FROM group_members WHERE group_id = g.id ORDER BY contact_id LIMIT ${MAX_LISTED}) m
  ${contactOf('m')}
  WHERE g.project_id = $1 AND g.id = ANY ($2) AND c.project_id = $1 LIMIT ${MAX_LISTED_TOGETHER + 1}`;

/**
 * The members of several groups that still exist, by group id and ordered by id: of a large group, those among its first ids.
 * @throws DomainError `payload_too_large` if they are too many together.
 */
export async function membersOf(projectId: string, groupIds: readonly string[]): Promise<Map<string, Member[]>> {
  const { rows } = await pool.query<Member & { group_id: string }>(LISTED_MEMBERS, [projectId, groupIds]);
  if (rows.length > MAX_LISTED_TOGETHER)
    throw new DomainError(
      'payload_too_large',
      `These groups have more than ${MAX_LISTED_TOGETHER.toLocaleString('en')} members together. Ask for fewer groups.`,
    );
  return Map.groupBy(
    rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    ({ group_id }) => group_id,
  );
}

/** Locks a group until the transaction ends, which serializes changes to its members. @throws DomainError `not_found`. */
export async function lockGroup(tx: Tx, projectId: string, id: string) {
  const [group] = await sql<{ id: string; name: string }>(
    tx,
    'SELECT id, name FROM groups WHERE project_id = $1 AND id = $2 FOR UPDATE',
    [projectId, id],
  );
  if (group === undefined) throw notFound('group');
  return group;
}

async function replaceMembers(
  tx: Prisma.TransactionClient,
  projectId: string,
  id: string,
  contacts: readonly ContactFacts[],
) {
  const kept = contacts.map((contact) => contact.id);
  const removed = await removePage(tx, projectId, id, kept);
  const added = new Set(await addMembers(tx, id, kept));
  await record(tx, projectId, [...contacts.filter((contact) => added.has(contact.id)), ...removed].map(contactUpdated));
}

/** Members that are removed in a transaction. More would take memory, and hold up what waits for the end of old transactions. */
const PAGE = 5_000;

const HAS_MORE = `
  SELECT FROM group_members WHERE group_id = $1 AND contact_id <> ALL ($2) ORDER BY contact_id OFFSET ${PAGE} LIMIT 1`;

/** Removes the members of a group but those to be kept and up to a page of others, which the caller removes with what else it changes. */
const removeAllButPage = (projectId: string, id: string, kept: readonly string[]): Promise<void> =>
  inPages(projectId, () =>
    db.$transaction(async (tx) => {
      await lockGroup(tx, projectId, id);
      if ((await sql(tx, HAS_MORE, [id, kept])).length === 0) return null;
      await record(tx, projectId, (await removePage(tx, projectId, id, kept)).map(contactUpdated));
      // Nothing is left before the next page.
      return '';
    }),
  );

/** Removes up to a page of members but those to be kept. @returns those of them that still exist. */
const removePage = (tx: Tx, projectId: string, id: string, kept: readonly string[]): Promise<ContactFacts[]> =>
  sql<ContactFacts>(
    tx,
    `WITH gone AS (
       DELETE FROM group_members WHERE group_id = $2 AND contact_id = ANY (ARRAY(
         SELECT contact_id FROM group_members WHERE group_id = $2 AND contact_id <> ALL ($3) ORDER BY contact_id LIMIT ${PAGE}))
       RETURNING contact_id)
     SELECT ${FACTS_COLUMNS} FROM gone ${contactOf('gone')} WHERE c.project_id = $1 ORDER BY c.id`,
    [projectId, id, kept],
  );

/** Adds members and returns the ids of those that were not members before. */
async function addMembers(tx: Tx, groupId: string, contactIds: string[]): Promise<string[]> {
  const rows = await sql<{ contact_id: string }>(
    tx,
    `INSERT INTO group_members (group_id, contact_id) SELECT $1, unnest($2::text[])
     ON CONFLICT DO NOTHING RETURNING contact_id`,
    [groupId, contactIds],
  );
  return rows.map((row) => row.contact_id);
}

/** The distinct contacts of the project that match the ids or addresses. */
async function resolveContacts(
  tx: Tx,
  projectId: string,
  { contactIds, emails }: Omit<CreateGroupInput, 'name'>,
): Promise<ContactFacts[]> {
  return sql<ContactFacts>(
    tx,
    `SELECT ${FACTS_COLUMNS} FROM contacts c
     WHERE c.project_id = $1 AND (c.id = ANY ($2) OR c.email_key = ANY ($3)) ORDER BY c.id`,
    [projectId, [...(contactIds ?? [])], (emails ?? []).map(emailKey)],
  );
}

const nameTaken = (name: string) => conflictIfTaken('name', `A group named "${name}" already exists.`);

const noMember = (field: string) =>
  invalid({ field, message: 'must name at least one existing contact: a group is never empty' });

import { emailKey, isId, notFound, type Page, type PageArgs, pool, readPage, sql } from '@postroom/platform';
import { CONTACT_COLUMNS, type Contact, type ContactSource } from './contacts.ts';
import { escapeLike, Parameters } from './parameters.ts';
import { segmentSql } from './segments.ts';

export interface ContactFilter {
  /** The whole address, without regard to case. */
  email?: string | null | undefined;
  /** Part of the address or of the name, without regard to case. */
  search?: string | null | undefined;
  groupId?: string | null | undefined;
  segmentId?: string | null | undefined;
  /** Whether anything keeps the address from being mailed. */
  suppressed?: boolean | null | undefined;
  source?: ContactSource | null | undefined;
  createdAfter?: Date | null | undefined;
  createdBefore?: Date | null | undefined;
}

/**
 * The project's contacts that pass every filter given, newest first. Pages are read by key, so page 5,000 costs what the
 * first one does.
 * @throws DomainError `not_found` for a group or segment that the project has not, `validation_error` for a bad page.
 */
export async function listContacts(
  projectId: string,
  filter: ContactFilter,
  page: PageArgs = {},
): Promise<Page<Contact>> {
  const { groupId } = filter;
  if (groupId != null) await checkGroup(projectId, groupId);
  return readPage('ctc', page, async ({ limit, before }) => {
    const parameters = new Parameters();
    // The members of a group are in the order of their ids already, in an index of their own.
    const [from, id] =
      groupId == null
        ? ['contacts c', 'c.id']
        : ['group_members m JOIN contacts c ON c.id = m.contact_id', 'm.contact_id'];
    const where = [`c.project_id = ${parameters.add(projectId)}`];
    if (groupId != null) where.push(`m.group_id = ${parameters.add(groupId)}`);
    if (before !== undefined) where.push(`${id} < ${parameters.add(before)}`);
    where.push(...conditions(filter, id, parameters));
    if (filter.segmentId != null) where.push(await segmentSql(projectId, filter.segmentId, parameters));
    const { rows } = await pool.query<Contact>(
      `SELECT ${CONTACT_COLUMNS} FROM ${from} WHERE ${where.join(' AND ')} ORDER BY ${id} DESC LIMIT ${parameters.add(limit)}`,
      parameters.values,
    );
    return rows;
  });
}

function conditions(filter: ContactFilter, id: string, parameters: Parameters): string[] {
  const { email, search, suppressed, source, createdAfter, createdBefore } = filter;
  const where: string[] = [];
  if (email != null) where.push(`c.email_key = ${parameters.add(emailKey(email))}`);
  const text = search?.trim() ?? '';
  if (text !== '') {
    const pattern = parameters.add(`%${escapeLike(text.toLowerCase())}%`);
    where.push(`(c.email_key LIKE ${pattern} OR lower(c.name) LIKE lower(${pattern}))`);
  }
  if (suppressed != null) {
    where.push(
      `${suppressed ? '' : 'NOT '}EXISTS (SELECT FROM suppressions s WHERE s.project_id = c.project_id AND s.email_key = c.email_key)`,
    );
  }
  if (source != null) where.push(`c.source = ${parameters.add(source)}`);
  if (createdAfter != null) {
    where.push(
      `c.created_at > ${parameters.add(createdAfter)}`,
      `${id} > ${parameters.add(idAt(createdAfter.getTime() - SLACK_MS))}`,
    );
  }
  if (createdBefore != null) {
    where.push(
      `c.created_at < ${parameters.add(createdBefore)}`,
      `${id} < ${parameters.add(idAt(createdBefore.getTime() + SLACK_MS))}`,
    );
  }
  return where;
}

/** How far the time in a contact's id may be from its `created_at`. */
const SLACK_MS = 60_000;
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** Where ids of a time begin. An id starts with its milliseconds, so a range of times is a range of the key. */
function idAt(ms: number): string {
  const digits = Math.min(Math.max(Math.trunc(ms), 0), 2 ** 48 - 1)
    .toString(32)
    .padStart(10, '0');
  return `ctc_${[...digits].map((digit) => BASE32[Number.parseInt(digit, 32)]).join('')}`;
}

/** A group of another project is as absent as one that never was. */
async function checkGroup(projectId: string, groupId: string): Promise<void> {
  const rows = isId('grp', groupId)
    ? await sql(pool, 'SELECT 1 FROM groups WHERE project_id = $1 AND id = $2', [projectId, groupId])
    : [];
  if (rows.length === 0) throw notFound('group');
}

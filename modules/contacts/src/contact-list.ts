import { membersOf, PROJECTS_OF_GROUPS } from '@postroom/groups/sql';
import {
  countUpTo,
  DEFAULT_PAGE_SIZE,
  emailKey,
  idsCreatedFrom,
  idsCreatedUntil,
  invalid,
  isId,
  LazyEdge,
  MAX_TOTAL,
  notFound,
  type Page,
  type PageArgs,
  pageOf,
  readInParts,
  readLimited,
  pool,
  runCostly,
  sql,
  emailKeyParts,
  escapeLike,
  type Tx,
  normalizeText,
} from '@postroom/platform';
import { CONTACT_COLUMNS, type Contact, type ContactSource, findContacts } from './contacts.ts';
import { compileFilter, Parameters, type SegmentFilter } from '@postroom/segment-filters';
import { type ContactSort, inOrder, type Place } from './contact-order.ts';
import { checkNames, type FilterOf } from './deleted-names.ts';
import { checkSegmentFilter, getSegment, matchesOf } from './segments.ts';

export interface ContactFilter {
  /** Only these contacts. */
  ids?: readonly string[] | null | undefined;
  /** The full address, case-insensitive. */
  email?: string | null | undefined;
  /** Part of the address or name, case-insensitive; one or two letters match only the start of a word. */
  search?: string | null | undefined;
  groupId?: string | null | undefined;
  segmentId?: string | null | undefined;
  /** The conditions of a segment as they were earlier. */
  segment?: SegmentFilter | undefined;
  /** A segment filter that is not saved, such as a condition on a custom field. */
  where?: unknown;
  /** Whether the address is suppressed. */
  suppressed?: boolean | null | undefined;
  source?: ContactSource | null | undefined;
  createdAfter?: Date | null | undefined;
  createdBefore?: Date | null | undefined;
}

/** Maximum number of ids in a filter. */
export const MAX_FILTER_IDS = 1000;

interface ListArgs extends PageArgs {
  sort?: ContactSort | null | undefined;
}

/** A row of a list; `sortKey` is what it is sorted by before the id. */
type SortedContact = Contact & { sortKey?: string };

/**
 * Lists the project's contacts that pass every filter, newest first or in another order. Uses keyset pagination, so
 * page 5,000 costs the same as the first.
 * @throws DomainError as `checkFilter`, also if what the filter names is deleted during the call; `validation_error` for a bad page.
 */
export async function listContacts(
  projectId: string,
  filter: ContactFilter,
  { first, after, sort }: ListArgs = {},
): Promise<Page<Contact>> {
  const segments = await checkFilter(projectId, filter);
  const order = inOrder(sort ?? 'newest');
  // A search or a segment may scan all contacts to fill one page, and a group has no index in other orders.
  const isCostly = segments.length > 0 || filter.search != null || (order.isByKey && filter.groupId != null);
  const { rows, size } = await readInParts<SortedContact>(first, async (limit, last) => {
    const cursor = last === undefined ? after : order.toCursor(last);
    const scope = { filter, segments, order, after: cursor == null ? undefined : order.fromCursor(cursor) };
    const parameters = new Parameters();
    // A literal limit, because PostgreSQL expects a parameter to be a tenth of all rows, and would plan each execution.
    const text = `${select(projectId, scope, parameters)} LIMIT ${limit}`;
    // Only the most frequent statements are prepared: each costs memory in every connection.
    const isPrepared = limit > DEFAULT_PAGE_SIZE && Object.values(filter).every((condition) => condition == null);
    const name = isPrepared ? `contacts ${sort ?? 'newest'} ${cursor == null ? 'first' : 'next'}` : '';
    const read = async () => (await pool.query<SortedContact>({ name, text, values: parameters.values })).rows;
    return readLimited(() => (isCostly ? runCostly(projectId, read) : read()));
  });
  await checkNames(pool, projectId, segments);
  const edges = rows.map((row) => new LazyEdge<SortedContact>(row, order.toCursor));
  return pageOf(edges, { size, after, totalCount: () => countChecked(projectId, filter, segments, MAX_TOTAL) });
}

/**
 * Counts the contacts that pass every filter, up to `limit`.
 * @throws DomainError as `checkFilter`, also if what the filter names is deleted during the call.
 */
export async function countContacts(projectId: string, filter: ContactFilter, limit: number): Promise<number> {
  return countChecked(projectId, filter, await checkFilter(projectId, filter), limit);
}

async function countChecked(projectId: string, filter: ContactFilter, segments: FilterOf[], limit: number) {
  const parameters = new Parameters();
  const { from, where } = conditionsOf(projectId, filter, segments, parameters);
  const statement = `SELECT 1 FROM ${from} WHERE ${where.join(' AND ')}`;
  const count = await runCostly(projectId, () => countUpTo(limit, statement, parameters.values));
  await checkNames(pool, projectId, segments);
  return count;
}

/**
 * The next contacts that pass every filter, newest first, for work on all of them in batches. `before` is the id of the
 * last one; contacts added since a `newId('ctc')` are left out.
 * @throws DomainError as `checkFilter`, also if what the filter names is deleted during the call.
 */
export async function contactBatch(
  projectId: string,
  filter: ContactFilter,
  before: string,
  limit: number,
): Promise<{ id: string; email: string }[]> {
  const segments = await checkFilter(projectId, filter);
  const parameters = new Parameters();
  const { from, id, where } = conditionsOf(projectId, filter, segments, parameters);
  where.push(`${id} < ${parameters.add(before)}`);
  const text = `SELECT ${id} AS id, c.email FROM ${from} WHERE ${where.join(' AND ')} ORDER BY ${id} DESC LIMIT ${limit}`;
  const { rows } = await runCostly(projectId, () => pool.query<{ id: string; email: string }>(text, parameters.values));
  // What exists now existed during the read. Without a group that a NOT is about, the read selects everyone.
  await checkFilter(projectId, filter);
  return rows;
}

/**
 * The statement that reads all of the project's contacts that pass every filter, newest first; meant for a cursor. `check` throws if
 * what the filter names was deleted: call it in the snapshot that the statement reads.
 * @throws DomainError as `checkFilter`.
 */
export async function contactsStatement(
  projectId: string,
  filter: ContactFilter,
): Promise<{ text: string; values: unknown[]; check: (tx: Tx) => Promise<void> }> {
  const segments = await checkFilter(projectId, filter);
  const parameters = new Parameters();
  return {
    text: select(projectId, { filter, segments, order: inOrder('newest') }, parameters),
    values: parameters.values,
    check: (tx) => checkNames(tx, projectId, segments),
  };
}

/** A page of the contacts that match a segment's filter. */
export interface FilterPage {
  filter: SegmentFilter;
  limit: number;
  /** Only contacts whose id sorts before this one; all if `undefined`. */
  before?: string | undefined;
}

/**
 * Reads several pages of contacts, each newest first, in one statement. The filters come from saved segments, so they
 * are not validated again.
 */
export async function newestOfFilters(projectId: string, pages: readonly FilterPage[]): Promise<Contact[][]> {
  const parameters = new Parameters();
  const parts = pages.map(({ filter, limit, before }, at) => {
    const after = before === undefined ? undefined : { id: before };
    const page = select(
      projectId,
      { filter: {}, segments: [{ field: 'filter', filter }], order: inOrder('newest'), after },
      parameters,
    );
    return `SELECT ${at} AS page, * FROM (${page} LIMIT ${parameters.add(limit)}) AS page_${at}`;
  });
  const text = `${parts.join(' UNION ALL ')} ORDER BY page, id DESC`;
  const { rows } = await runCostly(projectId, () => pool.query<Contact & { page: number }>(text, parameters.values));
  const byPage = Map.groupBy(rows, ({ page }) => page);
  return pages.map((_page, at) => (byPage.get(at) ?? []).map(({ page: _, ...contact }) => contact));
}

/** Previews a filter without saving it: the number of contacts and the newest of them. */
export async function previewSegment(projectId: string, given: unknown) {
  const filter = await checkSegmentFilter(projectId, given);
  const { count, newest } = await matchesOf(projectId, filter);
  await checkNames(pool, projectId, [{ field: 'filter', filter }]);
  const contacts = await findContacts(projectId, newest);
  return { count, contacts: newest.flatMap((id) => contacts.get(id) ?? []) };
}

/**
 * Checks a filter, and returns the segment filters in it. `within` is the path of the input that contains it, such as `filter.`.
 * @throws DomainError `not_found` for an absent group or segment, `validation_error`, also for a segment that names what was deleted.
 */
export async function checkFilter(
  projectId: string,
  { ids, groupId, segmentId, segment, where }: ContactFilter,
  within = '',
): Promise<FilterOf[]> {
  if (ids != null && ids.length > MAX_FILTER_IDS)
    throw invalid({ field: `${within}ids`, message: `must be at most ${MAX_FILTER_IDS} ids` });
  if (groupId != null) await checkGroup(projectId, groupId);
  const [ofSegment, ofWhere] = [`${within}segmentId`, `${within}where`];
  const saved =
    segmentId == null ? [] : [{ field: ofSegment, filter: (await getSegment(projectId, segmentId)).filter }];
  await checkNames(pool, projectId, saved);
  return [
    ...saved,
    ...(segment === undefined
      ? []
      : [{ field: ofSegment, filter: await checkSegmentFilter(projectId, segment, ofSegment) }]),
    ...(where == null ? [] : [{ field: ofWhere, filter: await checkSegmentFilter(projectId, where, ofWhere) }]),
  ];
}

interface Scope {
  filter: ContactFilter;
  segments: readonly FilterOf[];
  order: ReturnType<typeof inOrder>;
  after?: Place | undefined;
}

function select(projectId: string, { filter, segments, order, after }: Scope, parameters: Parameters): string {
  const { from, id, where } = conditionsOf(projectId, filter, segments, parameters, order.isByKey);
  if (after !== undefined) where.push(order.after(after, parameters, id));
  return `SELECT ${[CONTACT_COLUMNS, ...order.columns].join(', ')} FROM ${from} WHERE ${where.join(' AND ')} ORDER BY ${order.orderBy(id)}`;
}

/** The FROM clause of a list, and the conditions that apply to every page. */
function conditionsOf(
  projectId: string,
  filter: ContactFilter,
  segments: readonly FilterOf[],
  parameters: Parameters,
  isByKey = false,
): { from: string; id: string; where: string[] } {
  const { from, id } = source(filter, parameters, isByKey);
  const where = [`c.project_id = ${parameters.add(projectId)}`, ...conditions(filter, id, parameters)];
  where.push(...segments.map((segment) => compileFilter(segment.filter, parameters)));
  return { from, id, where };
}

/**
 * The FROM clause of a list, and its id column. Group members have an index in id order, so a group's list walks that
 * index; OFFSET 0 keeps PostgreSQL from joining and sorting the whole group. With an address or a selective search, it
 * is cheaper to start from the contacts.
 */
function source(
  { ids, groupId, email, search }: ContactFilter,
  parameters: Parameters,
  isByKey: boolean,
): { from: string; id: string } {
  if (groupId == null) return { from: 'contacts c', id: 'c.id' };
  const group = parameters.add(groupId);
  const members = `${membersOf(group)} m`;
  if (isByKey || ids != null || email != null || search != null)
    return { from: `contacts c JOIN ${members} ON m.contact_id = c.id`, id: 'c.id' };
  const contact = '(SELECT * FROM contacts WHERE id = m.contact_id OFFSET 0)';
  return { from: `${members} CROSS JOIN LATERAL ${contact} c`, id: 'm.contact_id' };
}

function conditions(filter: ContactFilter, id: string, parameters: Parameters): string[] {
  const { ids, email, search, suppressed, source, createdAfter, createdBefore } = filter;
  const where: string[] = [];
  if (ids != null) where.push(`${id} = ANY (${parameters.add(ids)}::text[])`);
  if (email != null) where.push(`c.email_key = ${parameters.add(emailKey(email))}`);
  if (search != null) where.push(...searchConditions(search, parameters));
  if (suppressed != null) where.push(suppressed ? 'c.suppressed' : 'NOT c.suppressed');
  if (source != null) where.push(`c.source = ${parameters.add(source)}`);
  if (createdAfter != null) {
    where.push(
      `c.created_at > ${parameters.add(createdAfter)}`,
      `${id} > ${parameters.add(idsCreatedFrom('ctc', createdAfter))}`,
    );
  }
  if (createdBefore != null) {
    where.push(
      `c.created_at < ${parameters.add(createdBefore)}`,
      `${id} < ${parameters.add(idsCreatedUntil('ctc', createdBefore))}`,
    );
  }
  return where;
}

/**
 * Matches text anywhere in addresses and names, using the trigram index. One or two letters form a trigram only at the
 * start of a word, so they match only words that begin with them.
 */
function searchConditions(search: string, parameters: Parameters): string[] {
  const text = normalizeText(search);
  if (text === '') return [];
  const parameter = (value: string) => `${parameters.add(value)}::text`;
  const parts = emailKeyParts(text);
  if (text.length <= 2) {
    const [first, later] = [parameter(`${escapeLike(text)}%`), parameter(`% ${escapeLike(text)}%`)];
    const inEmail = parts.map((part) => `c.email_key LIKE ${parameter(`${escapeLike(part)}%`)}`);
    return [`(${inEmail.join(' OR ')} OR lower(c.name) LIKE lower(${first}) OR lower(c.name) LIKE lower(${later}))`];
  }
  const inEmail = parts.map((part) => holds('c.email_key', part, { parameters }));
  return [`(${inEmail.join(' OR ')} OR ${holds('lower(c.name)', text, { parameters, lower: 'lower' })})`];
}

/** That a column contains a text, by the trigram index. */
function holds(column: string, text: string, { parameters, lower = '' }: { parameters: Parameters; lower?: string }) {
  const parameter = (value: string) => `${lower}(${parameters.add(value)}::text)`;
  return `(${column} LIKE ${parameter(`%${escapeLike(indexedPart(text))}%`)} AND position(${parameter(text)} IN ${column}) > 0)`;
}

/** The fewest characters that have a trigram wherever they are. */
const MIN_TRIGRAM = 3;

/**
 * A statement that selects the ids of up to `limit` contacts whose address contains a text, in no order, by the trigram index; undefined for
 * texts too short for it.
 */
export function addressPartStatement(projectId: string, text: string, limit: number) {
  const parts = emailKeyParts(text.trim());
  if (parts.some((part) => part.length < MIN_TRIGRAM)) return undefined;
  const parameters = new Parameters();
  const inEmail = parts.map((part) => holds('c.email_key', part, { parameters })).join(' OR ');
  const statement = `SELECT c.id FROM contacts c WHERE c.project_id = ${parameters.add(projectId)} AND (${inEmail}) LIMIT ${limit}`;
  return { text: statement, values: parameters.values };
}

/**
 * The part of a long text to look up in the index; the whole text is compared afterwards. Each trigram costs a scan of
 * all rows that contain it, and the end of the local part is more selective than the domain.
 */
function indexedPart(text: string): string {
  const local = text.slice(0, text.indexOf('@'));
  const part = text.includes('@') && local.length > 2 ? local : text;
  return [...part].slice(-10).join('');
}

/** Throws `not_found` for an absent group, and for another project's group. */
async function checkGroup(projectId: string, groupId: string): Promise<void> {
  const [group] = isId('grp', groupId) ? await sql<{ projectId: string }>(pool, PROJECTS_OF_GROUPS, [[groupId]]) : [];
  if (group?.projectId !== projectId) throw notFound('group');
}

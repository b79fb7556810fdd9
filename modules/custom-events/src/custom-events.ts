import { getContact } from '@postroom/contacts';
import { countUpTo, emailKey, invalid, type Page, type PageArgs, pool, readPage, timeOfId } from '@postroom/platform';
import { EVENT_ID } from './track.ts';

/** Something that a contact did. */
export interface CustomEvent {
  id: string;
  name: string;
  contactId: string;
  properties: unknown;
  occurredAt: Date;
  receivedAt: Date;
}

export interface EventFilter {
  contactId?: string | null | undefined;
  /** The contact's address. */
  email?: string | null | undefined;
  name?: string | null | undefined;
  /** Only events that occurred at or after this time. */
  from?: Date | null | undefined;
  /** Only events that occurred before this time. */
  to?: Date | null | undefined;
}

const COLUMNS = `e.id, e.name, e.contact_id AS "contactId", e.properties, e.occurred_at AS "occurredAt", e.received_at AS "receivedAt"`;

/**
 * Lists events that match every filter, the latest to occur first. The order is that of the partitions, so a page reads only
 * those it needs.
 * @throws DomainError `validation_error` for a page size, a cursor or a period that is not valid; `not_found` for an unknown contact.
 */
export async function listEvents(projectId: string, filter: EventFilter, page: PageArgs): Promise<Page<CustomEvent>> {
  const { contactId, email, name, from, to } = filter;
  if (from != null && to != null && from >= to) throw invalid({ field: 'to', message: 'must be after from' });
  if (contactId != null) await getContact(projectId, contactId);
  const parameters: unknown[] = [projectId];
  const conditions = ['e.project_id = $1'];
  const where = (condition: (parameter: string) => string, value: unknown) => {
    if (value != null) conditions.push(condition(`$${parameters.push(value)}`));
  };
  where((parameter) => `e.contact_id = ${parameter}`, contactId);
  where(
    (parameter) => `e.contact_id = (SELECT id FROM contacts WHERE project_id = $1 AND email_key = ${parameter})`,
    email == null ? null : emailKey(email.trim()),
  );
  where((parameter) => `e.name = ${parameter}`, name);
  where((parameter) => `e.occurred_at >= ${parameter}`, from);
  where((parameter) => `e.occurred_at < ${parameter}`, to);
  const matching = (columns: string) => `SELECT ${columns} FROM custom_events e WHERE ${conditions.join(' AND ')}`;
  return readPage<CustomEvent>(
    EVENT_ID,
    page,
    async ({ limit, before }) => {
      const values = [...parameters, limit];
      let after = '';
      if (before !== undefined) {
        const time = `$${values.push(timeOfId(before))}`;
        // The first condition is what PostgreSQL selects partitions by.
        after = `AND e.occurred_at <= ${time} AND (e.occurred_at, e.id) < (${time}, $${values.push(before)})`;
      }
      const statement = `${matching(COLUMNS)} ${after} ORDER BY e.occurred_at DESC, e.id DESC LIMIT $${parameters.length + 1}`;
      const { rows } = await pool.query<CustomEvent>(statement, values);
      return rows;
    },
    (limit) => countUpTo(limit, matching('1'), parameters),
  );
}

/** The events of the project with these ids, in any order. */
export async function findEvents(projectId: string, ids: readonly string[]): Promise<CustomEvent[]> {
  const { rows } = await pool.query<CustomEvent>(
    `SELECT ${COLUMNS} FROM unnest($2::text[], $3::timestamptz[]) AS asked(id, at)
       JOIN custom_events e ON e.project_id = $1 AND e.occurred_at = asked.at AND e.id = asked.id`,
    [projectId, ids, ids.map(timeOfId)],
  );
  return rows;
}

/** The most of the latest events that are read for a contact in a list of contacts. */
export const MAX_LATEST = 100;

/** @throws DomainError `validation_error` for a number that is not 1 to 100. */
export function checkLatest(count: number): number {
  if (count >= 1 && count <= MAX_LATEST) return count;
  throw invalid({ field: 'latest', message: `must be between 1 and ${MAX_LATEST}` });
}

/** The latest events of each contact, by contact, the latest first. Contacts without events are absent. */
export async function latestEventsOf(
  projectId: string,
  contactIds: readonly string[],
  count: number,
): Promise<Map<string, CustomEvent[]>> {
  const { rows } = await pool.query<CustomEvent>(
    `SELECT latest.* FROM unnest($2::text[]) AS contact(id), LATERAL (
       SELECT ${COLUMNS} FROM custom_events e WHERE e.project_id = $1 AND e.contact_id = contact.id
       ORDER BY e.occurred_at DESC, e.id DESC LIMIT $3
     ) AS latest`,
    [projectId, contactIds, count],
  );
  return Map.groupBy(rows, ({ contactId }) => contactId);
}

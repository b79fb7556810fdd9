import { checkFilter, type ContactFilter, getSegment } from '@postroom/contacts';
import type { Prisma } from '@postroom/platform';

/** A filter as JSON: times are text, and a segment is its conditions, so that a later edit doesn't change which contacts it selects. */
export type StoredFilter = Prisma.JsonObject;

/**
 * A filter to store with the operation on its contacts.
 * @throws DomainError as `checkFilter`.
 */
export async function toStoredFilter(
  projectId: string,
  { segmentId, ...filter }: ContactFilter,
): Promise<StoredFilter> {
  const segment = segmentId == null ? undefined : (await getSegment(projectId, segmentId)).filter;
  await checkFilter(projectId, { ...filter, segment }, 'filter.');
  return JSON.parse(JSON.stringify({ ...filter, segment })) as StoredFilter;
}

/** Reads a filter from where it was stored. */
export function fromStoredFilter(stored: StoredFilter): ContactFilter {
  const { createdAfter, createdBefore } = stored as { createdAfter?: string | null; createdBefore?: string | null };
  return { ...stored, createdAfter: toDate(createdAfter), createdBefore: toDate(createdBefore) };
}

const toDate = (text: string | null | undefined): Date | undefined => (text == null ? undefined : new Date(text));

import { findSegments, type SegmentFilter } from '@postroom/contacts';

/** The conditions of segments, by segment id, as they are stored with work on their contacts. */
export type StoredConditions = Record<string, SegmentFilter>;

/**
 * The conditions of segments as they are now, to store with work on their contacts, so that later edits don't change whom the work is
 * about. Omits segments that do not exist.
 */
export async function storedConditions(projectId: string, ids: readonly string[]): Promise<StoredConditions> {
  if (ids.length === 0) return {};
  const segments = await findSegments(projectId, [...ids]);
  return Object.fromEntries(segments.map(({ id, filter }) => [id, filter]));
}

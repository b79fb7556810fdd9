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

/** What conditions name and users can delete: the ids of groups, and the keys of custom fields. */
export interface Named {
  groups: string[];
  fields: string[];
}

/** What the conditions of a filter name. */
export function namedIn(filter: SegmentFilter): Named {
  if ('field' in filter) {
    const [, key] = /^customFields\.(.+)$/.exec(filter.field) ?? [];
    return {
      groups: filter.field === 'group' ? [filter.value].flat().map(String) : [],
      fields: key === undefined ? [] : [key],
    };
  }
  const inner = Object.values(filter).flat().map(namedIn);
  return { groups: inner.flatMap(({ groups }) => groups), fields: inner.flatMap(({ fields }) => fields) };
}

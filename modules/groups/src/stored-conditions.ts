import { findSegments, readSchema, type SegmentFilter } from '@postroom/contacts';
import { assertValid, type FieldProblem, sql, type Tx } from '@postroom/platform';

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
interface Named {
  groups: string[];
  fields: string[];
}

function namedIn(filter: SegmentFilter): Named {
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

/** Those of the ids that are groups of a project. */
export async function existingGroups(tx: Tx, projectId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await sql<{ id: string }>(tx, 'SELECT id FROM groups WHERE project_id = $1 AND id = ANY ($2)', [
    projectId,
    [...ids],
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** What the conditions of `filters` name but was deleted. `field` is where a filter comes from. */
export async function deletedNames(
  tx: Tx,
  projectId: string,
  filters: readonly { field: string; filter: SegmentFilter }[],
): Promise<FieldProblem[]> {
  const named = filters.map(({ field, filter }) => ({ field, ...namedIn(filter) }));
  const present = await existingGroups(
    tx,
    projectId,
    named.flatMap(({ groups }) => groups),
  );
  const schema = named.some(({ fields }) => fields.length > 0) ? await readSchema(tx, projectId) : new Map();
  return named.flatMap(({ field, groups, fields }) => [
    ...groups
      .filter((id) => !present.has(id))
      .map((id) => ({ field, message: `has a condition on the group ${id}, which was deleted` })),
    ...fields
      .filter((key) => !schema.has(key))
      .map((key) => ({ field, message: `has a condition on the custom field "${key}", which was deleted` })),
  ]);
}

/**
 * Checks that nothing was deleted that conditions name. Without a group that a NOT is about, they match everyone. Call it after contacts
 * were read by them: what exists then existed during the read.
 * @param field where the conditions come from.
 * @throws DomainError `validation_error` that names what was deleted.
 */
export async function checkNamed(tx: Tx, projectId: string, filter: SegmentFilter, field = 'filter'): Promise<void> {
  assertValid(await deletedNames(tx, projectId, [{ field, filter }]));
}

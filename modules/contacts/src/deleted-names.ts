import { EXISTING_GROUPS } from '@postroom/groups/sql';
import { assertValid, type FieldProblem, sql, type Tx } from '@postroom/platform';
import { readSchema } from './custom-fields.ts';
import type { SegmentFilter } from '@postroom/segment-filters';

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

/** A filter, and the field that it comes from. */
export interface FilterOf {
  field: string;
  filter: SegmentFilter;
}

/**
 * What filters name but was deleted: without a group that a NOT is about, they match everyone. Call it after contacts were read by them:
 * what exists then existed during the read.
 */
export async function deletedNames(tx: Tx, projectId: string, filters: readonly FilterOf[]): Promise<FieldProblem[]> {
  return (await deletedInEach(tx, projectId, filters)).flat();
}

/** As `deletedNames`, for each filter. */
export async function deletedInEach(
  tx: Tx,
  projectId: string,
  filters: readonly FilterOf[],
): Promise<FieldProblem[][]> {
  const named = filters.map(({ field, filter }) => ({ field, ...namedIn(filter) }));
  const groupIds = [...new Set(named.flatMap(({ groups }) => groups))];
  const rows = groupIds.length === 0 ? [] : await sql<{ id: string }>(tx, EXISTING_GROUPS, [projectId, groupIds]);
  const present = new Set(rows.map(({ id }) => id));
  const schema = named.some(({ fields }) => fields.length > 0) ? await readSchema(tx, projectId) : new Map();
  return named.map(({ field, groups, fields }) => [
    ...[...new Set(groups)]
      .filter((id) => !present.has(id))
      .map((id) => ({ field, message: `has a condition on the group ${id}, which was deleted` })),
    ...[...new Set(fields)]
      .filter((key) => !schema.has(key))
      .map((key) => ({ field, message: `has a condition on the custom field "${key}", which was deleted` })),
  ]);
}

/** Checks that nothing that filters name was deleted, as `deletedNames`. @throws DomainError `validation_error` that names what was. */
export async function checkNames(tx: Tx, projectId: string, filters: readonly FilterOf[]): Promise<void> {
  assertValid(await deletedNames(tx, projectId, filters));
}

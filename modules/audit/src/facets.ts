import { pool } from '@postroom/platform';

/** At most this many values of a column are offered as a filter. */
const MAX_VALUES = 200;

/**
 * The different values of a column in a project's audit log. It reads one row of the index per value, so the length of the log
 * does not matter.
 */
const distinct = (column: 'actor_id' | 'action' | `split_part(target_id, '_', 1)`) => `
  WITH RECURSIVE found(value) AS (
    (SELECT ${column} FROM audit_entries WHERE project_id = $1 ORDER BY ${column} LIMIT 1)
    UNION ALL
    SELECT (SELECT ${column} FROM audit_entries WHERE project_id = $1 AND ${column} > found.value ORDER BY ${column} LIMIT 1)
    FROM found WHERE found.value IS NOT NULL
  ) SELECT value FROM found WHERE value IS NOT NULL LIMIT ${MAX_VALUES}`;

/** What a project's audit log can be filtered by. */
export interface Facets {
  actorIds: string[];
  actions: string[];
  /** The prefixes of the ids of what was changed. */
  prefixes: string[];
}

/** The actors, actions and kinds of objects in a project's audit log, at most 200 of each. */
export async function facetsOf(projectId: string): Promise<Facets> {
  const valuesOf = async (column: Parameters<typeof distinct>[0]) => {
    const { rows } = await pool.query<{ value: string }>(distinct(column), [projectId]);
    return rows.map(({ value }) => value);
  };
  const [actorIds, actions, prefixes] = await Promise.all([
    valuesOf('actor_id'),
    valuesOf('action'),
    valuesOf(`split_part(target_id, '_', 1)`),
  ]);
  return { actorIds, actions, prefixes };
}

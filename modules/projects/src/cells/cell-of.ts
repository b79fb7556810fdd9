import { pool } from '@postroom/platform';
import { findCell, otherCells } from './peers.ts';

/**
 * Things by which what comes in is of a project: SQL with the thing as `$1` that yields the project here. A key may have several projects,
 * and is only looked up if none is named.
 */
export const PROJECTS_BY = {
  project: 'SELECT id FROM projects WHERE id = $1 UNION SELECT project_id FROM project_cells WHERE project_id = $1',
  key: `SELECT coalesce((SELECT min(project_id) FROM api_key_projects WHERE key_id = k.id HAVING count(*) = 1), '') AS id
    FROM api_keys k WHERE hash = $1 AND revoked_at IS NULL`,
} as const;

/** A thing that tells a project. The kind is known to the gateways of all cells. */
export interface Thing {
  kind: string;
  name: string;
  /** SQL of its project. */
  sql: string;
}

/** Where a thing is according to this cell: undefined if it is not known here. */
interface Known {
  id: string;
  state: 'moving' | 'moved' | 'here' | null;
  cell: string | null;
}

async function lookUp({ kind, name, sql }: Thing): Promise<Known | undefined> {
  const { rows } = await pool.query<Known>({
    name: `cells-${kind}`,
    text: `SELECT of.id, c.state, c.cell FROM (${sql}) AS of LEFT JOIN project_cells c ON c.project_id = of.id LIMIT 1`,
    values: [name],
  });
  return rows[0];
}

/** Whether this cell serves a thing itself. */
export async function isServedHere(thing: Thing): Promise<boolean> {
  const known = await lookUp(thing);
  return known !== undefined && (known.state ?? 'here') === 'here';
}

/**
 * The cell that has the project of a thing; undefined if it is this one, or none. While a project is being moved this cell serves it.
 * @throws RetryLater if another cell has to be asked and does not answer.
 */
export async function cellOf(thing: Thing): Promise<string | undefined> {
  if (otherCells().length === 0) return undefined;
  const known = await lookUp(thing);
  if (known === undefined) return findCell(`${thing.kind}/${thing.name}`);
  return known.state === 'moved' ? (known.cell ?? undefined) : undefined;
}

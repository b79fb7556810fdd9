import { pool } from '@postroom/platform';
import { findCell, otherCells } from './peers.ts';

/**
 * How requests and mail refer to a project, by kind: SQL that yields the project in this cell for the name `$1`. A key may cover several
 * projects, and is only looked up if none is named.
 */
export const PROJECTS_BY = {
  project: 'SELECT id FROM projects WHERE id = $1 UNION SELECT project_id FROM project_cells WHERE project_id = $1',
  key: `SELECT coalesce((SELECT min(project_id) FROM api_key_projects WHERE key_id = k.id HAVING count(*) = 1), '') AS id
    FROM api_keys k WHERE hash = $1 AND revoked_at IS NULL`,
} as const;

/** Something that a request or a mail names, and that belongs to a project. The gateways of all cells know the kinds. */
export interface ProjectReference {
  kind: string;
  name: string;
  /** Yields its project, as in `PROJECTS_BY`. */
  sql: string;
}

/** What this cell knows about the project of a reference. */
interface Known {
  id: string;
  state: 'moving' | 'moved' | 'here' | 'deleted' | null;
  cell: string | null;
}

async function lookUp({ kind, name, sql }: ProjectReference): Promise<Known | undefined> {
  const { rows } = await pool.query<Known>({
    name: `cells-${kind}`,
    text: `SELECT of.id, c.state, c.cell FROM (${sql}) AS of LEFT JOIN project_cells c ON c.project_id = of.id LIMIT 1`,
    values: [name],
  });
  return rows[0];
}

/** Whether this cell serves the project of a reference itself. */
export async function isServedHere(reference: ProjectReference): Promise<boolean> {
  const known = await lookUp(reference);
  return known !== undefined && (known.state ?? 'here') === 'here';
}

/**
 * The cell that has the project of a reference; undefined if it is this one, or none. While a project is being moved or deleted this cell serves it.
 * @throws RetryLater if another cell has to be asked and does not answer.
 */
export async function cellOf(reference: ProjectReference): Promise<string | undefined> {
  if (otherCells().length === 0) return undefined;
  const known = await lookUp(reference);
  if (known === undefined) return findCell(`${reference.kind}/${reference.name}`);
  return known.state === 'moved' ? (known.cell ?? undefined) : undefined;
}

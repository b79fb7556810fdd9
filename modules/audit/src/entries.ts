import {
  assertValid,
  type AuditChange,
  countUpTo,
  type FieldProblem,
  ID_PREFIXES,
  idsFrom,
  type IdPrefix,
  isId,
  pool,
  type Page,
  type PageArgs,
  readPage,
} from '@postroom/platform';
import { isAction } from './labels.ts';

/** An entry of the audit log. */
export interface Entry {
  id: string;
  /** `usr_…` or `key_…`. */
  actorId: string;
  action: string;
  targetId: string | null;
  /** What the target was called then; null if that was not recorded. */
  targetName: string | null;
  changes: AuditChange[];
  createdAt: Date;
}

/** Restricts the audit log; entries pass all of the conditions. */
export interface EntryFilter {
  actorId?: string | null | undefined;
  action?: string | null | undefined;
  /** What kind of object was changed, such as `campaign`. */
  targetKind?: string | null | undefined;
  targetId?: string | null | undefined;
  since?: Date | null | undefined;
  until?: Date | null | undefined;
}

const COLUMNS = `e.id, e.actor_id AS "actorId", e.action, e.target_id AS "targetId", e.target_name AS "targetName", e.changes,
  e.created_at AS "createdAt"`;

/** The kind of object that an id names, such as `campaign`; null if it names none. */
export const kindOf = (id: string | null): string | null =>
  id === null ? null : ((ID_PREFIXES as Record<string, string>)[prefixOf(id)] ?? null);

/**
 * The FROM and WHERE of the entries that pass a filter, and its parameters. Ids begin with the time, so they select a period.
 * What an entry is about may have been deleted, so any id will do.
 * @throws DomainError `validation_error` for an unknown kind or action, or what is no id.
 */
export function entriesSql(projectId: string, filter: EntryFilter): { from: string; values: unknown[] } {
  const { actorId, action, targetKind, targetId, since, until } = filter;
  assertValid(filterProblems(filter));
  const values: unknown[] = [projectId];
  const conditions = ['e.project_id = $1'];
  const where = (condition: (parameter: string) => string, value: unknown) => {
    if (value == null) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  where((parameter) => `e.actor_id = ${parameter}`, actorId);
  where((parameter) => `e.action = ${parameter}`, action);
  where(
    (parameter) => `split_part(e.target_id, '_', 1) = ${parameter}`,
    targetKind == null ? null : prefixOfKind(targetKind),
  );
  where((parameter) => `e.target_id = ${parameter}`, targetId);
  where((parameter) => `e.id >= ${parameter}`, since == null ? null : idsFrom('aud', since));
  where((parameter) => `e.id < ${parameter}`, until == null ? null : idsFrom('aud', until));
  return { from: `FROM audit_entries e WHERE ${conditions.join(' AND ')}`, values };
}

function filterProblems({ actorId, action, targetKind, targetId }: EntryFilter): FieldProblem[] {
  const problem = (field: keyof EntryFilter, message: string) => ({ field, message });
  return [
    ...(actorId == null || isId('usr', actorId) || isId('key', actorId)
      ? []
      : [problem('actorId', 'must be the id of a user or an API key')]),
    ...(action == null || isAction(action) ? [] : [problem('action', 'is not an action')]),
    ...(targetKind == null || prefixOfKind(targetKind) !== undefined
      ? []
      : [problem('targetKind', 'is not a kind of object')]),
    ...(targetId == null || (kindOf(targetId) !== null && isId(prefixOf(targetId), targetId))
      ? []
      : [problem('targetId', 'must be the id of an object')]),
  ];
}

const prefixOf = (id: string) => id.slice(0, id.indexOf('_')) as IdPrefix;

const prefixOfKind = (kind: string): string | undefined =>
  Object.entries(ID_PREFIXES).find(([, name]) => name === kind)?.[0];

/** The entries of a project that pass a filter, newest first. */
export function listEntries(projectId: string, filter: EntryFilter, page: PageArgs): Promise<Page<Entry>> {
  const { from, values } = entriesSql(projectId, filter);
  return readPage(
    'aud',
    page,
    async ({ limit, before }) => {
      const onPage = before === undefined ? '' : `AND e.id < $${values.length + 2}`;
      const { rows } = await pool.query<Entry>(
        `SELECT ${COLUMNS} ${from} ${onPage} ORDER BY e.id DESC LIMIT $${values.length + 1}`,
        [...values, limit, ...(before === undefined ? [] : [before])],
      );
      return rows;
    },
    (limit) => countUpTo(limit, `SELECT ${from}`, values),
  );
}

/** Entries of a project by id. */
export async function findEntries(projectId: string, ids: readonly string[]): Promise<Entry[]> {
  const { rows } = await pool.query<Entry>(
    `SELECT ${COLUMNS} FROM audit_entries e WHERE e.project_id = $1 AND e.id = ANY ($2)`,
    [projectId, ids],
  );
  return rows;
}

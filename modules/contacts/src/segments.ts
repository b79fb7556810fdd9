import { PROJECTS_OF_GROUPS } from '@postroom/groups/sql';
import { PROJECTS_OF_JOURNEYS } from '@postroom/journeys/sql';
import {
  checkVersion,
  nameContains,
  assertValid,
  cachedAggregate,
  conflictIfTaken,
  db,
  invalid,
  isId,
  newId,
  notFound,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readRows,
  coalesceReads,
  runCostly,
  versionConflict,
  checkDisplayName,
  checkLimit,
} from '@postroom/platform';
import { schemaOf } from './custom-fields.ts';
import { deletedInEach } from './deleted-names.ts';
import { customEventRetention } from '@postroom/projects';
import {
  compileFilter,
  type EventDays,
  isBehavioral,
  Parameters,
  readFilter,
  type SegmentFilter,
} from '@postroom/segment-filters';

/** A saved segment. Its filter was checked when it was saved. */
export type Segment = Prisma.SegmentModel & { filter: SegmentFilter };

/** Contact lists evaluate every segment for every contact shown. */
const MAX_SEGMENTS = 100;
/** How many contacts a preview shows. */
const PREVIEW_CONTACTS = 10;

/** The project's segments, newest first; only those whose name contains `search`, ignoring case. */
export async function listSegments(
  projectId: string,
  { search, ...page }: PageArgs & { search?: string | null | undefined },
): Promise<Page<Segment>> {
  return readRows(db.segment, 'seg', page, { projectId, ...nameContains(search) });
}

/** The project's segments with these ids, in any order; ids that do not exist are omitted. */
export async function findSegments(projectId: string, ids: string[]): Promise<Segment[]> {
  const rows = await db.segment.findMany({ where: { projectId, id: { in: ids } } });
  return rows.map(asSegment);
}

/** A segment of the project, or `not_found`. */
export async function getSegment(projectId: string, id: string): Promise<Segment> {
  const [segment] = isId('seg', id) ? await findSegments(projectId, [id]) : [];
  if (segment === undefined) throw notFound('segment');
  return segment;
}

/**
 * Saves a filter over the project's contacts under a name. `authorId` is the editor: `usr_…` or `key_…`.
 * @throws DomainError `validation_error` naming the problems of the filter by path; `conflict` when the name is taken.
 */
export async function createSegment(
  projectId: string,
  authorId: string,
  input: { name: string; filter?: unknown },
): Promise<Segment> {
  const name = checkDisplayName(input.name);
  const filter = await checkSegmentFilter(projectId, input.filter);
  const data = { id: newId('seg'), projectId, editedById: authorId, name, filter: filter as Prisma.InputJsonValue };
  const row = await db.$transaction(async (tx) => {
    const created = await tx.segment.create({ data }).catch(nameTaken(name));
    const limit = { of: projectId, rows: 'segments', max: MAX_SEGMENTS };
    await checkLimit(tx, limit, () => tx.segment.count({ where: { projectId } }));
    return created;
  });
  return asSegment(row);
}

/**
 * Renames a segment, replaces its filter, or both. If two edits name the same version, one is rejected, even if they
 * are concurrent.
 * @throws DomainError as `createSegment`, or `not_found`; `conflict` when `version` is no longer current.
 */
export async function updateSegment(
  projectId: string,
  authorId: string,
  id: string,
  input: { name?: string | null | undefined; filter?: unknown; version?: number | null | undefined },
): Promise<Segment> {
  const current = await getSegment(projectId, id);
  const name = input.name == null ? undefined : checkDisplayName(input.name);
  const filter = input.filter == null ? undefined : await checkSegmentFilter(projectId, input.filter);
  if (name === undefined && filter === undefined) {
    checkVersion('segment', input.version, current.version);
    return current;
  }
  const where = { id, projectId, ...(input.version == null ? {} : { version: input.version }) };
  const data = {
    ...(name !== undefined && { name }),
    ...(filter && { filter: filter as Prisma.InputJsonValue }),
    version: { increment: 1 },
    editedById: authorId,
  };
  const { count } = await db.$transaction((tx) => tx.segment.updateMany({ where, data })).catch(nameTaken(name ?? ''));
  const segment = await getSegment(projectId, id);
  if (count === 0) throw versionConflict('segment');
  return segment;
}

/** Deletes a segment; its contacts stay. */
export async function deleteSegment(projectId: string, id: string): Promise<void> {
  const { count } = isId('seg', id) ? await db.segment.deleteMany({ where: { id, projectId } }) : { count: 0 };
  if (count === 0) throw notFound('segment');
}

/** What each of some saved filters names but was deleted: nobody can tell which contacts such a filter selects. */
export const problemsOfFilters = (projectId: string, filters: readonly SegmentFilter[]) =>
  deletedInEach(
    pool,
    projectId,
    filters.map((filter) => ({ field: 'filter', filter })),
  );

/** Counts the contacts that match each filter now, in one statement; counts are in filter order. */
export async function countFilters(projectId: string, filters: readonly SegmentFilter[]): Promise<number[]> {
  const parameters = new Parameters();
  const project = parameters.add(projectId);
  const counts = filters.map(
    (filter) =>
      `(SELECT count(*)::int FROM contacts c WHERE c.project_id = ${project} AND ${compileFilter(filter, parameters)})`,
  );
  const text = `SELECT ARRAY[${counts.join(', ')}]::int[] AS counts`;
  const { rows } = await runCostly(projectId, () => pool.query<{ counts: number[] }>(text, parameters.values));
  return rows[0]?.counts ?? [];
}

/** The number of contacts that match a filter, and the ids of the newest. */
interface Matches {
  count: number;
  newest: string[];
}

/** See docs/decisions/aggregate-caching.md. */
const cachedMatches = cachedAggregate<Matches>();

/** The contacts that match a filter; those of a behavioral one from the cache if the project is large. */
export async function matchesOf(projectId: string, filter: SegmentFilter): Promise<Matches> {
  const read = () => runCostly(projectId, () => readMatches(projectId, filter));
  return isBehavioral(filter) ? cachedMatches(JSON.stringify([projectId, filter]), read) : (await read()).result;
}

/** Evaluates the filter once per contact of the project, whose number is `rows`. */
async function readMatches(projectId: string, filter: SegmentFilter): Promise<{ result: Matches; rows: number }> {
  const parameters = new Parameters();
  const ofProject = `contacts c WHERE c.project_id = ${parameters.add(projectId)}`;
  const { rows } = await pool.query<Matches & { rows: number }>(
    `WITH matching AS MATERIALIZED (SELECT c.id FROM ${ofProject} AND ${compileFilter(filter, parameters)})
     SELECT (SELECT count(*)::int FROM matching) AS count,
       ${isBehavioral(filter) ? `(SELECT count(*)::int FROM ${ofProject})` : '0'} AS rows,
       ARRAY(SELECT id FROM matching ORDER BY id DESC LIMIT ${PREVIEW_CONTACTS}) AS newest`,
    parameters.values,
  );
  const { rows: size = 0, ...result } = rows[0] ?? { count: 0, newest: [] };
  return { result, rows: size };
}

/** Counts as `countFilters` does, but behavioral filters over many contacts not on each call. */
export async function countSegments(projectId: string, filters: readonly SegmentFilter[]): Promise<number[]> {
  const others = filters.filter((filter) => !isBehavioral(filter));
  const counts = others.length === 0 ? [] : await countFilters(projectId, others);
  const countOf = new Map(others.map((filter, index) => [filter, counts[index] ?? 0]));
  return Promise.all(filters.map(async (filter) => countOf.get(filter) ?? (await matchesOf(projectId, filter)).count));
}

type Definition = Pick<Segment, 'id' | 'name' | 'filter'>;

/** A project's segments ordered by name; every contact list reads them. */
const definitionsOf = coalesceReads<Definition[]>(async (projectIds) => {
  const { rows } = await pool.query<Definition & { project_id: string }>({
    name: 'segments',
    text: 'SELECT project_id, id, name, filter FROM segments WHERE project_id = ANY ($1) ORDER BY name, id',
    values: [projectIds],
  });
  return Map.groupBy(rows, ({ project_id }) => project_id);
});

/**
 * The segments of each contact, by contact id and ordered by name; those that name what was deleted have no contacts. Uses one statement
 * for the definitions and one for all contacts, and up to two for what the definitions name.
 */
export async function segmentsOf(
  projectId: string,
  contactIds: readonly string[],
): Promise<Map<string, { id: string; name: string }[]>> {
  const segments = (await definitionsOf(projectId)) ?? [];
  if (segments.length === 0 || contactIds.length === 0) return new Map();
  const parameters = new Parameters({ fewContacts: true });
  const ids = parameters.add(contactIds);
  const project = parameters.add(projectId);
  const memberships = segments.map(({ filter }) => compileFilter(filter, parameters));
  const { rows } = await pool.query<{ id: string; memberships: boolean[] }>(
    `SELECT c.id, ARRAY[${memberships.join(', ')}] AS memberships FROM contacts c WHERE c.id = ANY (${ids}) AND c.project_id = ${project}`,
    parameters.values,
  );
  const problemsOf = await problemsOfFilters(
    projectId,
    segments.map(({ filter }) => filter),
  );
  return new Map(
    rows.map((row) => [
      row.id,
      segments
        .filter((_segment, index) => row.memberships[index] === true && problemsOf[index]?.length === 0)
        .map(({ id, name }) => ({ id, name })),
    ]),
  );
}

/**
 * Validates a filter; `field` is what errors call it.
 * @throws DomainError `validation_error` naming its problems by path.
 */
export async function checkSegmentFilter(projectId: string, given: unknown, field = 'filter'): Promise<SegmentFilter> {
  const { filter, groupIds, journeyIds, eventDays, problems } = readFilter(given, await schemaOf(projectId));
  assertValid(problems.map((problem) => ({ ...problem, field: problem.field.replace(/^filter/, field) })));
  await checkIds(projectId, 'group', groupIds, field);
  await checkIds(projectId, 'journey', journeyIds, field);
  await checkEventDays(projectId, eventDays, field);
  return filter;
}

async function checkEventDays(projectId: string, conditions: readonly EventDays[], field: string): Promise<void> {
  if (conditions.length === 0) return;
  const kept = await customEventRetention(projectId);
  const tooMany = conditions.filter(({ days }) => days > kept);
  const message = `must be at most ${kept}: the project keeps events for ${kept} days`;
  assertValid(tooMany.map((each) => ({ field: each.field.replace(/^filter/, field), message })));
}

const projectsBy = (statement: string) =>
  coalesceReads<string>(async (ids) => {
    const { rows } = await pool.query<{ id: string; projectId: string }>(statement, [ids]);
    return new Map(rows.map(({ id, projectId }) => [id, projectId]));
  });
const PROJECT_OF = { group: projectsBy(PROJECTS_OF_GROUPS), journey: projectsBy(PROJECTS_OF_JOURNEYS) };

async function checkIds(
  projectId: string,
  kind: keyof typeof PROJECT_OF,
  ids: readonly string[],
  field: string,
): Promise<void> {
  const projects = await Promise.all(ids.map((id) => PROJECT_OF[kind](id)));
  const absent = ids.find((_, index) => projects[index] !== projectId);
  if (absent !== undefined) throw invalid({ field, message: `${absent} is not a ${kind} of this project` });
}

const nameTaken = (name: string) => conflictIfTaken('name', `A segment named "${name}" already exists.`);

const asSegment = (row: Prisma.SegmentModel) => row as Segment;

import {
  camelKeys,
  type Definition,
  type DefinitionProblem,
  graphProblems,
  parseDefinition,
} from '@postroom/journey-definition';
import { notify } from '@postroom/notifications';
import {
  nameContains,
  announce,
  assertValid,
  checkVersion,
  checkJsonObject,
  conflictIfTaken,
  db,
  defineIdPrefix,
  DomainError,
  emptyUpdate,
  type FieldProblem,
  inTransaction,
  isId,
  checkDisplayName,
  lockUntilCommit,
  newId,
  notFound,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readRows,
  type RowsQuery,
  sql,
  type Tx,
  versionConflict,
} from '@postroom/platform';
import { checkReferences } from './check-references.ts';
import { applyToPage, type InProgress } from './new-version.ts';
import { discardWaiting, type WaitingEvents } from './waiting-events.ts';
import { planEntryScan, removeEntryScan, writeListeners } from './listeners.ts';

export type Journey = Prisma.JourneyModel;
export const JOURNEY_ID = defineIdPrefix('jrn', 'journey');

/** The most journeys of a project that are not archived. */
const MAX_JOURNEYS = 200;
/** The longest definition, in characters of JSON. */
export const MAX_DEFINITION_LENGTH = 256 * 1024;

/** The topic that the dispatcher listens to. */
export const JOURNEYS = 'journeys';

/** @throws DomainError `not_found`. */
export async function getJourney(projectId: string, id: string, query: RowsQuery = {}): Promise<Journey> {
  const journey = isId(JOURNEY_ID, id) ? await db.journey.findFirst({ ...query, where: { id, projectId } }) : null;
  if (journey === null) throw notFound('journey');
  return journey;
}

/** The project's journeys, newest first; archived ones only if asked for. `search` is part of the name, ignoring case. */
export const listJourneys = (
  projectId: string,
  {
    status,
    search,
    ...page
  }: PageArgs & { status?: Journey['status'] | null | undefined; search?: string | null | undefined },
): Promise<Page<Journey>> =>
  readRows(db.journey, JOURNEY_ID, page, { projectId, status: status ?? { not: 'archived' }, ...nameContains(search) });

/** The project's journeys with these ids. */
export const findJourneys = (projectId: string, ids: string[]): Promise<Journey[]> =>
  db.journey.findMany({ where: { projectId, id: { in: ids } } });

/**
 * Saves a draft. It may be incomplete: `problemsOf` lists what keeps it from being published.
 * @throws DomainError `validation_error`, `conflict` when the name is taken or the project has too many journeys.
 */
export async function createJourney(
  projectId: string,
  authorId: string,
  input: { name: string; definition?: unknown },
): Promise<Journey> {
  const name = checkDisplayName(input.name);
  const draft = checkDraft(input.definition ?? { entry: { type: 'manual' }, steps: [] });
  return db.$transaction(async (tx) => {
    await lockUntilCommit(tx, `journeys ${projectId}`);
    if ((await tx.journey.count({ where: { projectId, status: { not: 'archived' } } })) >= MAX_JOURNEYS)
      throw new DomainError('conflict', `A project has at most ${MAX_JOURNEYS} journeys. Archive one first.`);
    return tx.journey
      .create({ data: { id: newId(JOURNEY_ID), projectId, name, draft, editedById: authorId } })
      .catch(nameTaken(name));
  });
}

/**
 * Renames a journey, replaces its draft, or both. Contacts in the journey are not affected until the draft is published.
 * @throws DomainError as `createJourney`, or `not_found`; `conflict` when `version` is no longer current or it is archived.
 */
export async function updateJourney(
  projectId: string,
  authorId: string,
  id: string,
  input: { name?: string | null | undefined; definition?: unknown; version?: number | null | undefined },
): Promise<void> {
  const journey = await getJourney(projectId, id);
  if (input.name == null && input.definition == null) throw emptyUpdate();
  const data = {
    ...(input.name == null ? {} : { name: checkDisplayName(input.name) }),
    ...(input.definition == null ? {} : { draft: checkDraft(input.definition) }),
    version: { increment: 1 },
    editedById: authorId,
  };
  if (journey.status === 'archived') throw new DomainError('conflict', 'An archived journey can no longer be changed.');
  const where = { id, projectId, ...(input.version == null ? {} : { version: input.version }) };
  const { count } = await db
    .$transaction((tx) => tx.journey.updateMany({ where, data }))
    .catch(nameTaken(input.name ?? ''));
  if (count === 0) throw versionConflict('journey');
}

/** What keeps a draft from being published, by field; each problem of a step names it. */
export async function problemsOf(projectId: string, draft: unknown): Promise<DefinitionProblem[]> {
  return (await checkDefinition(projectId, draft)).problems;
}

/** The definition with normalized filters, and what keeps it from being published. */
export async function checkDefinition(
  projectId: string,
  draft: unknown,
): Promise<{ definition?: Definition; problems: DefinitionProblem[] }> {
  const parsed = parseDefinition(draft);
  if (parsed.definition === undefined) return parsed;
  const checked = await checkReferences(projectId, parsed.definition);
  return { ...checked, problems: [...graphProblems(parsed.definition), ...checked.problems] };
}

/**
 * Publishes the draft as the next version, which contacts enter from then on, and starts the journey. `inProgress` says what
 * happens to contacts that are on earlier versions: to a page of them now, to the others by the worker, before anyone takes a step.
 * @throws DomainError `not_found`; `validation_error` with every problem of the definition; `conflict` if it is archived, or
 * was modified since `version`.
 */
export async function publishJourney(
  projectId: string,
  authorId: string,
  id: string,
  { inProgress = 'finish', version }: { inProgress?: InProgress | undefined; version?: number | null | undefined },
): Promise<void> {
  const journey = await getJourney(projectId, id);
  checkVersion('journey', version, journey.version);
  const { definition, problems } = await checkDefinition(projectId, journey.draft);
  assertValid(problems);
  if (definition === undefined) return;
  await inTransaction(async (tx) => {
    const locked = await lockJourney(tx, id);
    if (locked?.version !== journey.version) throw versionConflict('journey');
    if (locked.status === 'archived') throw new DomainError('conflict', 'An archived journey cannot be published.');
    const number = (locked.publishedVersion ?? 0) + 1;
    await sql(
      tx,
      `INSERT INTO journey_versions (journey_id, number, definition, published_by_id, unapplied) VALUES ($1, $2, $3::jsonb, $4, $5)`,
      [id, number, JSON.stringify(definition), authorId, number > 1 && inProgress !== 'finish' ? inProgress : null],
    );
    await sql(
      tx,
      `UPDATE journeys SET published_version = $2, published_at = now(), updated_at = now(), paused_reason = NULL,
         status = 'active' WHERE id = $1`,
      [id, number],
    );
    if (!(await applyToPage(tx, { id, projectId }))) await writeListeners(tx, { id, projectId });
    await planEntryScan(tx, id, definition);
    await announce(tx, JOURNEYS);
  });
}

/** A journey that is locked until the transaction ends: no contact moves in it meanwhile, and none enters. */
export interface LockedJourney {
  id: string;
  projectId: string;
  status: Journey['status'];
  version: number;
  publishedVersion: number | null;
  /** As the text of PostgreSQL, which has microseconds. */
  updatedAt: string;
}

/** Locks a journey against transitions; undefined if it has been deleted. */
export async function lockJourney(tx: Tx, id: string): Promise<LockedJourney | undefined> {
  const [journey] = await sql<LockedJourney>(
    tx,
    `SELECT id, project_id AS "projectId", status::text, version, published_version AS "publishedVersion", updated_at::text AS "updatedAt"
     FROM journeys WHERE id = $1 FOR NO KEY UPDATE`,
    [id],
  );
  return journey;
}

/**
 * Pauses a journey for all contacts. Nothing is sent and nobody moves; what happens meanwhile is processed on resume.
 * @throws DomainError `not_found`, `conflict` unless it is active.
 */
export async function pauseJourney(projectId: string, id: string): Promise<void> {
  await getJourney(projectId, id);
  await changeStatus(id, 'active', `status = 'paused', paused_reason = NULL`, 'Only an active journey can be paused.');
}

/** A journey that was published, as it was when work on it began. */
export interface PublishedJourney {
  id: string;
  projectId: string;
  status: Journey['status'];
  publishedVersion: number;
  /** As the text of PostgreSQL, which has microseconds. */
  updatedAt: string;
}

/** The journey, if it was ever published. */
export async function readPublished(id: string): Promise<PublishedJourney | undefined> {
  const [journey] = await sql<PublishedJourney>(
    pool,
    `SELECT id, project_id AS "projectId", status::text, published_version AS "publishedVersion", updated_at::text AS "updatedAt"
     FROM journeys WHERE id = $1 AND published_version IS NOT NULL`,
    [id],
  );
  return journey;
}

/** The journey, if it is active. */
export async function readActive(id: string): Promise<PublishedJourney | undefined> {
  const journey = await readPublished(id);
  return journey?.status === 'active' ? journey : undefined;
}

/**
 * Pauses a journey that can't go on, says why, and notifies. Has no effect if it was modified since it was read: another version or a
 * resumption may have solved the problem, and if not, the next attempt finds it again.
 */
export async function pauseAutomatically(
  { id, updatedAt }: Pick<PublishedJourney, 'id' | 'updatedAt'>,
  reason: string,
): Promise<void> {
  await inTransaction(async (tx) => {
    const [paused] = await sql<{ name: string; projectId: string }>(
      tx,
      `UPDATE journeys SET status = 'paused', paused_reason = $2, updated_at = now()
       WHERE id = $1 AND status = 'active' AND updated_at = $3 RETURNING name, project_id AS "projectId"`,
      [id, reason.slice(0, 500), updatedAt],
    );
    if (paused === undefined) return;
    await notify(tx, paused.projectId, {
      kind: 'journey_paused',
      subjectId: id,
      title: `The journey "${paused.name}" was paused`,
      detail: reason,
      advice: 'Contacts stay at their steps until you fix the problem and resume the journey:',
    });
  });
}

/** Why a journey is paused whose entry names what was deleted. */
export const nobodyEnters = ({ field, message }: FieldProblem) => `Nobody can enter: ${field} ${message}.`;

const RESTORED =
  'The database was restored to an earlier time. Steps carried out after that time are lost, and resuming repeats them: move or remove the contacts that had continued, or archive the journey.';

/**
 * Pauses all active journeys of the installation after a restore: their runs are where they were at the restored point, so
 * contacts would get the messages since then again.
 * @returns how many there were.
 */
export async function pauseAfterRestore(): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE journeys SET status = 'paused', paused_reason = $1, updated_at = now() WHERE status = 'active'`,
    [RESTORED],
  );
  return rowCount ?? 0;
}

/**
 * Resumes a paused journey. Steps that fell due during the pause are carried out now; `waiting` says whether triggers
 * that arrived meanwhile are processed.
 * @throws DomainError `not_found`, `conflict` unless it is paused.
 */
export async function resumeJourney(projectId: string, id: string, waiting: WaitingEvents = 'process'): Promise<void> {
  await getJourney(projectId, id);
  await changeStatus(
    id,
    'paused',
    `status = 'active', paused_reason = NULL`,
    'Only a paused journey can be resumed.',
    async (tx) => {
      if (waiting === 'discard') await discardWaiting(tx, id);
    },
  );
}

/**
 * Archives a journey for good: all runs end, a page of them now and the others by the worker.
 * @throws DomainError `not_found`, `conflict` if it is archived.
 */
export async function archiveJourney(projectId: string, id: string): Promise<void> {
  await getJourney(projectId, id);
  await inTransaction(async (tx) => {
    const journey = await lockJourney(tx, id);
    if (journey === undefined || journey.status === 'archived')
      throw new DomainError('conflict', 'This journey is already archived.');
    await sql(tx, `UPDATE journeys SET status = 'archived', updated_at = now() WHERE id = $1`, [id]);
    await sql(tx, 'DELETE FROM journey_listeners WHERE journey_id = $1', [id]);
    await removeEntryScan(tx, id);
    await sql(tx, 'DELETE FROM journey_triggers WHERE journey_id = $1', [id]);
    await sql(
      tx,
      `UPDATE journey_versions SET unapplied = CASE WHEN number = $2 THEN 'archive' END, applied_to = '' WHERE journey_id = $1`,
      [id, journey.publishedVersion],
    );
    await applyToPage(tx, { id, projectId });
    await announce(tx, JOURNEYS);
  });
}

/** Changes a journey in status `from`; `set` is SQL. @throws DomainError `conflict` with the message `otherwise` in any other status. */
async function changeStatus(
  id: string,
  from: Journey['status'],
  set: string,
  otherwise: string,
  then?: (tx: Tx) => Promise<void>,
): Promise<void> {
  await inTransaction(async (tx) => {
    const changed = await sql(
      tx,
      `UPDATE journeys SET ${set}, updated_at = now() WHERE id = $1 AND status = $2::journey_status RETURNING id`,
      [id, from],
    );
    if (changed.length === 0) throw new DomainError('conflict', otherwise);
    await then?.(tx);
    await announce(tx, JOURNEYS);
  });
}

const checkDraft = (given: unknown) =>
  camelKeys(checkJsonObject('definition', given, MAX_DEFINITION_LENGTH)) as Prisma.InputJsonObject;

const nameTaken = (name: string) => conflictIfTaken('name', `A journey named "${name}" already exists.`);

import type { Definition } from '@postroom/journey-definition';
import { compileFilter, deletedNames, lockContacts, Parameters, type SegmentFilter } from '@postroom/contacts';
import {
  announce,
  checkJsonObject,
  countUpTo,
  databaseNow,
  databaseTime,
  db,
  defineIdPrefix,
  DomainError,
  emailKey,
  type FieldProblem,
  inTransaction,
  invalid,
  isId,
  MAX_TOTAL,
  newId,
  notFound,
  type Page,
  type PageArgs,
  pool,
  type Prisma,
  readRows,
  runCostly,
  sql,
  type Tx,
} from '@postroom/platform';
import { getJourney, JOURNEYS, lockJourney, nobodyEnters, pauseAutomatically } from './journeys.ts';
import { writeListeners } from './listeners.ts';
import { numberedPage } from './numbered-page.ts';
import { getStep, type Refusal, refusalOf } from './rules.ts';
import { computeArrivals, type Move, moveRuns, type Run, RUN_COLUMNS } from './transitions.ts';
import { definitionOf } from './versions.ts';

export type Enrollment = Prisma.EnrollmentModel;
export const ENROLLMENT_ID = defineIdPrefix('enr', 'enrollment');

/** The most contacts per request. */
export const MAX_ENROLLED = 1000;
/** The longest properties of an entry, in characters of JSON. */
const MAX_PROPERTIES_LENGTH = 16_384;

/** A contact that is to enter a journey. */
export interface Entrant {
  contactId: string;
  /** The properties of the event that it enters with. */
  properties: Record<string, unknown>;
  /** When the event was received; now if omitted. */
  at?: Date;
}

/** The outcome of an entrant. */
export type EntryOutcome = 'enrolled' | 'unknown' | Refusal;

/** The locked journey and its newest version. */
export interface OpenJourney {
  id: string;
  projectId: string;
  number: number;
  definition: Definition;
  /** As the text of PostgreSQL, which has microseconds. */
  updatedAt: string;
}

/** Nobody can enter a journey, as its entry filter names what was deleted: a NOT about a deleted group would let everyone in. */
export class EntryProblem extends DomainError {
  readonly journey: OpenJourney;

  constructor(journey: OpenJourney, problem: FieldProblem) {
    super('conflict', nobodyEnters(problem));
    this.journey = journey;
  }
}

/**
 * Runs a transaction in which contacts enter journeys. Pauses a journey that nobody can enter, and says why; the transaction then has no
 * effect.
 * @throws EntryProblem
 */
export async function inEntryTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await inTransaction(work);
  } catch (error) {
    if (error instanceof EntryProblem) await pauseAutomatically(error.journey, error.message);
    throw error;
  }
}

const LAST_RUNS = `
  SELECT DISTINCT ON (contact_id) contact_id AS "contactId", entered_at AS "enteredAt", ended_at IS NULL AS "isOpen"
  FROM enrollments WHERE journey_id = $1 AND contact_id = ANY ($2) ORDER BY contact_id, entered_at DESC`;

/** The unique index lets one of two concurrent entries through. */
const ENROLL = `
  INSERT INTO enrollments (id, project_id, journey_id, contact_id, version, step_id, due_at, waits_for, properties, entered_at,
    end_reason, ended_at, status)
  SELECT n.id, $1, $2, n.contact_id, $3, n.step_id, n.due_at, n.waits_for, n.properties, n.entered_at, n.end_reason,
    CASE WHEN n.end_reason IS NOT NULL THEN now() END,
    CASE WHEN n.end_reason IS NULL THEN 'active' WHEN n.end_reason = 'completed' THEN 'completed' ELSE 'exited' END::enrollment_status
  FROM unnest($4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::text[], $9::jsonb[], $10::timestamptz[], $11::text[])
    AS n(id, contact_id, step_id, due_at, waits_for, properties, entered_at, end_reason)
  -- Looked up by id alone: PostgreSQL would read all contacts of the project for each if its statistics are older than those.
  JOIN LATERAL (SELECT project_id FROM contacts WHERE id = n.contact_id OFFSET 0) AS c ON c.project_id = $1
  ORDER BY n.contact_id ON CONFLICT (journey_id, contact_id) WHERE ended_at IS NULL DO NOTHING RETURNING contact_id AS "contactId"`;

/**
 * Lets contacts enter a journey at its first step, in the caller's `inEntryTransaction`, which has locked it. The contacts must differ.
 * @returns the outcome of each, in order.
 * @throws EntryProblem
 */
export async function enroll(tx: Tx, journey: OpenJourney, entrants: readonly Entrant[]): Promise<EntryOutcome[]> {
  const { id, projectId, number, definition } = journey;
  const outcomes = new Map<string, EntryOutcome>(entrants.map(({ contactId }) => [contactId, 'unknown']));
  const ids = [...outcomes.keys()];
  // One that is deleted meanwhile would leave a run that nothing ends, with what is known of the person.
  await lockContacts(tx, projectId, { ids, keys: [] });
  const found = await sql<{ id: string; customFields: Record<string, unknown> }>(
    tx,
    'SELECT id, custom_fields AS "customFields" FROM contacts WHERE project_id = $1 AND id = ANY ($2)',
    [projectId, ids],
  );
  const contacts = new Map(found.map((contact) => [contact.id, contact]));
  const { filter } = definition.entry;
  const matching = filter === undefined ? new Set(ids) : await contactsMatching(tx, projectId, filter, ids);
  if (filter !== undefined) await checkEntryFilter(tx, journey, filter);
  const last = await sql<{ contactId: string; enteredAt: Date; isOpen: boolean }>(tx, LAST_RUNS, [id, ids]);
  const lastOf = new Map(last.map((run) => [run.contactId, run]));
  const now = databaseNow();
  const entering = entrants.filter(({ contactId }) => {
    if (!contacts.has(contactId)) return false;
    const refusal = refusalOf(definition, lastOf.get(contactId), { isMatching: matching.has(contactId), now });
    if (refusal !== undefined) outcomes.set(contactId, refusal);
    return refusal === undefined;
  });
  if (entering.length === 0) return [...outcomes.values()];
  const start = definition.steps[0]?.id ?? null;
  const places = await computeArrivals(
    tx,
    projectId,
    entering.map(({ contactId, at = databaseTime() }) => ({
      definition,
      to: start,
      from: start ?? '',
      contactId,
      enteredAt: at,
      customFields: contacts.get(contactId)?.customFields ?? {},
    })),
  );
  const enrolled = await sql<{ contactId: string }>(tx, ENROLL, [
    projectId,
    id,
    number,
    entering.map(() => newId(ENROLLMENT_ID)),
    entering.map(({ contactId }) => contactId),
    places.map(({ stepId }) => stepId),
    places.map(({ dueAt }) => dueAt),
    places.map(({ waitsFor }) => waitsFor),
    entering.map(({ properties }) => JSON.stringify(properties)),
    entering.map(({ at = databaseTime() }) => at),
    places.map(({ endReason }) => endReason),
  ]);
  for (const { contactId } of entering) outcomes.set(contactId, 'in_progress');
  for (const { contactId } of enrolled) outcomes.set(contactId, 'enrolled');
  return [...outcomes.values()];
}

async function checkEntryFilter(tx: Tx, journey: OpenJourney, filter: object): Promise<void> {
  const filters = [{ field: 'entry.filter', filter: filter as SegmentFilter }];
  const [problem] = await deletedNames(tx, journey.projectId, filters);
  if (problem !== undefined) throw new EntryProblem(journey, problem);
}

/** Those of the contacts that match a filter, which `checkReferences` has checked. */
export const contactsMatching = (
  tx: Tx,
  projectId: string,
  filter: object,
  ids: readonly string[],
): Promise<Set<string>> =>
  contactsWhere(tx, projectId, ids, (parameters) => compileFilter(filter as SegmentFilter, parameters));

/** Those of the contacts that pass an SQL condition on `c`. */
async function contactsWhere(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
  condition: (parameters: Parameters) => string | Promise<string>,
): Promise<Set<string>> {
  const parameters = new Parameters({ fewContacts: true });
  const project = parameters.add(projectId);
  const list = parameters.add(ids);
  const rows = await sql<{ id: string }>(
    tx,
    `SELECT c.id FROM contacts c WHERE c.project_id = ${project} AND c.id = ANY (${list}) AND ${await condition(parameters)}`,
    parameters.values,
  );
  return new Set(rows.map(({ id }) => id));
}

/** A contact in a request, by id or address, and its outcome. */
export interface EntryResult {
  index: number;
  contactId: string | null;
  outcome: EntryOutcome;
}

export interface EnrollInput {
  contactIds?: readonly string[] | null | undefined;
  emails?: readonly string[] | null | undefined;
  /** As of an event: conditions and templates of the journey may use them. */
  properties?: unknown;
}

/**
 * Lets contacts enter an active journey, regardless of its entry. Results are in the order of the request, ids first.
 * @throws DomainError `not_found`, `validation_error`, `conflict` unless the journey is active, or if nobody can enter it.
 */
export async function enrollContacts(projectId: string, journeyId: string, input: EnrollInput): Promise<EntryResult[]> {
  await getJourney(projectId, journeyId);
  const { contactIds, emails } = input;
  const count = (contactIds?.length ?? 0) + (emails?.length ?? 0);
  if (count === 0 || count > MAX_ENROLLED)
    throw invalid({ field: 'contactIds', message: `must name 1 to ${MAX_ENROLLED} contacts, together with emails` });
  const properties = checkJsonObject('properties', input.properties ?? {}, MAX_PROPERTIES_LENGTH);
  const { rows } = await pool.query<{ id: string; email_key: string }>(
    'SELECT id, email_key FROM contacts WHERE project_id = $1 AND email_key = ANY ($2)',
    [projectId, (emails ?? []).map((email) => emailKey(email.trim()))],
  );
  const idOf = new Map(rows.map((row) => [row.email_key, row.id]));
  const requested = [...(contactIds ?? []), ...(emails ?? []).map((email) => idOf.get(emailKey(email.trim())) ?? null)];
  const distinct = [...new Set(requested.filter((id) => id !== null))];
  const outcomes = await inEntryTransaction(async (tx) => {
    const journey = await openJourney(tx, journeyId);
    const entered = await enroll(
      tx,
      journey,
      distinct.map((contactId) => ({ contactId, properties })),
    );
    await announce(tx, JOURNEYS);
    return new Map(distinct.map((id, index) => [id, entered[index]]));
  });
  return requested.map((id, index) => {
    const outcome = (id === null ? undefined : outcomes.get(id)) ?? 'unknown';
    return { index, contactId: outcome === 'unknown' ? null : id, outcome };
  });
}

/** Locks a journey that contacts may enter. @throws DomainError `conflict` unless it is active. */
async function openJourney(tx: Tx, id: string): Promise<OpenJourney> {
  const journey = await lockJourney(tx, id);
  if (journey?.status !== 'active' || journey.publishedVersion === null)
    throw new DomainError('conflict', 'Contacts can only enter an active journey.');
  const { projectId, publishedVersion: number, updatedAt } = journey;
  return { id, projectId, number, updatedAt, definition: await definitionOf(tx, id, number) };
}

/** @throws DomainError `not_found`. */
export async function getEnrollment(projectId: string, id: string): Promise<Enrollment> {
  const enrollment = isId(ENROLLMENT_ID, id) ? await db.enrollment.findFirst({ where: { id, projectId } }) : null;
  if (enrollment === null) throw notFound('enrollment');
  return enrollment;
}

/** The project's enrollments with these ids. */
export const findEnrollments = (projectId: string, ids: string[]): Promise<Enrollment[]> =>
  db.enrollment.findMany({ where: { projectId, id: { in: ids } } });

interface EnrollmentFilter {
  journeyId?: string | null | undefined;
  contactId?: string | null | undefined;
  stepId?: string | null | undefined;
  status?: Enrollment['status'] | null | undefined;
}

const HAS_STEP = `
  SELECT FROM journeys j JOIN journey_versions v ON v.journey_id = j.id
  WHERE j.project_id = $1 AND ($2::text IS NULL OR j.id = $2)
    AND v.definition @> jsonb_build_object('steps', jsonb_build_array(jsonb_build_object('id', $3::text))) LIMIT 1`;

/** @throws DomainError `validation_error` unless a published version has the step. */
async function checkStep(projectId: string, journeyId: string | null | undefined, stepId: string): Promise<void> {
  const { rowCount } = await pool.query(HAS_STEP, [projectId, journeyId ?? null, stepId]);
  if (rowCount === 0) throw invalid({ field: 'stepId', message: 'is not a step of a published version' });
}

/**
 * Runs that match every filter, the latest first. The contact may have been deleted.
 * @throws DomainError `validation_error` without a journey or a contact, or for an unknown step; `not_found`.
 */
export async function listEnrollments(
  projectId: string,
  { journeyId, contactId, stepId, status, ...page }: PageArgs & EnrollmentFilter,
): Promise<Page<Enrollment>> {
  if (journeyId == null && contactId == null)
    throw invalid({ field: 'journeyId', message: 'is required, unless contactId is given' });
  if (journeyId != null) await getJourney(projectId, journeyId);
  if (contactId != null && !isId('ctc', contactId)) throw notFound('contact');
  if (stepId != null) await checkStep(projectId, journeyId, stepId);
  const where = {
    projectId,
    ...(journeyId == null ? {} : { journeyId }),
    ...(contactId == null ? {} : { contactId }),
    ...(stepId == null ? {} : { stepId }),
    ...(status == null ? {} : { status }),
  };
  return readRows(db.enrollment, ENROLLMENT_ID, page, where);
}

/** The runs of a journey by outcome. */
export interface RunCounts {
  active: number;
  paused: number;
  completed: number;
  exited: number;
  /** Of those that exited. */
  reachedGoal: number;
}

const NO_RUNS: RunCounts = { active: 0, paused: 0, completed: 0, exited: 0, reachedGoal: 0 };

const COUNT_RUNS = `
  SELECT journey_id AS "journeyId",
    ${['active', 'paused', 'completed', 'exited'].map((status) => `coalesce(sum(run_count) FILTER (WHERE status = '${status}'), 0)::int AS ${status}`).join(', ')},
    coalesce(sum(run_count) FILTER (WHERE reached_goal), 0)::int AS "reachedGoal"
  FROM journey_run_counts WHERE journey_id = ANY ($1) GROUP BY journey_id`;

/** Counts the runs of each of the project's journeys. Those that retention has deleted are not counted. */
export async function countRuns(projectId: string, ids: readonly string[]): Promise<Map<string, RunCounts>> {
  const { rows } = await runCostly(projectId, () => pool.query<RunCounts & { journeyId: string }>(COUNT_RUNS, [ids]));
  const known = new Map(rows.map(({ journeyId, ...counts }) => [journeyId, counts]));
  return new Map(ids.map((id) => [id, known.get(id) ?? NO_RUNS]));
}

/** A step that a run has left. */
export interface LeftStep {
  visit: number;
  stepId: string;
  arrivedAt: Date;
  leftAt: Date;
  outcome: string;
  detail: string | null;
  messageId: string | null;
}

const STEP_COLUMNS = `s.visit, s.step_id AS "stepId", s.arrived_at AS "arrivedAt", s.left_at AS "leftAt", s.outcome, s.detail,
  s.message_id AS "messageId"`;

/** The most steps that are read with their run. */
export const MAX_RECENT_STEPS = 50;

/** The last steps that runs have left, by run, in order. */
export async function recentSteps(ids: readonly string[]): Promise<Map<string, LeftStep[]>> {
  const { rows } = await pool.query<LeftStep & { enrollmentId: string }>(
    `SELECT n.id AS "enrollmentId", ${STEP_COLUMNS} FROM unnest($1::text[]) AS n(id) CROSS JOIN LATERAL (
       SELECT * FROM enrollment_steps WHERE enrollment_id = n.id ORDER BY visit DESC LIMIT ${MAX_RECENT_STEPS}) AS s
     ORDER BY n.id, s.visit`,
    [ids],
  );
  return Map.groupBy(rows, ({ enrollmentId }) => enrollmentId);
}

/**
 * The steps that a run has left, the last first.
 * @throws DomainError `not_found`, `validation_error` for a page size out of range or an invalid cursor.
 */
export async function listSteps(projectId: string, id: string, page: PageArgs): Promise<Page<LeftStep>> {
  await getEnrollment(projectId, id);
  const ofRun = 'FROM enrollment_steps s WHERE s.enrollment_id = $1';
  return numberedPage(page, {
    numberOf: ({ visit }) => visit,
    read: (before, limit) =>
      sql<LeftStep>(
        pool,
        `SELECT ${STEP_COLUMNS} ${ofRun} AND ($2::int IS NULL OR s.visit < $2) ORDER BY s.visit DESC LIMIT $3`,
        [id, before, limit],
      ),
    totalCount: () => countUpTo(MAX_TOTAL, `SELECT ${ofRun}`, [id]),
  });
}

/**
 * Ends the run of one contact.
 * @throws DomainError `not_found`, `conflict` if it has ended.
 */
export async function removeEnrollment(projectId: string, id: string): Promise<void> {
  await withRun(projectId, id, async (tx, { run, definition }) => {
    await moveOne(tx, projectId, { run, definition, outcome: 'removed', to: null, endReason: 'removed' });
  });
}

/**
 * Moves the run of one contact to another step of its version, which is carried out as if it had just been reached.
 * @throws DomainError `not_found`, `validation_error` for an unknown step, `conflict` if the run has ended.
 */
export async function moveEnrollment(projectId: string, id: string, stepId: string): Promise<void> {
  await withRun(projectId, id, async (tx, { run, definition, journeyId }) => {
    if (!definition.steps.some((step) => step.id === stepId))
      throw invalid({ field: 'stepId', message: `is not a step of version ${run.version}` });
    await moveOne(tx, projectId, { run, definition, outcome: 'moved', to: getStep(definition, stepId).id });
    await writeListeners(tx, { id: journeyId, projectId });
    await announce(tx, JOURNEYS);
  });
}

/**
 * Pauses the run of one contact, or resumes it. Its waits continue; steps that fall due meanwhile are carried out on resume.
 * @throws DomainError `not_found`, `conflict` if it has ended.
 */
export async function setEnrollmentPaused(projectId: string, id: string, paused: boolean): Promise<void> {
  await withRun(projectId, id, async (tx) => {
    await sql(tx, `UPDATE enrollments SET status = $2::enrollment_status WHERE id = $1`, [
      id,
      paused ? 'paused' : 'active',
    ]);
    await announce(tx, JOURNEYS);
  });
}

async function moveOne(tx: Tx, projectId: string, move: Move): Promise<void> {
  await moveRuns(tx, projectId, [move], true);
}

/** Runs `work` with an open run, while its journey is locked. */
async function withRun(
  projectId: string,
  id: string,
  work: (tx: Tx, open: { run: Run; definition: Definition; journeyId: string }) => Promise<void>,
): Promise<void> {
  const { journeyId } = await getEnrollment(projectId, id);
  await inTransaction(async (tx) => {
    await lockJourney(tx, journeyId);
    const [run] = await sql<Run>(
      tx,
      `SELECT ${RUN_COLUMNS} FROM enrollments e JOIN contacts c ON c.id = e.contact_id
       WHERE e.id = $1 AND e.ended_at IS NULL FOR UPDATE OF e`,
      [id],
    );
    if (run === undefined) throw new DomainError('conflict', 'This run has ended.');
    await work(tx, { run, journeyId, definition: await definitionOf(tx, journeyId, run.version) });
  });
}

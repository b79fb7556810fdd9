import { checkNames, contactBatch } from '@postroom/contacts';
import type { Definition } from '@postroom/journey-definition';
import { checkDefinition, definitionOf, getJourney, MAX_DEFINITION_LENGTH, outcomesOf } from '@postroom/journeys';
import {
  announce,
  assertValid,
  checkJsonObject,
  databaseTime,
  db,
  defineIdPrefix,
  DomainError,
  inTransaction,
  invalid,
  isId,
  lockUntilCommit,
  newId,
  notFound,
  type Page,
  type PageArgs,
  parseDateTime,
  pool,
  type Prisma,
  RateLimited,
  readRows,
  sql,
  startWorkflow,
  type WorkflowStart,
} from '@postroom/platform';
import { readConditions } from './conditions.ts';
import type { Assumptions } from './simulate.ts';
import type { Difference, Side } from './totals.ts';

export type Backtest = Prisma.BacktestModel;
export type BacktestContact = Prisma.BacktestContactModel;
export const BACKTEST_ID = defineIdPrefix('bkt', 'backtest');
export const CONTACT_ROW_ID = defineIdPrefix('bkc', 'contact of a backtest');

/** The most days that a backtest covers. */
export const MAX_DAYS = 90;
/** The most running backtests of a project. */
const MAX_RUNNING = 2;
/** The most backtests that are kept of a project. */
const MAX_KEPT = 10;

/** A definition, a published version of the journey, or its draft if both are omitted. */
interface GivenSide {
  definition?: unknown;
  version?: number | null | undefined;
}

export interface StartInput {
  journeyId?: string | null | undefined;
  days: number;
  candidate?: GivenSide | null | undefined;
  baseline?: GivenSide | null | undefined;
  /** Percent of the messages, by outcome. */
  assume?: Partial<Record<keyof Assumptions, number | null>> | null | undefined;
  /** Its contacts enter at the beginning. */
  segmentId?: string | null | undefined;
}

/** What is assumed of messages that were never sent: they arrive, and nobody reacts. */
const ASSUMED: Assumptions = { delivered: 100, opened: 0, clicked: 0, bounced: 0, complained: 0, unsubscribed: 0 };

/**
 * Starts a backtest. A workflow carries it out page by page, so it survives restarts. The oldest ones make room for it.
 * @throws DomainError `validation_error` with every problem of the definitions, or what conditions name but was deleted; `not_found` for
 * the journey, version or segment; RateLimited.
 */
export async function startBacktest(projectId: string, actorId: string, input: StartInput): Promise<Backtest> {
  const { journeyId = null, days, segmentId = null } = input;
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS)
    throw invalid({ field: 'days', message: `must be between 1 and ${MAX_DAYS}` });
  const assumptions = checkAssumptions(input.assume ?? {});
  const candidate = await readSide(projectId, journeyId, input.candidate ?? {}, 'candidate');
  const baseline =
    input.baseline == null ? undefined : await readSide(projectId, journeyId, input.baseline, 'baseline');
  const { filters } = await readConditions(projectId, segmentId, {
    candidate: candidate.definition,
    ...(baseline === undefined ? {} : { baseline: baseline.definition }),
  });
  await checkNames(pool, projectId, filters);
  const id = newId(BACKTEST_ID);
  const json = (definition: Definition) => JSON.parse(JSON.stringify(definition)) as Prisma.InputJsonObject;
  await db.$transaction(async (tx) => {
    await lockUntilCommit(tx, `backtests ${projectId}`);
    const running = await tx.backtest.count({ where: { projectId, status: 'running' } });
    if (running >= MAX_RUNNING)
      throw new RateLimited(`A project may have ${MAX_RUNNING} running backtests. Wait for one to end.`, 30);
    const kept = { where: { projectId, status: { not: 'running' as const } }, orderBy: { id: 'desc' as const } };
    const old = await tx.backtest.findMany({ ...kept, skip: MAX_KEPT - 1, select: { id: true } });
    await tx.backtest.deleteMany({ where: { id: { in: old.map((each) => each.id) } } });
    await tx.backtest.create({
      data: {
        id,
        projectId,
        actorId,
        journeyId,
        segmentId,
        days,
        untilAt: databaseTime(),
        candidate: json(candidate.definition),
        candidateVersion: candidate.version,
        ...(baseline === undefined ? {} : { baseline: json(baseline.definition), baselineVersion: baseline.version }),
        assumptions: { ...assumptions },
      },
    });
    await startWorkflow(tx, workflowOf({ id, projectId }));
  });
  return getBacktest(projectId, id);
}

/** The workflow of a backtest. Started again, it continues after the last page. */
export const workflowOf = ({ id, projectId }: Pick<Backtest, 'id' | 'projectId'>): WorkflowStart => ({
  workflowId: id,
  type: 'runBacktest',
  args: [id],
  summary: 'Backtest of a journey',
  searchAttributes: { projectId },
  restartable: true,
});

async function readSide(
  projectId: string,
  journeyId: string | null,
  { definition, version }: GivenSide,
  side: Side,
): Promise<{ definition: Definition; version: number | null }> {
  if (definition != null) {
    if (version != null) throw invalid({ field: `${side}.version`, message: 'must not be combined with a definition' });
    if (journeyId !== null) await getJourney(projectId, journeyId);
    const given = checkJsonObject(`${side}.definition`, definition, MAX_DEFINITION_LENGTH);
    return { definition: await checkSide(projectId, given, side), version: null };
  }
  if (journeyId === null) throw invalid({ field: 'journeyId', message: 'is required, unless definition is given' });
  const journey = await getJourney(projectId, journeyId);
  if (version == null) return { definition: await checkSide(projectId, journey.draft, side), version: null };
  if (version < 1 || version > (journey.publishedVersion ?? 0))
    throw invalid({ field: `${side}.version`, message: `is not a published version of the journey` });
  return { definition: await definitionOf(pool, journeyId, version), version };
}

async function checkSide(projectId: string, given: unknown, side: Side): Promise<Definition> {
  const { definition, problems } = await checkDefinition(projectId, given);
  assertValid(problems.map((problem) => ({ ...problem, field: `${side}.${problem.field}` })));
  return definition as Definition;
}

function checkAssumptions(given: NonNullable<StartInput['assume']>): Assumptions {
  const assumptions = { ...ASSUMED };
  for (const [outcome, percent] of Object.entries(given)) {
    if (percent === null || percent === undefined) continue;
    if (!(percent >= 0 && percent <= 100))
      throw invalid({ field: `assume.${outcome}`, message: 'must be between 0 and 100' });
    assumptions[outcome as keyof Assumptions] = percent;
  }
  return assumptions;
}

/** A backtest of the project, or `not_found`. */
export async function getBacktest(projectId: string, id: string): Promise<Backtest> {
  const [found] = isId(BACKTEST_ID, id) ? await findBacktests(projectId, [id]) : [];
  if (found === undefined) throw notFound('backtest');
  return found;
}

export const findBacktests = (projectId: string, ids: string[]): Promise<Backtest[]> =>
  db.backtest.findMany({ where: { projectId, id: { in: ids } } });

export const findBacktest = async (id: string): Promise<Backtest | undefined> =>
  (await db.backtest.findUnique({ where: { id } })) ?? undefined;

/** The project's contacts of backtests with these ids. */
export async function findContactRows(projectId: string, ids: string[]): Promise<BacktestContact[]> {
  const rows = await db.backtestContact.findMany({ where: { id: { in: ids } } });
  const own = await findBacktests(projectId, [...new Set(rows.map(({ backtestId }) => backtestId))]);
  const known = new Set(own.map(({ id }) => id));
  return rows.filter(({ backtestId }) => known.has(backtestId));
}

/** The project's backtests, newest first. @throws DomainError `not_found` for an unknown journey. */
export async function listBacktests(
  projectId: string,
  { journeyId, ...page }: PageArgs & { journeyId?: string | null | undefined },
): Promise<Page<Backtest>> {
  if (journeyId != null) await getJourney(projectId, journeyId);
  return readRows(db.backtest, BACKTEST_ID, page, { projectId, ...(journeyId == null ? {} : { journeyId }) });
}

export interface ContactsFilter {
  side?: Side | null | undefined;
  /** Only contacts that reached this step. */
  stepId?: string | null | undefined;
  /** Only contacts that left the step with this outcome, or with `waiting` those that are still at it. */
  outcome?: string | null | undefined;
  /** Only contacts that got the message of the step on this day in UTC, YYYY-MM-DD. */
  day?: string | null | undefined;
  /** Only contacts with a run that ended for this reason or is `in_progress`, or with `sent` those that got a message. */
  result?: string | null | undefined;
  difference?: Difference | null | undefined;
  search?: string | null | undefined;
}

/** Contacts that a search matches, at most. */
const MAX_FOUND = 1_000;

/** The contacts that entered in a backtest and pass every filter, in the order in which they were processed. @throws DomainError `not_found`. */
export async function listBacktestContacts(
  projectId: string,
  { backtestId, ...rest }: PageArgs & ContactsFilter & { backtestId: string },
): Promise<Page<BacktestContact>> {
  const { side, stepId, outcome, day, result, difference, search, ...page } = rest;
  const backtest = await getBacktest(projectId, backtestId);
  const where: Prisma.BacktestContactWhereInput = {
    backtestId,
    ...(difference == null ? {} : { difference }),
    ...(await searchCondition(projectId, search)),
  };
  const marks = marksFor(backtest, { side, stepId, outcome, day, result });
  return readRows(
    db.backtestContact,
    CONTACT_ROW_ID,
    page,
    marks.length === 0 ? where : { ...where, marks: { hasEvery: marks } },
  );
}

/** The results that contacts can be filtered by: of a run, or `sent` for contacts that got a message. */
export const RESULTS = ['completed', 'exit', 'goal', 'in_progress', 'sent'];

/** @throws DomainError `validation_error` for a combination that means nothing, or for an unknown step, outcome or result. */
export function marksFor(
  backtest: Pick<Backtest, 'candidate' | 'baseline'>,
  { side: given, stepId, outcome, day, result }: ContactsFilter,
): string[] {
  const side = given ?? 'candidate';
  if (stepId == null && (outcome != null || day != null))
    throw invalid({ field: 'stepId', message: 'is required with an outcome or a day' });
  if (result != null && !RESULTS.includes(result))
    throw invalid({ field: 'result', message: `must be one of: ${RESULTS.join(', ')}` });
  const definition = backtest[side] as unknown as Definition | null;
  if (definition === null) throw invalid({ field: 'side', message: 'must be candidate, as there is no baseline' });
  if (stepId != null) checkStep(definition, { stepId, outcome, day });
  const marks: string[] = [];
  if (stepId != null && outcome === 'waiting') marks.push(`${side} waiting ${stepId}`);
  else if (stepId != null && day != null) marks.push(`${side} sent ${stepId} ${day}`);
  else if (stepId != null)
    marks.push(outcome == null ? `${side} reached ${stepId}` : `${side} outcome ${stepId} ${outcome}`);
  if (result != null) marks.push(`${side} ${result}`);
  if (marks.length === 0 && given != null) marks.push(`${side} entered`);
  return marks;
}

function checkStep(
  { steps }: Definition,
  { stepId, outcome, day }: Pick<ContactsFilter, 'outcome' | 'day'> & { stepId: string },
): void {
  const step = steps.find(({ id }) => id === stepId);
  if (step === undefined) throw invalid({ field: 'stepId', message: 'is not a step of this definition' });
  const outcomes = ['waiting', ...outcomesOf(step)];
  if (outcome != null && !outcomes.includes(outcome))
    throw invalid({ field: 'outcome', message: `must be one of: ${outcomes.join(', ')} for the step "${stepId}"` });
  if (day != null && parseDateTime(`${day}T00:00:00Z`) === undefined)
    throw invalid({ field: 'day', message: 'must be a date such as 2026-11-25' });
}

async function searchCondition(
  projectId: string,
  search: string | null | undefined,
): Promise<Prisma.BacktestContactWhereInput> {
  if (search == null || search.trim() === '') return {};
  const found = await contactBatch(projectId, { search }, newId('ctc'), MAX_FOUND);
  return { contactId: { in: found.map(({ id }) => id) } };
}

/**
 * Cancels a backtest after the page in flight.
 * @throws DomainError `not_found`, `conflict` when it has ended.
 */
export async function cancelBacktest(projectId: string, id: string): Promise<void> {
  await getBacktest(projectId, id);
  await inTransaction(async (tx) => {
    const canceled = await sql(
      tx,
      `UPDATE backtests SET cancel_requested_at = coalesce(cancel_requested_at, now()) WHERE id = $1 AND status = 'running' RETURNING id`,
      [id],
    );
    if (canceled.length === 0) throw new DomainError('conflict', 'The backtest has already ended.');
    await announce(tx, topicOf(id));
  });
}

/** Records how a backtest ended. Has no effect on one that has already ended. */
export async function endBacktest(id: string, status: Backtest['status'], error?: string): Promise<void> {
  await inTransaction(async (tx) => {
    await sql(
      tx,
      `UPDATE backtests SET status = $2::backtest_status, error = $3, finished_at = now() WHERE id = $1 AND status = 'running'`,
      [id, status, error?.slice(0, 500) ?? null],
    );
    await announce(tx, topicOf(id));
  });
}

/** The topic that subscribers of a backtest listen to. */
export const topicOf = (id: string) => `backtest ${id}`;

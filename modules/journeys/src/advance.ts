import { shareSuppressions } from '@postroom/contacts';
import { ContentBudget } from '@postroom/emails';
import { drainSignal, inTransaction, isDraining, NOW, paceBulkWork, pool, sql } from '@postroom/platform';
import { scanForEntries } from './entry-scans.ts';
import { lockJourney, pauseAutomatically, type PublishedJourney, readActive } from './journeys.ts';
import { applyToPage, isApplying } from './new-version.ts';
import { processTriggers } from './process-triggers.ts';
import { type DueRun, type Plan, StepProblem } from './plan.ts';
import { planStep } from './steps.ts';
import { type Move, moveRuns, RUN_COLUMNS } from './transitions.ts';
import { definitionOf } from './versions.ts';

/** Runs per transaction. */
const PAGE = 500;
/** How long one activity works on a journey before it reports to Temporal, in milliseconds. */
const WORK_MS = 20_000;

/** The progress of a journey, for Temporal. */
export interface Advance {
  /** Whether more is due. */
  more: boolean;
  transitions: number;
  triggers: number;
}

const DUE = `
  SELECT ${RUN_COLUMNS}, c.email, c.name FROM enrollments e JOIN contacts c ON c.id = e.contact_id
  WHERE e.journey_id = $1 AND e.status = 'active' AND e.due_at <= ${NOW} ORDER BY e.due_at LIMIT ${PAGE}`;

/**
 * Carries out what is due in a journey, first what a publication or the archiving does to runs, page by page, until nothing is or the time is up. Each page is prepared without locks and
 * commits in one transaction, which names the visit of each run: of two workers that prepare the same page, one has an effect,
 * and a kill loses nothing that has one.
 */
export async function advance(
  journey: Pick<PublishedJourney, 'id' | 'projectId'>,
  signal: AbortSignal,
  onProgress: (progress: Advance) => void = () => {},
): Promise<Advance> {
  const { id, projectId } = journey;
  const progress: Advance = { more: false, transitions: 0, triggers: 0 };
  const until = performance.now() + WORK_MS;
  await scanForEntries(id);
  for (;;) {
    signal.throwIfAborted();
    const began = performance.now();
    const applied = await applyVersions(journey);
    const triggers = applied ? 0 : await processTriggers(id);
    const { found, moved } = applied ? NONE : await advancePage(id);
    progress.triggers += triggers;
    progress.transitions += moved;
    onProgress(progress);
    if (!applied && triggers === 0 && found === 0) return progress;
    // A draining worker ends its run, so that another one continues.
    if (performance.now() >= until || isDraining()) return { ...progress, more: true };
    await paceBulkWork(projectId, performance.now() - began, AbortSignal.any([signal, drainSignal])).catch(() => {});
  }
}

/** Continues what publications and the archiving do to runs. @returns false if nothing is left of it. */
const applyVersions = (journey: Pick<PublishedJourney, 'id' | 'projectId'>): Promise<boolean> =>
  inTransaction(async (tx) => (await lockJourney(tx, journey.id)) !== undefined && applyToPage(tx, journey));

const NONE = { found: 0, moved: 0 };

/** @returns how many runs were due, and how many of them moved. */
async function advancePage(id: string): Promise<{ found: number; moved: number }> {
  const journey = await readActive(id);
  if (journey === undefined) return NONE;
  const { projectId } = journey;
  const { rows: runs } = await pool.query<DueRun>({ name: 'journeys-due', text: DUE, values: [id] });
  if (runs.length === 0) return NONE;
  try {
    const budget = new ContentBudget();
    const plans = await Promise.all(
      [...Map.groupBy(runs, (run) => `${run.version} ${run.stepId}`).values()].map(async (atStep) =>
        planStep(projectId, id, await definitionOf(pool, id, (atStep[0] as DueRun).version), atStep, budget),
      ),
    );
    // A transaction notifies once, so further plans that notify wait for the next page.
    const notifying = plans.find(({ notifies }) => notifies === true);
    const chosen = plans.filter((plan) => plan.notifies === undefined || plan === notifying);
    return { found: runs.length, moved: await commit({ id, projectId }, chosen) };
  } catch (error) {
    if (!(error instanceof StepProblem)) throw error;
    await pauseAutomatically(journey, error.message);
    return NONE;
  }
}

/** Carries out plans in one transaction. @returns how many runs moved. */
async function commit({ id, projectId }: { id: string; projectId: string }, plans: readonly Plan[]): Promise<number> {
  let moved: ReadonlySet<string> = new Set();
  try {
    moved = await inTransaction(async (tx) => {
      const journey = await lockJourney(tx, id);
      if (journey?.status !== 'active' || (await isApplying(tx, id))) return new Set<string>();
      if (plans.some(({ writesContacts }) => writesContacts === true)) await shareSuppressions(tx, projectId);
      for (const plan of plans) await plan.recheck?.(tx);
      for (const plan of plans) await plan.before?.(tx);
      const moves: Move[] = plans.flatMap((plan) => plan.moves);
      const done = await moveRuns(tx, projectId, moves);
      for (const plan of plans) await plan.apply?.(tx, done);
      const postponed = plans.flatMap((plan) => plan.postponed);
      if (postponed.length > 0)
        await sql(tx, POSTPONE, [
          postponed.map(({ run }) => run.id),
          postponed.map(({ run }) => run.visit),
          postponed.map(({ until }) => until),
        ]);
      return done;
    });
    return moved.size;
  } finally {
    for (const plan of plans) await plan.settle?.(moved);
  }
}

/** The step is carried out later; the run stays where it is. */
const POSTPONE = `
  UPDATE enrollments e SET due_at = n.until FROM unnest($1::text[], $2::int[], $3::timestamptz[]) AS n(id, visit, until)
  WHERE e.id = n.id AND e.visit = n.visit AND e.ended_at IS NULL`;

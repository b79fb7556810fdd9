import { createHash } from 'node:crypto';
import { frequencyCapOf, getPolicy } from '@postroom/sending-policy';
import { checkNames, type SegmentFilter } from '@postroom/contacts';
import type { Definition } from '@postroom/journey-definition';
import { contactsMatching } from '@postroom/journeys';
import {
  announce,
  DomainError,
  inTransaction,
  isDraining,
  newId,
  paceBulkWork,
  pool,
  runCostly,
  sql,
} from '@postroom/platform';
import { answerQuestions, type PendingQuestion } from './answers.ts';
import { type Backtest, CONTACT_ROW_ID, endBacktest, findBacktest, topicOf } from './backtests.ts';
import { readConditions } from './conditions.ts';
import { type FactsPage, factsFor, readFacts, type Scope } from './facts.ts';
import { type Assumptions, type Question, simulate, type Simulation, type World } from './simulate.ts';
import { addRuns, differenceOf, marksOf, messagesOf, readTotals, type Totals } from './totals.ts';

/** Contacts per page: fewer if they have many events. */
const MAX_PAGE = 1_000;
const MIN_PAGE = 10;
const EVENTS_PER_PAGE = 20_000;
/** The most contacts whose runs are listed. */
const MAX_LISTED = 100_000;
/** How long an activity works before others get its slot, in milliseconds. */
const WORK_MS = 20_000;
const DAY_MS = 86_400_000;

/** The progress of a backtest, for Temporal. */
export interface Progress {
  status: Backtest['status'] | 'deleted';
  processed: number;
  total: number;
}

/**
 * Processes the remaining contacts of a backtest, page by page, until the time is up. A page and the cursor after it commit together,
 * so a worker that continues after a kill repeats nothing.
 */
export async function continueBacktest(
  id: string,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void = () => {},
): Promise<Progress> {
  const until = performance.now() + WORK_MS;
  let limit = MAX_PAGE;
  for (;;) {
    const row = await findBacktest(id);
    if (row === undefined) return { status: 'deleted', processed: 0, total: 0 };
    const { status, processed, total } = row;
    onProgress({ status, processed, total });
    if (status !== 'running' || performance.now() >= until || isDraining()) return { status, processed, total };
    signal.throwIfAborted();
    if (row.cancelRequestedAt !== null) {
      await endBacktest(id, 'canceled');
      continue;
    }
    const began = performance.now();
    try {
      const { found, eventCount } = await runCostly(row.projectId, () => processPage(row, limit));
      if (found < limit) await endBacktest(id, 'completed');
      limit = Math.max(MIN_PAGE, Math.min(MAX_PAGE, eventCount > EVENTS_PER_PAGE ? limit >> 1 : limit * 2));
    } catch (error) {
      if (!(error instanceof DomainError) || error.code === 'rate_limited') throw error;
      // A segment was deleted, or a group or field that a condition names.
      await endBacktest(id, 'failed', error.message);
    }
    await paceBulkWork(row.projectId, performance.now() - began, signal);
  }
}

async function processPage(row: Backtest, limit: number): Promise<{ found: number; eventCount: number }> {
  const { projectId, journeyId, days, untilAt: until } = row;
  const candidate = row.candidate as unknown as Definition;
  const baseline = (row.baseline ?? undefined) as unknown as Definition | undefined;
  const definitions = baseline === undefined ? [candidate] : [candidate, baseline];
  const from = new Date(until.getTime() - days * DAY_MS);
  const projectCap = frequencyCapOf(await getPolicy(projectId));
  const caps = [projectCap, ...definitions.map(({ frequencyCap }) => frequencyCap)];
  const capDays = Math.max(0, ...caps.map((cap) => cap?.days ?? 0));
  const scope: Scope = { projectId, journeyId, definitions, from, until, capDays };
  const total = row.cursor === '' ? await countContacts(projectId, until) : row.total;
  const page = await readFacts(scope, row.cursor, limit);
  const last = page.contacts.at(-1);
  const world: World = {
    from: from.getTime(),
    until: until.getTime(),
    assumptions: row.assumptions as unknown as Assumptions,
    projectCap,
    chance,
  };
  const sides = { candidate, ...(baseline === undefined ? {} : { baseline }) };
  const { segments, filters } = await readConditions(projectId, row.segmentId, sides);
  const starters = await startersOf(projectId, row.segmentId, page, segments);
  const [ofCandidate = [], ofBaseline = []] = await simulateAll(
    { projectId, page, world, starters, segments },
    definitions,
  );
  await checkNames(pool, projectId, filters);
  const totals = readTotals(row.totals);
  totals.truncated += page.truncated;
  const rows = page.contacts.flatMap((contact, index) => {
    const sides = { candidate: ofCandidate[index] ?? NOTHING, baseline: ofBaseline[index] ?? NOTHING };
    return addContact(totals, { id: contact.id, sides, candidate, baseline }) ?? [];
  });
  const listed = rows.slice(0, Math.max(0, MAX_LISTED - row.listed));
  await commit(row, { totals, total, rows: listed, processed: page.contacts.length, cursor: last?.id ?? row.cursor });
  return { found: page.contacts.length, eventCount: page.eventCount };
}

const NOTHING: Simulation = { runs: [], notAgain: 0, notMatching: 0 };

async function countContacts(projectId: string, until: Date): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::int FROM contacts WHERE project_id = $1 AND created_at <= $2',
    [projectId, until],
  );
  return rows[0]?.count ?? 0;
}

/** The same number from 0 to 100 for the same text. */
const chance = (text: string): number => (createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32) * 100;

/** The contacts of the page that enter at the beginning. */
async function startersOf(
  projectId: string,
  segmentId: string | null,
  { contacts }: FactsPage,
  segments: ReadonlyMap<string, SegmentFilter>,
): Promise<ReadonlySet<string>> {
  const filter = segmentId === null ? undefined : segments.get(segmentId);
  if (filter === undefined) return new Set();
  const ids = contacts.map(({ id }) => id);
  return contactsMatching(pool, projectId, filter, ids);
}

interface Simulating {
  projectId: string;
  page: FactsPage;
  world: World;
  starters: ReadonlySet<string>;
  segments: ReadonlyMap<string, SegmentFilter>;
}

/** Simulates all contacts of the page in all definitions. Questions of many contacts are answered together, in rounds. */
async function simulateAll(
  { projectId, page, world, starters, segments }: Simulating,
  definitions: readonly Definition[],
): Promise<Simulation[][]> {
  const results = definitions.map(() => [] as Simulation[]);
  let asked: PendingQuestion[] = [];
  for (const [side, definition] of definitions.entries())
    for (const [index, contact] of page.contacts.entries()) {
      const facts = factsFor(definition, contact, { ...world, startsIn: starters.has(contact.id) });
      const run = simulate(definition, facts, world);
      const take = ({ done, value }: IteratorResult<Question, Simulation>) => {
        if (done === true) (results[side] as Simulation[])[index] = value;
        else
          asked.push({
            contactId: contact.id,
            question: value,
            definition,
            tell: (passes) => take(run.next(passes)),
          });
      };
      take(run.next());
    }
  while (asked.length > 0) {
    const round = asked;
    asked = [];
    await answerQuestions(projectId, round, segments);
  }
  return results;
}

interface ContactRow {
  id: string;
  contact_id: string;
  difference: string;
  candidate: unknown;
  baseline: unknown;
  marks: string[];
}

/** Adds a contact to the totals, and returns its row; undefined if it did not enter. */
function addContact(
  totals: Totals,
  {
    id,
    sides,
    candidate,
    baseline,
  }: {
    id: string;
    sides: Record<'candidate' | 'baseline', Simulation>;
    candidate: Definition;
    baseline: Definition | undefined;
  },
): ContactRow | undefined {
  addRuns(totals.candidate, sides.candidate);
  addRuns(totals.baseline, sides.baseline);
  const [ours, theirs] = [sides.candidate.runs, sides.baseline.runs];
  if (ours.length + theirs.length === 0) return undefined;
  const difference =
    baseline === undefined
      ? 'none'
      : differenceOf(messagesOf(ours, contentsOf(candidate)), messagesOf(theirs, contentsOf(baseline)));
  totals.differences[difference]++;
  const marks = [...marksOf('candidate', ours), ...marksOf('baseline', theirs)];
  return {
    id: newId(CONTACT_ROW_ID),
    contact_id: id,
    difference,
    candidate: ours.map(storedRun),
    baseline: theirs.map(storedRun),
    marks,
  };
}

/** A run without what only the simulation needs. */
const storedRun = ({ enteredAt, endedAt, endReason, stepId, dueAt, steps }: Simulation['runs'][number]) => ({
  enteredAt,
  endedAt,
  endReason,
  stepId,
  dueAt,
  steps,
});

const contentsOf = ({ steps }: Definition) => {
  const contents = new Map(
    steps.map((step) => [
      step.id,
      step.type === 'send' ? JSON.stringify([step.templateId, step.from, step.replyTo]) : '',
    ]),
  );
  return (stepId: string) => contents.get(stepId) ?? '';
};

const INSERT = `
  INSERT INTO backtest_contacts (id, backtest_id, contact_id, difference, candidate, baseline, marks)
  SELECT n.id, $1, n.contact_id, n.difference::backtest_difference, n.candidate, n.baseline, n.marks
  FROM json_to_recordset($2::json) AS n(id text, contact_id text, difference text, candidate jsonb, baseline jsonb, marks text[])
  JOIN contacts c ON c.id = n.contact_id`;

async function commit(
  { id, cursor: before }: Backtest,
  done: { totals: Totals; total: number; rows: readonly ContactRow[]; processed: number; cursor: string },
): Promise<void> {
  await inTransaction(async (tx) => {
    const claimed = await sql(
      tx,
      `UPDATE backtests SET cursor = $3, processed = processed + $4, total = $5, totals = $6::jsonb, listed = listed + $7
       WHERE id = $1 AND cursor = $2 AND status = 'running' RETURNING id`,
      [id, before, done.cursor, done.processed, done.total, JSON.stringify(done.totals), done.rows.length],
    );
    // Another worker has processed the page.
    if (claimed.length === 0) return;
    await sql(tx, INSERT, [id, JSON.stringify(done.rows)]);
    await announce(tx, topicOf(id));
  });
}

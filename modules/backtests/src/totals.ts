import type { SimulatedRun, Simulation } from './simulate.ts';

const DIFFERENCES = ['none', 'candidate_only', 'baseline_only', 'times', 'messages'] as const;
/** How the messages of a contact differ between the candidate and the baseline. */
export type Difference = (typeof DIFFERENCES)[number];

/** What runs did at a step: how many reached it, left it by each outcome, and are still there at the end. */
interface StepTotals {
  reached: number;
  waiting: number;
  outcomes: Record<string, number>;
}

/** The figures of one definition. */
export interface SideTotals {
  /** Contacts that entered, and their runs. */
  contacts: number;
  runs: number;
  completed: number;
  exited: number;
  /** Runs that ended because of the goal. */
  reachedGoal: number;
  /** Runs that had not ended. */
  inProgress: number;
  messages: number;
  notAgain: number;
  notMatching: number;
  steps: Record<string, StepTotals>;
  /** Messages by step and day in UTC. */
  sent: Record<string, Record<string, number>>;
}

export type Side = 'candidate' | 'baseline';

export interface Totals {
  candidate: SideTotals;
  baseline: SideTotals;
  differences: Record<Difference, number>;
  /** Contacts of which not all events were read. */
  truncated: number;
}

const noSide = (): SideTotals => ({
  contacts: 0,
  runs: 0,
  completed: 0,
  exited: 0,
  reachedGoal: 0,
  inProgress: 0,
  messages: 0,
  notAgain: 0,
  notMatching: 0,
  steps: {},
  sent: {},
});

/** The totals that are stored, or those of nothing. */
export function readTotals(stored: unknown): Totals {
  const given = stored as Partial<Totals>;
  return {
    candidate: given.candidate ?? noSide(),
    baseline: given.baseline ?? noSide(),
    differences: given.differences ?? { none: 0, candidate_only: 0, baseline_only: 0, times: 0, messages: 0 },
    truncated: given.truncated ?? 0,
  };
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Whether it is a message that left. */
const isSent = ({ outcome }: { outcome: string }): boolean => outcome === 'sent';

/** Adds the runs of a contact. */
export function addRuns(totals: SideTotals, { runs, notAgain, notMatching }: Simulation): void {
  if (runs.length > 0) totals.contacts++;
  totals.runs += runs.length;
  totals.notAgain += notAgain;
  totals.notMatching += notMatching;
  for (const run of runs) {
    if (run.endReason === null) totals.inProgress++;
    else if (run.endReason === 'completed') totals.completed++;
    else totals.exited++;
    if (run.endReason === 'goal') totals.reachedGoal++;
    for (const step of run.steps) {
      const at = stepTotals(totals, step.stepId);
      at.reached++;
      at.outcomes[step.outcome] = (at.outcomes[step.outcome] ?? 0) + 1;
      if (!isSent(step)) continue;
      totals.messages++;
      const days = (totals.sent[step.stepId] ??= {});
      days[dayOf(step.leftAt)] = (days[dayOf(step.leftAt)] ?? 0) + 1;
    }
    // A run that ended is at its last step, which it left, unless it reached an exit.
    if (run.endReason === null || run.endReason === 'exit') stepTotals(totals, run.stepId).reached++;
    if (run.endReason === null) stepTotals(totals, run.stepId).waiting++;
  }
}

const stepTotals = (totals: SideTotals, stepId: string): StepTotals =>
  (totals.steps[stepId] ??= { reached: 0, waiting: 0, outcomes: {} });

/** What runs did, to filter contacts by. */
export function marksOf(side: Side, runs: readonly SimulatedRun[]): string[] {
  const marks = new Set<string>();
  const add = (...words: string[]) => marks.add([side, ...words].join(' '));
  for (const run of runs) {
    add('entered');
    add(run.endReason === null ? 'in_progress' : run.endReason);
    add('reached', run.stepId);
    if (run.endReason === null) add('waiting', run.stepId);
    for (const step of run.steps) {
      add('reached', step.stepId);
      add('outcome', step.stepId, step.outcome);
      if (!isSent(step)) continue;
      add('sent');
      add('sent', step.stepId, dayOf(step.leftAt));
    }
  }
  return [...marks];
}

/** A message of a contact: what it is and when. */
interface Message {
  content: string;
  at: number;
}

/** The messages of runs, in order. @param contentOf what distinguishes the message of a step from others */
export const messagesOf = (runs: readonly SimulatedRun[], contentOf: (stepId: string) => string): Message[] =>
  runs.flatMap(({ steps }) =>
    steps.filter(isSent).map(({ stepId, leftAt }) => ({ content: contentOf(stepId), at: leftAt })),
  );

/** How the messages of a contact differ. */
export function differenceOf(candidate: readonly Message[], baseline: readonly Message[]): Difference {
  if (candidate.length > 0 && baseline.length === 0) return 'candidate_only';
  if (candidate.length === 0 && baseline.length > 0) return 'baseline_only';
  const contents = (messages: readonly Message[]) => JSON.stringify(messages.map(({ content }) => content));
  if (contents(candidate) !== contents(baseline)) return 'messages';
  return candidate.every(({ at }, index) => at === baseline[index]?.at) ? 'none' : 'times';
}

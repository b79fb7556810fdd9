import type { JourneyQuery } from '../../generated/graphql.ts';
import type { GraphEdge, GraphNode } from './graph.ts';

type Row = JourneyQuery['journey'];

/** How many contacts are at the steps of a journey, and went from one to another, on all of its versions. */
export interface Counts {
  /** How many are at a step now. */
  here: (stepId: string) => number;
  /** How many left a step, by outcome, the most frequent first. */
  outcomes: (stepId: string) => { outcome: string; count: number }[];
  /** How many went the way of an edge of a node. */
  passed: (node: GraphNode, edge: GraphEdge) => number;
}

/** What did not take a run along an edge. */
const NO_PASSAGE = new Set(['moved', 'removed', 'new_version', 'goal']);

export function countsOf(
  inProgress: readonly Pick<Row['inProgress'][number], 'stepId' | 'contactCount'>[],
  passages: Row['passages'],
): Counts {
  const here = new Map<string, number>();
  for (const { stepId, contactCount } of inProgress) here.set(stepId, (here.get(stepId) ?? 0) + contactCount);
  const byStep = Map.groupBy(passages, ({ stepId }) => stepId);
  return {
    here: (stepId) => here.get(stepId) ?? 0,
    outcomes: (stepId) => {
      const sums = new Map<string, number>();
      for (const { outcome, runCount } of byStep.get(stepId) ?? [])
        sums.set(outcome ?? '', (sums.get(outcome ?? '') ?? 0) + runCount);
      return [...sums].map(([outcome, count]) => ({ outcome, count })).sort((one, other) => other.count - one.count);
    },
    passed: ({ step, exits }, { target, outcomes }) => {
      const others = new Set([...NO_PASSAGE, ...exits.flatMap((each) => each.outcomes ?? [])]);
      const to = target.startsWith(':') ? null : target;
      return (byStep.get(step?.id ?? null) ?? [])
        .filter(({ toStepId }) => toStepId === to)
        .filter(({ outcome }) => outcomes?.includes(outcome ?? '') ?? !others.has(outcome ?? ''))
        .reduce((sum, { runCount }) => sum + runCount, 0);
    },
  };
}

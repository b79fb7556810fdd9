import type { Survey, View } from '../dns/resolver.ts';

/** How a record stands. `unanswered` when no server could be relied on: then nothing is known. */
export interface Observation {
  verdict: 'right' | 'wrong' | 'unanswered';
  /** What was found at the name. */
  found: string[];
  /** What is wrong, or good to know; `null` when there is nothing to say. */
  note: string | null;
}

/** Says what is wrong with the records of a name; `undefined` when they are as they should be. Never given none. */
export type ProblemOf = (records: string[]) => string | undefined;

/**
 * A record is right when more than half of the name servers that answered have it so: one that lags behind or is broken
 * does not hold a domain up, and one alone is not enough, since receivers ask any of them.
 */
export function judge({ views }: Survey, problemOf: ProblemOf): Observation {
  const reliable = views.filter((view) => view.outcome !== 'silent');
  if (reliable.length === 0) return unanswered(views);
  const judged = reliable.map((view) => ({ view, problem: problemOfView(view, problemOf) }));
  const right = judged.filter(({ problem }) => problem === undefined).map(({ view }) => view);
  const wrong = judged.find(({ problem }) => problem !== undefined);
  if (right.length * 2 > judged.length) {
    const others = judged.filter(({ problem }) => problem !== undefined).map(({ view }) => view.server);
    const note = others.length === 0 ? null : `${list(others)} ${others.length > 1 ? 'do' : 'does'} not have it yet.`;
    return { verdict: 'right', found: right[0]?.records ?? [], note };
  }
  const partly = right.length > 0 ? ` Only ${list(right.map((view) => view.server))} has it so far.` : '';
  return { verdict: 'wrong', found: wrong?.view.records ?? [], note: `${wrong?.problem}${partly}` };
}

function problemOfView({ outcome, records, aliases, why }: View, problemOf: ProblemOf): string | undefined {
  if (outcome === 'found') return problemOf(records);
  if (why !== '') return `Nothing is found: ${why}.`;
  if (aliases.length > 0) return `A CNAME record leads to ${aliases.at(-1)}, which has no such record.`;
  return 'There is no such record yet.';
}

function unanswered(views: readonly View[]): Observation {
  const reasons = views.map(({ server, why }) => `${server || 'DNS'}: ${why}`);
  return { verdict: 'unanswered', found: [], note: `No name server gave an answer (${reasons.join('; ')}).` };
}

const list = (names: readonly string[]) => names.join(', ');

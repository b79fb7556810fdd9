import type { Survey, View } from '../dns/resolver.ts';

/** The status of a record. `unanswered`: no server gave a reliable answer, so nothing is known. */
export interface Observation {
  verdict: 'right' | 'wrong' | 'unanswered';
  /** Records found at the name. */
  found: string[];
  /** What is wrong or worth knowing; `null` if nothing. */
  note: string | null;
}

/** Returns the problem with a name's records; `undefined` if they are right. The list is never empty. */
export type ProblemOf = (records: string[]) => string | undefined;

/**
 * A record is right when more than half of the responding name servers have it. A server that lags or is broken does
 * not hold up a domain; one correct server is not enough, because receivers may ask any of them.
 */
export function assess({ views }: Survey, problemOf: ProblemOf): Observation {
  const reliable = views.filter((view) => view.outcome !== 'silent');
  if (reliable.length === 0) return unanswered(views);
  const evaluated = reliable.map((view) => ({ view, problem: problemOfView(view, problemOf) }));
  const right = evaluated.filter(({ problem }) => problem === undefined).map(({ view }) => view);
  const wrong = evaluated.find(({ problem }) => problem !== undefined);
  if (right.length * 2 > evaluated.length) {
    const others = evaluated.filter(({ problem }) => problem !== undefined).map(({ view }) => view.server);
    const note = others.length === 0 ? null : `${list(others)} ${others.length > 1 ? 'do' : 'does'} not have it yet.`;
    return { verdict: 'right', found: right[0]?.records ?? [], note };
  }
  const partly = right.length > 0 ? ` Only ${list(right.map((view) => view.server))} has it so far.` : '';
  return { verdict: 'wrong', found: wrong?.view.records ?? [], note: `${wrong?.problem}${partly}` };
}

function problemOfView({ outcome, records, aliases, why }: View, problemOf: ProblemOf): string | undefined {
  if (outcome === 'found') return problemOf(records);
  if (why !== '') return `Nothing was found: ${why}.`;
  if (aliases.length > 0) return `A CNAME record points to ${aliases.at(-1)}, which has no such record.`;
  return 'Record not found yet.';
}

function unanswered(views: readonly View[]): Observation {
  const reasons = views.map(({ server, why }) => `${server || 'DNS'}: ${why}`);
  return { verdict: 'unanswered', found: [], note: `No name server answered (${reasons.join('; ')}).` };
}

const list = (names: readonly string[]) => names.join(', ');

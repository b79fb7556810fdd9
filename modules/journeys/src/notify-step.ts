import { type StepOf } from '@postroom/journey-definition';
import { lastNotified, notify } from '@postroom/notifications';
import { databaseNow, pool, sql } from '@postroom/platform';
import type { DueRun, Plan } from './plan.ts';

/** The least time between two notifications of a journey, in milliseconds. Contacts who come in between wait, and share the next. */
const INTERVAL_MS = 15 * 60_000;
/** How many contacts a notification names. */
const NAMED = 3;

/**
 * Notifies the owners and admins of the project, and the members it names, of the contacts that reached a step, in the transaction that moves them on.
 * @param plan moves them all.
 */
export async function notifyStep(
  projectId: string,
  journeyId: string,
  { text, memberIds }: StepOf<'notify'>,
  plan: Plan,
): Promise<Plan> {
  const about = { kind: 'journey_step', subjectId: journeyId } as const;
  const last = await lastNotified(pool, about);
  const next = new Date((last?.getTime() ?? 0) + INTERVAL_MS);
  const runs = plan.moves.map(({ run }) => run as DueRun);
  if (next.getTime() > databaseNow()) return { moves: [], postponed: runs.map((run) => ({ run, until: next })) };
  return {
    ...plan,
    notifies: true,
    apply: async (tx, moved) => {
      const reached = runs.filter(({ id }) => moved.has(id));
      if (reached.length === 0) return;
      const [journey] = await sql<{ name: string }>(tx, 'SELECT name FROM journeys WHERE id = $1', [journeyId]);
      await notify(tx, projectId, {
        ...about,
        memberIds,
        title: text,
        detail: `${inWords(reached)} reached this step of the journey "${journey?.name ?? ''}".`,
        advice: 'See the contacts in the journey:',
      });
    },
  };
}

function inWords(runs: readonly DueRun[]): string {
  const named = runs.slice(0, NAMED).map(({ name, email }) => (name === '' ? email : `${name} (${email})`));
  const others = runs.length - named.length;
  const rest = others === 0 ? [] : [others === 1 ? '1 other contact' : `${others} other contacts`];
  return new Intl.ListFormat('en').format([...named, ...rest]);
}

import { customFieldKey, type Definition, matches, type StepOf } from '@postroom/journey-definition';
import { createHash } from 'node:crypto';
import { checkContact, lockContacts, readSchema, segmentSql, writeContacts } from '@postroom/contacts';
import { putMembers, takeMembers } from '@postroom/groups';
import { pool, sql, type Tx } from '@postroom/platform';
import { contactsMatching, contactsWhere } from './enrollments.ts';
import { outcomesOf } from './message-outcomes.ts';
import { eventsSince } from './past-events.ts';
import { type DueRun, inStep, type Plan, StepProblem } from './plan.ts';
import { notifyStep } from './notify-step.ts';
import { sendStep } from './send-step.ts';
import { getStep, type Move } from './transitions.ts';
import { responsesOf, webhookStep } from './webhook-step.ts';

/** Plans a step for runs that are due at it, all on one version. @throws StepProblem */
export async function carryOut(
  projectId: string,
  journeyId: string,
  definition: Definition,
  runs: readonly DueRun[],
): Promise<Plan> {
  const step = getStep(definition, (runs[0] as DueRun).stepId);
  const all = (outcome: string, to: string | null | undefined): Plan => ({
    moves: runs.map((run) => ({ run, definition, outcome, to: to ?? null })),
    postponed: [],
  });
  switch (step.type) {
    case 'wait':
    case 'wait_until':
      return all('waited', step.next);
    case 'exit':
      return all('exit', null);
    case 'split':
      return { moves: runs.map((run) => splitMove(step, run, definition)), postponed: [] };
    case 'condition': {
      const yes = await inStep(step.id, () => passing(projectId, definition, step, runs));
      const moves = runs.map((run): Move => {
        const passes = yes.has(run.id);
        return { run, definition, outcome: passes ? 'yes' : 'no', to: (passes ? step.yes : step.no) ?? null };
      });
      return { moves, postponed: [] };
    }
    case 'wait_for_event': {
      const waits = step.since === 'step' ? [] : runs.map((run) => ({ ...run, definition, step }));
      const seen = await eventsSince(pool, projectId, waits);
      const moves = runs.map((run, index): Move => {
        const happened = seen[index] === true;
        return {
          run,
          definition,
          outcome: happened ? 'event' : 'timeout',
          to: (happened ? step.next : step.onTimeout) ?? null,
        };
      });
      return { moves, postponed: [] };
    }
    case 'update_field':
      return { ...all('updated', step.next), ...(await fieldUpdate(projectId, step, runs)) };
    case 'join_group':
    case 'leave_group':
      return {
        ...all(step.type === 'join_group' ? 'joined' : 'left', step.next),
        ...groupChange(projectId, step, runs),
      };
    case 'notify':
      return notifyStep(projectId, journeyId, step, all('notified', step.next));
    case 'webhook':
      return webhookStep(projectId, definition, step, runs);
    case 'send':
      return sendStep(projectId, journeyId, definition, step, runs);
  }
}

/** Deterministic for a visit of a run, and independent between steps. */
function splitMove(step: StepOf<'split'>, run: DueRun, definition: Definition): Move {
  const hash = createHash('sha256').update(`${run.id} ${step.id} ${run.visit}`).digest();
  const point = (hash.readUInt32BE() / 2 ** 32) * 100;
  let sum = 0;
  const found = step.branches.findIndex(({ percent }) => point < (sum += percent));
  const index = found === -1 ? step.branches.length - 1 : found;
  return { run, definition, outcome: `branch ${index + 1}`, to: step.branches[index]?.next ?? null };
}

/** The ids of the runs that pass all parts of a condition. */
async function passing(
  projectId: string,
  definition: Definition,
  step: StepOf<'condition'>,
  runs: readonly DueRun[],
): Promise<Set<string>> {
  const { filter, segmentId, where, message } = step;
  const ids = runs.map(({ contactId }) => contactId);
  const [matching, inSegment, withOutcome, responses] = await Promise.all([
    filter === undefined ? undefined : contactsMatching(pool, projectId, filter, ids),
    segmentId === undefined
      ? undefined
      : contactsWhere(pool, projectId, ids, (parameters) => segmentSql(projectId, segmentId, parameters)),
    message === undefined ? undefined : outcomesOf(message, runs),
    responsesOf(definition, runs),
  ]);
  const passes = (run: DueRun) =>
    (matching?.has(run.contactId) ?? true) &&
    (inSegment?.has(run.contactId) ?? true) &&
    (withOutcome?.has(run.id) ?? true) &&
    matches({ ...run.properties, steps: responses(run) }, where);
  return new Set(runs.filter(passes).map(({ id }) => id));
}

async function fieldUpdate(
  projectId: string,
  step: StepOf<'update_field'>,
  runs: readonly DueRun[],
): Promise<Pick<Plan, 'before' | 'apply'>> {
  const schema = await readSchema(pool, projectId);
  const change =
    step.field === 'name'
      ? { name: step.value === null ? '' : String(step.value) }
      : { customFields: { [customFieldKey(step.field)]: step.value } };
  return {
    before: (tx) => lockThem(tx, projectId, runs),
    apply: async (tx, moved) => {
      const rows = runs
        .filter(({ id }) => moved.has(id))
        .map(({ email }) => {
          const checked = checkContact({ email, ...change }, schema);
          if (Array.isArray(checked)) throw new StepProblem(step.id, `${checked[0]?.field} ${checked[0]?.message}`);
          return checked;
        });
      if (rows.length > 0) await writeContacts(tx, projectId, rows, { onConflict: 'update', source: 'api' });
    },
  };
}

/** Keeps contacts from being deleted until the transaction ends. */
async function lockThem(tx: Tx, projectId: string, runs: readonly DueRun[]): Promise<void> {
  await lockContacts(tx, projectId, { ids: runs.map(({ contactId }) => contactId), keys: [] });
}

function groupChange(
  projectId: string,
  step: StepOf<'join_group' | 'leave_group'>,
  runs: readonly DueRun[],
): Pick<Plan, 'before' | 'apply'> {
  return {
    before: (tx) => lockThem(tx, projectId, runs),
    apply: async (tx, moved) => {
      const ids = runs.filter(({ id }) => moved.has(id)).map(({ contactId }) => contactId);
      if (ids.length === 0) return;
      await inStep(step.id, async () => {
        if (step.type === 'join_group') await putMembers(tx, projectId, step.groupId, ids);
        else await leave(tx, projectId, step.groupId, ids);
      });
    },
  };
}

/** Removes contacts from a group. Its last member stays, because a group is never empty. */
async function leave(tx: Tx, projectId: string, groupId: string, contactIds: readonly string[]): Promise<void> {
  const [other] = await sql(
    tx,
    'SELECT contact_id FROM group_members WHERE group_id = $1 AND contact_id <> ALL ($2) LIMIT 1',
    [groupId, [...contactIds]],
  );
  const leaving = other === undefined ? contactIds.slice(1) : contactIds;
  if (leaving.length > 0) await takeMembers(tx, projectId, groupId, leaving);
}

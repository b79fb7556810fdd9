import { customFieldKey, type Definition, matches, type StepOf } from '@postroom/journey-definition';
import {
  checkContact,
  checkNames,
  getSegment,
  lockContacts,
  readSchema,
  type SegmentFilter,
  writeContacts,
} from '@postroom/contacts';
import type { ContentBudget } from '@postroom/emails';
import { addContactsIn, lockGroup, removeContactsIn } from '@postroom/groups';
import { pool, sql, type Tx } from '@postroom/platform';
import { contactsMatching } from './enrollments.ts';
import { outcomesOf } from './message-outcomes.ts';
import { eventsSince } from './past-events.ts';
import { type DueRun, withStepProblem, type Plan, StepProblem } from './plan.ts';
import { notifyStep } from './notify-step.ts';
import { computeDeparture, getStep } from './rules.ts';
import { sendStep } from './send-step.ts';
import type { Move } from './transitions.ts';
import { responsesOf, webhookStep } from './webhook-step.ts';

/** Plans a step for runs that are due at it, all on one version. @throws StepProblem */
export async function planStep(
  projectId: string,
  journeyId: string,
  definition: Definition,
  runs: readonly DueRun[],
  budget: ContentBudget,
): Promise<Plan> {
  const step = getStep(definition, (runs[0] as DueRun).stepId);
  if (step.type === 'send') return sendStep(projectId, journeyId, definition, step, runs, budget);
  if (step.type === 'webhook') return webhookStep(projectId, definition, step, runs);
  const yes =
    step.type === 'condition'
      ? await withStepProblem(step.id, () => findPassingRuns(projectId, definition, step, runs))
      : NONE;
  const waits =
    step.type !== 'wait_for_event' || step.since === 'step' ? [] : runs.map((run) => ({ ...run, definition, step }));
  const seen = await eventsSince(pool, projectId, waits);
  const moves = runs.map((run, index): Move => {
    const facts = { passes: yes.has(run.id), happened: seen[index] === true };
    return { run, definition, ...computeDeparture(step, run, facts) };
  });
  const plan: Plan = { moves, postponed: [] };
  switch (step.type) {
    case 'update_field':
      return { ...plan, ...(await fieldUpdate(projectId, step, runs)) };
    case 'join_group':
    case 'leave_group':
      return { ...plan, ...groupChange(projectId, step, runs) };
    case 'notify':
      return notifyStep(projectId, journeyId, step, plan);
    default:
      return plan;
  }
}

const NONE: ReadonlySet<string> = new Set();

/** The ids of the runs that pass all parts of a condition. */
async function findPassingRuns(
  projectId: string,
  definition: Definition,
  step: StepOf<'condition'>,
  runs: readonly DueRun[],
): Promise<Set<string>> {
  const { filter, segmentId, where, message } = step;
  const ids = runs.map(({ contactId }) => contactId);
  const segment = segmentId === undefined ? undefined : (await getSegment(projectId, segmentId)).filter;
  const [matching, inSegment, withOutcome, responses] = await Promise.all([
    filter === undefined ? undefined : contactsMatching(pool, projectId, filter, ids),
    segment === undefined ? undefined : contactsMatching(pool, projectId, segment, ids),
    message === undefined ? undefined : outcomesOf(message, runs),
    responsesOf(definition, runs),
  ]);
  await checkNames(pool, projectId, [
    ...(filter === undefined ? [] : [{ field: 'filter', filter: filter as SegmentFilter }]),
    ...(segment === undefined ? [] : [{ field: 'segmentId', filter: segment }]),
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
): Promise<Pick<Plan, 'writesContacts' | 'before' | 'apply'>> {
  const schema = await readSchema(pool, projectId);
  const change =
    step.field === 'name'
      ? { name: step.value === null ? '' : String(step.value) }
      : { customFields: { [customFieldKey(step.field)]: step.value } };
  // An address may have changed since the runs were read.
  const emailOf = new Map<string, string>();
  return {
    writesContacts: true,
    before: async (tx) => {
      for (const { id, email } of await lockContactsOf(tx, projectId, runs)) emailOf.set(id, email);
    },
    apply: async (tx, moved) => {
      const rows = runs
        .filter(({ id }) => moved.has(id))
        .map(({ contactId }) => {
          const checked = checkContact({ email: emailOf.get(contactId), ...change }, schema);
          // People know a custom field by its key.
          if (Array.isArray(checked))
            throw new StepProblem(step.id, `"${customFieldKey(step.field)}" ${checked[0]?.message}`);
          return checked;
        });
      if (rows.length > 0) await writeContacts(tx, projectId, rows, { onConflict: 'update', source: 'api' });
    },
  };
}

/** Keeps contacts from being deleted, and from changing their address, until the transaction ends. */
const lockContactsOf = (tx: Tx, projectId: string, runs: readonly DueRun[]) =>
  lockContacts(tx, projectId, { ids: runs.map(({ contactId }) => contactId), keys: [] });

function groupChange(
  projectId: string,
  step: StepOf<'join_group' | 'leave_group'>,
  runs: readonly DueRun[],
): Pick<Plan, 'before' | 'apply'> {
  return {
    before: async (tx) => {
      await lockContactsOf(tx, projectId, runs);
    },
    apply: async (tx, moved) => {
      const ids = runs.filter(({ id }) => moved.has(id)).map(({ contactId }) => contactId);
      if (ids.length === 0) return;
      await withStepProblem(step.id, async () => {
        if (step.type === 'join_group') await addContactsIn(tx, projectId, step.groupId, ids);
        else await leaveGroup(tx, projectId, step.groupId, ids);
      });
    },
  };
}

/** Removes contacts from a group. Its last member stays, because a group is never empty. */
async function leaveGroup(tx: Tx, projectId: string, groupId: string, contactIds: readonly string[]): Promise<void> {
  await lockGroup(tx, projectId, groupId);
  const [other] = await sql(
    tx,
    'SELECT contact_id FROM group_members WHERE group_id = $1 AND contact_id <> ALL ($2) LIMIT 1',
    [groupId, [...contactIds]],
  );
  const leaving = other === undefined ? contactIds.slice(1) : contactIds;
  if (leaving.length > 0) await removeContactsIn(tx, projectId, groupId, leaving);
}

// The rules of journeys as pure functions of a run and what is known at a time. Real execution and backtests share them.
import { createHash } from 'node:crypto';
import {
  type Definition,
  durationMs,
  EVERY_DAY,
  matches,
  reentryOf,
  scanKey,
  type Step,
  type StepOf,
  zoneOf,
} from '@postroom/journey-definition';
import { nextLocalTime } from './local-time.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Why a run ended. */
export type EndReason = 'completed' | 'exit' | 'goal' | 'removed' | 'new_version';

/** Where a run is after it arrived at a step: it waits until `dueAt` or for an event, or has ended. */
export interface Arrival {
  stepId: string;
  dueAt: Date | null;
  waitsFor: string | null;
  endReason: EndReason | null;
}

/** How a run leaves a step. */
export interface Departure {
  outcome: string;
  /** The step that follows; null if the run ends. */
  to: string | null;
  endReason?: EndReason;
}

/** The step of a definition. @throws Error if it has none of this id, which publishing rules out. */
export function getStep({ steps }: Definition, id: string): Step {
  const step = steps.find((each) => each.id === id);
  if (step === undefined) throw new Error(`The journey has no step "${id}".`);
  return step;
}

/**
 * Where a run is after it arrives at a step, or ends.
 * @param happened whether it already had the event that the step waits for.
 */
export function computeArrival(
  definition: Definition,
  { to, from, endReason }: { to: string | null; from: string; endReason?: EndReason | undefined },
  { now, customFields, happened }: { now: number; customFields: Record<string, unknown>; happened: boolean },
): Arrival {
  const base = { stepId: to ?? from, waitsFor: null, dueAt: null, endReason: null };
  if (to === null) return { ...base, endReason: endReason ?? 'completed' };
  const step = getStep(definition, to);
  switch (step.type) {
    case 'exit':
      return { ...base, endReason: 'exit' };
    case 'wait':
      return { ...base, dueAt: new Date(now + durationMs(step.for)) };
    case 'wait_until': {
      const { time, weekdays = EVERY_DAY } = step;
      return { ...base, dueAt: nextLocalTime({ time, weekdays, zone: zoneOf(definition, customFields) }, now) };
    }
    case 'wait_for_event': {
      // Due at once: the step then finds the event again.
      if (happened) return { ...base, dueAt: new Date(now), waitsFor: step.event };
      const timeout = step.timeout === undefined ? null : new Date(now + durationMs(step.timeout));
      return { ...base, dueAt: timeout, waitsFor: step.event };
    }
    default:
      return { ...base, dueAt: new Date(now) };
  }
}

/** What a step that is due needs to know about the run. */
export interface Facts {
  /** Of a condition: whether it holds. */
  passes: boolean;
  /** Of a wait for an event: whether it happened. */
  happened: boolean;
}

/** How a run leaves a step that is due. Steps that send or call have other outcomes. */
export function computeDeparture(
  step: Exclude<Step, { type: 'send' | 'webhook' }>,
  run: { id: string; visit: number },
  { passes, happened }: Facts,
): Departure {
  const left = (outcome: string, to: string | null | undefined): Departure => ({ outcome, to: to ?? null });
  switch (step.type) {
    case 'wait':
    case 'wait_until':
      return left('waited', step.next);
    case 'exit':
      return left('exit', null);
    case 'split':
      return splitBranch(step, run);
    case 'condition':
      return passes ? left('yes', step.yes) : left('no', step.no);
    case 'wait_for_event':
      return happened ? left('event', step.next) : left('timeout', step.onTimeout);
    case 'update_field':
      return left('updated', step.next);
    case 'join_group':
      return left('joined', step.next);
    case 'leave_group':
      return left('left', step.next);
    case 'notify':
      return left('notified', step.next);
  }
}

/** How a run can leave a step: the outcomes in its record. A goal may end it at any step. */
export function outcomesOf(step: Step): string[] {
  const own = {
    send: ['sent', 'suppressed', 'capped', 'failed'],
    webhook: ['called', 'call_failed'],
    wait: ['waited'],
    wait_until: ['waited'],
    exit: ['exit'],
    split: step.type === 'split' ? step.branches.map((_, index) => `branch ${index + 1}`) : [],
    condition: ['yes', 'no'],
    wait_for_event: ['event', 'timeout'],
    update_field: ['updated'],
    join_group: ['joined'],
    leave_group: ['left'],
    notify: ['notified'],
  } satisfies Record<Step['type'], string[]>;
  return [...own[step.type], 'goal'];
}

/** Deterministic for a visit of a run, and independent between steps. */
function splitBranch(step: StepOf<'split'>, run: { id: string; visit: number }): Departure {
  const hash = createHash('sha256').update(`${run.id} ${step.id} ${run.visit}`).digest();
  const point = (hash.readUInt32BE() / 2 ** 32) * 100;
  let sum = 0;
  const found = step.branches.findIndex(({ percent }) => point < (sum += percent));
  const index = found === -1 ? step.branches.length - 1 : found;
  return { outcome: `branch ${index + 1}`, to: step.branches[index]?.next ?? null };
}

/** Something that happened to a contact. */
export interface JourneyTrigger {
  kind: 'event' | 'group' | 'form' | 'entry';
  key: string;
  properties: Record<string, unknown>;
}

/** Whether it makes a contact enter that is not in the journey. */
export function isEntryTrigger({ entry }: Definition, { kind, key, properties }: JourneyTrigger): boolean {
  if (entry.type === 'event') return kind === 'event' && key === entry.event && matches(properties, entry.where);
  if (entry.type === 'group_joined') return kind === 'group' && key === entry.groupId;
  if (entry.type === 'form_confirmed') return kind === 'form' && key === entry.formId;
  return kind === 'entry' && key === scanKey(entry);
}

/** How a run leaves its step because of it, if it does. */
export function computeTriggeredDeparture(
  { kind, key, properties }: JourneyTrigger,
  run: { stepId: string; waitsFor: string | null },
  definition: Definition,
): Departure | undefined {
  if (kind !== 'event') return undefined;
  const { goal } = definition;
  if (goal?.event === key && matches(properties, goal.where)) return { outcome: 'goal', to: null, endReason: 'goal' };
  if (run.waitsFor !== key) return undefined;
  const step = getStep(definition, run.stepId);
  if (step.type !== 'wait_for_event' || !matches(properties, step.where)) return undefined;
  return { outcome: 'event', to: step.next ?? null };
}

/** Why a contact may not enter. */
export type Refusal = 'in_progress' | 'not_again' | 'not_matching';

/**
 * Steps change groups and, by fields, segments. Without a pause, two journeys that start each other would send messages without end, as a
 * loop without a wait would.
 */
const stepsMayCause = ({ entry: { type } }: Definition): boolean =>
  type === 'group_joined' || type === 'segment_entered' || type === 'segment_left';

/** Why a contact may not enter now; undefined if it may. @param last its last run */
export function refusalOf(
  definition: Definition,
  last: { enteredAt: Date; isOpen: boolean } | undefined,
  { isMatching, now }: { isMatching: boolean; now: number },
): Refusal | undefined {
  const reentry = reentryOf(definition);
  if (last?.isOpen === true) return 'in_progress';
  if (!isMatching) return 'not_matching';
  if (last === undefined) return undefined;
  if (reentry === 'once') return 'not_again';
  const pauseMs = reentry === 'always' ? (stepsMayCause(definition) ? HOUR_MS : 0) : reentry.afterDays * DAY_MS;
  return now - last.enteredAt.getTime() < pauseMs ? 'not_again' : undefined;
}

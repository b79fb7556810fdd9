import { formatPercent, list } from '../../components/numbers.ts';
import type { Exit, Step, StepType } from './definition-types.ts';
import {
  describeCondition,
  describeDuration,
  fieldName,
  MESSAGE_CONDITIONS,
  nameIn,
  type Names,
  weekday,
  describeFilter,
} from './summaries.ts';

/** What the editor knows of a type of step. */
interface StepTypeInfo {
  label: string;
  /** What a new step has before it is filled in. */
  initial?: Partial<Step>;
  /** Where a step leads, its main way first. */
  exits: (step: Step) => Exit[];
  /** What a step does, in a sentence; empty if the label says it all. */
  summary: (step: Step, names: Names) => string;
}

const exit =
  (key: 'next' | 'yes' | 'no' | 'onTimeout' | 'onFailure', label = '', outcomes?: string[]) =>
  (step: Step) => ({
    key,
    label,
    to: step[key] ?? null,
    ...(outcomes && { outcomes }),
  });

const onward = (step: Step): Exit[] => [exit('next')(step)];

const group = (step: Step, names: Names) => nameIn(names.groups, step.groupId, 'No group yet');

/** The types of steps that the editor knows, in the order in which they are offered. */
export const STEP_TYPES: Record<StepType, StepTypeInfo> = {
  send: {
    label: 'Send an email',
    exits: onward,
    summary: ({ templateId, from, transactional }) =>
      templateId
        ? `From ${from ?? 'no sender yet'}${transactional === true ? ', also to unsubscribed contacts' : ''}`
        : 'No template yet',
  },
  wait: {
    label: 'Wait',
    initial: { for: { days: 1 } },
    exits: onward,
    summary: (step) => `For ${describeDuration(step.for ?? {})}`,
  },
  wait_until: {
    label: 'Wait until a time of day',
    initial: { time: '09:00' },
    exits: onward,
    summary: ({ time, weekdays }) =>
      `Until ${time ?? 'no time yet'}${weekdays === undefined ? '' : ` on ${list.format(weekdays.map(weekday))}`}`,
  },
  wait_for_event: {
    label: 'Wait for an event',
    initial: { event: '', timeout: { days: 3 } },
    exits: (step) =>
      step.timeout === undefined
        ? onward(step)
        : [exit('next', 'It happens')(step), exit('onTimeout', 'On timeout', ['timeout'])(step)],
    summary: ({ event, where, timeout }) =>
      `“${event ?? ''}”${describeFilter(where)}${timeout === undefined ? ', however long it takes' : `, for at most ${describeDuration(timeout)}`}`,
  },
  condition: {
    label: 'Check a condition',
    exits: (step) => [exit('yes', 'Yes', ['yes'])(step), exit('no', 'No', ['no'])(step)],
    summary: conditionSummary,
  },
  split: {
    label: 'Split at random',
    initial: { branches: [{ percent: 50 }, { percent: 50 }] },
    exits: ({ branches = [] }) =>
      branches.map(({ percent, next }, index) => ({
        key: `branches.${index}`,
        label: formatPercent(percent),
        to: next ?? null,
        outcomes: [`branch ${index + 1}`],
      })),
    summary: ({ branches = [] }) => `${branches.length} branches`,
  },
  update_field: {
    label: 'Update a field',
    initial: { field: 'name', value: '' },
    exits: onward,
    summary: ({ field, value }, names) =>
      `${fieldName(field ?? '', names)} ${value === null || value === undefined ? 'is cleared' : `becomes “${value}”`}`,
  },
  join_group: { label: 'Add to a group', exits: onward, summary: group },
  leave_group: { label: 'Remove from a group', exits: onward, summary: group },
  notify: { label: 'Notify the team', exits: onward, summary: ({ text }) => (text ? `“${text}”` : 'No text yet') },
  webhook: {
    label: 'Call a webhook',
    exits: (step) =>
      step.onFailure === undefined
        ? onward(step)
        : [exit('next', 'It responds')(step), exit('onFailure', 'On failure', ['call_failed'])(step)],
    summary: ({ url }) => url || 'No URL yet',
  },
  exit: { label: 'Exit', exits: () => [], summary: () => '' },
};

/** A type that this editor does not know: from a newer version, or set through the API. Its step is kept, and its exits are drawn. */
const UNKNOWN: StepTypeInfo = {
  label: 'Unknown step',
  exits: (step) => {
    const branches: Partial<Step>[] = Array.isArray(step.branches) ? step.branches : [];
    const exits = [
      exit('next')(step),
      exit('yes', 'Yes')(step),
      exit('no', 'No')(step),
      exit('onTimeout', 'On timeout')(step),
      exit('onFailure', 'On failure')(step),
      ...branches.map((branch, index) => ({
        key: `branches.${index}`,
        label: `Branch ${index + 1}`,
        to: branch?.next ?? null,
      })),
    ].filter(({ to }) => typeof to === 'string');
    return exits.length === 0 ? onward(step).filter(({ to }) => to === null) : exits;
  },
  summary: ({ type }) => (type === undefined ? 'It has no type' : `Its type is “${type}”`),
};

export const isKnownType = (type: unknown): type is StepType =>
  typeof type === 'string' && Object.hasOwn(STEP_TYPES, type);

export const stepTypeOf = ({ type }: Pick<Step, 'type'>): StepTypeInfo =>
  isKnownType(type) ? STEP_TYPES[type] : UNKNOWN;

/** What a step is called in lists of steps. */
export function stepTitle(step: Step, names: Names): string {
  return step.type === 'send' && step.templateId
    ? `Send “${nameIn(names.templates, step.templateId, '')}”`
    : stepTypeOf(step).label;
}

export const stepSummary = (step: Step, names: Names): string => stepTypeOf(step).summary(step, names);

function conditionSummary({ segmentId, filter, where, message }: Step, names: Names): string {
  const parts = [
    segmentId === undefined ? '' : `is in the segment ${nameIn(names.segments, segmentId, 'that is not chosen yet')}`,
    filter === undefined ? '' : 'matches the conditions on the contact',
    where === undefined || where.length === 0
      ? ''
      : `entered with an event whose ${list.format(where.map(describeCondition))}`,
    message === undefined ? '' : MESSAGE_CONDITIONS[message.outcome](`the email of step ${message.stepId}`),
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'No condition yet' : `Whether the contact ${list.format(parts)}`;
}

import { PROPERTY_OPERATORS, type PropertyCondition } from '../../components/property-operators.ts';
import { type Definition, type Duration, type Entry, MESSAGE_OUTCOMES, type Step, STEP_TYPES } from './definition.ts';

/** Names of what steps refer to, by id. */
export interface Names {
  templates: ReadonlyMap<string, string>;
  groups: ReadonlyMap<string, string>;
  segments: ReadonlyMap<string, string>;
  fields: ReadonlyMap<string, string>;
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
export const weekday = (number: number): string => WEEKDAYS[number - 1] ?? '';

const list = new Intl.ListFormat('en');

function durationInWords({ days = 0, hours = 0, minutes = 0 }: Duration): string {
  const parts = [
    [days, 'day'],
    [hours, 'hour'],
    [minutes, 'minute'],
  ] as const;
  const given = parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}${count === 1 ? '' : 's'}`);
  return given.length === 0 ? 'no time' : list.format(given);
}

const conditionInWords = ({ property, op, value }: PropertyCondition) =>
  [property, PROPERTY_OPERATORS[op]?.word ?? op, value === undefined ? '' : `“${value}”`].join(' ').trim();

const whereInWords = (where: readonly PropertyCondition[] = []) =>
  where.length === 0 ? '' : ` if ${list.format(where.map(conditionInWords))}`;

const nameIn = (names: ReadonlyMap<string, string>, id: string | undefined, missing: string) =>
  id === undefined || id === '' ? missing : (names.get(id) ?? id);

/** What a step is called in lists of steps. */
export function stepTitle(step: Step, names: Names): string {
  return step.type === 'send' && step.templateId
    ? `Send “${nameIn(names.templates, step.templateId, '')}”`
    : STEP_TYPES[step.type];
}

/** What a step does, in a sentence; empty if its title says it all. */
export function stepSummary(step: Step, names: Names): string {
  switch (step.type) {
    case 'send':
      return step.templateId
        ? `From ${step.from ?? 'no sender yet'}${step.transactional === true ? ', also to unsubscribed contacts' : ''}`
        : 'No template yet';
    case 'notify':
      return step.text ? `“${step.text}”` : 'No text yet';
    case 'webhook':
      return step.url ?? 'No URL yet';
    case 'wait':
      return `For ${durationInWords(step.for ?? {})}`;
    case 'wait_until':
      return `Until ${step.time ?? 'no time yet'}${step.weekdays === undefined ? '' : ` on ${list.format(step.weekdays.map(weekday))}`}`;
    case 'wait_for_event':
      return `“${step.event ?? ''}”${whereInWords(step.where)}${step.timeout === undefined ? ', however long it takes' : `, for at most ${durationInWords(step.timeout)}`}`;
    case 'condition':
      return conditionSummary(step, names);
    case 'split':
      return `${step.branches?.length ?? 0} branches`;
    case 'update_field':
      return `${fieldName(step.field ?? '', names)} ${step.value === null || step.value === undefined ? 'is cleared' : `becomes “${step.value}”`}`;
    case 'join_group':
    case 'leave_group':
      return nameIn(names.groups, step.groupId, 'No group yet');
    default:
      return '';
  }
}

const fieldName = (field: string, names: Names): string =>
  field === 'name' ? 'Name' : (names.fields.get(field.replace(/^custom_?fields\./i, '')) ?? field);

function conditionSummary({ segmentId, filter, where, message }: Step, names: Names): string {
  const parts = [
    segmentId === undefined ? '' : `is in the segment ${nameIn(names.segments, segmentId, 'that is not chosen yet')}`,
    filter === undefined ? '' : 'matches the conditions on the contact',
    where === undefined || where.length === 0
      ? ''
      : `entered with an event whose ${list.format(where.map(conditionInWords))}`,
    message === undefined
      ? ''
      : `has had the email of step ${message.stepId}, which ${MESSAGE_OUTCOMES[message.outcome]}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'No condition yet' : `Whether the contact ${list.format(parts)}`;
}

export function entrySummary(entry: Entry, names: Names): string {
  const { type, event, where, groupId, segmentId, filter } = entry;
  const only = filter === undefined ? '' : ' and matches the conditions';
  if (type === 'event') return `When a contact causes “${event ?? ''}”${whereInWords(where)}${only}`;
  if (type === 'group_joined') return `When a contact joins ${nameIn(names.groups, groupId, 'a group')}${only}`;
  if (type === 'segment_entered')
    return `When a contact enters ${nameIn(names.segments, segmentId, 'a segment')}${only}`;
  if (type === 'segment_left') return `When a contact leaves ${nameIn(names.segments, segmentId, 'a segment')}${only}`;
  if (type === 'date')
    return `${dateInWords(entry, names)}${filter === undefined ? '' : ' if the contact matches the conditions'}`;
  return `When you or the API enroll a contact${filter === undefined ? '' : ' that matches the conditions'}`;
}

function dateInWords({ field, offsetDays = 0, yearly, time }: Entry, names: Names): string {
  const days = `${Math.abs(offsetDays)} day${Math.abs(offsetDays) === 1 ? '' : 's'}`;
  const offset = offsetDays === 0 ? 'On' : offsetDays < 0 ? `${days} before` : `${days} after`;
  const date = field === undefined || field === '' ? 'a date' : `the date in ${fieldName(field, names)}`;
  return `${offset} ${date}${yearly === true ? ', each year' : ''}, at ${time ?? 'no time yet'}`;
}

/** The rules of a journey, one sentence each. */
export function rulesInWords(
  { entry, reentry, goal, quietHours, frequencyCap, timeZone, timeZoneField }: Definition,
  names: Names,
): string[] {
  const again =
    reentry === 'always' || (reentry === undefined && entry.yearly === true)
      ? 'Contacts may enter again as soon as they have left.'
      : typeof reentry === 'object'
        ? `Contacts may enter again ${reentry.afterDays} days after they last entered.`
        : 'Contacts enter once.';
  const zone = timeZone ?? 'UTC';
  return [
    again,
    goal === undefined ? '' : `They leave when they reach the goal: “${goal.event}”${whereInWords(goal.where)}.`,
    quietHours === undefined ? '' : `No email is sent from ${quietHours.from} to ${quietHours.to}.`,
    frequencyCap === undefined
      ? ''
      : `A contact gets at most ${frequencyCap.messages} emails in ${frequencyCap.days} days.`,
    timeZone === undefined && timeZoneField === undefined
      ? ''
      : `Times are in ${timeZoneField === undefined ? zone : `the time zone in ${fieldName(timeZoneField, names)}, or ${zone}`}.`,
  ].filter((rule) => rule !== '');
}

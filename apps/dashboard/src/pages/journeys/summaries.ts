import { PROPERTY_OPERATORS, type PropertyCondition } from '../../components/property-operators.ts';
import { countOf, list } from '../../components/numbers.ts';
import type { Definition, Duration, Entry, MessageOutcome } from './definition-types.ts';

/** Names of what steps refer to, by id. */
export interface Names {
  templates: ReadonlyMap<string, string>;
  groups: ReadonlyMap<string, string>;
  forms: ReadonlyMap<string, string>;
  segments: ReadonlyMap<string, string>;
  fields: ReadonlyMap<string, string>;
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
export const weekday = (number: number): string => WEEKDAYS[number - 1] ?? '';

export const MESSAGE_OUTCOMES: Record<MessageOutcome, string> = {
  sent: 'was sent',
  delivered: 'was delivered',
  opened: 'was opened',
  clicked: 'was clicked',
  bounced: 'bounced',
  complained: 'was marked as spam',
  unsubscribed: 'led to an unsubscribe',
};

/** What a contact did with an email whose outcome a condition checks. */
export const MESSAGE_CONDITIONS: Record<MessageOutcome, (email: string) => string> = {
  sent: (email) => `was sent ${email}`,
  delivered: (email) => `received ${email}`,
  opened: (email) => `opened ${email}`,
  clicked: (email) => `clicked a link in ${email}`,
  bounced: (email) => `did not receive ${email} because it bounced`,
  complained: (email) => `marked ${email} as spam`,
  unsubscribed: (email) => `unsubscribed through ${email}`,
};

export function describeDuration({ days = 0, hours = 0, minutes = 0 }: Duration): string {
  const parts = [
    [days, 'day'],
    [hours, 'hour'],
    [minutes, 'minute'],
  ] as const;
  const given = parts.filter(([count]) => count > 0).map(([count, unit]) => countOf(count, unit));
  return given.length === 0 ? 'no time' : list.format(given);
}

export const describeCondition = ({ property, op, value }: PropertyCondition) =>
  [property, PROPERTY_OPERATORS[op]?.label ?? op, value === undefined ? '' : `“${value}”`].join(' ').trim();

export const describeFilter = (where: readonly PropertyCondition[] = []) =>
  where.length === 0 ? '' : ` if ${list.format(where.map(describeCondition))}`;

export const nameIn = (names: ReadonlyMap<string, string>, id: string | undefined, missing: string) =>
  id === undefined || id === '' ? missing : (names.get(id) ?? id);

export const fieldName = (field: string, names: Names): string =>
  field === 'name' ? 'Name' : (names.fields.get(field.replace(/^custom_?fields\./i, '')) ?? field);

export function entrySummary(entry: Entry, names: Names): string {
  const { type, event, where, groupId, formId, segmentId, filter } = entry;
  const only = filter === undefined ? '' : ' and matches the conditions';
  if (type === 'event') return `When a contact causes “${event ?? ''}”${describeFilter(where)}${only}`;
  if (type === 'group_joined') return `When a contact joins ${nameIn(names.groups, groupId, 'a group')}${only}`;
  if (type === 'form_confirmed') return `When a contact confirms ${nameIn(names.forms, formId, 'a form')}${only}`;
  if (type === 'segment_entered')
    return `When a contact enters ${nameIn(names.segments, segmentId, 'a segment')}${only}`;
  if (type === 'segment_left') return `When a contact leaves ${nameIn(names.segments, segmentId, 'a segment')}${only}`;
  if (type === 'date')
    return `${dateInWords(entry, names)}${filter === undefined ? '' : ' if the contact matches the conditions'}`;
  if (type !== 'manual') return `Of an unknown type: “${String(type)}”`;
  return `When you or the API enroll a contact${filter === undefined ? '' : ' that matches the conditions'}`;
}

function dateInWords({ field, offsetDays = 0, yearly, time }: Entry, names: Names): string {
  const days = countOf(Math.abs(offsetDays), 'day');
  const offset = offsetDays === 0 ? 'On' : offsetDays < 0 ? `${days} before` : `${days} after`;
  const date = field === undefined || field === '' ? 'a date' : `the date in ${fieldName(field, names)}`;
  return `${offset} ${date}${yearly === true ? ', each year' : ''}, at ${time ?? 'no time yet'}`;
}

/** Entries that other journeys can cause. */
const ONCE_AN_HOUR = new Set(['group_joined', 'segment_entered', 'segment_left']);

/** The rules of a journey, one sentence each. */
export function describeRules(
  { entry, reentry, goal, quietHours, frequencyCap, timeZone, timeZoneField }: Definition,
  names: Names,
): string[] {
  const again =
    reentry === 'always' || (reentry === undefined && entry.yearly === true)
      ? `Contacts may enter again as soon as they have left${ONCE_AN_HOUR.has(entry.type) ? ', at most once an hour' : ''}.`
      : typeof reentry === 'object'
        ? `Contacts may enter again ${countOf(reentry.afterDays, 'day')} after they last entered.`
        : 'Contacts enter once.';
  const zone = timeZone ?? 'UTC';
  return [
    again,
    goal === undefined ? '' : `They leave when they reach the goal: “${goal.event}”${describeFilter(goal.where)}.`,
    quietHours === undefined ? '' : `No email is sent from ${quietHours.from} to ${quietHours.to}.`,
    frequencyCap === undefined
      ? ''
      : `A contact gets at most ${countOf(frequencyCap.messages, 'email')} in ${countOf(frequencyCap.days, 'day')}.`,
    timeZone === undefined && timeZoneField === undefined
      ? ''
      : `Times are in ${timeZoneField === undefined ? zone : `the time zone in ${fieldName(timeZoneField, names)}, or ${zone}`}.`,
  ].filter((rule) => rule !== '');
}

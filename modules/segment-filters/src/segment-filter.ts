import {
  displayNameProblem,
  type FieldProblem,
  type IdPrefix,
  isId,
  parseDateTime,
  textProblem,
} from '@postroom/platform';
import { coerce, dayFromDateTime, dayFromText, expectation } from '@postroom/custom-fields';
import { EVENT_MEMBERS, type EventCondition, readEventCondition } from '@postroom/custom-events/sql';
import { MAIL_MEMBERS, type MailCondition, readMailCondition } from '@postroom/tracking/sql';
import type { Schema } from '@postroom/custom-fields';
import type { Parameters } from './parameters.ts';
import { type Operator, SEGMENT_FIELDS, type SegmentField } from './segment-operators.ts';

/** One condition on a contact, such as `{ field: 'customFields.plan', op: 'is', value: 'pro' }`. */
export interface Condition extends MailCondition, Partial<EventCondition> {
  field: string;
  op: string;
  value?: unknown;
}

/** A segment filter: conditions combined by and, or, not. */
export type SegmentFilter = { and: SegmentFilter[] } | { or: SegmentFilter[] } | { not: SegmentFilter } | Condition;

const MAX_DEPTH = 8;
const MAX_CONDITIONS = 100;
/** Each of these may read all events of a name. */
const MAX_EVENT_CONDITIONS = 10;
const MAX_LIST = 200;
const MAX_TEXT = 500;
/** As where events are received. */
const MAX_EVENT_NAME = 100;
const MAX_DAYS = 36_500;

interface Reading {
  schema: Schema;
  problems: FieldProblem[];
  conditions: number;
  eventConditions: number;
  eventDays: EventDays[];
  groupIds: Set<string>;
  journeyIds: Set<string>;
}

/** The number of days of a condition on events, and the path of the value. */
export interface EventDays {
  field: string;
  days: number;
}

/** A filter in stored form, what it refers to, and its problems by path. */
export interface ReadFilter {
  filter: SegmentFilter;
  groupIds: string[];
  journeyIds: string[];
  eventDays: EventDays[];
  problems: FieldProblem[];
}

/** Validates a filter against the operators and the project's custom fields, and normalizes its values for storage. */
export function readFilter(given: unknown, schema: Schema): ReadFilter {
  const reading: Reading = {
    schema,
    problems: [],
    conditions: 0,
    eventConditions: 0,
    eventDays: [],
    groupIds: new Set(),
    journeyIds: new Set(),
  };
  const filter = readNode(given, 'filter', 1, reading);
  if (reading.conditions > MAX_CONDITIONS) {
    reading.problems.unshift({ field: 'filter', message: `must have at most ${MAX_CONDITIONS} conditions` });
  }
  if (reading.eventConditions > MAX_EVENT_CONDITIONS) {
    const message = `must have at most ${MAX_EVENT_CONDITIONS} conditions on events`;
    reading.problems.unshift({ field: 'filter', message });
  }
  const { groupIds, journeyIds, eventDays, problems } = reading;
  return { filter, groupIds: [...groupIds], journeyIds: [...journeyIds], eventDays, problems };
}

/** Placeholder for an invalid filter; since it has problems, it is never stored. */
const UNREADABLE: SegmentFilter = { and: [] };

function readNode(given: unknown, path: string, depth: number, reading: Reading): SegmentFilter {
  const fail = (message: string, at = path) => {
    reading.problems.push({ field: at, message });
    return UNREADABLE;
  };
  if (!isObject(given)) return fail('must be an object: a condition, or one of and, or, not');
  if (depth > MAX_DEPTH) return fail(`is nested more than ${MAX_DEPTH} levels deep`);
  if ('field' in given) return readCondition(given, path, reading);
  const [[kind, inner] = ['', undefined], ...others] = Object.entries(given);
  if (!['and', 'or', 'not'].includes(kind) || others.length > 0) {
    return fail('must be a condition with field and op, or have exactly one of and, or, not');
  }
  if (kind === 'not') return { not: readNode(inner, `${path}.not`, depth + 1, reading) };
  if (!Array.isArray(inner) || inner.length === 0)
    return fail('must be an array of at least one filter', `${path}.${kind}`);
  const nodes = inner
    .slice(0, MAX_CONDITIONS + 1)
    .map((node, index) => readNode(node, `${path}.${kind}.${index}`, depth + 1, reading));
  return kind === 'and' ? { and: nodes } : { or: nodes };
}

const MEMBERS = ['field', 'op', 'value', ...MAIL_MEMBERS, ...EVENT_MEMBERS];

function readCondition(given: Record<string, unknown>, path: string, reading: Reading): SegmentFilter {
  reading.conditions++;
  const fail = (at: string, message: string) => {
    reading.problems.push({ field: at === '' ? path : `${path}.${at}`, message });
    return UNREADABLE;
  };
  const members = Object.fromEntries(Object.entries(given).map(([key, member]) => [camelCase(key), member]));
  const unknown = Object.keys(members).find((key) => !MEMBERS.includes(key));
  if (unknown !== undefined) return fail(unknown, 'is not a known field');
  const found = findField(given.field, reading.schema);
  if (typeof found === 'string') return fail('field', found);
  const op = typeof given.op === 'string' ? camelCase(given.op) : '';
  const operator = Object.hasOwn(found.operators, op) ? found.operators[op] : undefined;
  if (operator === undefined) return fail('op', `must be one of: ${Object.keys(found.operators).join(', ')}`);
  const hasMember = (key: string) => members[key] != null;
  const ofMail = found.of === 'mail' ? undefined : MAIL_MEMBERS.find(hasMember);
  if (ofMail !== undefined) return fail(ofMail, 'is only for sent, opened, clicked and other conditions on email');
  const ofEvents = found.of === 'events' ? undefined : EVENT_MEMBERS.find(hasMember);
  if (ofEvents !== undefined) return fail(ofEvents, 'is only for conditions on event');
  const mail = readMailCondition(members, { isId: isIdOf, isClick: found.name === 'clicked' });
  if ('message' in mail) return fail(mail.field, mail.message);
  const events = found.of === 'events' ? readEventCondition(members, EVENT_READERS) : undefined;
  if (events !== undefined && 'message' in events) return fail(events.field, events.message);
  if (events?.times !== undefined && /^(first|last)/.test(op)) return fail('times', `must be omitted for ${op}`);
  reading.conditions += events?.where?.length ?? 0;
  const value = readValue(given.value, operator, found, reading);
  if ('problem' in value) return fail('value', value.problem);
  if (events !== undefined) reading.eventConditions++;
  if (events !== undefined && operator.takes === 'days')
    reading.eventDays.push({ field: `${path}.value`, days: value.value as number });
  return {
    field: found.name,
    op,
    ...(operator.takes === 'none' ? {} : value),
    ...mail,
    ...events,
  };
}

interface FoundField extends SegmentField {
  /** The stored name. */
  name: string;
  custom?: Schema extends ReadonlyMap<string, infer Field> ? Field : never;
}

/** The field of a condition with its operators, or the problem. */
function findField(given: unknown, schema: Schema): FoundField | string {
  if (typeof given !== 'string') return 'must be a string';
  const [, key] = /^(?:customFields|custom_fields)\.(.+)$/.exec(given) ?? [];
  if (key === undefined) {
    const name = camelCase(given);
    const field = name !== 'customFields' && Object.hasOwn(SEGMENT_FIELDS, name) ? SEGMENT_FIELDS[name] : undefined;
    return field ? { ...field, name } : `must be customFields.<key> or one of: ${OWN_FIELDS.join(', ')}`;
  }
  const custom = schema.get(key);
  if (custom === undefined) return `${key} is not a custom field of this project`;
  const all = Object.entries((SEGMENT_FIELDS.customFields as SegmentField).operators);
  return {
    name: `customFields.${key}`,
    custom,
    operators: Object.fromEntries(all.filter(([, { types }]) => types?.includes(custom.type))),
  };
}

const OWN_FIELDS = Object.keys(SEGMENT_FIELDS).filter((name) => name !== 'customFields');

type ReadValue = { value: unknown } | { problem: string };

function readValue(given: unknown, operator: Operator, field: FoundField, reading: Reading): ReadValue {
  switch (operator.takes) {
    case 'none':
      return given == null ? { value: null } : { problem: 'must be omitted' };
    case 'text':
      return isText(given)
        ? { value: given.normalize() }
        : { problem: `must be a string of 1 to ${MAX_TEXT} characters` };
    case 'number':
      return typeof given === 'number' && Number.isFinite(given) ? { value: given } : { problem: 'must be a number' };
    case 'days':
      return Number.isInteger(given) && (given as number) > 0 && (given as number) <= MAX_DAYS
        ? { value: given }
        : { problem: `must be a number of days between 1 and ${MAX_DAYS}` };
    case 'day':
      return orProblem(
        typeof given === 'string' ? (dayFromText(given) ?? dayFromDateTime(given)) : undefined,
        'must be a date such as 2026-11-21',
      );
    case 'time':
      return orProblem(readTime(given), 'must be a date and time such as 2026-11-21T09:30:00Z, or a date');
    case 'choice':
      return orProblem(choose(given, field), `must be one of: ${field.choices?.join(', ')}`);
    case 'choices':
      return readList(given, (item) => choose(item, field), `must be an array of: ${field.choices?.join(', ')}`);
    case 'group':
      return orProblem(readId('grp', given, reading.groupIds), 'must be the id of a group');
    case 'groups':
      return readList(given, (item) => readId('grp', item, reading.groupIds), 'must be an array of ids of groups');
    case 'journey':
      return orProblem(readId('jrn', given, reading.journeyIds), 'must be the id of a journey');
    case 'journeys':
      return readList(given, (item) => readId('jrn', item, reading.journeyIds), 'must be an array of ids of journeys');
    case 'own':
      return orProblem(ownValue(given, field), field.custom ? expectation(field.custom) : '');
    case 'ownList':
      return readList(
        given,
        (item) => ownValue(item, field),
        `must be an array; each ${field.custom ? expectation(field.custom) : ''}`,
      );
  }
}

const orProblem = (value: unknown, problem: string): ReadValue => (value === undefined ? { problem } : { value });

function readList(given: unknown, read: (item: unknown) => unknown, problem: string): ReadValue {
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_LIST)
    return { problem: `${problem} (1 to ${MAX_LIST} of them)` };
  const values = given.map(read);
  return values.includes(undefined) ? { problem } : { value: values };
}

const isText = (given: unknown): given is string =>
  typeof given === 'string' && given.trim() !== '' && given.length <= MAX_TEXT && textProblem(given) === undefined;

const choose = (given: unknown, { choices }: FoundField) => choices?.find((choice) => choice === given);

/** Coerces a value as the custom field would, so that it equals stored values. */
const ownValue = (given: unknown, { custom }: FoundField) =>
  custom ? (coerce(given ?? null, custom) ?? undefined) : undefined;

function readTime(given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined;
  const day = dayFromText(given);
  return parseDateTime(day === undefined ? given : `${day}T00:00:00Z`)?.toISOString();
}

const isIdOf = (prefix: string, given: unknown): given is string =>
  typeof given === 'string' && isId(prefix as IdPrefix, given);

function readId(prefix: 'grp' | 'jrn', given: unknown, ids: Set<string>): string | undefined {
  if (!isIdOf(prefix, given)) return undefined;
  ids.add(given);
  return given;
}

const isObject = (given: unknown): given is Record<string, unknown> =>
  typeof given === 'object' && given !== null && !Array.isArray(given);

/** `/v1` requests use snake_case; `created_at` and `is_not` are read as `createdAt` and `isNot`. */
const camelCase = (name: string) => name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());

const EVENT_READERS = {
  camelCase,
  isText,
  nameProblem: (name: string) => displayNameProblem(name, MAX_EVENT_NAME),
};

/** Whether a filter is about mail or events, of which there are many more rows than contacts. */
export function isBehavioral(filter: SegmentFilter): boolean {
  if ('field' in filter) return SEGMENT_FIELDS[filter.field]?.of !== undefined;
  return Object.values(filter).flat().some(isBehavioral);
}

/** Compiles a stored filter to an SQL condition on the contact `c`. All values become parameters. */
export function compileFilter(filter: SegmentFilter, parameters: Parameters): string {
  if ('and' in filter) return `(${filter.and.map((each) => compileFilter(each, parameters)).join(' AND ')})`;
  if ('or' in filter) return `(${filter.or.map((each) => compileFilter(each, parameters)).join(' OR ')})`;
  if ('not' in filter) return `NOT ${compileFilter(filter.not, parameters)}`;
  const [, key] = /^customFields\.(.+)$/.exec(filter.field) ?? [];
  const operator = SEGMENT_FIELDS[key === undefined ? filter.field : 'customFields']?.operators[filter.op];
  if (operator === undefined)
    throw new Error(`A stored segment uses the unknown operator ${filter.field} ${filter.op}.`);
  const { value } = filter;
  return operator.sql(
    { key: key ?? '', value: value as never, mail: filter, events: filter as EventCondition },
    parameters,
  );
}

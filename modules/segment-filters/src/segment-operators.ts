import { CONTACT_SOURCES, hasReason, SUPPRESSION_STATUSES } from '@postroom/contacts/sql';
import { type EventCondition, eventSql } from '@postroom/custom-events/sql';
import { isMemberOfAny } from '@postroom/groups/sql';
import { isInAnyJourney, wasInAnyJourney } from '@postroom/journeys/sql';
import { emailKey, emailKeyParts, escapeLike, messageKeySql } from '@postroom/platform';
import { type MailCondition, mailSql } from '@postroom/tracking/sql';
import { CUSTOM_FIELD_TYPES, type CustomFieldType } from '@postroom/custom-fields';
import type { Parameters } from './parameters.ts';

/** The operand of a condition. `none` takes no value; `own` and `ownList` take values of the custom field's type. */
export type ValueKind =
  | 'none'
  | 'text'
  | 'number'
  | 'day'
  | 'time'
  | 'days'
  | 'choice'
  | 'choices'
  | 'group'
  | 'groups'
  | 'journey'
  | 'journeys'
  | 'own'
  | 'ownList';

/** An operator of a field: the value it takes and its SQL for the contact `c`. */
export interface Operator {
  takes: ValueKind;
  /** The custom field types it applies to. */
  types?: readonly CustomFieldType[];
  sql: (condition: CompiledCondition, parameters: Parameters) => string;
}

/** The input of an operator's SQL. The value has been validated for the operator. */
interface CompiledCondition {
  /** The key of the custom field, if the condition is on one. */
  key: string;
  value: never;
  /** The mail of a condition on it. */
  mail: MailCondition;
  /** The events of a condition on them. */
  events: EventCondition;
}

/** A field that conditions can use. */
export interface SegmentField {
  operators: Record<string, Operator>;
  /** The values allowed for `choice` and `choices`. */
  choices?: readonly string[];
  /** Whether its conditions are about mail or custom events, and have the members of those. */
  of?: 'mail' | 'events';
}

type Sql = Operator['sql'];

const operator = (takes: ValueKind, sql: Sql, types?: readonly CustomFieldType[]): Operator => ({
  takes,
  sql,
  ...(types && { types }),
});

const dayOf = (time: Date) => time.toISOString().slice(0, 10);
const none = () => undefined;

/** Text operators. PostgreSQL lower-cases both the column and the value, so they agree in every locale. */
function textOperators(like: (pattern: (text: string) => string) => Sql) {
  const contains = like((text) => `%${text}%`);
  return {
    contains: operator('text', contains),
    notContains: operator('text', not(contains)),
    startsWith: operator(
      'text',
      like((text) => `${text}%`),
    ),
    endsWith: operator(
      'text',
      like((text) => `%${text}`),
    ),
  };
}

const not =
  (sql: Sql): Sql =>
  (condition, parameters) =>
    `NOT ${sql(condition, parameters)}`;

/** A text column of the contact. It is never NULL and not wrapped in a function, so that the search index applies. */
function ownText(column: string): SegmentField {
  const is: Sql = ({ value }, parameters) => `(${column} = lower(${parameters.add(value)}::text))`;
  const like =
    (pattern: (text: string) => string): Sql =>
    ({ value }, parameters) =>
      `(${column} LIKE lower(${parameters.add(pattern(escapeLike(value)))}::text))`;
  return { operators: { is: operator('text', is), isNot: operator('text', not(is)), ...textOperators(like) } };
}

/** The address, compared by its canonical key, so spelling variants match. */
const EMAIL: SegmentField = (() => {
  const is: Sql = ({ value }, parameters) => `(c.email_key = ${parameters.add(emailKey(value as string))}::text)`;
  const like =
    (pattern: (text: string) => string): Sql =>
    ({ value }, parameters) =>
      `(${emailKeyParts(value as string)
        .map((part) => `c.email_key LIKE ${parameters.add(pattern(escapeLike(part)))}::text`)
        .join(' OR ')})`;
  return { operators: { is: operator('text', is), isNot: operator('text', not(is)), ...textOperators(like) } };
})();

/** Choice operators, built from the SQL that tests membership in a list. */
function choiceOperators(
  anyOf: (values: readonly string[], parameters: Parameters) => string,
  one: ValueKind,
  many: ValueKind,
) {
  const is: Sql = ({ value }, parameters) => anyOf([value].flat(), parameters);
  return {
    is: operator(one, is),
    isNot: operator(one, not(is)),
    in: operator(many, is),
    notIn: operator(many, not(is)),
  };
}

/** The status is the strongest reason: that reason exists, and no stronger one does. */
function suppressionStatusIn(statuses: readonly string[], parameters: Parameters): string {
  const alternatives = statuses.map((status) => {
    if (status === 'none') return 'NOT c.suppressed';
    const reason = `${parameters.add(status)}::suppression_reason`;
    return `(c.suppressed AND ${hasReason(`= ${reason}`)} AND NOT ${hasReason(`< ${reason}`)})`;
  });
  return `(${alternatives.join(' OR ')})`;
}

type TimeSql = (parameters: Parameters, value: never) => string;
const givenTime: TimeSql = (parameters, time) => `${parameters.add(time)}::timestamptz`;
const daysAgo: TimeSql = (parameters, days) => `${parameters.add(parameters.daysAgo(days))}::timestamptz`;
const createdAt =
  (comparison: string, at: TimeSql): Sql =>
  ({ value }, parameters) =>
    `c.created_at ${comparison} ${at(parameters, value)}`;

/** Whether something happened: ever, since a time, in the last days, and the opposites. */
const inPast = (ever: Sql, since: Sql, inLast: Sql) => ({
  ever: operator('none', ever),
  never: operator('none', not(ever)),
  since: operator('time', since),
  notSince: operator('time', not(since)),
  inLast: operator('days', inLast),
  notInLast: operator('days', not(inLast)),
});

/** Emails to the contact, by the time `column`: when one was sent, opened, clicked. @param state only those in this state. */
function engagement(column: string, state?: 'failed'): SegmentField {
  const mail =
    (sinceOf: (parameters: Parameters, value: never) => string | undefined): Sql =>
    ({ value, mail: condition }, parameters) => {
      const until = parameters.asOf && parameters.add(parameters.asOf);
      const fact = { column, state, since: sinceOf(parameters, value), until };
      const { fewContacts } = parameters;
      const add = (each: unknown) => parameters.add(each);
      return mailSql(condition, fact, { add, key: messageKeySql('m'), fewContacts });
    };
  return { of: 'mail', operators: inPast(mail(none), mail(givenTime), mail(daysAgo)) };
}

const firstDay = (days: number, parameters: Parameters) => dayOf(parameters.daysAgo(days));
const dayOfTime = (time: string) => time.slice(0, 10);

/** Whether the events of a condition happened, from a day in UTC on. */
const happened =
  (sinceOf: (value: never, parameters: Parameters) => string | undefined): Sql =>
  ({ value, events }, parameters) => {
    const before = parameters.asOf && dayAfter(dayOf(parameters.asOf));
    return eventSql(events, { since: sinceOf(value, parameters), before }, parameters);
  };
const happenedFirst =
  (sinceOf: (value: never, parameters: Parameters) => string): Sql =>
  (condition, parameters) => {
    const { value, events } = condition;
    const earlier = eventSql(events, { before: sinceOf(value, parameters) }, parameters);
    return `(${happened(sinceOf)(condition, parameters)} AND NOT ${earlier})`;
  };
const happenedBefore: Sql = ({ value, events }, parameters) =>
  eventSql(events, { before: dayOfTime(value) }, parameters);
/** Not since the day, but before it. */
const happenedLastBefore: Sql = (condition, parameters) =>
  `(${happenedBefore(condition, parameters)} AND NOT ${happened(dayOfTime)(condition, parameters)})`;

const { stringify } = JSON;
/** Uses containment, which the index on custom fields supports. */
const holds = (key: string, value: unknown, parameters: Parameters) =>
  `(c.custom_fields @> ${parameters.add(stringify({ [key]: value }))}::jsonb)`;
const holdsAny: Sql = ({ key, value }, parameters) =>
  `(${(value as unknown[]).map((each) => holds(key, each, parameters)).join(' OR ')})`;
const holdsOne: Sql = ({ key, value }, parameters) => holds(key, value, parameters);
const isSet: Sql = ({ key }, parameters) => `(c.custom_fields ? ${parameters.add(key)})`;

/** Compares as JSON, which can't fail: a value of another type is just not in the range. */
const numberIs =
  (comparison: string): Sql =>
  ({ key, value }, parameters) => {
    const stored = `c.custom_fields -> ${parameters.add(key)}::text`;
    return `coalesce(jsonb_typeof(${stored}) = 'number' AND (${stored}) ${comparison} ${parameters.add(stringify(value))}::jsonb, false)`;
  };

/** Days are stored as YYYY-MM-DD, so they compare as text. */
const dayIs =
  (
    from: (value: never, parameters: Parameters) => string | undefined,
    to: (value: never, parameters: Parameters) => string | undefined,
  ): Sql =>
  ({ key, value }, parameters) => {
    const stored = `c.custom_fields ->> ${parameters.add(key)}::text`;
    const bounds = [
      [from(value, parameters), '>='],
      [to(value, parameters), '<'],
    ].filter(([day]) => day !== undefined);
    return `coalesce(${bounds.map(([day, sign]) => `(${stored}) COLLATE "C" ${sign} ${parameters.add(day)}`).join(' AND ')}, false)`;
  };

const dayAfter = (day: string) => dayOf(new Date(new Date(day).getTime() + 86_400_000));
const isBeforeDay = dayIs(none, (day) => day);
const isAfterDay = dayIs(dayAfter, none);
const today = (_: unknown, parameters: Parameters) => dayOf(parameters.daysAgo(0));
const inLastDays = dayIs(firstDay, (_, parameters) => dayAfter(today(_, parameters)));
const inNextDays = dayIs(today, (days, parameters) => dayAfter(dayOf(parameters.daysAgo(-days))));

const customTextLike =
  (pattern: (text: string) => string): Sql =>
  ({ key, value }, parameters) =>
    `coalesce(lower(c.custom_fields ->> ${parameters.add(key)}::text) LIKE lower(${parameters.add(pattern(escapeLike(value)))}::text), false)`;
const forText = (operators: Record<string, Operator>) =>
  Object.fromEntries(Object.entries(operators).map(([name, { takes, sql }]) => [name, operator(takes, sql, ['text'])]));

const everyType = CUSTOM_FIELD_TYPES;
const severalValues: readonly CustomFieldType[] = ['text', 'number', 'select'];

/** All segment operators, by field. `customFields` stands for `customFields.<key>`. */
export const SEGMENT_FIELDS: Record<string, SegmentField> = {
  email: EMAIL,
  name: ownText('lower(c.name)'),
  source: {
    choices: CONTACT_SOURCES,
    operators: choiceOperators(
      (sources, parameters) => `(c.source = ANY (${parameters.add(sources)}::contact_source[]))`,
      'choice',
      'choices',
    ),
  },
  createdAt: {
    operators: {
      before: operator('time', createdAt('<', givenTime)),
      after: operator('time', createdAt('>=', givenTime)),
      inLast: operator('days', createdAt('>=', daysAgo)),
      notInLast: operator('days', createdAt('<', daysAgo)),
    },
  },
  suppressionStatus: {
    choices: SUPPRESSION_STATUSES,
    operators: choiceOperators(suppressionStatusIn, 'choice', 'choices'),
  },
  group: {
    operators: choiceOperators((ids, parameters) => isMemberOfAny('c.id', parameters.add(ids)), 'group', 'groups'),
  },
  journey: {
    operators: choiceOperators((ids, parameters) => isInAnyJourney('c.id', parameters.add(ids)), 'journey', 'journeys'),
  },
  everInJourney: {
    operators: choiceOperators(
      (ids, parameters) => wasInAnyJourney('c.id', parameters.add(ids)),
      'journey',
      'journeys',
    ),
  },
  sent: engagement('accepted_at'),
  delivered: engagement('delivered_at'),
  opened: engagement('opened_at'),
  clicked: engagement('clicked_at'),
  bounced: engagement('bounced_at'),
  complained: engagement('complained_at'),
  rejected: engagement('rejected_at'),
  unsubscribed: engagement('unsubscribed_at'),
  failed: engagement('unsent_at', 'failed'),
  event: {
    of: 'events',
    operators: {
      ...inPast(happened(none), happened(dayOfTime), happened(firstDay)),
      firstSince: operator('time', happenedFirst(dayOfTime)),
      firstBefore: operator('time', happenedBefore),
      lastBefore: operator('time', happenedLastBefore),
      firstInLast: operator('days', happenedFirst(firstDay)),
    },
  },
  customFields: {
    operators: {
      is: operator('own', holdsOne, everyType),
      isNot: operator('own', not(holdsOne), everyType),
      in: operator('ownList', holdsAny, severalValues),
      notIn: operator('ownList', not(holdsAny), severalValues),
      isSet: operator('none', isSet, everyType),
      isNotSet: operator('none', not(isSet), everyType),
      ...forText(textOperators(customTextLike)),
      lessThan: operator('number', numberIs('<'), ['number']),
      atMost: operator('number', numberIs('<='), ['number']),
      moreThan: operator('number', numberIs('>'), ['number']),
      atLeast: operator('number', numberIs('>='), ['number']),
      before: operator('day', isBeforeDay, ['date']),
      after: operator('day', isAfterDay, ['date']),
      inLast: operator('days', inLastDays, ['date']),
      notInLast: operator('days', not(inLastDays), ['date']),
      inNext: operator('days', inNextDays, ['date']),
    },
  },
};

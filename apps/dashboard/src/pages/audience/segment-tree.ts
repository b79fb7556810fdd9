import { numberIn, PROPERTY_OPERATORS, type PropertyCondition } from '../../components/property-operators.ts';
import type { RecordKind } from '../../data/records.ts';
import type { CustomField } from './field-values.tsx';

/** A condition being edited; may be incomplete. */
export interface Condition {
  kind: 'condition';
  id: number;
  field: string;
  op: string;
  value: unknown;
  /** Limits a condition on email, such as opened, to this campaign or template. */
  campaignId?: string | undefined;
  templateId?: string | undefined;
  /** Limits clicks in a campaign to links with this URL. */
  url?: string | undefined;
  /** Of a condition on custom events: their name, how many at least, and conditions on their properties. */
  event?: string | undefined;
  times?: number | undefined;
  where?: PropertyCondition[] | undefined;
}

/** A group of conditions and nested groups, matched by all, any or none. */
export interface Bundle {
  kind: 'bundle';
  id: number;
  match: 'all' | 'any' | 'none';
  children: Node[];
}

export type Node = Condition | Bundle;
export type Filter = Record<string, unknown>;

let lastId = 0;
const nextId = () => ++lastId;

export const newCondition = (): Condition => ({
  kind: 'condition',
  id: nextId(),
  field: 'email',
  op: 'contains',
  value: '',
});
export const newBundle = (match: Bundle['match'], children: Node[]): Bundle => ({
  kind: 'bundle',
  id: nextId(),
  match,
  children,
});

/** Parses an API filter (docs/reference/segments.md) into a tree. A single condition becomes a group of one. */
export function treeOf(filter: Filter): Bundle {
  const node = nodeOf(filter);
  return node.kind === 'bundle' ? node : newBundle('all', [node]);
}

function nodeOf(filter: Filter): Node {
  if (Array.isArray(filter.and)) return newBundle('all', filter.and.map(nodeOf));
  if (Array.isArray(filter.or)) return newBundle('any', filter.or.map(nodeOf));
  if (filter.not !== undefined) {
    const inner = nodeOf(filter.not as Filter);
    return newBundle('none', inner.kind === 'bundle' && inner.match === 'any' ? inner.children : [inner]);
  }
  return { ...(filter as unknown as Omit<Condition, 'kind' | 'id'>), kind: 'condition', id: nextId() };
}

/** Deep equality that ignores node ids. */
export const sameTree = (one: unknown, other: unknown): boolean => textOf(one) === textOf(other);

const textOf = (value: unknown) => JSON.stringify(value, (key, member: unknown) => (key === 'id' ? undefined : member));

/** Converts a tree to an API filter; undefined while incomplete. */
export function filterOf(node: Node): Filter | undefined {
  if (node.kind === 'condition') return conditionOf(node);
  const filters = node.children.map(filterOf);
  if (filters.length === 0 || filters.includes(undefined)) return undefined;
  if (node.match === 'all') return { and: filters };
  return node.match === 'any' ? { or: filters } : { not: { or: filters } };
}

function conditionOf(condition: Condition): Filter | undefined {
  const { field, op, value, campaignId, templateId, url } = condition;
  const takes = OPERATORS[op]?.takes;
  const events = field === 'event' ? eventsOf(condition) : {};
  if (events === undefined) return undefined;
  const of = {
    ...events,
    ...(campaignId === undefined ? {} : { campaignId }),
    ...(templateId === undefined ? {} : { templateId }),
    ...(url === undefined ? {} : { url }),
  };
  if (takes === 'nothing') return { field, op, ...of };
  const isEmpty = value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
  return isEmpty ? undefined : { field, op, value, ...of };
}

function eventsOf({ event = '', times = 1, where: typed = [], op }: Condition): Filter | undefined {
  const where = typed.map((test) =>
    PROPERTY_OPERATORS[test.op]?.takes === 'number' ? { ...test, value: numberIn(test.value) } : test,
  );
  const isIncomplete = ({ property, op: test, value }: PropertyCondition) => {
    const takes = PROPERTY_OPERATORS[test]?.takes;
    if (property.trim() === '') return true;
    return takes === 'number'
      ? typeof value !== 'number'
      : takes !== 'nothing' && (value === undefined || value === '');
  };
  if (event.trim() === '' || where.some(isIncomplete)) return undefined;
  return {
    event,
    ...(times === 1 || isFirstOrLast(op) ? {} : { times }),
    ...(where.length === 0 ? {} : { where }),
  };
}

/** Whether an operator is about the first or last event, so that a number of events makes no sense. */
export const isFirstOrLast = (op: string) => /^(first|last)/.test(op);

type Takes = 'one' | 'many' | 'days' | 'day' | 'nothing';

/** Operator labels and operand types. */
export const OPERATORS: Record<string, { label: string; takes: Takes }> = {
  is: { label: 'is', takes: 'one' },
  isNot: { label: 'is not', takes: 'one' },
  in: { label: 'is one of', takes: 'many' },
  notIn: { label: 'is not one of', takes: 'many' },
  contains: { label: 'contains', takes: 'one' },
  notContains: { label: 'does not contain', takes: 'one' },
  startsWith: { label: 'begins with', takes: 'one' },
  endsWith: { label: 'ends with', takes: 'one' },
  lessThan: { label: 'is less than', takes: 'one' },
  atMost: { label: 'is at most', takes: 'one' },
  moreThan: { label: 'is more than', takes: 'one' },
  atLeast: { label: 'is at least', takes: 'one' },
  before: { label: 'is before', takes: 'day' },
  after: { label: 'is after', takes: 'day' },
  inLast: { label: 'in the last … days', takes: 'days' },
  notInLast: { label: 'not in the last … days', takes: 'days' },
  inNext: { label: 'in the next … days', takes: 'days' },
  since: { label: 'since', takes: 'day' },
  notSince: { label: 'not since', takes: 'day' },
  firstInLast: { label: 'first in the last … days', takes: 'days' },
  firstSince: { label: 'first since', takes: 'day' },
  firstBefore: { label: 'first before', takes: 'day' },
  lastBefore: { label: 'last before', takes: 'day' },
  ever: { label: 'ever', takes: 'nothing' },
  never: { label: 'never', takes: 'nothing' },
  isSet: { label: 'is set', takes: 'nothing' },
  isNotSet: { label: 'is not set', takes: 'nothing' },
};

/** The value of a condition after its operator changed: kept where the next operator takes it, also as one of a list. */
export function valueFor(op: string, { op: before, value }: Condition, choice: FieldChoice | undefined): unknown {
  const [from, to] = [before, op].map((each) => {
    const takes = OPERATORS[each]?.takes;
    return takes === 'day' && choice?.input.kind === 'date' ? 'one' : takes;
  });
  if (from === to) return value;
  if (from === 'one' && to === 'many') return value === undefined || value === '' ? [] : [value];
  return from === 'many' && to === 'one' ? (value as unknown[] | undefined)?.[0] : undefined;
}

/** The input type of a value. */
type Input =
  | { kind: 'text' | 'number' | 'date' | 'boolean' }
  | { kind: 'choice'; choices: { value: string; label: string }[] }
  | { kind: 'record'; of: RecordKind };

export interface FieldChoice {
  field: string;
  label: string;
  group: 'Contact' | 'Mail' | 'Events' | 'Journeys' | 'Custom fields';
  operators: string[];
  input: Input;
}

const TEXT = ['is', 'isNot', 'contains', 'notContains', 'startsWith', 'endsWith'];
const MAIL = ['ever', 'never', 'since', 'notSince', 'inLast', 'notInLast'];
const ONE_OF = ['is', 'isNot', 'in', 'notIn'];

/** Conditions on email to the contact. */
const MAIL_FIELDS: Record<string, string> = {
  sent: 'Was sent email',
  delivered: 'Email was delivered',
  opened: 'Opened email',
  clicked: 'Clicked a link',
  bounced: 'Email bounced',
  complained: 'Marked email as spam',
  rejected: 'Email was rejected',
  unsubscribed: 'Unsubscribed by link',
  failed: 'Email failed',
};

const words = (entries: Record<string, string>) => Object.entries(entries).map(([value, label]) => ({ value, label }));

/** Fields available in conditions, with their operators (docs/reference/segments.md). */
export function fieldChoices(custom: readonly CustomField[]): FieldChoice[] {
  return [
    { field: 'email', label: 'Address', group: 'Contact', operators: TEXT, input: { kind: 'text' } },
    { field: 'name', label: 'Name', group: 'Contact', operators: TEXT, input: { kind: 'text' } },
    {
      field: 'group',
      label: 'Group',
      group: 'Contact',
      operators: ONE_OF,
      input: { kind: 'record', of: 'groups' },
    },
    {
      field: 'source',
      label: 'Source',
      group: 'Contact',
      operators: ONE_OF,
      input: { kind: 'choice', choices: words({ api: 'API', import: 'Import', dashboard: 'Dashboard', form: 'Form' }) },
    },
    {
      field: 'createdAt',
      label: 'Added',
      group: 'Contact',
      operators: ['before', 'after', 'inLast', 'notInLast'],
      input: { kind: 'date' },
    },
    {
      field: 'suppressionStatus',
      label: 'Subscription',
      group: 'Contact',
      operators: ONE_OF,
      input: {
        kind: 'choice',
        choices: words({
          none: 'Subscribed',
          unsubscribed: 'Unsubscribed',
          bounced: 'Bounced',
          complained: 'Complained',
          manual: 'Suppressed manually',
        }),
      },
    },
    ...Object.entries(MAIL_FIELDS).map(([field, label]): FieldChoice => ({
      field,
      label,
      group: 'Mail',
      operators: MAIL,
      input: { kind: 'date' },
    })),
    {
      field: 'event',
      label: 'Caused an event',
      group: 'Events',
      operators: [...MAIL, 'firstInLast', 'firstSince', 'firstBefore', 'lastBefore'],
      input: { kind: 'date' },
    },
    ...[
      { field: 'journey', label: 'Is in a journey' },
      { field: 'everInJourney', label: 'Was in a journey' },
    ].map((each): FieldChoice => ({
      ...each,
      group: 'Journeys',
      operators: ONE_OF,
      input: { kind: 'record', of: 'journeys' },
    })),
    ...custom.map(customChoice),
  ];
}

const ONLY: Record<CustomField['type'], string[]> = {
  text: [...TEXT, 'in', 'notIn'],
  number: [...ONE_OF, 'lessThan', 'atMost', 'moreThan', 'atLeast'],
  boolean: ['is', 'isNot'],
  date: ['is', 'isNot', 'before', 'after', 'inLast', 'notInLast', 'inNext'],
  select: ONE_OF,
};

function customChoice({ key, label, type, options }: CustomField): FieldChoice {
  const input: Input =
    type === 'select'
      ? { kind: 'choice', choices: options.map((option) => ({ value: option, label: option })) }
      : { kind: type };
  return {
    field: `customFields.${key}`,
    label,
    group: 'Custom fields',
    operators: [...ONLY[type], 'isSet', 'isNotSet'],
    input,
  };
}

/** Whether a field can be limited to one campaign or template. */
export const isMailField = (field: string) => Object.hasOwn(MAIL_FIELDS, field);

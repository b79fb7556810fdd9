import { contactHadEvents, PROPERTY_OPERATORS, type PropertyOperand } from '@postroom/custom-events/sql';
import { displayNameProblem, escapeLike, type FieldProblem, textProblem } from '@postroom/platform';
import type { Parameters } from './parameters.ts';

/** Which custom events a condition is about. */
export interface EventCondition {
  /** The name of the events. */
  event: string;
  /** How many at least; 1 if omitted. */
  times?: number;
  /** Conditions on their properties, which must all hold. */
  where?: PropertyCondition[];
}

interface PropertyCondition {
  property: string;
  op: string;
  value?: string | number | boolean;
}

const [MAX_NAME, MAX_TEXT, MAX_TIMES, MAX_WHERE] = [100, 500, 10_000, 10];

/** Reads `event`, `times` and `where` of a condition. Problems name the member. */
export function readEventCondition(
  given: Record<string, unknown>,
  camelCase: (name: string) => string,
): EventCondition | FieldProblem {
  const { event, times, where } = given;
  const nameProblem =
    typeof event === 'string' ? displayNameProblem(event, MAX_NAME) : 'is required: the name of an event';
  if (nameProblem !== undefined) return { field: 'event', message: nameProblem };
  if (times !== undefined && !(Number.isInteger(times) && (times as number) >= 1 && (times as number) <= MAX_TIMES))
    return { field: 'times', message: `must be a number from 1 to ${MAX_TIMES}` };
  const read: EventCondition = { event: (event as string).trim() };
  if (times !== undefined && times !== 1) read.times = times as number;
  if (where === undefined) return read;
  if (!Array.isArray(where) || where.length === 0 || where.length > MAX_WHERE)
    return { field: 'where', message: `must be a list of 1 to ${MAX_WHERE} conditions on properties` };
  const conditions: PropertyCondition[] = [];
  for (const [index, each] of where.entries()) {
    const condition = readPropertyCondition(each, camelCase);
    if ('message' in condition)
      return { ...condition, field: ['where', index, condition.field].filter((part) => part !== '').join('.') };
    conditions.push(condition);
  }
  return { ...read, where: conditions };
}

function readPropertyCondition(given: unknown, camelCase: (name: string) => string): PropertyCondition | FieldProblem {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { field: '', message: 'must be an object with property, op and value' };
  const { property, op: givenOp, value, ...others } = given as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return { field: unknown, message: 'is not a known property of a condition' };
  if (!isText(property)) return { field: 'property', message: A_TEXT };
  const op = typeof givenOp === 'string' ? camelCase(givenOp) : '';
  const operator = Object.hasOwn(PROPERTY_OPERATORS, op) ? PROPERTY_OPERATORS[op] : undefined;
  if (operator === undefined)
    return { field: 'op', message: `must be one of: ${Object.keys(PROPERTY_OPERATORS).join(', ')}` };
  const [isValid, message] = OPERANDS[operator.takes];
  if (!isValid(value)) return { field: 'value', message };
  return operator.takes === 'nothing' ? { property, op } : { property, op, value: value as string };
}

const isText = (given: unknown): given is string =>
  typeof given === 'string' && given.trim() !== '' && given.length <= MAX_TEXT && textProblem(given) === undefined;
const A_TEXT = `must be a text of 1 to ${MAX_TEXT} characters`;
const OPERANDS: Record<PropertyOperand, [isValid: (given: unknown) => boolean, problem: string]> = {
  nothing: [(given) => given == null, 'must not be given'],
  number: [Number.isFinite, 'must be a number'],
  text: [isText, A_TEXT],
  any: [
    (given) => Number.isFinite(given) || typeof given === 'boolean' || isText(given),
    'must be a text, a number, true or false',
  ],
};

/** The SQL of whether the contact `c` had as many of the events in these days. All values become parameters. */
export function eventSql(
  { event, times, where }: EventCondition,
  { since, before }: { since?: string | undefined; before?: string },
  parameters: Parameters,
): string {
  const counted = {
    name: parameters.add(event),
    ...(since === undefined ? {} : { since: parameters.add(since) }),
    ...(before === undefined ? {} : { before: parameters.add(before) }),
    ...(where === undefined ? {} : { properties: where.map((each) => propertySql(each, parameters)).join(' AND ') }),
  };
  return contactHadEvents(counted, times === undefined ? undefined : `${parameters.add(times)}::int`);
}

function propertySql({ property, op, value }: PropertyCondition, parameters: Parameters): string {
  const operator = PROPERTY_OPERATORS[op];
  if (operator === undefined) throw new Error(`A stored segment uses the unknown operator ${op} of a property.`);
  const path = `${parameters.add(property)}::text`;
  if (operator.takes === 'nothing') return operator.sql(path, '');
  // A text is given as a pattern and as it is.
  const given = operator.takes === 'text' ? [`%${escapeLike(String(value))}%`, value] : value;
  return operator.sql(path, `${parameters.add(JSON.stringify(given))}::jsonb`);
}

import { ESCAPES } from './escape.ts';
import { sourceOf } from './marks.ts';
import type { Template, Variable } from './template.ts';

/** The type of a variable's value; any other type counts as missing. */
export type Value = string | number | boolean | Date | null | undefined;
/** Contact fields, custom fields and system values (`unsubscribe_url` …), by placeholder name. */
export type Values = Readonly<Record<string, Value>>;

/** Renders a template. @throws TooLongError when the result has more than `most` characters. */
export function renderTemplate(template: Template, values: Values, most = Infinity): string {
  const { statics, variables } = template;
  let out = statics[0]!;
  for (let i = 0; i < variables.length; i++) {
    out += valueFor(variables[i]!, values) + statics[i + 1]!;
    if (out.length > most) throw new TooLongError(most);
  }
  return out;
}

/** The rendered template is too long: a short template with many placeholders and long values could exhaust memory. */
export class TooLongError extends Error {
  override readonly name = 'TooLongError';

  constructor(most: number) {
    super(`has more than ${most} characters with its values filled in`);
  }
}

/** The escaped text of a variable: its value, else its default, else nothing. */
export function valueFor(variable: Variable, values: Values): string {
  const text = plainText(values[variable.name]);
  return ESCAPES[variable.context](text === '' ? (variable.fallback ?? '') : text);
}

/** Fills in values that all recipients share, so that they are not rendered for each. Empty values leave their variable. */
export function bindValues(template: Template, values: Values): Template {
  const statics = [template.statics[0]!];
  const variables: Variable[] = [];
  template.variables.forEach((variable, i) => {
    const next = template.statics[i + 1]!;
    if (plainText(values[variable.name]) === '') {
      variables.push(variable);
      statics.push(next);
    } else {
      statics.push(statics.pop()! + valueFor(variable, values) + next);
    }
  });
  if (variables.length === template.variables.length) return template;
  return { ...template, source: sourceOf({ statics, variables }), statics, variables };
}

/** The variable names of a template, without duplicates, in order of appearance. */
export function variablesOf(template: Template): string[] {
  return [...new Set(template.variables.map((variable) => variable.name))];
}

/** The names without a value or a default. */
export function missing(template: Template, values: Values): string[] {
  const empty = template.variables.filter(
    (variable) => variable.fallback === undefined && plainText(values[variable.name]) === '',
  );
  return [...new Set(empty.map((variable) => variable.name))];
}

/** A value as plain text; '' if it is empty, so that the default applies. */
function plainText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return isBlank(value) ? '' : value;
    case 'number':
      return Number.isFinite(value) ? String(value) : '';
    case 'boolean':
      return String(value);
    default:
      return value instanceof Date ? plainDate(value) : '';
  }
}

function isBlank(value: string): boolean {
  // Fast path: nearly every value starts with a visible character, so it can't be blank.
  const first = value.charCodeAt(0);
  return !(first > 0x20 && first < 0x7f) && value.trim() === '';
}

/** `2026-11-20`, or `2026-11-20 14:30 UTC` if it has a time of day. */
function plainDate(date: Date): string {
  if (Number.isNaN(date.getTime())) return '';
  const [day, time] = date.toISOString().split('T') as [string, string];
  return time.startsWith('00:00:00.000') ? day : `${day} ${time.slice(0, 5)} UTC`;
}

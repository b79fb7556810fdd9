import { currencyOf, formatDate, formatNumber, timeZoneProblem } from './formats.ts';
import { includes, splitBy } from './search.ts';
import { cost, isNothing, RenderError, toNumber, toText, type Work } from './values.ts';

/** A filter: how many arguments it takes, and the function that applies it to a value. */
interface Filter {
  readonly min: number;
  readonly max: number;
  readonly apply: (value: unknown, args: readonly unknown[], work: Work) => unknown;
}

/** Maximum length of a text that filters make, in characters, and of a list, in items. */
const MAX_TEXT = 1_000_000;
const MAX_ITEMS = 100_000;

const filter = (min: number, max: number, apply: Filter['apply']): Filter => ({ min, max, apply });
const text = (min: number, max: number, apply: (value: string, ...args: string[]) => unknown) =>
  filter(min, max, (value, args) => apply(toText(value), ...args.map(toText)));
const number = (min: number, max: number, apply: (value: number, ...args: number[]) => number) =>
  filter(min, max, (value, args) => apply(toNumber(value), ...args.map(toNumber)));
const list = (min: number, max: number, apply: (items: readonly unknown[], ...args: unknown[]) => unknown) =>
  filter(min, max, (value, args) =>
    apply(Array.isArray(value) ? (value as unknown[]) : isNothing(value) ? [] : [value], ...args),
  );

/** The filters by name, as LiquidJS defines them; `number` and `currency` are ours. */
export const FILTERS: Readonly<Record<string, Filter>> = {
  default: filter(1, 1, (value, [other]) => (isEmpty(value) ? other : value)),
  // Values are always escaped for where they stand.
  escape: filter(0, 0, (value) => value),

  upcase: text(0, 0, (value) => value.toUpperCase()),
  downcase: text(0, 0, (value) => value.toLowerCase()),
  capitalize: text(0, 0, (value) => value.slice(0, 1).toUpperCase() + value.slice(1).toLowerCase()),
  strip: text(0, 0, (value) => value.trim()),
  lstrip: text(0, 0, (value) => value.trimStart()),
  rstrip: text(0, 0, (value) => value.trimEnd()),
  append: text(1, 1, (value, more = '') => checkLength(value.length + more.length) && value + more),
  prepend: text(1, 1, (value, more = '') => checkLength(value.length + more.length) && more + value),
  remove: text(1, 1, (value, part = '') => splitBy(value, part).join('')),
  replace: text(1, 2, (value, part = '', other = '') => {
    const pieces = split(value, part);
    return joinPieces(pieces, other);
  }),
  replace_first: text(
    1,
    2,
    (value, part = '', other = '') =>
      checkLength(value.length + other.length) && (includes(value, part) ? replaceFirst(value, part, other) : value),
  ),
  truncate: filter(0, 2, (value, [most = 50, ellipsis = '...']) => {
    const [whole, end, length] = [toText(value), toText(ellipsis), toNumber(most)];
    return whole.length <= length ? value : startOf(whole, Math.max(0, length - end.length)) + end;
  }),
  truncatewords: filter(0, 2, (value, [most = 15, ellipsis = '...']) => {
    const count = Math.min(Math.max(1, Math.trunc(toNumber(most))), MAX_ITEMS);
    const words = toText(value)
      .trim()
      .split(/\s+/, count + 1);
    return words.slice(0, count).join(' ') + (words.length > count ? toText(ellipsis) : '');
  }),
  split: text(1, 1, (value, separator = '') => {
    const pieces = split(value, separator);
    while (pieces.at(-1) === '') pieces.pop();
    return pieces;
  }),
  url_encode: text(0, 0, (value) => encodeURIComponent(value.toWellFormed()).replaceAll('%20', '+')),

  size: filter(0, 0, (value) => (typeof value === 'string' || Array.isArray(value) ? value.length : 0)),
  first: filter(0, 0, (value) =>
    Array.isArray(value) ? (value as unknown[])[0] : (/^./su.exec(toText(value))?.[0] ?? ''),
  ),
  last: filter(0, 0, (value) =>
    Array.isArray(value) ? (value as unknown[]).at(-1) : (/.$/su.exec(toText(value).slice(-2))?.[0] ?? ''),
  ),
  join: list(0, 1, (items, separator = ' ') => joinPieces(items.map(toText), toText(separator))),
  reverse: list(0, 0, (items) => items.toReversed()),
  uniq: list(0, 0, (items) => [...new Set(items)]),
  compact: list(0, 0, (items) => items.filter((item) => !isNothing(item))),
  sort: list(0, 0, sortItems),
  map: list(1, 1, (items, key) => items.map((item) => ownProperty(item, toText(key)))),
  sum: list(0, 1, (items, key) =>
    items.reduce((sum: number, item) => sum + toNumber(key === undefined ? item : ownProperty(item, toText(key))), 0),
  ),

  plus: number(1, 1, (value, other = 0) => value + other),
  minus: number(1, 1, (value, other = 0) => value - other),
  times: number(1, 1, (value, other = 0) => value * other),
  divided_by: number(1, 1, (value, other = 0) => value / other),
  modulo: number(1, 1, (value, other = 0) => value % other),
  round: number(0, 1, (value, digits = 0) => {
    const factor = 10 ** Math.min(Math.max(Math.trunc(digits), 0), 15);
    return Math.round(value * factor) / factor;
  }),
  ceil: number(0, 0, Math.ceil),
  floor: number(0, 0, Math.floor),
  abs: number(0, 0, Math.abs),
  at_least: number(1, 1, (value, least = 0) => Math.max(value, least)),
  at_most: number(1, 1, (value, most = 0) => Math.min(value, most)),

  date: filter(1, 2, (value, [format, zone], work) =>
    formatDate(value, toText(format), zone === undefined ? 'UTC' : toText(zone), work),
  ),
  number: filter(0, 2, (value, [digits, locale], work) =>
    formatNumber(value, digits === undefined ? {} : fractionDigits(digits), locale, work),
  ),
  currency: filter(1, 2, (value, [code, locale], work) => formatNumber(value, currencyOf(toText(code)), locale, work)),
};

/** Whether a filter may stand without arguments. */
export const takesNoArguments = (name: string) => FILTERS[name]?.min === 0;

/**
 * What is wrong with a filter, for its author; undefined if nothing is.
 * @param args its arguments, `undefined` for those that are only known when it is applied.
 */
export function filterProblem(name: string, args: readonly unknown[]): string | undefined {
  const known = Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
  if (known === undefined) return `has no filter "${name}"; the filters are ${Object.keys(FILTERS).join(', ')}`;
  if (args.length < known.min) return `needs an argument for the filter "${name}", such as ${name}: "…"`;
  if (args.length > known.max) return `has too many arguments for the filter "${name}"`;
  try {
    if (name === 'date' && args[1] !== undefined) return timeZoneProblem(toText(args[1]));
    if (name === 'currency' && args[0] !== undefined) formatNumber(0, currencyOf(toText(args[0])), args[1]);
    if (name === 'number') formatNumber(0, args[0] === undefined ? {} : fractionDigits(args[0]), args[1]);
  } catch (error) {
    if (error instanceof RenderError) return error.message;
    throw error;
  }
  return undefined;
}

/** The work of filters that take longer than most, whatever their value. */
const COSTS: Readonly<Record<string, number>> = { date: 10, number: 2, currency: 2 };

/** Applies a filter and counts its work. @throws RenderError if a bound is exceeded or an argument is invalid. */
export function applyFilter(name: string, value: unknown, args: readonly unknown[], work: Work): unknown {
  work.spend((COSTS[name] ?? 1) + cost(value) * (name === 'sort' ? 8 : 1) + cost(args));
  const result = FILTERS[name]!.apply(value, args, work);
  if (result !== value) work.spend(cost(result));
  return result;
}

/** Nothing, a blank text or an empty list. `false` is a value, as in the short form `{{name|there}}`. */
const isEmpty = (value: unknown) =>
  isNothing(value) ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.length === 0);

/** @throws RenderError for a text that is too long. */
function checkLength(length: number): true {
  if (length > MAX_TEXT) throw new RenderError(`A filter returns a text of more than ${MAX_TEXT} characters.`);
  return true;
}

/** The start of a text, without the first half of a character that has two units, such as an emoji. */
const startOf = (value: string, length: number) => value.slice(0, length).replace(/[\ud800-\udbff]$/, '');

function split(value: string, separator: string): string[] {
  const pieces = separator === '' ? value.split(/(?:)/u, MAX_ITEMS + 1) : splitBy(value, separator, MAX_ITEMS + 1);
  if (pieces.length > MAX_ITEMS) throw new RenderError(`A filter splits a text into more than ${MAX_ITEMS} pieces.`);
  return pieces;
}

function joinPieces(pieces: readonly string[], separator: string): string {
  checkLength(pieces.reduce((sum, piece) => sum + piece.length, Math.max(0, pieces.length - 1) * separator.length));
  return pieces.join(separator);
}

/** Sorts numbers by size and other values by their texts, which are made once. Missing values come last. */
function sortItems(items: readonly unknown[]): unknown[] {
  const keyed = items.map((item) => ({ item, text: typeof item === 'number' ? '' : toText(item) }));
  keyed.sort(({ item: a, text: first }, { item: b, text: second }) => {
    if (isNothing(a) || isNothing(b)) return Number(isNothing(a)) - Number(isNothing(b));
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    const [one, other] = [typeof a === 'number' ? toText(a) : first, typeof b === 'number' ? toText(b) : second];
    return one < other ? -1 : Number(one > other);
  });
  return keyed.map(({ item }) => item);
}

function replaceFirst(value: string, part: string, other: string): string {
  const [before = ''] = splitBy(value, part, 1);
  return before + other + value.slice(before.length + part.length);
}

const ownProperty = (value: unknown, key: string) =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

function fractionDigits(digits: unknown): Intl.NumberFormatOptions {
  const count = toNumber(digits);
  if (!Number.isInteger(count) || count < 0 || count > 20)
    throw new RenderError('The filter "number" takes 0 to 20 decimal places.');
  return { minimumFractionDigits: count, maximumFractionDigits: count };
}

/** A message cannot be rendered from these values: it would exceed a bound, or an argument is invalid. */
export class RenderError extends Error {
  override readonly name: string = 'RenderError';
}

/** Counts the work of a render. */
export interface Work {
  /** @throws RenderError when the bound is exceeded. */
  spend: (units: number) => void;
}

/** The work that a value makes: more for long texts and lists, with the texts and lists in them. */
export function cost(value: unknown): number {
  if (typeof value === 'string') return value.length / 64;
  return Array.isArray(value) ? value.reduce((sum: number, item) => sum + cost(item), value.length) : 0;
}

/** The number of an object's keys, counted as work. */
export function countKeys(value: object, work: Work): number {
  const { length } = Object.keys(value);
  work.spend(length);
  return length;
}

export const isNothing = (value: unknown) => value === undefined || value === null;

/** A value as text, '' for objects and what has no text. A list is its items without a separator. */
export function toText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return Number.isFinite(value) ? String(value) : '';
    case 'boolean':
      return String(value);
    default:
      if (value instanceof Date) return plainDate(value);
      return Array.isArray(value) ? value.map((item) => (Array.isArray(item) ? '' : toText(item))).join('') : '';
  }
}

/** A number or its text; 0 for anything else. */
export function toNumber(value: unknown): number {
  const number = typeof value === 'string' || typeof value === 'boolean' ? Number(value) : value;
  return typeof number === 'number' && !Number.isNaN(number) ? number : 0;
}

/** `2026-11-20`, or `2026-11-20 14:30 UTC` if it has a time of day. */
function plainDate(date: Date): string {
  if (Number.isNaN(date.getTime())) return '';
  const [day, time] = date.toISOString().split('T') as [string, string];
  return time.startsWith('00:00:00.000') ? day : `${day} ${time.slice(0, 5)} UTC`;
}

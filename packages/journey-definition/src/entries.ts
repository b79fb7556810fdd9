import { customFieldKey, type Definition } from './definition.ts';

const DAY_MS = 86_400_000;

export type Entry = Definition['entry'];
export type EntryOf<Type extends Entry['type']> = Extract<Entry, { type: Type }>;

/** What distinguishes an entry that is scanned for from others; undefined for those that something else starts. */
export function scanKey(entry: Entry): string | undefined {
  if (entry.type === 'segment_entered' || entry.type === 'segment_left') return `${entry.type} ${entry.segmentId}`;
  if (entry.type !== 'date') return undefined;
  const { field, offsetDays = 0, yearly = false, time } = entry;
  return `date ${customFieldKey(field)} ${offsetDays} ${yearly ? 'yearly' : 'once'} ${time}`;
}

const isoDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The days that it is somewhere on earth between two instants. */
export function localDays(since: number, until: number): string[] {
  const days: string[] = [];
  for (let day = since - DAY_MS; isoDay(day) <= isoDay(until + DAY_MS); day += DAY_MS) days.push(isoDay(day));
  return days;
}

/** The date that an entry on a day is about. */
export const dateOf = (day: string, { offsetDays = 0 }: Pick<EntryOf<'date'>, 'offsetDays'>): string =>
  isoDay(Date.parse(day) - offsetDays * DAY_MS);

/** The dates that a day is for: the whole date, or month and day. 29 February is on the 28th in other years. */
export function datesOf(day: string, entry: Pick<EntryOf<'date'>, 'yearly' | 'offsetDays'>): string[] {
  const date = dateOf(day, entry);
  if (entry.yearly !== true) return [date];
  const monthAndDay = date.slice(5);
  const isLeapYear = isoDay(Date.parse(`${date.slice(0, 4)}-02-28`) + DAY_MS).endsWith('02-29');
  return monthAndDay === '02-28' && !isLeapYear ? ['02-28', '02-29'] : [monthAndDay];
}

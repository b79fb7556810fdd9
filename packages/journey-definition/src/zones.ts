import { customFieldKey, type Definition, isTimeZone } from './definition.ts';

export const EVERY_DAY: readonly number[] = [1, 2, 3, 4, 5, 6, 7];

/** The contact's time zone if its field has a valid one, else the journey's, else UTC. */
export function zoneOf(
  { timeZone = 'UTC', timeZoneField }: Definition,
  customFields: Readonly<Record<string, unknown>>,
): string {
  const own = timeZoneField === undefined ? undefined : customFields[customFieldKey(timeZoneField)];
  return typeof own === 'string' && isTimeZone(own) ? own : timeZone;
}

/** Whether it is between two times of day in a zone; `from` may be later than `to`, across midnight. */
export function isBetween(zone: string, { from, to }: { from: string; to: string }, now = new Date()): boolean {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const time = format.format(now);
  return from <= to ? from <= time && time < to : from <= time || time < to;
}

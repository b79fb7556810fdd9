import { localInstant, zoneOffset } from '@postroom/errors';
import { EVERY_DAY } from '@postroom/journey-definition';

const DAY_MS = 86_400_000;

/** A time of day on some weekdays in a zone, such as 09:00 on days 1 to 5 in Europe/Berlin. */
export interface LocalTime {
  time: string;
  weekdays: readonly number[];
  zone: string;
}

/** The next instant of a local time that is later than `after`. */
export function nextLocalTime({ time, weekdays, zone }: LocalTime, after: number): Date {
  const today = after + zoneOffset(zone, after);
  for (let days = 0; ; days++) {
    const day = new Date(today + days * DAY_MS);
    const at = localInstant(day.toISOString().slice(0, 10), time, zone);
    if (weekdays.includes(day.getUTCDay() || 7) && at > after) return new Date(at);
  }
}

/** When the quiet hours that it is in a zone end; undefined if it is none. They may span midnight. */
export function quietUntil(zone: string, { from, to }: { from: string; to: string }, now: number): Date | undefined {
  const time = new Date(now + zoneOffset(zone, now)).toISOString().slice(11, 16);
  const isQuiet = from <= to ? from <= time && time < to : from <= time || time < to;
  return isQuiet ? nextLocalTime({ time: to, weekdays: EVERY_DAY, zone }, now) : undefined;
}

import { LRUCache } from 'lru-cache';
import { EVERY_DAY } from '@postroom/journey-definition';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Offsets of zones change at the beginning of a quarter of an hour. */
const QUARTER_MS = 15 * MINUTE_MS;

/** A time of day on some weekdays in a zone, such as 09:00 on days 1 to 5 in Europe/Berlin. */
export interface LocalTime {
  time: string;
  weekdays: readonly number[];
  zone: string;
}

const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 500 });
const offsets = new LRUCache<string, number>({ max: 50_000 });

/** How far the clocks of a zone are ahead of UTC at an instant, in milliseconds. */
function offsetAt(zone: string, at: number): number {
  const quarter = Math.floor(at / QUARTER_MS) * QUARTER_MS;
  const key = `${zone} ${quarter}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  formats.set(zone, format);
  const name = format.formatToParts(quarter).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS + Number(seconds) * 1000;
  offsets.set(key, sign === '-' ? -offset : offset);
  return sign === '-' ? -offset : offset;
}

/**
 * The instant of a time of day on a day such as 2026-11-25 in a zone. A time that does not exist on the day becomes the one an hour
 * later, and of a time that exists twice it is the second.
 */
export function localInstant(day: string, time: string, zone: string): number {
  const local = Date.parse(`${day}T${time}:00Z`);
  const before = offsetAt(zone, local - DAY_MS);
  const after = offsetAt(zone, local + DAY_MS);
  const found = [before, after].map((offset) => local - offset).filter((at) => local - offsetAt(zone, at) === at);
  return found.length === 0 ? local - before : Math.max(...found);
}

/** The next instant of a local time that is later than `after`. */
export function nextLocalTime({ time, weekdays, zone }: LocalTime, after: number): Date {
  const today = after + offsetAt(zone, after);
  for (let days = 0; ; days++) {
    const day = new Date(today + days * DAY_MS);
    const at = localInstant(day.toISOString().slice(0, 10), time, zone);
    if (weekdays.includes(day.getUTCDay() || 7) && at > after) return new Date(at);
  }
}

/** When the quiet hours that it is in a zone end; undefined if it is none. They may span midnight. */
export function quietUntil(zone: string, { from, to }: { from: string; to: string }, now: number): Date | undefined {
  const time = new Date(now + offsetAt(zone, now)).toISOString().slice(11, 16);
  const isQuiet = from <= to ? from <= time && time < to : from <= time || time < to;
  return isQuiet ? nextLocalTime({ time: to, weekdays: EVERY_DAY, zone }, now) : undefined;
}

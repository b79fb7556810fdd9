import { LRUCache } from 'lru-cache';

// Local times are computed here rather than in SQL, because PostgreSQL and JavaScript know different time zones, and read some
// abbreviations differently.

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Offsets of zones change at the beginning of a quarter of an hour. */
const QUARTER_MS = 15 * MINUTE_MS;

/** Whether a text is the name of a time zone. Offsets such as `+01:00` are not, because programs disagree about their sign. */
export function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z][\w+-]*(\/[\w+-]+)*$/.test(zone)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 500 });
const offsets = new LRUCache<string, number>({ max: 50_000 });

/** How far the clocks of a zone are ahead of UTC at an instant, in milliseconds. */
export function zoneOffset(zone: string, at: number): number {
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
 * The instant of a local time, such as 09:00 on 2026-11-25 in Europe/Berlin, as a Unix time in milliseconds. A time that clocks skip is
 * moved by as much as they skip; of a time that occurs twice, it is the second.
 */
export function localInstant(day: string, time: string, zone: string): number {
  const local = Date.parse(`${day}T${time}:00Z`);
  const before = zoneOffset(zone, local - DAY_MS);
  const after = zoneOffset(zone, local + DAY_MS);
  const found = [before, after].map((offset) => local - offset).filter((at) => local - zoneOffset(zone, at) === at);
  return found.length === 0 ? local - before : Math.max(...found);
}

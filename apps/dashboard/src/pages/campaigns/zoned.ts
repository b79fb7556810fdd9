/** Formats an instant as local time for a datetime input: `2026-12-24T18:30`. */
export function formatLocalTime(zone: string, at: Date): string {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(at);
  const get = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  // An input passes through the year 0002 while 2027 is typed.
  return `${get('year').padStart(4, '0')}-${get('month')}-${get('day')}T${get('hour')}:${get('minute')}`;
}

const DAY_MS = 86_400_000;

/**
 * Parses local time in a time zone, as the server does; undefined if invalid. A time that clocks skip is moved by as much as they skip;
 * of a time that occurs twice, it is the second.
 */
export function parseLocalTime(zone: string, local: string): Date | undefined {
  const wanted = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(local) ? Date.parse(`${local}:00Z`) : NaN;
  if (Number.isNaN(wanted)) return undefined;
  const offsetAt = (at: number) => Date.parse(`${formatLocalTime(zone, new Date(at))}:00Z`) - at;
  const [before, after] = [offsetAt(wanted - DAY_MS), offsetAt(wanted + DAY_MS)];
  // The year after 9999 can't be read.
  const offsets = Number.isNaN(after) ? [before] : [before, after];
  const found = offsets.map((offset) => wanted - offset).filter((at) => at + offsetAt(at) === wanted);
  return new Date(found.length === 0 ? wanted - before : Math.max(...found));
}

/** The zone in which every local time comes first, 14 hours before UTC. */
export const FIRST_ZONE = 'Etc/GMT-14';

const DATE_AND_TIME = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
} as const;

const local = new Intl.DateTimeFormat(undefined, { ...DATE_AND_TIME, timeZone: 'UTC' });

/** Formats local time of no particular time zone: `Thu, 24 Dec 2026, 18:30`. */
export const formatAnyLocalTime = (at: string): string => local.format(new Date(`${at}:00Z`));

export const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Formats an instant in a time zone: `Thu, 24 Dec 2026, 18:30 CET`. */
export function formatTimeInZone(zone: string, at: string): string {
  return new Intl.DateTimeFormat(undefined, { ...DATE_AND_TIME, timeZone: zone, timeZoneName: 'short' }).format(
    new Date(at),
  );
}

/** A time zone as an option: `America/New York (GMT-5)`. */
interface ZoneOption {
  zone: string;
  label: string;
  /** What it is found by, in lower case: its name, and how it is called today, such as "central european standard time" or "cet". */
  words: string;
}

/** All time zones the browser supports, the local one first. */
export function zoneOptions(): ZoneOption[] {
  const now = new Date();
  return [...new Set([OWN_ZONE, 'UTC', ...Intl.supportedValuesOf('timeZone')])].map((zone) => {
    const name = zone.replaceAll('_', ' ');
    const names = [
      nameOf(zone, 'en-US', 'long', now),
      nameOf(zone, 'en-US', 'short', now),
      nameOf(zone, 'en-GB', 'short', now),
    ];
    const label = `${name} (${nameOf(zone, 'en-US', 'shortOffset', now)})`;
    return { zone, label, words: [label, ...names].join(' ').toLowerCase() };
  });
}

function nameOf(zone: string, locale: string, timeZoneName: 'short' | 'long' | 'shortOffset', at: Date): string {
  const parts = new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName }).formatToParts(at);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** The zones that match all words of a search, those whose city starts with it first. The label of a zone matches every zone. */
export function zonesMatching(options: readonly ZoneOption[], search: string): string[] {
  if (options.some(({ label }) => label === search)) return options.map(({ zone }) => zone);
  const wanted = search
    .toLowerCase()
    .replace(/[_/()]/g, ' ')
    .split(/\s+/)
    .filter(Boolean);
  const matching = options.filter(({ words }) => wanted.every((word) => words.includes(word)));
  const isCity = ({ label }: ZoneOption) => (label.split('/').at(-1) ?? '').toLowerCase().startsWith(wanted.join(' '));
  return [...matching.filter(isCity), ...matching.filter((option) => !isCity(option))].map(({ zone }) => zone);
}

/** Formats an instant as local time for a datetime input: `2026-12-24T18:30`. */
export function localIn(zone: string, at: Date): string {
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
  return `${get('year')}-${get('month')}-${get('day')}T${get('hour')}:${get('minute')}`;
}

/** Parses local time in a time zone; undefined if invalid. Times skipped by DST move forward one hour. */
export function momentOf(zone: string, local: string): Date | undefined {
  const wanted = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(local) ? Date.parse(`${local}:00Z`) : NaN;
  if (Number.isNaN(wanted)) return undefined;
  // Uses the offset of a nearby instant, corrected if DST changes between the two.
  let at = wanted;
  for (let round = 0; round < 2; round++) at += wanted - Date.parse(`${localIn(zone, new Date(at))}:00Z`);
  return new Date(at);
}

export const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** All time zones the browser supports, the local one first. */
export const zones = (): string[] => [...new Set([OWN_ZONE, 'UTC', ...Intl.supportedValuesOf('timeZone')])];

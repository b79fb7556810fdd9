/** How a moment reads on the clocks of a time zone: `2026-12-24T18:30`, as inputs of date and time take it. */
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

/**
 * The moment when clocks of a time zone show `local`; undefined for a text that is none. An hour that is skipped in spring
 * is taken for the one after it.
 */
export function momentOf(zone: string, local: string): Date | undefined {
  const wanted = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(local) ? Date.parse(`${local}:00Z`) : NaN;
  if (Number.isNaN(wanted)) return undefined;
  // The offset is that of a moment nearby, which is read anew where the clocks change between the two.
  let at = wanted;
  for (let round = 0; round < 2; round++) at += wanted - Date.parse(`${localIn(zone, new Date(at))}:00Z`);
  return new Date(at);
}

export const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Every time zone that the browser knows, the own one first. */
export const zones = (): string[] => [...new Set([OWN_ZONE, 'UTC', ...Intl.supportedValuesOf('timeZone')])];

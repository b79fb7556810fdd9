/** A period in the search parameters of a list, as instants in ISO 8601. */
export interface TimeRange {
  since?: string;
  /** Up to now if omitted. */
  until?: string;
}

const isInstant = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T/.test(value) && !Number.isNaN(Date.parse(value));

/** Parses a period for `validateSearch` of a list route. */
export function timeRange({ since, until }: Record<string, unknown>): TimeRange {
  if (!isInstant(since)) return {};
  return isInstant(until) && Date.parse(until) > Date.parse(since) ? { since, until } : { since };
}

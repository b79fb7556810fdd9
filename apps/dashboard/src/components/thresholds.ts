/**
 * Rates to stay below, as shares. Google's sender guidelines ask for spam complaints below 0.1% and never 0.3% or more; Yahoo's
 * for below 0.3%. Neither publishes a bounce rate: 2% is a rule of thumb.
 */
export const BOUNCE_WARNING = 0.02;
export const COMPLAINTS_GMAIL = 0.001;
export const COMPLAINTS_LIMIT = 0.003;

/** The tone of a count whose share reaches a limit. */
export const thresholdTone = (part: number, whole: number, limit: number) =>
  whole > 0 && part / whole >= limit ? ('bad' as const) : undefined;

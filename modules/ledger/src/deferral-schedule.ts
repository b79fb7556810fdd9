const MINUTE_MS = 60_000;

/** Delays after each deferral, in milliseconds, unless the server names one. The last delay repeats. */
export const DEFERRAL_DELAYS_MS = [
  MINUTE_MS / 4,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  60 * MINUTE_MS,
];

/** How long a message may be deferred before it fails, in milliseconds. */
export const MESSAGE_LIFETIME_MS = 3 * 24 * 60 * MINUTE_MS;

const MINUTE_MS = 60_000;

/** How long a message waits after its first, second … "later", when the server names no time; the last one is repeated. */
export const DEFERRAL_DELAYS_MS = [
  MINUTE_MS / 4,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  60 * MINUTE_MS,
];

/** A message is given up when servers have said "later" for so long, in milliseconds. */
export const MESSAGE_LIFETIME_MS = 3 * 24 * 60 * MINUTE_MS;

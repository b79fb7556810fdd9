import { config, logger } from '@postroom/platform';
import PostalMime from '@postroom/mime/parse';
import type { Behavior } from './simulator.ts';

/** Delay between a mail and its reader, in milliseconds: opens within five seconds are classified as bots. */
const READ_AFTER_MS = 8_000;
/** Maximum mails waiting for readers; further ones are not read. */
const MAX_WAITING = 5_000;

/** The User-Agent of a common mail client. */
const BROWSER = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 15_1) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1.15';

/** The URLs a reader fetches: the pixel, and the first tracked link if they click. */
export async function pathsToFetch(behavior: Behavior, raw: Buffer): Promise<string[]> {
  if (behavior !== 'opened' && behavior !== 'clicked') return [];
  const { html = '' } = await PostalMime.parse(raw);
  const pixel = /\/t\/o\/[\w.-]+(?=")/.exec(html)?.[0];
  const link = behavior === 'clicked' ? /\/t\/c\/[\w.-]+(?=")/.exec(html)?.[0] : undefined;
  return [pixel, link].filter((path) => path !== undefined);
}

/** The simulated humans behind `opened@` and `clicked@`, who read their mail after some seconds. */
export class Readers {
  readonly #waiting = new Set<NodeJS.Timeout>();
  readonly #gatewayUrl: string;
  readonly #readAfterMs: number;

  constructor(gatewayUrl = config.PUBLIC_URL, readAfterMs = READ_AFTER_MS) {
    this.#gatewayUrl = gatewayUrl;
    this.#readAfterMs = readAfterMs;
  }

  /** Schedules the reading of a mail. */
  notice(behavior: Behavior, raw: Buffer): void {
    if ((behavior !== 'opened' && behavior !== 'clicked') || this.#waiting.size >= MAX_WAITING) return;
    const timer = setTimeout(() => {
      this.#waiting.delete(timer);
      read(behavior, raw, this.#gatewayUrl).catch((error: unknown) =>
        logger.warn({ err: error }, 'simulated reader failed'),
      );
    }, this.#readAfterMs);
    this.#waiting.add(timer);
  }

  /** Cancels all scheduled reads. */
  stop(): void {
    for (const timer of this.#waiting) clearTimeout(timer);
    this.#waiting.clear();
  }
}

/** Requests go only to our own gateway, whatever the links say, and redirects are not followed. */
async function read(behavior: Behavior, raw: Buffer, gatewayUrl: string): Promise<void> {
  for (const path of await pathsToFetch(behavior, raw)) {
    const reply = await fetch(gatewayUrl + path, {
      redirect: 'manual',
      headers: { 'User-Agent': BROWSER },
      signal: AbortSignal.timeout(10_000),
    });
    await reply.arrayBuffer();
  }
}

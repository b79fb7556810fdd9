import { config, logger } from '@postroom/platform';
import PostalMime from 'postal-mime';
import type { Act } from './simulator.ts';

/** A reader comes so long after the mail, in milliseconds: what comes within five seconds is taken for a machine. */
export const READ_AFTER_MS = 8_000;
/** Mails that wait for their readers; what comes beyond is not read. */
const MAX_WAITING = 5_000;

/** Such as a person's mail program says it is. */
const BROWSER = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 15_1) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1.15';

/** What a reader fetches of a mail: its pixel, and its first tracked link for one who clicks. */
export async function fetchedBy(act: Act, raw: Buffer): Promise<string[]> {
  if (act !== 'opened' && act !== 'clicked') return [];
  const { html = '' } = await PostalMime.parse(raw);
  const pixel = /\/t\/o\/[\w.-]+(?=")/.exec(html)?.[0];
  const link = act === 'clicked' ? /\/t\/c\/[\w.-]+(?=")/.exec(html)?.[0] : undefined;
  return [pixel, link].filter((path) => path !== undefined);
}

/** The people behind `opened@` and `clicked@`: they look at their mail some seconds after it came. */
export class Readers {
  readonly #waiting = new Set<NodeJS.Timeout>();
  readonly #gatewayUrl: string;
  readonly #readAfterMs: number;

  constructor(gatewayUrl = config.PUBLIC_URL, readAfterMs = READ_AFTER_MS) {
    this.#gatewayUrl = gatewayUrl;
    this.#readAfterMs = readAfterMs;
  }

  /** A mail has come for them. */
  notice(act: Act, raw: Buffer): void {
    if ((act !== 'opened' && act !== 'clicked') || this.#waiting.size >= MAX_WAITING) return;
    const timer = setTimeout(() => {
      this.#waiting.delete(timer);
      read(act, raw, this.#gatewayUrl).catch((error: unknown) =>
        logger.warn({ err: error }, 'a simulated reader could not read'),
      );
    }, this.#readAfterMs);
    this.#waiting.add(timer);
  }

  /** Nobody reads any more. */
  stop(): void {
    for (const timer of this.#waiting) clearTimeout(timer);
    this.#waiting.clear();
  }
}

/** Only our own gateway is asked, whatever the links begin with, and where they lead nobody goes. */
async function read(act: Act, raw: Buffer, gatewayUrl: string): Promise<void> {
  for (const path of await fetchedBy(act, raw)) {
    const reply = await fetch(gatewayUrl + path, {
      redirect: 'manual',
      headers: { 'User-Agent': BROWSER },
      signal: AbortSignal.timeout(10_000),
    });
    await reply.arrayBuffer();
  }
}

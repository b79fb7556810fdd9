/** Generates the opens and clicks of `bench/tracking.ts`, which starts it with the target, the rate and the duration. */
import { Agent, request } from 'undici';

/** Response times in milliseconds. */
export interface Hits {
  count: number;
  p50: number;
  p99: number;
}

interface Order {
  origin: string;
  tokens: string[];
  /** Hits per second. */
  rate: number;
  seconds: number;
}

const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0' };

process.send?.({});
process.once(
  'message',
  (order) => void hitAtPace(order as Order).then((hits) => process.send?.(hits, () => process.exit(0))),
);

/** Half opens, half clicks; sent on schedule, without waiting for earlier responses. */
async function hitAtPace({ origin, tokens, rate, seconds }: Order): Promise<Hits> {
  const dispatcher = new Agent({ connections: 100, pipelining: 1 });
  const count = rate * seconds;
  const times: number[] = [];
  const from = performance.now();
  const hit = async (n: number) => {
    const token = tokens[n % tokens.length];
    const at = performance.now();
    const path = n % 2 === 0 ? `/t/o/${token}` : `/t/c/${token}.${n % 8}`;
    const { body, statusCode } = await request(origin + path, { dispatcher, headers: BROWSER });
    await body.dump();
    if (statusCode >= 400) throw new Error(`${path}: ${statusCode}`);
    times.push(performance.now() - at);
  };
  const open: Promise<void>[] = [];
  for (let n = 0; n < count; n++) {
    const waitMs = from + (n / rate) * 1000 - performance.now();
    if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
    open.push(hit(n));
  }
  await Promise.all(open);
  times.sort((a, b) => a - b);
  return { count, p50: times[Math.floor(count * 0.5)] ?? 0, p99: times[Math.floor(count * 0.99)] ?? 0 };
}

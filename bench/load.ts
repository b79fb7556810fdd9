/**
 * POSTs JSON bodies to one URL, or GETs it, over a number of connections, either in a closed loop or at an even rate. It is a
 * separate process, so that its CPU time is known, and exits with its parent.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** The requested load. In `item` every `{i}` becomes a number that counts from 0. */
export interface Load {
  url: string;
  headers: Record<string, string>;
  /** Default POST. */
  method?: 'GET' | 'POST';
  /** One item of a body, and the text before the first and after the last item. */
  item: string;
  before?: string;
  after?: string;
  /** Items in one body; default 1. */
  each?: number;
  items: number;
  connections: number;
  /** Requests per second; unlimited by default. */
  ratePerSecond?: number;
}

/** The results; times are in milliseconds. */
export interface LoadFigures {
  requests: number;
  /** The number of responses other than 2xx, and the first of them. */
  refused: number;
  refusal: string;
  seconds: number;
  p50: number;
  p99: number;
}

async function run(load: Load): Promise<LoadFigures> {
  const { origin, pathname } = new URL(load.url);
  const pool = new Pool(origin, { connections: load.connections, pipelining: 1 });
  const { each = 1, method = 'POST' } = load;
  const requests = Math.ceil(load.items / each);
  const times: number[] = [];
  let [next, refused, refusal] = [0, 0, ''];
  const began = performance.now();
  const work = async () => {
    for (let number = next++; number < requests; number = next++) {
      if (load.ratePerSecond !== undefined) {
        const waitMs = began + (number * 1000) / load.ratePerSecond - performance.now();
        if (waitMs > 0) await sleep(waitMs);
      }
      const size = Math.min(each, load.items - number * each);
      const items = Array.from({ length: size }, (_, at) => load.item.replaceAll('{i}', String(number * each + at)));
      const body = `${load.before ?? ''}${items.join(',')}${load.after ?? ''}`;
      const at = performance.now();
      const response = await pool.request({
        path: pathname,
        method,
        headers: { 'content-type': 'application/json', ...load.headers },
        ...(method === 'GET' ? {} : { body }),
      });
      const text = await response.body.text();
      times.push(performance.now() - at);
      if (Math.floor(response.statusCode / 100) === 2) continue;
      if (refused++ === 0) refusal = `${response.statusCode} ${text.slice(0, 300)}`;
    }
  };
  await Promise.all(Array.from({ length: load.connections }, work));
  const seconds = (performance.now() - began) / 1000;
  await pool.close();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { requests, refused, refusal, seconds, p50: at(0.5), p99: at(0.99) };
}

process.on('message', async (load: Load) => process.send?.(await run(load)));
process.on('disconnect', () => process.exit(0));
process.send?.({});

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { config, listen, notifySoon } from '../src/index.ts';
import { eventually } from '@postroom/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

let listener: pg.Client;
/** When notifications of this test arrived, in milliseconds, by topic. */
let arrivals: { topic: string; at: number }[];
const own = (topic: string) => `soon_${process.pid} ${topic}`;

beforeEach(async () => {
  arrivals = [];
  listener = new pg.Client({ connectionString: config.directDatabaseUrl ?? '' });
  await listener.connect();
  await listener.query('LISTEN postroom');
  listener.on('notification', ({ payload = '' }) => {
    if (payload.startsWith(`soon_${process.pid} `)) arrivals.push({ topic: payload, at: performance.now() });
  });
});
afterEach(() => listener.end());

test('a burst of writes notifies a subscriber at most 20 times a second, and it ends with the last one', async () => {
  const WRITES = 400;
  let [written, read] = [0, 0];
  // What a subscriber does: it reads the current state.
  const stopListening = await listen(own('counter'), () => (read = written));
  for (written = 1; written <= WRITES; written++) {
    notifySoon(own('counter'));
    if (written % 4 === 0) await sleep(5);
  }
  written = WRITES;
  await eventually(() => expect(read).toBe(WRITES));
  await stopListening();
  const most = Math.max(
    ...arrivals.map(({ at }) => arrivals.filter((other) => other.at >= at && other.at < at + 950).length),
  );
  expect(arrivals.length).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(20);
});

test('topics announced while the limit is reached are notified together, each once', async () => {
  const topics = Array.from({ length: 300 }, (_, nth) => own(`topic${nth}`));
  for (const topic of [...topics, ...topics]) notifySoon(topic);
  await eventually(() => expect(new Set(arrivals.map(({ topic }) => topic)).size).toBe(topics.length));
  await sleep(300);
  expect(arrivals.length).toBeLessThanOrEqual(2 * topics.length);
});

import { expect, test } from 'vitest';
import { pool } from '../src/db.ts';
import { CHANNEL } from '../src/listen.ts';
import { Notifier, sleep, subscription } from '@postroom/concurrency';
import { type Change, subscribe } from '../src/subscription.ts';

test('a subscription ends as soon as its reader leaves, even while it waits for a change', async () => {
  let ended = false;
  const view = subscription(async function* (left) {
    yield 'now';
    while (!left.aborted) await sleep(60_000, left);
    ended = true;
  });
  expect(await view.next()).toEqual({ value: 'now', done: false });
  const waiting = view.next();
  await view.return?.();
  expect(await waiting).toEqual({ value: undefined, done: true });
  expect(ended).toBe(true);
});

test('a subscription yields at once, then once for all notifications that arrive while its reader is busy', async () => {
  const topic = `topic_${crypto.randomUUID()}`;
  const notify = (payload: string) => pool.query('SELECT pg_notify($1, $2)', [CHANNEL, `${topic} ${payload}`]);
  const controller = new AbortController();
  const changes = subscribe(topic, controller.signal);
  expect((await changes.next()).value).toEqual({ payloads: [], mayHaveMissed: true });
  await notify('one');
  await notify('two');
  // Once this one has arrived, both have.
  const arrived = subscribe(`${topic}_last`, controller.signal);
  await arrived.next();
  await pool.query('SELECT pg_notify($1, $2)', [CHANNEL, `${topic}_last`]);
  await arrived.next();
  expect((await changes.next()).value).toEqual({
    payloads: [`${topic} one`, `${topic} two`],
    mayHaveMissed: false,
  });
  const waiting = changes.next();
  await notify('three');
  expect(((await waiting).value as Change).payloads).toEqual([`${topic} three`]);
  const last = changes.next();
  controller.abort();
  expect((await last).done).toBe(true);
});

test('a burst keeps its latest 100 payloads, and changes keep their interval', async () => {
  const topic = `topic_${crypto.randomUUID()}`;
  const controller = new AbortController();
  const changes = subscribe(topic, controller.signal, { minIntervalMs: 200 });
  await changes.next();
  await pool.query(`SELECT pg_notify($1, $2 || ' ' || n) FROM generate_series(1, 250) n`, [CHANNEL, topic]);
  const startedAt = performance.now();
  const { payloads } = (await changes.next()).value as Change;
  expect(performance.now() - startedAt).toBeGreaterThan(190);
  expect(payloads).toHaveLength(100);
  expect(payloads.at(-1)).toBe(`${topic} 250`);
  controller.abort();
  expect((await changes.next()).done).toBe(true);
});

test('a notifier remembers one notification until the next wait', async () => {
  const notifier = new Notifier();
  notifier.notify();
  notifier.notify();
  await notifier.wait();
  let isWoken = false;
  const waiting = notifier.wait().then(() => (isWoken = true));
  await sleep(20, AbortSignal.timeout(1_000));
  expect(isWoken).toBe(false);
  notifier.notify();
  await waiting;
  await notifier.wait({ timeoutMs: 5 });
  await notifier.wait({ signal: AbortSignal.abort() });
});

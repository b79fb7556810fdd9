import { setTimeout as sleep } from 'node:timers/promises';
import { startSmtpSink } from '@postroom/testkit/local';
import { expect, onTestFinished, test } from 'vitest';
import { type ConnectionSlots, createSmtpPool, type SmtpPool } from '../src/index.ts';

/** One pool's part of slots: what it may use changes while it sends. */
class Share implements ConnectionSlots {
  onExcess: (() => void) | undefined;
  used = 0;
  #size: number;
  #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  get excess(): number {
    return Math.max(0, this.used - this.#size);
  }

  resize(size: number): void {
    this.#size = size;
    if (this.excess > 0) this.onExcess?.();
    this.#wake();
  }

  tryAcquire(): (() => void) | undefined {
    if (this.used >= this.#size) return undefined;
    this.used++;
    return () => {
      this.used--;
      this.#wake();
    };
  }

  untilReady(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    if (this.used < this.#size) for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

const soon = <Value>(read: () => Value) => expect.poll(read, { timeout: 20_000 });

const sendMany = async (pool: SmtpPool, name: string, count: number) => {
  const outcomes = await Promise.all(
    Array.from({ length: count }, (_, number) =>
      pool.send({ from: 'news@example.com', to: `${name}${number}@example.com`, data: 'Subject: Hi\r\n\r\nHi\r\n' }),
    ),
  );
  return new Set(outcomes.map(({ kind }) => kind));
};

/** A pool for a server that takes a while to accept a message. */
async function slowPool(size: number) {
  const sink = await startSmtpSink(() => sleep(10, undefined));
  const slots = new Share(size);
  const pool = createSmtpPool(sink.url, { connections: 8, slots });
  onTestFinished(async () => {
    pool.abort();
    await sink.close();
  });
  return { sink, slots, pool };
}

test('a pool opens as many connections as it gets slots, and more when it gets more', async () => {
  const { sink, slots, pool } = await slowPool(2);
  const sending = sendMany(pool, 'a', 200);
  await soon(() => sink.mails.length).toBeGreaterThan(20);
  expect([slots.used, pool.connections]).toEqual([2, 2]);
  slots.resize(5);
  await soon(() => slots.used).toBe(5);
  expect(await sending).toEqual(new Set(['accepted']));
  expect(sink.mails).toHaveLength(200);
});

test('a pool that has too many connections closes them between messages, and loses none', async () => {
  const { sink, slots, pool } = await slowPool(6);
  const sending = sendMany(pool, 'a', 300);
  await soon(() => slots.used).toBe(6);
  slots.resize(1);
  await soon(() => slots.used).toBe(1);
  slots.resize(0);
  await soon(() => slots.used).toBe(0);
  const before = sink.mails.length;
  await sleep(100);
  expect(sink.mails).toHaveLength(before);
  slots.resize(3);
  expect(await sending).toEqual(new Set(['accepted']));
  expect(new Set(sink.mails.map(({ to }) => to)).size).toBe(300);
  expect(sink.mails).toHaveLength(300);
});

test('idle connections are closed when others have a right to them, and a closed pool keeps no slot', async () => {
  const { slots, pool } = await slowPool(4);
  await sendMany(pool, 'a', 20);
  expect(slots.used).toBe(4);
  slots.resize(1);
  await soon(() => slots.used).toBe(1);
  expect(await sendMany(pool, 'b', 10)).toEqual(new Set(['accepted']));
  await pool.close();
  expect(slots.used).toBe(0);
});

test('a connection that fails gives its slot back', async () => {
  const slots = new Share(2);
  const pool = createSmtpPool('smtp://127.0.0.1:1', { connections: 2, slots });
  expect(await sendMany(pool, 'a', 3)).toEqual(new Set(['deferred']));
  expect(slots.used).toBe(0);
  pool.abort();
});

test('a pool that is aborted while it has too many connections leaves no message waiting', async () => {
  const { slots, pool } = await slowPool(2);
  const sending = sendMany(pool, 'a', 100);
  await soon(() => slots.used).toBe(2);
  slots.resize(0);
  pool.abort();
  expect(await sending).toContain('deferred');
  expect(pool.pending).toBe(0);
});

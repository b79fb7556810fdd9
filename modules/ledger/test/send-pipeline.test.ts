import { expect, test } from 'vitest';
import { SendPipeline, UnrecordedError } from '../src/send-pipeline.ts';

const rows = ['eml_1', 'eml_2'].map((id) => ({ id, deferrals: 0, deferredAt: null }));
const sent = { outcome: { kind: 'accepted', answer: '250 ok' } } as const;

test('messages sent but not recorded raise UnrecordedError, even after a claim failed', async () => {
  const pages = [rows];
  const sending = new SendPipeline({
    width: () => 20,
    claim: async () => {
      const page = pages.shift();
      if (page === undefined) throw new Error('the database is gone');
      return { rows: page, ratePerSecond: null };
    },
    send: () => Promise.resolve(sent),
    settle: () => Promise.reject(new Error('the database is still gone')),
    signal: new AbortController().signal,
  }).run();
  await expect(sending).rejects.toBeInstanceOf(UnrecordedError);
});

test('the error of a failed claim is thrown once all outcomes are recorded', async () => {
  const pages = [rows];
  const recorded: string[] = [];
  const sending = new SendPipeline({
    width: () => 20,
    claim: async () => {
      const page = pages.shift();
      if (page === undefined) throw new Error('the database is gone');
      return { rows: page, ratePerSecond: null };
    },
    send: () => Promise.resolve(sent),
    settle: async (settlements) => void recorded.push(...settlements.map(({ id, state }) => `${id} ${state}`)),
    signal: new AbortController().signal,
  }).run();
  await expect(sending).rejects.toThrow('the database is gone');
  expect(recorded.toSorted()).toEqual(['eml_1 accepted', 'eml_2 accepted']);
});

test('claiming pauses while recording outcomes is slower than sending', async () => {
  const recording = Promise.withResolvers<void>();
  let [claimed, recorded] = [0, 0];
  const sending = new SendPipeline({
    width: () => 20,
    claim: async (limit) => {
      const count = Math.min(limit, 20_000 - claimed);
      const first = claimed;
      claimed += count;
      const page = Array.from({ length: count }, (_, n) => ({
        id: `eml_${first + n}`,
        deferrals: 0,
        deferredAt: null,
      }));
      return { rows: page, ratePerSecond: null };
    },
    send: () => Promise.resolve(sent),
    settle: async (settlements) => {
      await recording.promise;
      recorded += settlements.length;
    },
    signal: new AbortController().signal,
  }).run();
  let before = -1;
  while (claimed > before) {
    before = claimed;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(claimed).toBeGreaterThan(2_000);
  expect(claimed).toBeLessThan(5_000);
  recording.resolve();
  await sending;
  expect([claimed, recorded]).toEqual([20_000, 20_000]);
});

test('an unexpected error affects only its message, which is retried a few times and then fails', async () => {
  const pages = [[...rows, { id: 'eml_3', deferrals: 3, deferredAt: new Date() }]];
  const recorded: unknown[] = [];
  const backoff = await new SendPipeline({
    width: () => 20,
    claim: async () => ({ rows: pages.shift() ?? [], ratePerSecond: null }),
    send: ({ id }) => (id === 'eml_2' ? Promise.resolve(sent) : Promise.reject(new RangeError('too deep'))),
    settle: async (settlements) => void recorded.push(...settlements),
    signal: new AbortController().signal,
  }).run();
  expect(backoff).toBeUndefined();
  expect(recorded).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: 'eml_1', state: 'planned', deferred: true, waitMs: 15_000 }),
      expect.objectContaining({ id: 'eml_2', state: 'accepted' }),
      { id: 'eml_3', state: 'failed', answer: 'Could not be sent: too deep' },
    ]),
  );
});

test('an outage stops the pipeline and counts against no message', async () => {
  const pages = [rows];
  const recorded: unknown[] = [];
  const outage = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', errno: -111 });
  const sending = new SendPipeline({
    width: () => 20,
    claim: async () => ({ rows: pages.shift() ?? [], ratePerSecond: null }),
    send: () => Promise.reject(outage),
    settle: async (settlements) => void recorded.push(...settlements),
    signal: new AbortController().signal,
  }).run();
  await expect(sending).rejects.toBe(outage);
  expect(recorded).toEqual(rows.map(({ id }) => ({ id, state: 'planned', answer: null })));
});

test('a message that its server does not reply to does not keep others from being sent', async () => {
  const stuck = Promise.withResolvers<typeof sent>();
  const pages = [rows.slice(0, 1), []];
  const recorded: string[] = [];
  let extended = 0;
  const sending = new SendPipeline({
    width: () => 2,
    claim: () => Promise.resolve({ rows: pages.shift() ?? [], ratePerSecond: null }),
    send: ({ id }) => (id === 'eml_1' ? stuck.promise : Promise.resolve(sent)),
    settle: async (settlements) => {
      recorded.push(...settlements.map(({ id }) => id));
      if (recorded.length === 1) stuck.resolve(sent);
    },
    extend: async () => {
      if (extended++ === 0) pages.push(rows.slice(1));
      return true;
    },
    signal: new AbortController().signal,
  }).run();
  await sending;
  expect(recorded).toEqual(['eml_2', 'eml_1']);
});

test('claims of messages not in flight can be released, and others claimed afterwards', async () => {
  const first = Promise.withResolvers<typeof sent>();
  const pages = [rows, []];
  const recorded: string[] = [];
  let isReleased = false;
  const pipeline = new SendPipeline({
    width: () => 1,
    claim: () => Promise.resolve({ rows: pages.shift() ?? [], ratePerSecond: null }),
    send: () => {
      if (!isReleased) setImmediate(() => pipeline.release());
      isReleased = true;
      return first.promise;
    },
    settle: async (settlements) => {
      recorded.push(...settlements.map(({ id, state }) => `${id} ${state}`));
      first.resolve(sent);
    },
    signal: new AbortController().signal,
  });
  await pipeline.run();
  expect(recorded).toEqual(['eml_2 planned', 'eml_1 accepted']);
});

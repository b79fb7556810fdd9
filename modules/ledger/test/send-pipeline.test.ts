import { expect, test } from 'vitest';
import { SendPipeline, UnrecordedError } from '../src/send-pipeline.ts';

const rows = ['eml_1', 'eml_2'].map((id) => ({ id, deferrals: 0, deferredAt: null as Date | null }));
const sent = { outcome: { kind: 'accepted', answer: '250 ok' } } as const;

type Options = ConstructorParameters<typeof SendPipeline<(typeof rows)[number]>>[0];

/** A pipeline whose server accepts every message, unless the options say otherwise. */
const pipelineOf = (options: Partial<Options> & Pick<Options, 'claim' | 'settle'>) =>
  new SendPipeline({
    width: () => 20,
    send: () => Promise.resolve(sent),
    signal: new AbortController().signal,
    ...options,
  });

/** Claims the rows, then fails. */
function onceThenFail(): Options['claim'] {
  const pages = [rows];
  return async () => {
    const page = pages.shift();
    if (page === undefined) throw new Error('the database is gone');
    return { rows: page, ratePerSecond: null };
  };
}

test('messages sent but not recorded raise UnrecordedError, even after a claim failed', async () => {
  const sending = pipelineOf({
    claim: onceThenFail(),
    settle: () => Promise.reject(new Error('the database is still gone')),
  }).run();
  await expect(sending).rejects.toBeInstanceOf(UnrecordedError);
});

test('the error of a failed claim is thrown once all outcomes are recorded', async () => {
  const recorded: string[] = [];
  const sending = pipelineOf({
    claim: onceThenFail(),
    settle: async (settlements) => void recorded.push(...settlements.map(({ id, state }) => `${id} ${state}`)),
  }).run();
  await expect(sending).rejects.toThrow('the database is gone');
  expect(recorded.toSorted()).toEqual(['eml_1 accepted', 'eml_2 accepted']);
});

test('claiming pauses while recording outcomes is slower than sending', async () => {
  const recording = Promise.withResolvers<void>();
  let [claimed, recorded] = [0, 0];
  const sending = pipelineOf({
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
    settle: async (settlements) => {
      await recording.promise;
      recorded += settlements.length;
    },
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
  const backoff = await pipelineOf({
    claim: async () => ({ rows: pages.shift() ?? [], ratePerSecond: null }),
    send: ({ id }) => (id === 'eml_2' ? Promise.resolve(sent) : Promise.reject(new RangeError('too deep'))),
    settle: async (settlements) => void recorded.push(...settlements),
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
  const sending = pipelineOf({
    claim: async () => ({ rows: pages.shift() ?? [], ratePerSecond: null }),
    send: () => Promise.reject(outage),
    settle: async (settlements) => void recorded.push(...settlements),
  }).run();
  await expect(sending).rejects.toBe(outage);
  expect(recorded).toEqual(rows.map(({ id }) => ({ id, state: 'planned', answer: null })));
});

test('a message that its server does not reply to does not keep others from being sent', async () => {
  const stuck = Promise.withResolvers<typeof sent>();
  const pages = [rows.slice(0, 1), []];
  const recorded: string[] = [];
  let extended = 0;
  const sending = pipelineOf({
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
  }).run();
  await sending;
  expect(recorded).toEqual(['eml_2', 'eml_1']);
});

test('claims of messages not in flight can be released, and others claimed afterwards', async () => {
  const first = Promise.withResolvers<typeof sent>();
  const pages = [rows, []];
  const recorded: string[] = [];
  let isReleased = false;
  const pipeline = pipelineOf({
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
  });
  await pipeline.run();
  expect(recorded).toEqual(['eml_2 planned', 'eml_1 accepted']);
});

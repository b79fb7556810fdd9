import { expect, test } from 'vitest';
import { sendAll, UnrecordedError } from './outflow.ts';

const rows = ['eml_1', 'eml_2'].map((id) => ({ id, deferrals: 0, deferredAt: null }));
const sent = { outcome: { kind: 'accepted', answer: '250 ok' } } as const;

test('what went out and could not be recorded is told apart, also when claims had failed before', async () => {
  const pages = [rows];
  const sending = sendAll({
    claim: async () => {
      const page = pages.shift();
      if (page === undefined) throw new Error('the database is gone');
      return { rows: page, ratePerSecond: null };
    },
    send: () => Promise.resolve(sent),
    settle: () => Promise.reject(new Error('the database is still gone')),
    signal: new AbortController().signal,
  });
  await expect(sending).rejects.toBeInstanceOf(UnrecordedError);
});

test('a claim that failed is that failure, once what went out is recorded', async () => {
  const pages = [rows];
  const recorded: string[] = [];
  const sending = sendAll({
    claim: async () => {
      const page = pages.shift();
      if (page === undefined) throw new Error('the database is gone');
      return { rows: page, ratePerSecond: null };
    },
    send: () => Promise.resolve(sent),
    settle: async (settlements) => void recorded.push(...settlements.map(({ id, state }) => `${id} ${state}`)),
    signal: new AbortController().signal,
  });
  await expect(sending).rejects.toThrow('the database is gone');
  expect(recorded.toSorted()).toEqual(['eml_1 accepted', 'eml_2 accepted']);
});

test('while outcomes can not be recorded as fast as mail goes out, nothing more is claimed', async () => {
  const recording = Promise.withResolvers<void>();
  let [claimed, recorded] = [0, 0];
  const sending = sendAll({
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
  });
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

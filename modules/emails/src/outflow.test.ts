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

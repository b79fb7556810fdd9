import { expect, test } from 'vitest';
import { actOf, Deferrals, DEFERRED_TRIES, reportsOf } from './simulator.ts';

const ID = `eml_${'0'.repeat(26)}`;
const MESSAGE_ID = `${ID}@example.com`;
const kinds = (...recipients: string[]) => reportsOf(MESSAGE_ID, recipients).map((report) => report.kind);

test.each([
  ['bounced@simulator.invalid', 'bounced'],
  ['Complained+7@Simulator.Invalid', 'complained'],
  ['someone@simulator.invalid', 'delivered'],
  ['delivered@simulator.invalid', 'delivered'],
  ['bounced@example.com', 'delivered'],
  ['bounced@simulator.invalid.example.com', 'delivered'],
])('%s acts as %s', (address, act) => {
  expect(actOf(address)).toBe(act);
});

test('a provider’s reports are those of the address', () => {
  expect(kinds('ada@example.com')).toEqual(['delivered']);
  expect(kinds('bounced@simulator.invalid')).toEqual(['bounced']);
  expect(kinds('complained@simulator.invalid')).toEqual(['delivered', 'complained']);
  expect(kinds('rejected@simulator.invalid')).toEqual(['rejected']);
  expect(kinds('ada@example.com', 'bounced@simulator.invalid')).toEqual(['delivered', 'bounced']);
});

test('mail that is not ours is not reported on', () => {
  expect(reportsOf(undefined, ['ada@example.com'])).toEqual([]);
  expect(reportsOf('1234@example.com', ['ada@example.com'])).toEqual([]);
  expect(reportsOf(MESSAGE_ID, ['ada@example.com'])).toEqual([
    { messageId: ID, kind: 'delivered', recipient: 'ada@example.com' },
  ]);
});

test('each message is deferred on its own first tries', () => {
  const deferrals = new Deferrals();
  const tries = (id: string) => Array.from({ length: DEFERRED_TRIES + 1 }, () => deferrals.defers(id));
  expect(tries('a')).toEqual([true, true, false]);
  expect(tries('b')).toEqual([true, true, false]);
});

import { expect, test } from 'vitest';
import { pathsToFetch } from '../src/readers.ts';
import { behaviorOf, Deferrals, DEFERRED_TRIES, reportsOf } from '../src/simulator.ts';

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
])('%s acts as %s', (address, behavior) => {
  expect(behaviorOf(address)).toBe(behavior);
});

test('opened@ fetches its pixel and clicked@ also its first tracked link; others fetch nothing', async () => {
  const html = `<a href="https://a.example/">a</a><a href="http://x/t/c/abc.0">b</a><a href="http://x/t/c/abc.1">c</a><img src="http://x/t/o/abc">`;
  const mail = Buffer.from(`Subject: Hi\r\nContent-Type: text/html\r\n\r\n${html}\r\n`);
  expect(await pathsToFetch(behaviorOf('opened+3@simulator.invalid'), mail)).toEqual(['/t/o/abc']);
  expect(await pathsToFetch(behaviorOf('clicked@simulator.invalid'), mail)).toEqual(['/t/o/abc', '/t/c/abc.0']);
  expect(await pathsToFetch(behaviorOf('ada@example.com'), mail)).toEqual([]);
  expect(await pathsToFetch('opened', Buffer.from('Subject: Hi\r\n\r\ntext'))).toEqual([]);
});

test('the reports are those of the address', () => {
  expect(kinds('ada@example.com')).toEqual(['delivered']);
  expect(kinds('bounced@simulator.invalid')).toEqual(['bounced']);
  expect(kinds('complained@simulator.invalid')).toEqual(['delivered', 'complained']);
  expect(kinds('rejected@simulator.invalid')).toEqual(['rejected']);
  expect(kinds('ada@example.com', 'bounced@simulator.invalid')).toEqual(['delivered', 'bounced']);
});

test('mail that is not ours is not reported', () => {
  expect(reportsOf(undefined, ['ada@example.com'])).toEqual([]);
  expect(reportsOf('1234@example.com', ['ada@example.com'])).toEqual([]);
  expect(reportsOf(MESSAGE_ID, ['ada@example.com'])).toEqual([
    { messageId: ID, kind: 'delivered', recipient: 'ada@example.com' },
  ]);
});

test('each message is deferred on its own first attempts', () => {
  const deferrals = new Deferrals();
  const tries = (id: string) => Array.from({ length: DEFERRED_TRIES + 1 }, () => deferrals.defers(id));
  expect(tries('a')).toEqual([true, true, false]);
  expect(tries('b')).toEqual([true, true, false]);
});

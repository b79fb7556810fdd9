import { expect, test } from 'vitest';
import { byHeading } from '../src/pages/webhooks/event-families.ts';

test('every event type can be chosen, also one that the dashboard does not know yet, except the test', () => {
  const types = ['email.sent', 'import.failed', 'webhook.test', 'ab_test.completed', 'sms.sent'].map((name) => ({
    name,
  }));
  const shown = byHeading(types).map(([heading, family]) => [heading, ...family.map(({ name }) => name)]);
  expect(shown).toEqual([
    ['Emails', 'email.sent'],
    ['A/B tests', 'ab_test.completed'],
    ['Imports', 'import.failed'],
    ['sms', 'sms.sent'],
  ]);
});

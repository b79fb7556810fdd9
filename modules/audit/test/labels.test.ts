import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { actionLabel, fieldLabel } from '../src/labels.ts';

const schema = buildSchema(readFileSync(join(import.meta.dirname, '../../../schema.graphql'), 'utf8'));
const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});

test.each([
  ['createApiKey', 'Created API key'],
  ['createAbTest', 'Created A/B test'],
  ['updateWebhookEndpoint', 'Changed webhook endpoint'],
  ['invite', 'Invited a member'],
  ['webhookDeliveryRetry', 'Retried webhook delivery'],
  ['somethingNew', 'Something new'],
])('%s is "%s"', (action, label) => {
  expect(actionLabel(action)).toBe(label);
});

test('every mutation whose name is its action begins with a verb in the past tense', () => {
  // A mutation that replaced another has the action of that one, which is still in the schema.
  const replaced = new Set(
    mutations.map(({ deprecationReason }) => /Mutation\.(\w+)/.exec(deprecationReason ?? '')?.[1]),
  );
  const labels = mutations.filter(({ name }) => !replaced.has(name)).map(({ name }) => [name, actionLabel(name)]);
  const past = /^(\w+ed|Sent|Set|Withdrew|Gave up|Resent)\b/;
  expect(labels.filter(([, label]) => !past.test(label ?? ''))).toEqual([]);
});

test('fields are in words', () => {
  expect(fieldLabel('fromEmail')).toBe('From email');
  expect(fieldLabel('html')).toBe('HTML');
  expect(fieldLabel('customFields.favourite_colour')).toBe('Custom fields: favourite_colour');
});

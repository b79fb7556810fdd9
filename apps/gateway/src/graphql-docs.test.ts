import { readFileSync } from 'node:fs';
import { testApi } from '@postroom/testkit';
import { type OperationDefinitionNode, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from './schema.ts';

const page = readFileSync(new URL('../../../docs/graphql.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```graphql\n([^`]+)```/g)].map(([, source = '']) => {
  const [operation] = parse(source).definitions as OperationDefinitionNode[];
  return [operation?.name?.value ?? '', operation?.operation ?? '', source] as const;
});

test.each(examples)('docs/graphql.md: %s fits the schema', (_name, _kind, source) => {
  expect(validate(schema, parse(source))).toEqual([]);
});

test.each(examples.filter(([, kind]) => kind !== 'subscription'))(
  'docs/graphql.md: %s runs as it stands',
  async (_name, _kind, source) => {
    const api = await testApi();
    const campaign = (await api.post('/v1/campaigns', { name: 'Documented' })).body.data.id;
    const endpoint = (await api.post('/v1/webhooks', { url: 'https://example.com/hook', events: ['*'] })).body.data.id;
    const all: Record<string, unknown> = {
      campaign,
      endpoint,
      since: '2026-11-01T00:00:00Z',
      address: 'ada@example.com',
    };
    const used = Object.fromEntries(Object.entries(all).filter(([name]) => source.includes(`$${name}:`)));
    const reply = await api.graphql(source, used);
    expect(reply.body.errors).toBeUndefined();
  },
);

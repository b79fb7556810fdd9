import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { eventually, freePorts, testApi } from '@postroom/testkit';
import { storeLinks } from '@postroom/tracking';
import { createClient } from 'graphql-sse';
import { type OperationDefinitionNode, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { startGateway } from '../src/gateway.ts';
import { schema } from '../src/schema.ts';

const page = readFileSync(new URL('../../../docs/reference/graphql.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```graphql\n([^`]+)```/g)].map(([, source = '']) => {
  const [operation] = parse(source).definitions as OperationDefinitionNode[];
  return [operation?.name?.value ?? '', operation?.operation ?? '', source] as const;
});

test.each(examples)('docs/reference/graphql.md: %s is valid for the schema', (_name, _kind, source) => {
  expect(validate(schema, parse(source))).toEqual([]);
});

test.each(examples.filter(([, kind]) => kind !== 'subscription'))(
  'docs/reference/graphql.md: %s runs unchanged',
  async (_name, _kind, source) => {
    const api = await testApi();
    const campaign = (await api.post('/v1/campaigns', { name: 'Documented' })).body.data.id;
    await storeLinks([{ id: campaign, links: ['https://example.com/'] }]);
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

test.each(examples.filter(([, kind]) => kind === 'subscription'))(
  'docs/reference/graphql.md: %s streams unchanged',
  async (_name, _kind, query) => {
    const api = await testApi();
    const campaign = (await api.post('/v1/campaigns', { name: 'Documented' })).body.data.id;
    const after = (await api.graphql('{ eventCursor }')).body.data.eventCursor;
    await api.contact('ada@example.com');
    const client = createClient({
      url: `${api.url}/graphql/stream`,
      headers: { Authorization: `Bearer ${api.key}` },
      retryAttempts: 0,
    });
    const results = client.iterate({ query, variables: query.includes('$after') ? { after } : { campaign } });
    const { value } = await results.next();
    client.dispose();
    expect(value?.errors).toBeUndefined();
    expect(Object.keys(value?.data ?? {})).toHaveLength(1);
  },
);

test('docs/reference/graphql.md: the program follows events unchanged, even across a gateway restart', async () => {
  const api = await testApi();
  const [port = 0] = await freePorts(1);
  const start = () => startGateway({ host: '127.0.0.1', port });
  let gateway = await start();
  const [, code = ''] = /```js\n([^`]*(?:`[^`]+`[^`]*)*)```/.exec(page) ?? [];
  const program = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: new URL('../../..', import.meta.url),
    env: { ...process.env, POSTROOM_URL: gateway.url, POSTROOM_KEY: api.key },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  program.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')));
  try {
    let number = 0;
    await eventually(async () => {
      await api.contact(`before-${++number}@example.com`);
      expect(printed).toContain('contact.created');
    });
    await gateway.stop();
    await api.contact('meanwhile@example.com');
    gateway = await start();
    await eventually(() => expect(printed.match(/meanwhile@/g)).toHaveLength(1));
  } finally {
    program.kill();
    await gateway.stop();
  }
}, 90_000);

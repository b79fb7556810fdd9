import { testApi } from '@postroom/testkit';
import { serverAudits } from 'graphql-http';
import { expect, test } from 'vitest';

test.each(serverAudits({ url: 'http://unused.invalid/graphql' }).map((audit) => [audit.name, audit.id]))(
  'GraphQL over HTTP: %s (%s)',
  async (_name, id) => {
    const api = await testApi();
    const audit = serverAudits({ url: `${api.url}/graphql` }).find((candidate) => candidate.id === id);
    const result = await audit?.fn();
    expect(result, JSON.stringify(result && 'reason' in result ? result.reason : '')).toMatchObject({ status: 'ok' });
  },
);

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

test.each(['variables', 'extensions'])(
  '%s in a URL that are not a JSON object are a validation_error',
  async (name) => {
    const api = await testApi();
    const get = async (value: string) => {
      const headers = { Authorization: `Bearer ${api.key}` };
      const response = await fetch(`${api.url}/graphql?query={__typename}&${name}=${value}`, { headers });
      return { status: response.status, body: await response.json() };
    };
    for (const value of ['{', '5', '[]', '"x"']) {
      expect(await get(value)).toEqual({
        status: 400,
        body: {
          errors: [{ message: `${name} must be a JSON object.`, extensions: { code: 'validation_error' } }],
        },
      });
    }
    for (const value of ['', 'null', '{}'])
      expect(await get(value)).toEqual({ status: 200, body: { data: { __typename: 'Query' } } });
  },
);

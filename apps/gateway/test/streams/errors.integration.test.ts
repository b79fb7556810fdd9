import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

test.each([
  [
    'what it asks for does not exist',
    'subscription { webhookDeliveryAttempted(endpointId: "whe_x") { id } }',
    '"code":"not_found"',
  ],
  ['it asks for a field that there is not', 'subscription { nothing }', 'Cannot query field'],
  ['it is no GraphQL', 'subscription {', 'Syntax Error'],
  ['it is a query that fails', '{ webhookEndpoint(id: "whe_x") { id } }', '"code":"not_found"'],
])('a stream gets an error and the gateway keeps running when %s', async (_name, query, told) => {
  const api = await testApi();
  for (const path of ['/graphql/stream', '/graphql']) {
    const response = await stream(api.url + path, api.key, query);
    const text = await response.text();
    expect(text, text).toContain('"errors"');
    expect(text).not.toContain('    at ');
    expect(text).toContain(told);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect((await api.get('/healthz')).status).toBe(200);
  }
});

test.each([null, `pr_${'a'.repeat(40)}`])('a stream without a valid key is rejected: %s', async (key) => {
  const api = await testApi();
  const response = await stream(`${api.url}/graphql/stream`, key, 'subscription { webhookDeliveryAttempted { id } }');
  expect(await response.text()).toContain('"code":"unauthorized"');
  expect(response.status).toBe(401);
  expect((await api.get('/healthz')).status).toBe(200);
});

function stream(url: string, key: string | null, query: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
      ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ query }),
    signal: AbortSignal.timeout(10_000),
  });
}

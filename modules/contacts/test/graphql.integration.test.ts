import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

test('GraphQL creates, finds and lists contacts, and reads the page after a cursor', async () => {
  const api = await testApi();
  const create = `mutation ($input: CreateContactInput!) { createContact(input: $input) { created contact { id email name source } } }`;
  const made = await api.graphql(create, { input: { email: 'ada@example.com' } });
  const { contact } = made.body.data.createContact;
  expect(made.body.data.createContact).toEqual({
    created: true,
    contact: { id: contact.id, email: 'ada@example.com', name: 'ada', source: 'api' },
  });
  await api.contact('grace@example.com');

  const list = `query ($after: String) {
    contacts(first: 1, after: $after) { edges { cursor node { email segments { name } } } pageInfo { hasNextPage endCursor } }
  }`;
  const first = (await api.graphql(list)).body.data.contacts;
  expect(first).toMatchObject({
    edges: [{ node: { email: 'grace@example.com', segments: [] } }],
    pageInfo: { hasNextPage: true },
  });
  const second = (await api.graphql(list, { after: first.pageInfo.endCursor })).body.data.contacts;
  expect(second).toMatchObject({ edges: [{ node: { email: 'ada@example.com' } }], pageInfo: { hasNextPage: false } });
});

test('node finds a contact, a custom field, a suppression and a segment by id, and nothing of another project', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const made = {
    Contact: await api.contact('ada@example.com'),
    CustomField: (await api.post('/v1/custom-fields', { key: 'plan', type: 'text' })).body.data,
    Suppression: (await api.post('/v1/suppressions', { email: 'gone@example.com' })).body.data,
    Segment: (await api.post('/v1/segments', { name: 'S', filter: { field: 'source', op: 'is', value: 'api' } })).body
      .data,
  };
  const query = `query ($id: ID!) { node(id: $id) { __typename id } }`;
  for (const [type, { id }] of Object.entries(made)) {
    expect((await api.graphql(query, { id })).body.data.node).toEqual({ __typename: type, id });
    expect((await other.graphql(query, { id })).body.data.node).toBeNull();
  }
});

test('a violated rule is an error with its code and field', async () => {
  const api = await testApi();
  const create = `mutation ($input: CreateContactInput!) { createContact(input: $input) { created } }`;
  const reply = await api.graphql(create, { input: { email: 'ada@example.com', customFields: { plan: 'pro' } } });
  expect(reply.body.errors[0].extensions).toMatchObject({
    code: 'validation_error',
    details: [{ field: 'customFields.plan' }],
  });
});

import { type Api, testApi } from '@postroom/testkit';
import { describe, expect, test } from 'vitest';
import { everything } from './fixtures.ts';

const refusal = (field: string, message: RegExp) => ({
  status: 400,
  body: { error: { code: 'validation_error', details: [{ field, message: expect.stringMatching(message) }] } },
});

test('an unknown field is named, so that typos are reported', async () => {
  const api = await testApi();
  const reply = await api.post('/v1/contacts', { email: 'ada@example.com', custom_field: {} });
  expect(reply).toMatchObject(refusal('custom_field', /known/));
  const camelCase = await api.post('/v1/groups', { name: 'Beta', contactIds: [] });
  expect(camelCase).toMatchObject(refusal('contactIds', /known/));
  const nested = await api.post('/v1/contacts/batch', { contacts: [{ email: 'a@example.com' }, { mail: 'x' }] });
  expect(nested).toMatchObject(refusal('contacts.1.mail', /known/));
});

test('a missing or null field is named', async () => {
  const api = await testApi();
  expect(await api.post('/v1/groups', {})).toMatchObject(refusal('name', /required/));
  expect(await api.post('/v1/groups', { name: null })).toMatchObject(refusal('name', /null/));
  expect(await api.post('/v1/groups')).toMatchObject(refusal('name', /required/));
});

test.each([
  ['a number', { name: 7 }, 'name', /string/],
  ['an object', { name: {} }, 'name', /string/],
  ['a text for a list', { name: 'Beta', emails: 'ada@example.com' }, 'emails', /array/],
  ['a number in a list', { name: 'Beta', emails: ['ada@example.com', 7] }, 'emails.1', /string/],
  ['null in a list', { name: 'Beta', emails: [null] }, 'emails.0', /null/],
])('a field of the wrong type (%s) is named', async (_name, body, field, message) => {
  const api = await testApi();
  expect(await api.post('/v1/groups', body)).toMatchObject(refusal(field, message));
});

test.each([
  [['ada@example.com', 7], 'to.1', 'must be a string'],
  [['ada@example.com', null], 'to.1', 'must not be null'],
  [['a\u0000@example.com'], 'to.0', 'must not contain the NUL character'],
  ['a\u0000@example.com', 'to', 'must not contain the NUL character'],
  [7, 'to', 'must be an address or a list of addresses'],
])('of a list of addresses, the wrong one is named: %j', async (to, field, message) => {
  const api = await testApi();
  const { status, body } = await api.post('/v1/emails', { from: 'ada@example.com', to, subject: 'Hi', text: 'Hi' });
  expect([status, body.error.details]).toEqual([400, [{ field, message }]]);
});

test.each(['ab-tests', 'campaigns', 'forms', 'groups', 'journeys', 'templates', 'webhooks'])(
  'an empty update of %s is refused in the same words',
  async (of) => {
    const { api, fill } = await everything();
    const { status, body } = await api.patch(fill(`/v1/${of}/{id}`), {});
    expect([status, body.error.message]).toEqual([400, 'Provide at least one field to update.']);
  },
);

test('a step that is not one of a backtest is refused without repeating it', async () => {
  const { api, fill } = await everything();
  const { body } = await api.get(fill('/v1/backtests/{id}/contacts?outcome=sent&step_id=nope'));
  expect(body.error.details).toEqual([{ field: 'step_id', message: 'is not a step of this definition' }]);
});

test('all problems are reported, and the message repeats the first', async () => {
  const api = await testApi();
  const { body } = await api.post('/v1/groups', { name: 7, emails: 8, colour: 'red' });
  const fields = body.error.details.map(({ field }: { field: string }) => field);
  expect(fields.toSorted()).toEqual(['colour', 'emails', 'name']);
  expect(body.error.message).toBe(`${body.error.details[0].field}: ${body.error.details[0].message}`);
});

test('a conflict over a name, a key or an address names the field', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  const bob = await api.contact('bob@example.com');
  await api.post('/v1/suppressions', { email: 'eve@example.com' });
  const filter = { field: 'source', op: 'is', value: 'api' };
  const twice = async (path: string, body: object) => {
    await api.post(path, body);
    return api.post(path, body);
  };
  const fieldOf = async (reply: Promise<{ body: { error: { code: string; details: { field: string }[] } } }>) => {
    const { code, details } = (await reply).body.error;
    return [code, ...details.map(({ field }) => field)];
  };
  for (const [path, body, field = 'name'] of [
    ['/v1/groups', { name: 'Beta', emails: ['ada@example.com'] }],
    ['/v1/segments', { name: 'Beta', filter }],
    ['/v1/templates', { name: 'Beta', body: '<p>Hello</p>' }],
    ['/v1/journeys', { name: 'Beta', definition: { entry: { type: 'manual' }, steps: [] } }],
    ['/v1/custom-fields', { key: 'plan', type: 'text' }, 'key'],
  ] as const)
    expect(await fieldOf(twice(path, body)), path).toEqual(['conflict', field]);
  for (const email of ['ada@example.com', 'eve@example.com'])
    expect(await fieldOf(api.patch(`/v1/contacts/${bob.id}`, { email })), email).toEqual(['conflict', 'email']);
  expect(await fieldOf(api.post('/v1/contacts', { email: 'eve@example.com' }))).toEqual(['conflict', 'email']);
});

test('a body that is full of problems gets the first hundred', async () => {
  const api = await testApi();
  const { body } = await api.post(
    '/v1/groups',
    Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, 0])),
  );
  expect(body.error.details).toHaveLength(100);
});

test('a body of millions of values is not parsed, in REST and in GraphQL', async () => {
  const api = await testApi();
  const values = Array<number>(400_000).fill(1);
  const rest = await api.post('/v1/emails', { metadata: { values } });
  expect(rest).toMatchObject({ status: 413, body: { error: { code: 'payload_too_large' } } });
  const { body } = await api.graphql('{ __typename }', { values });
  expect(body.errors?.[0]?.extensions.code).toBe('payload_too_large');
});

test('GraphQL takes a body as large as its limit', async () => {
  const api = await testApi();
  const { body } = await api.graphql('{ __typename }', { content: 'a'.repeat(30_000_000) });
  expect(body).toEqual({ data: { __typename: 'Query' } });
});

test.each(['[]', '"text"', '7', 'true', 'null'])('a body of %s is not an object', async (body) => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  for (const reply of [await api.post('/v1/groups', body), await api.patch(`/v1/contacts/${ada.id}`, body)]) {
    expect(reply).toMatchObject({
      status: 400,
      body: { error: { code: 'validation_error', message: 'The body must be a JSON object.', details: [] } },
    });
  }
});

describe('a JSON number beyond 2^53 has lost digits: it is 400 and its path is named', () => {
  const TOO_LARGE = [
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890',
    '1e16',
    '1e400',
  ];
  const WHERE: [string, string, (number: string) => string, string][] = [
    [
      'a custom field',
      '/v1/contacts',
      (n) => `{"email":"a@example.com","custom_fields":{"account":${n}}}`,
      'custom_fields.account',
    ],
    [
      'a text field',
      '/v1/contacts',
      (n) => `{"email":"a@example.com","custom_fields":{"phone":${n}}}`,
      'custom_fields.phone',
    ],
    [
      'a batch',
      '/v1/contacts/batch',
      (n) => `{"contacts":[{"email":"a@example.com","custom_fields":{"account":${n}}}]}`,
      'contacts.0.custom_fields.account',
    ],
    [
      'metadata',
      '/v1/emails',
      (n) => `{"from":"a@example.com","to":"b@example.com","subject":"x","text":"x","metadata":{"order":[1,${n}]}}`,
      'metadata.order.1',
    ],
    [
      'variables',
      '/v1/emails',
      (n) => `{"from":"a@example.com","to":"b@example.com","subject":"x","text":"x","variables":{"total":${n}}}`,
      'variables.total',
    ],
    [
      'a segment',
      '/v1/segments',
      (n) => `{"name":"x","filter":{"field":"customFields.account","op":"is","value":${n}}}`,
      'filter.value',
    ],
  ];
  test.each(WHERE)('in %s', async (_name, path, body, field) => {
    const api = await testApi();
    await api.post('/v1/custom-fields', { key: 'account', label: 'Account', type: 'number' });
    await api.post('/v1/custom-fields', { key: 'phone', label: 'Phone', type: 'text' });
    for (const number of TOO_LARGE)
      expect(await api.post(path, body(number))).toMatchObject(refusal(field, /9007199254740991/));
  });

  test('the largest safe number is stored unchanged, and a larger one as text', async () => {
    const api = await testApi();
    await api.post('/v1/custom-fields', { key: 'account', label: 'Account', type: 'number' });
    await api.post('/v1/custom-fields', { key: 'phone', label: 'Phone', type: 'text' });
    const fields = '{"account":-9007199254740991,"phone":"12345678901234567890"}';
    const { id } = (await api.post('/v1/contacts', `{"email":"a@example.com","custom_fields":${fields}}`)).body.data;
    expect((await api.get(`/v1/contacts/${id}`)).body.data.customFields).toEqual(JSON.parse(fields));
    // A number field rejects it as text too.
    const asText = await api.post('/v1/contacts', {
      email: 'b@example.com',
      custom_fields: { account: '9007199254740993' },
    });
    expect(asText).toMatchObject(refusal('custom_fields.account', /number/));
  });

  test('over GraphQL, as a variable and in the query text', async () => {
    const api = await testApi();
    const create = (fields: string) =>
      `createContact(input: { email: "a@example.com", customFields: ${fields} }) { __typename }`;
    const inText = await api.graphql(`mutation { ${create('{ account: 9007199254740993 }')} }`);
    const asVariable = await api.graphql(`mutation ($fields: JSON) { ${create('$fields')} }`, {
      fields: { account: Number('9007199254740993') },
    });
    for (const { body } of [inText, asVariable]) {
      expect(body.errors[0].extensions.code).toBe('validation_error');
      expect(body.errors[0].message).toContain('account must be a number between');
    }
  });
});

const HALF = '\\ud83d';

test.each([
  ['NUL', '{"name":"a\\u0000b","emails":["ada@example.com"]}', 'name', /NUL/],
  ['half a surrogate pair', `{"name":"a${HALF}b","emails":["ada@example.com"]}`, 'name', /Unicode/],
  ['NUL in a list', '{"name":"Beta","emails":["a\\u0000@example.com"]}', 'emails.0', /NUL/],
])('text that cannot be stored (%s) is 400 and the field is named', async (_name, body, field, message) => {
  const api = await testApi();
  await api.contact('ada@example.com');
  expect(await api.post('/v1/groups', body)).toMatchObject(refusal(field, message));
});

test.each([
  ['a value', '{"a":{"b":["\\u0000"]}}', 'custom_fields.a.b.0'],
  ['a key', '{"a":{"\\u0000":1}}', 'custom_fields.a'],
  ['half a surrogate pair', `{"a":"${HALF}"}`, 'custom_fields.a'],
])('NUL and lone surrogates inside JSON (%s) are 400 and their path is named', async (_name, json, field) => {
  const api = await testApi();
  const reply = await api.post('/v1/contacts', `{"email":"ada@example.com","custom_fields":${json}}`);
  expect(reply).toMatchObject(refusal(field, /NUL|Unicode/));
});

test('text that can be stored is returned unchanged', async () => {
  const api = await testApi();
  const name = '  Zoë 🐘 \\ " <b>漢字</b>  ';
  const { id } = await api.contact('zoe@example.com', { name });
  expect((await api.get(`/v1/contacts/${id}`)).body.data.name).toBe(name.trim());
});

test.each(['{', '{"name":}', 'name=Beta', "{'name':'Beta'}", '{"name":"Beta"}}', '\uFEFF{"name":'])(
  'malformed JSON is 400: %s',
  async (body) => {
    const api = await testApi();
    const reply = await api.post('/v1/groups', body);
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 'validation_error' } } });
  },
);

test('a body that is not UTF-8 is 400', async () => {
  const api = await testApi();
  const response = await fetch(`${api.url}/v1/groups`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json' },
    body: Buffer.from('{"name":"Zo\xeb"}', 'latin1'),
  });
  expect(response.status).toBe(400);
});

test('deep nesting is handled without a crash', async () => {
  const api = await testApi();
  const deep = `{"email":"ada@example.com","custom_fields":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`;
  const reply = await api.post('/v1/contacts', deep);
  expect([reply.status, reply.body.error.code]).toEqual([400, 'validation_error']);
  expect((await api.get('/v1/contacts')).status).toBe(200);
});

test('members of Object.prototype are fields like any other', async () => {
  const api = await testApi();
  const reply = await api.post('/v1/groups', '{"__proto__":{"name":"Beta"},"constructor":1,"emails":[]}');
  const fields = reply.body.error.details.map(({ field }: { field: string }) => field);
  expect(fields.toSorted()).toEqual(['__proto__', 'constructor', 'name']);
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
  'a body of type "%s" is 415 unsupported_media_type',
  async (type) => {
    const api = await testApi();
    const headers = { 'Content-Type': type };
    const reply = await api.send('POST', '/v1/groups', { headers, body: '{"name":"Beta"}' });
    expect([reply.status, reply.body.error.code]).toEqual([415, 'unsupported_media_type']);
  },
);

test.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.api+json'])(
  'a body of type "%s" is read',
  async (type) => {
    const api = await testApi();
    await api.contact('ada@example.com');
    const body = { name: 'Beta', emails: ['ada@example.com'] };
    expect((await api.send('POST', '/v1/groups', { headers: { 'Content-Type': type }, body })).status).toBe(201);
  },
);

const sized = (bytes: number) => {
  const [head, tail] = ['{"name":"', '"}'];
  return head + 'x'.repeat(bytes - head.length - tail.length) + tail;
};

test('a body over 1 MB is 413 payload_too_large, one of just 1 MB is read', async () => {
  const api = await testApi();
  const over = await api.post('/v1/groups', sized(1024 * 1024 + 1));
  expect([over.status, over.body.error.code]).toEqual([413, 'payload_too_large']);
  expect(await api.post('/v1/groups', sized(1024 * 1024))).toMatchObject(refusal('name', /200/));
});

test('a body without Content-Length is cut off at 1 MB, and the next request succeeds', async () => {
  const api = await testApi();
  const chunk = new TextEncoder().encode('x'.repeat(64 * 1024));
  let sent = 0;
  const body = new ReadableStream({
    pull: (controller) => (sent++ < 320 ? controller.enqueue(chunk) : controller.close()),
  });
  const headers = { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json' };
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
  expect((await fetch(`${api.url}/v1/groups`, init)).status).toBe(413);
  for (let request = 0; request < 3; request++) expect((await api.get('/v1/groups')).status).toBe(200);
});

test('a boolean in a query is true, false, 1 or 0, as generated clients write it', async () => {
  const api = await testApi();
  for (const value of ['true', '1', 'false', '0'])
    expect((await api.get(`/v1/contacts?suppressed=${value}`)).status).toBe(200);
});

const problemOf = async (api: Api, query: string) => {
  const reply = await api.get(`/v1/contacts?${query}`);
  return [reply.status, ...(reply.body.error?.details ?? []).map(({ field }: { field: string }) => field)];
};

test.each([
  ['colour=red', 'colour'],
  ['limit=0', 'limit'],
  ['limit=1001', 'limit'],
  ['limit=-1', 'limit'],
  ['limit=ten', 'limit'],
  ['limit=1.5', 'limit'],
  ['limit=', 'limit'],
  ['limit=5&limit=6', 'limit'],
  ['nme=1&nme=2', 'nme'],
  ['limit=99999999999999999999', 'limit'],
  ['suppressed=maybe', 'suppressed'],
  ['created_after=yesterday', 'created_after'],
  ['created_after=2026-02-31T00:00:00Z', 'created_after'],
  ['source=nowhere', 'source'],
  ['search=%00', 'search'],
  ['cursor=nonsense', 'cursor'],
  ['createdAfter=2026-11-21T00:00:00Z', 'createdAfter'],
])('a query parameter that is unknown or wrong is 400 and named: %s', async (query, field) => {
  expect(await problemOf(await testApi(), query)).toEqual([400, field]);
});

test('a time whose + became a space says how to write it', async () => {
  const api = await testApi();
  const [time, offset] = ['2026-11-21T00:00:00', '02:00'];
  expect(await api.get(`/v1/contacts?created_after=${time}+${offset}`)).toMatchObject(
    refusal('created_after', /; in a URL, write \+ as %2B$/),
  );
  expect((await api.get(`/v1/contacts?created_after=${time}%2B${offset}`)).status).toBe(200);
});

test('a query that is not UTF-8 is 400 naming the parameter; a lone percent sign is text', async () => {
  const api = await testApi();
  for (const path of ['/v1/contacts', '/v1/contacts/export'])
    expect(await api.get(`${path}?email=ada%ff@example.com&search=%C3%28`)).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'validation_error',
          details: [
            { field: 'email', message: 'must be valid UTF-8' },
            { field: 'search', message: 'must be valid UTF-8' },
          ],
        },
      },
    });
  const ada = await api.contact('ada@example.com', { name: '50% Ünï' });
  for (const search of ['50%', '50%25', '%C3%9Cn', '%C3%9Cn%C3%AF'])
    expect((await api.get(`/v1/contacts?search=${search}`)).body.data).toMatchObject([{ id: ada.id }]);
});

test('a string in a query has at most 1,000 characters', async () => {
  const api = await testApi();
  expect((await api.get(`/v1/contacts?search=${'a'.repeat(1_000)}`)).status).toBe(200);
  expect(await api.get(`/v1/contacts?search=${'a'.repeat(1_001)}`)).toMatchObject({
    status: 400,
    body: { error: { details: [{ field: 'search', message: 'must be at most 1000 characters' }] } },
  });
});

test('an object in a query has at most 8,192 characters as JSON', async () => {
  const api = await testApi();
  const start = (length: number) => {
    const columns = `{"email":"${'a'.repeat(length - '{"email":""}'.length)}"}`;
    const headers = { 'Content-Type': 'text/csv' };
    return api.send('POST', `/v1/imports?columns=${columns}`, { headers, body: 'email\nada@example.com\n' });
  };
  const message = 'must be at most 8192 characters';
  expect((await start(8_193)).body.error.details).toMatchObject([{ field: 'columns', message }]);
  expect((await start(8_192)).body.error?.details ?? []).not.toMatchObject([{ message }]);
});

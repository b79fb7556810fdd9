import { type Api, startReceiver, testApi } from '@postroom/testkit';
import { afterEach, expect, test } from 'vitest';
import { type ClientOptions, Postroom, PostroomError } from '../src/index.ts';
import { OPERATIONS } from '../src/types.ts';
import { type Fate, type FlakyProxy, flakyProxy } from './flaky-proxy.ts';

const open: FlakyProxy[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((proxy) => proxy.close()));
});

/** A client with its own project, over a network that treats each attempt as specified. */
async function overNetwork(fates: Fate[], options: Partial<ClientOptions> = {}) {
  const api = await testApi();
  const proxy = await flakyProxy(api.url, ...fates);
  open.push(proxy);
  return { api, proxy, client: new Postroom({ apiKey: api.key, baseUrl: proxy.url, ...options }) };
}

const clientOf = (api: Api) => new Postroom({ apiKey: api.key, baseUrl: `${api.url}/` });

const failure = async (attempt: PromiseLike<unknown>): Promise<PostroomError> => {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PostroomError);
  return error as PostroomError;
};

test('it creates, reads, updates and deletes', async () => {
  const client = clientOf(await testApi());
  const ada = await client.contacts.create({ email: 'ada@example.com', name: 'Ada Lovelace' });
  const group = await client.groups.create({ name: 'Beta', contact_ids: [ada.id] });
  expect(await client.groups.get(group.id)).toMatchObject({ memberCount: 1, contacts: [{ email: 'ada@example.com' }] });
  const added = await client.groups.addContacts(group.id, { emails: ['ada@example.com', 'nobody@example.com'] });
  expect([added.matched, added.group.memberCount]).toEqual([1, 1]);
  expect((await client.contacts.update(ada.id, { subscribed: false })).suppressionStatus).toBe('unsubscribed');
  await client.contacts.delete(ada.id);
  expect((await failure(client.contacts.get(ada.id))).code).toBe('not_found');
});

test('a list fetches its pages as needed, newest first', async () => {
  const { client, proxy } = await overNetwork([]);
  await client.contacts.batch({
    contacts: Array.from({ length: 7 }, (_, index) => ({ email: `p${index}@example.com` })),
  });
  const before = proxy.attempts.length;
  const emails: string[] = [];
  for await (const { email } of client.contacts.list({ limit: 3 })) emails.push(email);
  expect(emails).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `p${index}@example.com`));
  expect(proxy.attempts.length - before).toBe(3);
  expect(await client.contacts.list({ limit: 3 }).toArray(4)).toHaveLength(4);
  expect(proxy.attempts.length - before).toBe(5);
  const page = await client.contacts.list({ limit: 3 });
  expect([page.data.length, page.has_more, typeof page.next_cursor]).toEqual([3, true, 'string']);
});

test("filters are sent, with dates and booleans in the API's format", async () => {
  const client = clientOf(await testApi());
  await client.contacts.create({ email: 'ada@example.com' });
  const grace = await client.contacts.create({ email: 'grace@example.com' });
  await client.contacts.update(grace.id, { subscribed: false });
  const of = async (query: Parameters<typeof client.contacts.list>[0]) =>
    (await client.contacts.list(query).toArray()).map(({ email }) => email);
  expect(await of({ suppressed: true })).toEqual(['grace@example.com']);
  expect(await of({ suppressed: false, search: undefined })).toEqual(['ada@example.com']);
  expect(await of({ created_after: new Date(Date.now() + 60_000).toISOString() })).toEqual([]);
});

test('an error has the code, status, message, request id and details of the API', async () => {
  const client = clientOf(await testApi());
  const error = await failure(client.groups.create({ name: 'Beta', emails: ['nobody@example.com'] }));
  expect(error).toMatchObject({ name: 'PostroomError', code: 'validation_error', status: 400 });
  expect(error.requestId).toMatch(/^req_/);
  expect(error.details[0]?.field).toMatch(/contact_ids|emails/);
  expect(error.message).not.toBe('');
});

test('a request rejected for its content is not retried', async () => {
  const { client, proxy } = await overNetwork([]);
  await failure(client.groups.get('grp_nonsense'));
  expect(proxy.attempts).toHaveLength(1);
});

test.each<[string, Fate]>([
  ['lost on its way there', 'lost before it arrives'],
  ['answered 503 by a proxy', { status: 503, body: '<html>' }],
  ['answered 500', { status: 500 }],
])('a request that was %s is retried', async (_name, fate) => {
  const { client, proxy } = await overNetwork([fate]);
  expect((await client.contacts.create({ email: 'ada@example.com' })).email).toBe('ada@example.com');
  expect(proxy.attempts).toHaveLength(2);
});

test('a POST whose response was lost is retried with the same key, and runs once', async () => {
  const { api, client, proxy } = await overNetwork(['answer lost', 'answer lost']);
  const endpoint = await client.webhooks.create({ url: 'https://example.com/hook', events: ['*'] });
  expect(endpoint.secret).toMatch(/^whsec_/);
  expect((await clientOf(api).webhooks.list()).data).toHaveLength(1);
  const keys = proxy.attempts.map((headers) => headers['idempotency-key']);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
});

test('each request has its own key, or the one provided', async () => {
  const { client, proxy } = await overNetwork([]);
  await client.contacts.create({ email: 'ada@example.com' });
  await client.contacts.create({ email: 'ada@example.com' });
  await client.contacts.create({ email: 'ada@example.com' }, { idempotencyKey: 'order-4711' });
  await client.contacts.list();
  const [first, second, third, read] = proxy.attempts.map((headers) => headers['idempotency-key']);
  expect(first).not.toBe(second);
  expect([third, read]).toEqual(['order-4711', undefined]);
});

test('a DELETE whose response was lost succeeds, although the retry finds nothing', async () => {
  const { api, client } = await overNetwork(['arrives', 'answer lost']);
  const ada = await client.contacts.create({ email: 'ada@example.com' });
  await client.contacts.delete(ada.id);
  expect((await api.get(`/v1/contacts/${ada.id}`)).status).toBe(404);
});

test('so does a DELETE by its operation', async () => {
  const { api, client: flaky } = await overNetwork(
    Array.from({ length: 40 }, (_, index) => (index % 2 ? 'arrives' : 'answer lost')),
  );
  const make = clientOf(api);
  const ada = await make.contacts.create({ email: 'ada@example.com' });
  const campaign = await make.call('createCampaign', { body: { name: 'News' } });
  const variant = await make.call('createCampaign', { body: { name: 'Tested' } });
  await api.post('/v1/events', { name: 'order placed', contact_id: ada.id });
  const [definition] = (await api.get('/v1/event-definitions')).body.data;
  const ids = {
    deleteGroup: (await make.groups.create({ name: 'Beta', contact_ids: [ada.id] })).id,
    deleteContact: ada.id,
    deleteCustomField: (await make.customFields.create({ key: 'plan', type: 'text' })).id,
    removeSuppression: (await make.suppressions.add({ email: 'nobody@example.com' })).id,
    deleteSegment: (await make.segments.create({ name: 'All', filter: { field: 'email', op: 'contains', value: '@' } }))
      .id,
    deleteTemplate: (await make.templates.create({ name: 'Hello', subject: 'Hello', body: '<p>Hello</p>' })).id,
    deleteWebhookEndpoint: (await make.webhooks.create({ url: 'https://example.com/hook', events: ['*'] })).id,
    deleteCampaign: campaign.data.id,
    deleteAbTest: (await make.abTests.create({ campaign_id: variant.data.id })).id,
    deleteForm: (await make.forms.create({ name: 'Newsletter', double_opt_in: false })).id,
    deleteCustomEventDefinition: definition?.id ?? '',
  };
  for (const [operation, id] of Object.entries(ids) as [keyof typeof ids, string][]) {
    expect([operation, await flaky.call(operation, { path: { id } })]).toEqual([operation, { deleted: true }]);
  }
  const deletes = Object.entries(OPERATIONS).filter(
    ([, route]) => route.startsWith('DELETE ') && !route.includes('}/'),
  );
  expect(deletes.map(([operation]) => operation).toSorted()).toEqual(Object.keys(ids).toSorted());
});

test('a DELETE that was only rate limited before is an error when it finds nothing', async () => {
  const { client, proxy } = await overNetwork([{ status: 429, headers: { 'Retry-After': '0' } }]);
  expect(await failure(client.contacts.delete('ctc_none'))).toMatchObject({ status: 404, code: 'not_found' });
  expect(proxy.attempts).toHaveLength(2);
});

test('a PATCH of a version whose response was lost throws the network error, not a conflict with itself', async () => {
  const { client } = await overNetwork(['arrives', 'answer lost']);
  const { id, version } = await client.templates.create({ name: 'Hello', subject: 'Hello', body: '<p>1</p>' });
  const update = (body: string) => client.templates.update(id, { body, version });
  expect(await failure(update('<p>2</p>'))).toMatchObject({ code: 'network_error', status: undefined });
  expect((await client.templates.get(id)).body).toBe('<p>2</p>');
  expect(await failure(update('<p>3</p>'))).toMatchObject({ code: 'conflict', status: 409 });
});

test('it waits for Retry-After', async () => {
  const { client, proxy } = await overNetwork([{ status: 429, headers: { 'Retry-After': '1' } }]);
  const started = Date.now();
  await client.contacts.list();
  expect(Date.now() - started).toBeGreaterThanOrEqual(990);
  expect(proxy.attempts).toHaveLength(2);
});

test('it does not wait for a very long Retry-After', async () => {
  const { client, proxy } = await overNetwork([{ status: 503, headers: { 'Retry-After': '3600' } }]);
  expect((await failure(client.contacts.list())).status).toBe(503);
  expect(proxy.attempts).toHaveLength(1);
});

test('when rate limited, a client slows down and every request succeeds', async () => {
  const client = clientOf(await testApi());
  const made = await Promise.all(
    Array.from({ length: 250 }, (_, index) =>
      client.contacts.create({ email: `p${index}@example.com` }, { maxRetries: 10 }),
    ),
  );
  expect(new Set(made.map(({ id }) => id)).size).toBe(250);
});

test('maxRetries limits the attempts of the client or of one request', async () => {
  const lost = 'lost before it arrives';
  const { client, proxy } = await overNetwork([lost, lost, lost, lost, lost], { maxRetries: 1 });
  const error = await failure(client.contacts.list());
  expect([error.code, error.status, proxy.attempts.length]).toEqual(['network_error', undefined, 2]);
  await failure(client.contacts.list({}, { maxRetries: 0 }));
  expect(proxy.attempts).toHaveLength(3);
});

test('an attempt that times out is retried', async () => {
  const silent = await startReceiver(() => {});
  const client = new Postroom({ apiKey: 'pr_x', baseUrl: silent.url, timeoutMs: 1_000, maxRetries: 1 });
  const error = await failure(client.call('createContact', { body: { email: 'ada@example.com' } }));
  expect([error.code, silent.received.length]).toEqual(['timeout', 2]);
  await silent.close();
});

test('a signal aborts the request, also while it waits to retry', async () => {
  const { client, proxy } = await overNetwork([{ status: 503, headers: { 'Retry-After': '30' } }]);
  const giveUp = new AbortController();
  setTimeout(() => giveUp.abort('enough'), 2_000);
  const { signal } = giveUp;
  await expect(client.contacts.get('ctc_x', { signal })).rejects.toBe('enough');
  await expect(client.contacts.get('ctc_x', { signal })).rejects.toBe('enough');
  expect(proxy.attempts).toHaveLength(1);
});

test('a response that is not from the API is an error that says so', async () => {
  const { client } = await overNetwork([{ status: 200, body: '<html>Welcome to the proxy</html>' }], { maxRetries: 0 });
  expect((await failure(client.contacts.list())).code).toBe('unexpected_answer');
});

test('a redirect is an error that names its target: it would turn a POST into a GET', async () => {
  const { client, proxy, api } = await overNetwork([{ status: 301, headers: { Location: '/v1/contacts' } }]);
  const error = await failure(client.contacts.create({ email: 'ada@example.com' }));
  expect(error).toMatchObject({
    code: 'unexpected_answer',
    status: 301,
    message: expect.stringContaining('/v1/contacts'),
  });
  expect(proxy.attempts).toHaveLength(1);
  expect(await clientOf(api).contacts.list().toArray()).toEqual([]);
});

test('with a key of several projects, the client or the request names one', async () => {
  const [one, two] = await Promise.all([testApi(), testApi()]);
  const { key: apiKey } = await one.newKey('full', [one.projectId, two.projectId]);
  const client = new Postroom({ apiKey, baseUrl: one.url, projectId: one.projectId });
  await client.contacts.create({ email: 'ada@example.com' }, { projectId: two.projectId });
  expect(await client.contacts.list().toArray()).toEqual([]);
  expect((await client.contacts.list({}, { projectId: two.projectId })).data).toHaveLength(1);
  const ids = (await client.projects.list()).map(({ id }) => id);
  expect(ids.toSorted()).toEqual([one.projectId, two.projectId].toSorted());
});

test('ids are encoded, and an empty one does not address the whole list', async () => {
  const client = clientOf(await testApi());
  expect((await failure(client.contacts.get('../groups'))).code).toBe('not_found');
  await expect(client.contacts.delete('')).rejects.toThrow(TypeError);
  // The URL would be that of another operation: DELETE /v1/contacts/{id}.
  await expect(client.groups.removeContact('..', 'ctc_1')).rejects.toThrow(TypeError);
});

test('a client requires a key and a URL', () => {
  expect(() => new Postroom({ apiKey: '', baseUrl: 'https://example.com' })).toThrow(TypeError);
  expect(() => new Postroom({ apiKey: 'pr_x', baseUrl: '' })).toThrow(TypeError);
});

test('what cannot be sent is rejected at once, not retried like a lost connection', async () => {
  for (const baseUrl of ['mail.example.com', 'localhost:3400'])
    expect(() => new Postroom({ apiKey: 'pr_x', baseUrl })).toThrow(/must begin with https/);
  const { client, proxy, api } = await overNetwork([]);
  await expect(client.contacts.create({ email: 'ada@example.com' }, { idempotencyKey: 'No 7…' })).rejects.toThrow(
    TypeError,
  );
  const elided = new Postroom({ apiKey: 'pr_…', baseUrl: api.url });
  await expect(elided.contacts.list()).rejects.toThrow(TypeError);
  expect(proxy.attempts).toEqual([]);
});

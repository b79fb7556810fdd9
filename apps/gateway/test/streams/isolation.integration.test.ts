import { readFileSync } from 'node:fs';
import { inTransaction, newId } from '@postroom/platform';
import { notify } from '@postroom/notifications';
import { type Api, eventually, signedIn, startReceiver, startTestWorker, testApi } from '@postroom/testkit';
import { buildSchema } from 'graphql';
import { createClient } from 'graphql-sse';
import { beforeAll, expect, test } from 'vitest';
import { everything } from '../rest/fixtures.ts';

beforeAll(startTestWorker);

type Headers = Record<string, string>;

const asKey = ({ key }: Api): Headers => ({ Authorization: `Bearer ${key}` });

/** Collects what a subscription sends, and its errors. Open once the server has started it. */
async function follow(url: string, headers: Headers, query: string, variables: Record<string, unknown> = {}) {
  const opened = Promise.withResolvers<void>();
  const results: unknown[] = [];
  const client = createClient({
    url: `${url}/graphql/stream`,
    retryAttempts: 0,
    headers,
    fetchFn: async (input: string, init: RequestInit) => {
      const response = await fetch(input, init);
      opened.resolve();
      return response;
    },
  } as Parameters<typeof createClient>[0]);
  client.subscribe(
    { query, variables },
    {
      next: (result) => results.push(result),
      error: (error) => {
        results.push(error);
        opened.resolve();
      },
      complete: () => {},
    },
  );
  await opened.promise;
  return results;
}

/** One object of another project: the collection of its id. */
const OF_AN_OBJECT: Record<string, string> = {
  abTestProgress: '/v1/ab-tests',
  backtestProgress: '/v1/backtests',
  bulkOperationProgress: '/v1/bulk-operations',
  campaignProgress: '/v1/campaigns',
  domainChecked: 'domain',
  importProgress: '/v1/imports',
};
const OF_A_PROJECT = {
  eventRecorded: '{ id type data cursor }',
  webhookAttemptRecorded: '{ cursor delivery { id event { id data } } }',
  webhookDeliveryAttempted: '{ id event { id data } }',
};

test('these are all subscriptions', () => {
  const schema = buildSchema(readFileSync(new URL('../../../../schema.graphql', import.meta.url), 'utf8'));
  const names = Object.keys(schema.getSubscriptionType()?.getFields() ?? {});
  expect(names.toSorted()).toEqual(
    [...Object.keys(OF_AN_OBJECT), ...Object.keys(OF_A_PROJECT), 'unreadNotificationsChanged'].toSorted(),
  );
});

test.each(Object.entries(OF_AN_OBJECT))("%s of another project's object is not_found", async (name, collection) => {
  const { api, ids } = await everything();
  const other = await testApi();
  const { body } = await api.graphql('{ domains(first: 1) { nodes { id } } }');
  const id = collection === 'domain' ? body.data.domains.nodes[0].id : ids[collection];
  const query = `subscription ($id: ID!) { ${name}(id: $id) { id } }`;
  const [own, foreign] = await Promise.all([
    follow(api.url, asKey(api), query, { id }),
    follow(api.url, asKey(other), query, { id }),
  ]);
  await eventually(() => expect(own[0]).toMatchObject({ data: { [name]: { id } } }));
  await eventually(() => expect(foreign[0]).toMatchObject({ errors: [{ extensions: { code: 'not_found' } }] }));
  expect(JSON.stringify(foreign)).not.toContain('"data":{');
});

test("streams send nothing of another project, also with its cursors and its endpoint's id", async () => {
  const receiver = await startReceiver();
  const [api, other] = [await testApi(), await testApi()];
  const endpointOf = async ({ post }: Api) =>
    (await post('/v1/webhooks', { url: receiver.url, events: ['contact.created'] })).body.data.id as string;
  const [endpoint] = [await endpointOf(api), await endpointOf(other)];
  const stream = (name: keyof typeof OF_A_PROJECT, args = '') =>
    `subscription { ${name}${args} ${OF_A_PROJECT[name]} }`;
  const names = Object.keys(OF_A_PROJECT) as (keyof typeof OF_A_PROJECT)[];
  const streamsOf = (whose: Api) => Promise.all(names.map((name) => follow(api.url, asKey(whose), stream(name))));
  const [own, foreign] = [await streamsOf(api), await streamsOf(other)];
  await api.contact('secret1@example.com');
  for (const results of own) await eventually(() => expect(JSON.stringify(results)).toContain('secret1@example.com'));

  const cursorOf = ([result]: unknown[], name: string) =>
    (result as { data: Record<string, { cursor: string }> }).data[name]?.cursor ?? '';
  const [events = [], attempts = []] = own;
  const resumed = await Promise.all([
    follow(api.url, asKey(other), stream('eventRecorded', `(after: "${cursorOf(events, 'eventRecorded')}")`)),
    follow(
      api.url,
      asKey(other),
      stream('webhookAttemptRecorded', `(after: "${cursorOf(attempts, 'webhookAttemptRecorded')}")`),
    ),
    follow(api.url, asKey(other), stream('webhookDeliveryAttempted', '(since: "2020-01-01T00:00:00Z")')),
  ]);
  const ofEndpoint = await Promise.all([
    follow(api.url, asKey(other), stream('webhookAttemptRecorded', `(endpointId: "${endpoint}")`)),
    follow(api.url, asKey(other), stream('webhookDeliveryAttempted', `(endpointId: "${endpoint}")`)),
  ]);
  await api.contact('secret2@example.com');
  await other.contact('theirs@example.com');
  for (const results of [...foreign, ...resumed])
    await eventually(() => expect(JSON.stringify(results)).toContain('theirs@example.com'));
  for (const results of own) await eventually(() => expect(JSON.stringify(results)).toContain('secret2@example.com'));
  for (const results of [...foreign, ...resumed, ...ofEndpoint]) {
    expect(JSON.stringify(results)).not.toMatch(/secret\d@/);
    expect(JSON.stringify(results)).not.toContain(endpoint);
  }
  await receiver.close();
});

test("the count of unread notifications is the caller's own, in their project", async () => {
  const [api, other] = [await testApi(), await testApi()];
  const [owner, stranger] = [await signedIn(api), await signedIn(other)];
  const query = 'subscription { unreadNotificationsChanged }';
  const as = (cookie: string, { projectId }: Api) => ({ cookie, 'X-Project-Id': projectId });
  const own = await follow(api.url, as(owner.cookie, api), query);
  const foreign = await follow(api.url, as(stranger.cookie, other), query);
  const intruding = await follow(api.url, as(stranger.cookie, api), query);
  const notice = { kind: 'campaign_paused', title: 'Paused', detail: 'Rejected.', advice: 'Resume it:' } as const;
  const notifyIn = ({ projectId }: Api) =>
    inTransaction((tx) => notify(tx, projectId, { ...notice, subjectId: newId('cmp') }));
  await notifyIn(api);
  await notifyIn(api);
  await eventually(() => expect(own.at(-1)).toEqual({ data: { unreadNotificationsChanged: 2 } }));
  await notifyIn(other);
  await eventually(() => expect(foreign.at(-1)).toEqual({ data: { unreadNotificationsChanged: 1 } }));
  expect(JSON.stringify(foreign)).not.toContain('2');
  expect(JSON.stringify(intruding)).toContain('forbidden');
  expect(JSON.stringify(intruding)).not.toContain('unreadNotificationsChanged":');
});

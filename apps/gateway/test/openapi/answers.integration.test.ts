import { newId, pool, type Route } from '@postroom/platform';
import { generateKey } from '@postroom/projects';
import { type Reply, testApi } from '@postroom/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { everything, type Everything } from '../rest/fixtures.ts';
import { routes, streams } from '../../src/routes.ts';
import { schema } from '../../src/schema.ts';
import { Conformance } from './conformance.ts';
import { openApiDocument } from '../../src/openapi/document.ts';

// Compares real responses with the document, which was generated without running requests.

const openApi = openApiDocument(schema, routes, streams);
const conformance = new Conformance(openApi);

let shared: Everything;
beforeAll(async () => {
  shared = await everything();
});

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const every = routes.map((route): [string, Route] => [nameOf(route), route]);
const reads = ({ method }: Route) => method === 'GET';

/** Marks a campaign as completed, in its row only. */
const complete = ({ ids }: Everything) =>
  pool.query("UPDATE campaigns SET status = 'completed', frozen_at = now(), started_at = now() WHERE id = $1", [
    ids['/v1/campaigns'],
  ]);

/** Has an A/B test running, with the campaign of the examples as a variant. */
const runTest = ({ ids }: Everything) =>
  pool.query("UPDATE ab_tests SET status = 'testing', variant_ids[2] = $2 WHERE id = $1", [
    ids['/v1/ab-tests'],
    ids['/v1/campaigns'],
  ]);

const resumeJourney = ({ api, fill }: Everything) => api.post(fill('/v1/journeys/{id}/resume'));

/** Setup that a route needs before its example can succeed. */
const BEFORE: Record<string, (about: Everything) => Promise<unknown>> = {
  'POST /v1/custom-fields': ({ api, fill }) => api.delete(fill('/v1/custom-fields/{id}')),
  'POST /v1/deliveries/{id}/replay': ({ ids }) =>
    pool.query("UPDATE deliveries SET state = 'failed', closed_at = now() WHERE id = $1", [ids['/v1/deliveries']]),
  'POST /v1/deliveries/{id}/retry': ({ ids }) =>
    pool.query("UPDATE deliveries SET state = 'retried', closed_at = NULL WHERE id = $1", [ids['/v1/deliveries']]),
  'POST /v1/deliveries/{id}/give-up': ({ ids }) =>
    pool.query("UPDATE deliveries SET state = 'retried', closed_at = NULL WHERE id = $1", [ids['/v1/deliveries']]),
  'POST /v1/campaigns/{id}/unschedule': ({ api, fill }) =>
    api.post(fill('/v1/campaigns/{id}/schedule'), { scheduled_at: new Date(Date.now() + 86_400_000).toISOString() }),
  'POST /v1/campaigns/{id}/pause': ({ api, fill }) => api.post(fill('/v1/campaigns/{id}/send')),
  'POST /v1/campaigns/{id}/cancel': ({ api, fill }) => api.post(fill('/v1/campaigns/{id}/send')),
  'POST /v1/ab-tests/{id}/choose-winner': runTest,
  'POST /v1/ab-tests/{id}/cancel': runTest,
  'POST /v1/backtests/{id}/cancel': ({ ids }) =>
    pool.query("UPDATE backtests SET status = 'running', finished_at = NULL WHERE id = $1", [ids['/v1/backtests']]),
  'POST /v1/campaigns/{id}/recipients/retry': complete,
  'POST /v1/campaigns/{id}/recipients/resend': complete,
  'POST /v1/campaigns/{id}/recipients/resolve': complete,
  'POST /v1/campaigns/{id}/recipients/group': ({ api, ids }) =>
    pool.query(
      `WITH counted AS (UPDATE campaigns SET clicked_count = 1 WHERE id = $2)
       INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, accepted_at, clicked_at)
       SELECT $1, project_id, $2, id, email, 'accepted', now(), now() FROM contacts WHERE project_id = $3 LIMIT 1`,
      [newId('eml'), ids['/v1/campaigns'], api.projectId],
    ),
  'POST /v1/journeys/{id}/pause': resumeJourney,
  'POST /v1/journeys/{id}/enrollments': resumeJourney,
  'POST /v1/imports/{id}/execute': ({ ids }) =>
    pool.query(
      "UPDATE imports SET status = 'completed', dry_run = true, file_expires_at = now() + interval '1 day' WHERE id = $1",
      [ids['/v1/imports']],
    ),
  'POST /v1/campaigns/{id}/acknowledge': ({ ids }) =>
    pool.query("UPDATE campaigns SET status = 'completed', pause_blocks_sender = true WHERE id = $1", [
      ids['/v1/campaigns'],
    ]),
  'POST /v1/campaigns/{id}/resume': async ({ api, fill }) => {
    await api.post(fill('/v1/campaigns/{id}/send'));
    await api.post(fill('/v1/campaigns/{id}/pause'));
  },
};

/** The example with ids of this project in its references. */
function exampleFor({ references }: Everything, { example }: Route) {
  if (example === undefined) return undefined;
  const own = Object.entries(example).map(([name, value]) => {
    const id = references[name];
    return [name, id === undefined ? value : Array.isArray(value) ? [id] : id];
  });
  return Object.fromEntries(own);
}

async function send(about: Everything, route: Route, options: { key?: string; body?: unknown; path?: string }) {
  const { path = about.fill(route.path), ...more } = options;
  const { status, body } = await about.api.send(route.method, path, more);
  return { status, problems: conformance.problemsOf({ method: route.method, route: route.path, status, body }) };
}

/** Kept for existing clients; always responds 403. */
const CLOSED_TO_KEYS = new Set(['POST /v1/contacts/{id}/erase']);

describe('the example of the reference succeeds, and the response matches the document', () => {
  test.each(every)('%s', async (name, route) => {
    const about = reads(route) ? shared : await everything();
    await BEFORE[name]?.(about);
    const { key } = await about.api.newKey('full');
    const { status, problems } = await send(about, route, { key, body: exampleFor(about, route) });
    expect(problems).toEqual([]);
    expect(status).toBeLessThan(CLOSED_TO_KEYS.has(name) ? 404 : 300);
  });
});

describe('error responses match the document', () => {
  const nobody = (path: string) => path.replaceAll(/\{\w+\}/g, 'nobody');
  test.each(every)('%s', async (_name, route) => {
    const { key } = await shared.api.newKey('full');
    const refusals = await Promise.all([
      send(shared, route, { key: 'pr_nonsense' }),
      send(shared, route, { key, path: `${shared.fill(route.path)}?colour=red` }),
      send(shared, route, { key, path: nobody(route.path), body: route.example }),
      ...(reads(route) ? [] : [send(shared, route, { key, body: '{"colour":"red"}' })]),
      ...(reads(route) || route.method === 'DELETE' ? [] : [send(shared, route, { key, body: '{' })]),
    ]);
    expect(refusals.flatMap(({ problems }) => problems)).toEqual([]);
    expect(Math.max(...refusals.map(({ status }) => status))).toBeLessThan(500);
  });
});

/** Requests for an id in a query or a body that does not exist, by route. */
const ABSENT: Record<string, (about: Everything) => Promise<Reply>[]> = {
  'GET /v1/contacts': ({ api }) => [api.get('/v1/contacts?group_id=nobody'), api.get('/v1/contacts?segment_id=nobody')],
  'GET /v1/emails': ({ api }) => [api.get('/v1/emails?campaign_id=nobody')],
  'GET /v1/events': ({ api }) => [api.get('/v1/events?contact_id=nobody')],
  'GET /v1/deliveries': ({ api }) => [api.get('/v1/deliveries?event_id=nobody')],
  'GET /v1/backtests': ({ api }) => [api.get('/v1/backtests?journey_id=nobody')],
  'GET /v1/contacts/export': ({ api }) => [api.get('/v1/contacts/export?group_id=nobody')],
  'POST /v1/ab-tests': ({ api }) => [api.post('/v1/ab-tests', { campaign_id: 'nobody' })],
  'POST /v1/bulk-operations': ({ api }) => [
    api.post('/v1/bulk-operations', { action: 'add_to_group', group_id: 'nobody', filter: { search: 'ada' } }),
  ],
  'POST /v1/backtests': ({ api }) => [
    api.post('/v1/backtests', { journey_id: 'nobody', days: 30, baseline: { version: 1 } }),
  ],
};

test('without an id in the path, not_found is documented where an id elsewhere is looked up', async () => {
  expect(documenting('404', (at) => !at.includes('{'))).toEqual(Object.keys(ABSENT).toSorted());
  const replies = await Promise.all(Object.values(ABSENT).flatMap((request) => request(shared)));
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 404));
});

/** Requests to delete a row in a state that does not allow it, by route. */
const IN_USE: Record<string, (about: Everything) => Promise<Reply>> = {
  'DELETE /v1/ab-tests/{id}': async (about) => {
    await runTest(about);
    return about.api.delete(about.fill('/v1/ab-tests/{id}'));
  },
  'DELETE /v1/campaigns/{id}': async (about) => {
    await complete(about);
    return about.api.delete(about.fill('/v1/campaigns/{id}'));
  },
  'DELETE /v1/custom-fields/{id}': async ({ api }) => {
    const { body } = await api.post('/v1/custom-fields', { key: 'tier', label: 'Tier', type: 'text' });
    await api.post('/v1/segments', { name: 'Gold', filter: { field: 'customFields.tier', op: 'is', value: 'gold' } });
    return api.delete(`/v1/custom-fields/${body.data.id}`);
  },
  'DELETE /v1/templates/{id}/draft': async ({ api }) => {
    const { body } = await api.post('/v1/templates', { name: 'Unpublished', body: '<p>Hello.</p>' });
    return api.delete(`/v1/templates/${body.data.id}/draft`);
  },
};

test('of the deletes, conflict is documented for those whose row may be in use', async () => {
  expect(documenting('409', (at) => at.startsWith('DELETE'))).toEqual(Object.keys(IN_USE).toSorted());
  const about = await everything();
  const replies = await Promise.all(Object.values(IN_USE).map((request) => request(about)));
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 409));
});

/** The documented operations that have a status and whose method and path pass a filter. */
const documenting = (status: string, filter: (at: string) => boolean) =>
  [...routes, ...streams]
    .filter(({ method, path }) => openApi.paths[path]?.[method.toLowerCase()]?.responses[status] !== undefined)
    .map(({ method, path }) => `${method} ${path}`)
    .filter(filter)
    .toSorted();

test('the examples of errors in the document are what requests get', async () => {
  const api = await testApi();
  const emails = [(await api.contact('ada@example.com')).email];
  await api.post('/v1/groups', { name: 'Beta testers', emails });
  const elsewhere = { 'X-Project-Id': 'prj_01kaq2m5xaf0x8y4qm9c1b7t3r' };
  const typed = { 'Content-Type': 'text/plain' };
  const replies = {
    BadRequest: await api.post('/v1/groups', { emails }),
    Unauthorized: await api.send('GET', '/v1/groups', { key: generateKey() }),
    Forbidden: await api.get('/v1/groups', elsewhere),
    NotFound: await api.get('/v1/contacts/nobody'),
    Conflict: await api.post('/v1/groups', { name: 'Beta testers', emails }),
    PayloadTooLarge: await api.post('/v1/groups', { name: 'x'.repeat(1024 * 1024) }),
    UnsupportedMediaType: await api.post('/v1/groups', 'name=Beta', typed),
  };
  const responses = openApi.components.responses as Record<string, { content: Record<string, { example: ErrorBody }> }>;
  for (const [name, { body }] of Object.entries(replies)) {
    const example = responses[name]?.content['application/json']?.example;
    expect([name, body]).toEqual([name, { error: { ...example?.error, request_id: expect.any(String) } }]);
  }
});

type ErrorBody = { error: object };

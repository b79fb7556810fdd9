import { pool } from '@postroom/platform';
import { signedIn, startTestWorker, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { mergeCounts } from '../src/passages.ts';
import { deleteOldWaiting } from '../src/waiting-events.ts';
import { at, ended, enroll, makeDue, passagesOf, pathOf, published, runOf, wait } from './support.ts';

beforeAll(startTestWorker);

test('a paused journey moves nobody, and on resume goes on with what happened meanwhile', async () => {
  const api = await testApi();
  const [ada, bob] = await Promise.all(['ada', 'bob'].map((name) => api.contact(`${name}@example.net`)));
  const journey = await published(api, {
    entry: { type: 'event', event: 'signed up' },
    steps: [wait('later', 'next'), wait('next', null)],
  });
  await api.post('/v1/events', { name: 'signed up', contact_id: ada?.id });
  await at(api, journey, ada?.id ?? '', 'later');
  expect((await api.post(`/v1/journeys/${journey}/pause`)).body.data.status).toBe('paused');
  expect((await api.post(`/v1/journeys/${journey}/pause`)).status).toBe(409);
  await makeDue(journey);
  await api.post('/v1/events', { name: 'signed up', contact_id: bob?.id });
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(await runOf(api, journey, ada?.id ?? '')).toMatchObject({ stepId: 'later' });
  expect(await runOf(api, journey, bob?.id ?? '')).toBeUndefined();
  expect((await api.post(`/v1/journeys/${journey}/resume`)).body.data.status).toBe('active');
  await at(api, journey, ada?.id ?? '', 'next');
  await at(api, journey, bob?.id ?? '', 'later');
});

test('what happens while a journey is paused is counted, bounded, and may be discarded on resume', async () => {
  const api = await testApi();
  const ids = await Promise.all(
    ['ada', 'bob', 'eve'].map(async (name) => (await api.contact(`${name}@example.net`)).id),
  );
  const journey = await published(api, {
    entry: { type: 'event', event: 'signed up' },
    reentry: 'always',
    steps: [wait('later', null)],
  });
  const waiting = async () => (await api.get(`/v1/journeys/${journey}`)).body.data.waitingEvents;
  const signUp = () => api.post('/v1/events', { events: ids.map((id) => ({ name: 'signed up', contact_id: id })) });
  await api.post(`/v1/journeys/${journey}/pause`);
  await signUp();
  expect(await waiting()).toBe(3);
  await deleteOldWaiting({ onBatch: () => {}, now: Date.now(), max: 2 });
  expect(await waiting()).toBe(2);
  await pool.query(
    `UPDATE journey_triggers SET created_at = now() - interval '31 days' WHERE id = (
       SELECT min(id) FROM journey_triggers WHERE journey_id = $1)`,
    [journey],
  );
  await deleteOldWaiting({ onBatch: () => {}, now: Date.now() });
  expect(await waiting()).toBe(1);
  expect((await api.post(`/v1/journeys/${journey}/resume`, { waiting: 'discard' })).status).toBe(200);
  await signUp();
  for (const id of ids) await at(api, journey, id, 'later');
  const { data } = (await api.get(`/v1/journeys/${journey}/enrollments`)).body;
  expect(data).toHaveLength(3);
  expect(await waiting()).toBe(0);
});

test('the steps of a run are read page by page, and its last with it', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.net');
  const journey = await published(api, { steps: [wait('a', null)] });
  await enroll(api, journey, [ada.id]);
  const { id } = await runOf(api, journey, ada.id);
  await pool.query(
    `INSERT INTO enrollment_steps (enrollment_id, visit, step_id, arrived_at, outcome)
     SELECT $1, i, 's' || i, now(), 'waited' FROM generate_series(1, 120) i`,
    [id],
  );
  const { steps } = (await api.get(`/v1/enrollments/${id}`)).body.data;
  expect(steps.map(({ stepId }: { stepId: string }) => stepId)).toEqual(
    Array.from({ length: 50 }, (_, index) => `s${index + 71}`),
  );
  const seen: string[] = [];
  for (let cursor = ''; ;) {
    const { data, has_more, next_cursor } = (await api.get(`/v1/enrollments/${id}/steps?limit=50${cursor}`)).body;
    seen.push(...data.map(({ stepId }: { stepId: string }) => stepId));
    if (has_more !== true) break;
    cursor = `&cursor=${next_cursor}`;
  }
  expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => `s${120 - index}`));
  expect((await api.get(`/v1/enrollments/${id}/steps?cursor=eA`)).body.error.details[0].field).toBe('cursor');
});

test('one run is paused, resumed, moved and removed without the others', async () => {
  const api = await testApi();
  const [ada, bob] = await Promise.all(['ada', 'bob'].map((name) => api.contact(`${name}@example.net`)));
  const journey = await published(api, { steps: [wait('a', 'b'), wait('b', 'c'), wait('c', null)] });
  await enroll(api, journey, [ada?.id ?? '', bob?.id ?? '']);
  const { id } = await runOf(api, journey, ada?.id ?? '');
  expect((await api.post(`/v1/enrollments/${id}/pause`)).body.data.status).toBe('paused');
  await makeDue(journey);
  await at(api, journey, bob?.id ?? '', 'b');
  expect(await runOf(api, journey, ada?.id ?? '')).toMatchObject({ stepId: 'a', status: 'paused' });
  expect((await api.post(`/v1/enrollments/${id}/resume`)).body.data.status).toBe('active');
  await at(api, journey, ada?.id ?? '', 'b');
  expect((await api.post(`/v1/enrollments/${id}/move`, { step_id: 'x' })).body.error.details).toEqual([
    { field: 'step_id', message: expect.stringMatching(/^is not a step of version \d+$/) },
  ]);
  expect((await api.post(`/v1/enrollments/${id}/move`, { step_id: 'a' })).body.data).toMatchObject({ stepId: 'a' });
  expect((await api.post(`/v1/enrollments/${id}/remove`)).body.data).toMatchObject({
    status: 'exited',
    endReason: 'removed',
  });
  expect((await api.post(`/v1/enrollments/${id}/remove`)).status).toBe(409);
  expect(pathOf(await runOf(api, journey, ada?.id ?? ''))).toEqual(['a waited', 'b moved', 'a removed']);
});

test('the ways that runs take are counted across versions, to an exit too, and merging many counts changes none', async () => {
  const api = await testApi();
  const [ada, bob] = await Promise.all(['ada', 'bob'].map((name) => api.contact(`${name}@example.net`)));
  const journey = await published(api, { steps: [wait('first', 'out'), { id: 'out', type: 'exit' }] });
  await enroll(api, journey, [ada?.id ?? '', bob?.id ?? '']);
  const definition = { entry: { type: 'manual' }, steps: [wait('first', 'last'), wait('last', null)] };
  await api.patch(`/v1/journeys/${journey}`, { definition });
  expect((await api.post(`/v1/journeys/${journey}/publish`, { in_progress: 'finish' })).status).toBe(200);
  const [run] = (await api.get(`/v1/journeys/${journey}/enrollments?contact_id=${ada?.id}`)).body.data;
  await api.post(`/v1/enrollments/${run.id}/remove`);
  await makeDue(journey);
  await ended(api, journey, bob?.id ?? '');
  const counted = [
    { stepId: null, outcome: null, toStepId: 'first', runCount: 2 },
    { stepId: 'first', outcome: 'removed', toStepId: null, runCount: 1 },
    { stepId: 'first', outcome: 'waited', toStepId: 'out', runCount: 1 },
  ];
  expect(await passagesOf(api, journey)).toEqual(counted);
  const rows = async () =>
    (await pool.query('SELECT count(*)::int AS count FROM journey_passages WHERE journey_id = $1', [journey])).rows[0];
  await pool.query(
    `INSERT INTO journey_passages (journey_id, to_step_id, run_count) SELECT $1, 'first', 1 FROM generate_series(1, 600)`,
    [journey],
  );
  await Promise.all([mergeCounts(() => {}), mergeCounts(() => {})]);
  expect(await rows()).toEqual({ count: 3 });
  expect(await passagesOf(api, journey)).toEqual([{ ...counted[0], runCount: 602 }, ...counted.slice(1)]);
});

test('a contact that a request names several times enters once and counts once', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.net');
  const journey = await published(api, { steps: [wait('a', null)] });
  const named = { contact_ids: [ada.id, ada.id], emails: ['ADA@example.net', 'nobody@example.net'] };
  const { data } = (await api.post(`/v1/journeys/${journey}/enrollments`, named)).body;
  const outcomes = data.results.map(({ outcome }: { outcome: string }) => outcome);
  expect([data.enrolled, outcomes]).toEqual([1, ['enrolled', 'enrolled', 'enrolled', 'unknown']]);
  expect((await api.get(`/v1/journeys/${journey}/enrollments`)).body.data).toHaveLength(1);
});

test('deleting a contact ends its run, and archiving a journey ends all', async () => {
  const api = await testApi();
  const [ada, bob] = await Promise.all(['ada', 'bob'].map((name) => api.contact(`${name}@example.net`)));
  const journey = await published(api, { steps: [wait('a', null)] });
  await enroll(api, journey, [ada?.id ?? '', bob?.id ?? ''], { properties: { secret: 1 } });
  await api.delete(`/v1/contacts/${ada?.id}`);
  expect(await runOf(api, journey, ada?.id ?? '')).toMatchObject({ endReason: 'contact_deleted', properties: {} });
  expect((await api.post(`/v1/journeys/${journey}/archive`)).body.data.status).toBe('archived');
  expect(await runOf(api, journey, bob?.id ?? '')).toMatchObject({ endReason: 'journey_archived', status: 'exited' });
  expect((await api.post(`/v1/journeys/${journey}/enrollments`, { contact_ids: [bob?.id] })).status).toBe(409);
  expect((await api.patch(`/v1/journeys/${journey}`, { name: 'Other' })).status).toBe(409);
  expect((await api.get('/v1/journeys')).body.data).toEqual([]);
});

test('an erased person leaves no runs, and an export has them', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.net');
  const journey = await published(api, { steps: [wait('a', null)] });
  await enroll(api, journey, [ada.id], { properties: { note: 'for ada@example.net' } });
  const { body } = await api.get(`/v1/contacts/${ada.id}/data`);
  expect(JSON.stringify(body)).toContain('for ada@example.net');
  const erase = 'mutation ($id: ID!) { erasePerson(contactId: $id) { messages } }';
  expect((await (await signedIn(api, 'owner')).graphql(erase, { id: ada.id })).body.errors).toBeUndefined();
  const { rows } = await pool.query('SELECT id FROM enrollments WHERE journey_id = $1', [journey]);
  expect(rows).toEqual([]);
});

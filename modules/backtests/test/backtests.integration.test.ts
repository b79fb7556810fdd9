import { addLocalDomain } from '@postroom/domains';
import { pool, sql } from '@postroom/platform';
import { type Api, eventually, interleave, startTestWorker, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';

beforeAll(startTestWorker);

const DAY_MS = 86_400_000;

/** A project that may send, with a published template. */
async function projectWithTemplate() {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  const { id } = (await api.post('/v1/templates', { name: 'Hello', subject: 'Hello', body: '<p>Hello</p>' })).body.data;
  expect((await api.post(`/v1/templates/${id}/publish`)).status).toBe(200);
  const send = (step: string, next: string | null = null) => ({
    id: step,
    type: 'send',
    template_id: id,
    from: 'News <news@example.com>',
    next,
  });
  return { api, send };
}

async function run(api: Api, body: object) {
  const reply = await api.post('/v1/backtests', body);
  expect(reply.status, JSON.stringify(reply.body)).toBe(201);
  return ended(api, reply.body.data.id);
}

const ended = (api: Api, id: string) =>
  eventually(async () => {
    const { data } = (await api.get(`/v1/backtests/${id}`)).body;
    expect(data.status).not.toBe('running');
    return data;
  }, 60_000);

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

const track = async (api: Api, email: string, name: string, days: number, properties = {}) => {
  const reply = await api.post('/v1/events', { name, email, occurred_at: daysAgo(days), properties });
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
};

/** What a run did, as `step outcome`. */
const pathOf = ({ steps }: { steps: { stepId: string; outcome: string }[] }) =>
  steps.map(({ stepId, outcome }) => `${stepId} ${outcome}`);

test('a backtest takes the same contacts through the same steps, in the same order, as the journey really did', async () => {
  const { api, send } = await projectWithTemplate();
  const emails = ['buys@example.com', 'waits@example.com', 'free@example.com', 'gone@example.com', 'goal@example.com'];
  for (const email of emails) await api.contact(email);
  await api.post('/v1/suppressions', { email: 'gone@example.com' });
  await pool.query(`UPDATE suppressions SET created_at = now() - interval '20 days' WHERE project_id = $1`, [
    api.projectId,
  ]);
  const definition = {
    entry: { type: 'event', event: 'signed up' },
    goal: { event: 'upgraded' },
    steps: [
      {
        id: 'trial',
        type: 'condition',
        where: [{ property: 'plan', op: 'is', value: 'trial' }],
        yes: 'welcome',
        no: 'mark',
      },
      { ...send('welcome'), next: 'pause' },
      { id: 'pause', type: 'wait', for: { hours: 1 }, next: 'order' },
      {
        id: 'order',
        type: 'wait_for_event',
        event: 'ordered',
        since: 'step',
        timeout: { days: 1 },
        next: 'thanks',
        on_timeout: 'sent',
      },
      { id: 'sent', type: 'condition', message: { step_id: 'welcome', outcome: 'opened' }, yes: 'thanks', no: 'mark' },
      send('thanks'),
      { id: 'mark', type: 'update_field', field: 'name', value: 'Marked' },
    ],
  };
  const created = await api.post('/v1/journeys', { name: 'Real', definition });
  const { id: journeyId } = created.body.data;
  expect((await api.post(`/v1/journeys/${journeyId}/publish`, {})).status).toBe(200);
  const runs = async () => (await api.get(`/v1/journeys/${journeyId}/enrollments?limit=50`)).body.data;
  /** Real time does not pass, so what waits is made due. */
  const settled = (expected: Record<string, string>) =>
    eventually(async () => {
      const found = await runs();
      expect(
        Object.fromEntries(
          found.map(({ stepId, endedAt, contactId }: Record<string, string>) => [
            emailOf.get(contactId ?? ''),
            endedAt === null ? stepId : 'ended',
          ]),
        ),
      ).toEqual(expected);
    }, 60_000);
  const contacts = (await api.get('/v1/contacts?limit=50')).body.data as { id: string; email: string }[];
  const emailOf = new Map(contacts.map(({ id, email }) => [id, email]));
  const makeDue = () =>
    pool.query('UPDATE enrollments SET due_at = now() WHERE journey_id = $1 AND due_at > now()', [journeyId]);
  for (const email of emails)
    await track(api, email, 'signed up', 9, { plan: email.startsWith('free') ? 'free' : 'trial' });
  const waiting = {
    'buys@example.com': 'pause',
    'waits@example.com': 'pause',
    'gone@example.com': 'pause',
    'goal@example.com': 'pause',
  };
  await settled({ ...waiting, 'free@example.com': 'ended' });
  await makeDue();
  await settled({ ...mapped(waiting, 'order'), 'free@example.com': 'ended' });
  await track(api, 'buys@example.com', 'ordered', 8.9);
  await track(api, 'goal@example.com', 'upgraded', 8.8);
  await settled({
    'buys@example.com': 'ended',
    'goal@example.com': 'ended',
    'waits@example.com': 'order',
    'gone@example.com': 'order',
    'free@example.com': 'ended',
  });
  await makeDue();
  await settled({ ...mapped(waiting, 'ended'), 'free@example.com': 'ended' });

  const backtest = await run(api, { journey_id: journeyId, days: 10, candidate: { version: 1 } });
  expect(backtest).toMatchObject({
    status: 'completed',
    processed: 5,
    total: 5,
    candidate: { contacts: 5, runs: 5, completed: 4, reachedGoal: 1, inProgress: 0, messages: 4 },
    baseline: null,
  });
  const reply = await api.get(`/v1/backtests/${backtest.id}/contacts`);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  const simulated = reply.body.data;
  const pathsOf = (rows: { contactId: string; path: string[]; endReason: string }[]) =>
    Object.fromEntries(rows.map(({ contactId, ...row }) => [emailOf.get(contactId), row]));
  const real = pathsOf(
    (await runs()).map((each: never) => ({ ...(each as unknown as object), path: pathOf(each) })).map(only),
  );
  expect(
    pathsOf(
      simulated.map(({ contactId, candidate: [each] }: { contactId: string; candidate: never[] }) =>
        only({ contactId, ...(each as unknown as object), path: pathOf(each as never) } as never),
      ),
    ),
  ).toEqual(real);
  expect(real['waits@example.com']?.path).toEqual([
    'trial yes',
    'welcome sent',
    'pause waited',
    'order timeout',
    'sent no',
    'mark updated',
  ]);
  expect(real['gone@example.com']?.path).toContain('welcome suppressed');

  // The figures lead to the people behind them.
  const people = async (query: string) =>
    (await api.get(`/v1/backtests/${backtest.id}/contacts?${query}`)).body.data.map(
      ({ contact }: { contact: { email: string } }) => contact.email,
    );
  expect(await people('step_id=order&outcome=event')).toEqual(['buys@example.com']);
  expect(await people('result=goal')).toEqual(['goal@example.com']);
  for (const list of ['contacts', 'contacts/export'])
    for (const [field, query] of [
      ['result', 'result=nope'],
      ['step_id', 'step_id=nope'],
      ['outcome', 'step_id=order&outcome=yes'],
      ['day', 'step_id=welcome&day=today'],
    ])
      expect(await api.get(`/v1/backtests/${backtest.id}/${list}?${query}`), query).toMatchObject({
        status: 400,
        body: { error: { details: [{ field }] } },
      });
  expect(await people('search=waits')).toEqual(['waits@example.com']);
  const csv = await fetch(`${api.url}/v1/backtests/${backtest.id}/contacts/export?result=goal`, {
    headers: { authorization: `Bearer ${api.key}` },
  });
  expect(await csv.text()).toMatch(/^contact_id,email,.*\s+.*goal@example\.com,none,candidate,1,/);
});

const only = ({ contactId, path, endReason }: { contactId: string; path: string[]; endReason: string }) => ({
  contactId,
  path,
  endReason,
});
const mapped = (given: Record<string, string>, to: string) =>
  Object.fromEntries(Object.keys(given).map((key) => [key, to]));

test('two definitions are compared by who gets which message when, and nothing is sent', async () => {
  const { api, send } = await projectWithTemplate();
  for (const name of ['a', 'b', 'c']) await api.contact(`${name}@example.com`);
  const before = (await pool.query('SELECT count(*)::int FROM messages WHERE project_id = $1', [api.projectId])).rows[0]
    .count;
  await track(api, 'a@example.com', 'signed up', 5, { total: 10 });
  await track(api, 'b@example.com', 'signed up', 5, { total: 50 });
  const entry = (atLeast: number) => ({
    type: 'event',
    event: 'signed up',
    where: [{ property: 'total', op: 'at_least', value: atLeast }],
  });
  const baseline = { definition: { entry: entry(0), steps: [send('one')] } };
  const candidate = {
    definition: {
      entry: entry(20),
      steps: [
        { id: 'wait', type: 'wait', for: { days: 1 }, next: 'one' },
        send('one', 'last'),
        { id: 'last', type: 'wait', for: { days: 30 } },
      ],
    },
  };
  const backtest = await run(api, { days: 7, candidate, baseline });
  expect(backtest).toMatchObject({
    status: 'completed',
    candidate: { contacts: 1, messages: 1, inProgress: 1, completed: 0 },
    baseline: { contacts: 2, messages: 2, inProgress: 0, completed: 2 },
  });
  expect(
    Object.fromEntries(backtest.differences.map(({ difference, contacts }: never) => [difference, contacts])),
  ).toEqual({
    none: 0,
    candidate_only: 0,
    baseline_only: 1,
    times: 1,
    messages: 0,
  });
  expect(backtest.candidate.steps).toContainEqual({ stepId: 'last', reached: 1, waiting: 1, outcomes: [] });
  expect(backtest.candidate.sent).toMatchObject([{ stepId: 'one', day: daysAgo(4).slice(0, 10), count: 1 }]);
  const { rows } = await pool.query('SELECT count(*)::int FROM messages WHERE project_id = $1', [api.projectId]);
  expect(rows[0].count).toBe(before);
});

test('conditions on events are checked as of the day, and segments may enter at the beginning', async () => {
  const { api, send } = await projectWithTemplate();
  await api.contact('early@example.com');
  await api.contact('late@example.com');
  await track(api, 'early@example.com', 'ordered', 6);
  await track(api, 'late@example.com', 'ordered', 1);
  const segment = await api.post('/v1/segments', {
    name: 'All',
    filter: { field: 'email', op: 'contains', value: 'example.com' },
  });
  const ordered = { field: 'event', op: 'ever', event: 'ordered' };
  const definition = {
    entry: { type: 'manual' },
    steps: [
      { id: 'day', type: 'wait', for: { days: 3 }, next: 'bought' },
      { id: 'bought', type: 'condition', filter: ordered, yes: 'thanks' },
      send('thanks'),
    ],
  };
  const backtest = await run(api, { days: 7, candidate: { definition }, segment_id: segment.body.data.id });
  expect(backtest.candidate).toMatchObject({ contacts: 2, messages: 1 });
  const { data } = (await api.get(`/v1/backtests/${backtest.id}/contacts?step_id=thanks`)).body;
  expect(data).toMatchObject([{ contact: { email: 'early@example.com' } }]);
});

test('conditions on a group that was deleted are rejected, and fail a backtest that is running', async () => {
  const { api, send } = await projectWithTemplate();
  const ada = await api.contact('ada@example.com');
  await api.contact('bob@example.com');
  const group = (await api.post('/v1/groups', { name: 'Customers', contact_ids: [ada.id] })).body.data.id as string;
  const filter = { not: { field: 'group', op: 'is', value: group } };
  const segment_id = (await api.post('/v1/segments', { name: 'No customers', filter })).body.data.id as string;
  const steps = [{ id: 'check', type: 'condition', segment_id, yes: 'one' }, send('one')];
  const entry = { type: 'manual', filter };
  const journey_id = (await api.post('/v1/journeys', { name: 'Real', definition: { entry, steps } })).body.data.id;
  expect((await api.post(`/v1/journeys/${journey_id}/publish`, {})).status).toBe(200);
  const request = { journey_id, days: 7, candidate: { version: 1 }, baseline: { version: 1 }, segment_id };
  const message = `has a condition on the group ${group}, which was deleted`;
  // The page has checked the request, and waits for the members of groups.
  const running = await interleave(
    (tx) => sql(tx, 'LOCK TABLE group_members IN ACCESS EXCLUSIVE MODE', []),
    () => run(api, request),
    (tx) => sql(tx, 'DELETE FROM groups WHERE id = $1', [group]),
  );
  expect(running).toMatchObject({ status: 'failed', error: expect.stringContaining(message), processed: 0 });
  const { status, body } = await api.post('/v1/backtests', request);
  const sides = ['candidate', 'baseline'];
  const fields = [
    ...sides.map((side) => `${side}.definition.entry.filter`),
    'segment_id',
    ...sides.map((side) => `${side}.definition.steps.0.segment_id`),
  ];
  expect([status, body.error.details]).toEqual([400, fields.map((field) => ({ field, message }))]);
});

test('a definition that could not be published is rejected with every problem, and other projects see nothing', async () => {
  const { api, send } = await projectWithTemplate();
  const other = await testApi();
  const steps = [{ ...send('one'), template_id: 'tpl_01k9zq3v5re8rt5xw7m2n4p6q8' }];
  const rejected = await api.post('/v1/backtests', {
    days: 7,
    candidate: { definition: { entry: { type: 'manual' }, steps } },
  });
  expect(rejected.status).toBe(400);
  expect(JSON.stringify(rejected.body)).toContain('candidate.definition.steps.0.template_id');
  expect((await api.post('/v1/backtests', { days: 91 })).status).toBe(400);
  expect((await api.post('/v1/backtests', { days: 7 })).status).toBe(400);
  const backtest = await run(api, {
    days: 7,
    candidate: { definition: { entry: { type: 'manual' }, steps: [send('one')] } },
  });
  for (const path of ['', '/contacts', '/contacts/export'])
    expect((await other.get(`/v1/backtests/${backtest.id}${path}`)).status).toBe(404);
  expect((await other.post(`/v1/backtests/${backtest.id}/cancel`)).status).toBe(404);
  expect((await api.post(`/v1/backtests/${backtest.id}/cancel`)).status).toBe(409);
});

import { eventually, observeStatements, startTestWorker, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { at, ended, enroll, journeyProject, makeDue, pathOf, published, runOf, send, wait } from './support.ts';

beforeAll(startTestWorker);

test('publishing a journey with problems is refused with each, naming the step', async () => {
  const { api, templateId } = await journeyProject();
  const ada = await api.contact('ada@example.net');
  const group = (await api.post('/v1/groups', { name: 'Old', contact_ids: [ada.id] })).body.data.id;
  await api.delete(`/v1/groups/${group}`);
  const { id, ...saved } = (
    await api.post('/v1/journeys', {
      name: 'Bad',
      definition: {
        entry: { type: 'group_joined', groupId: group, filter: { field: 'group', op: 'is', value: group } },
        steps: [
          send('hello', 'tpl_01h455vb4pex5vsknk084sn02q', 'if'),
          {
            id: 'if',
            type: 'condition',
            filter: { field: 'customFields.gone', op: 'isSet' },
            segmentId: 'seg_01h455vb4pex5vsknk084sn02q',
            yes: 'hello',
          },
          { ...send('other', templateId), from: 'news@elsewhere.example', next: 'rename' },
          { id: 'rename', type: 'update_field', field: 'name', value: 'Ada\nLovelace' },
        ],
      },
    })
  ).body.data;
  const reply = await api.post(`/v1/journeys/${id}/publish`, {});
  expect(reply.status).toBe(400);
  const byField = Object.fromEntries(
    reply.body.error.details.map(({ field, message }: { field: string; message: string }) => [field, message]),
  );
  expect(byField).toMatchObject({
    'definition.entry.group_id': expect.stringMatching(/No such group/),
    'definition.entry.filter': expect.stringMatching(/is not a group/),
    'definition.steps.0': expect.stringMatching(/"hello" → "if" → "hello" are a loop/),
    'definition.steps.0.template_id': expect.stringMatching(/No such template.*"hello"/),
    'definition.steps.1.filter.field': expect.stringMatching(/gone is not a custom field.*"if"/),
    'definition.steps.1.segment_id': expect.stringMatching(/No such segment.*"if"/),
    'definition.steps.2': expect.stringMatching(/"other" is unreachable/),
    'definition.steps.3.value': expect.stringMatching(/one line.*"rename"/),
    'definition.steps.2.from': expect.stringMatching(/elsewhere\.example.*"other"/),
  });
  const draft = (await api.get(`/v1/journeys/${id}`)).body.data;
  expect(draft).toMatchObject({ status: 'draft', publishedVersion: null });
  expect(saved.problems).toEqual(draft.problems);
  expect((await api.patch(`/v1/journeys/${id}`, { name: 'New name' })).body.data.problems).toEqual(draft.problems);
  expect(draft.problems.map(({ field }: { field: string }) => field)).toEqual(
    reply.body.error.details.map(({ field }: { field: string }) => field),
  );
});

test('a template that can be filled in for no contact is a problem', async () => {
  const { api } = await journeyProject();
  await api.post('/v1/custom-fields', { key: 'city', label: 'City', type: 'text' });
  const problemsOf = async (body: string, subject = 'Hello {{name}}') => {
    const { id: templateId } = (await api.post('/v1/templates', { name: `${body} ${subject}`, subject, body })).body
      .data;
    await api.post(`/v1/templates/${templateId}/publish`);
    const definition = { entry: { type: 'manual' }, steps: [send('hello', templateId, null)] };
    const { id } = (await api.post('/v1/journeys', { name: body, definition })).body.data;
    const { problems } = (await api.get(`/v1/journeys/${id}`)).body.data;
    return problems.map(({ field, message }: { field: string; message: string }) => [field, message]);
  };
  const field = 'definition.steps.0.template_id';
  expect(await problemsOf('<p>{{nmae}} {{plan}} {{city}} {{other|there}}</p>')).toEqual([
    [field, 'shows {{nmae}}, {{plan}} without a default, but contacts have no such field (step "hello")'],
  ]);
  expect(await problemsOf('<p>{{postal_address}}</p>')).toEqual([
    [field, 'shows {{postal_address}}, which is not set for the project (step "hello")'],
  ]);
  const fits = '<p>{{city}} {{email}} {{event.order.total}} {{steps.coupon.code}} {% if plan %}{{plan}}{% endif %}</p>';
  expect(await problemsOf(`${fits}<a href="{{unsubscribe_url}}">Leave</a>`)).toEqual([]);
  expect(await problemsOf('<p>Hello</p>', '{% if name %} {% endif %}')).toEqual([
    [field, 'has a subject that shows nothing (step "hello")'],
  ]);
});

test('the problems of templates follow what is published and known, and are computed only when that changes', async () => {
  const { api, templateId } = await journeyProject('<p>{{plan}}</p>');
  const steps = Array.from({ length: 5 }, (_, at) => send(`s${at}`, templateId, at === 4 ? null : `s${at + 1}`));
  const readingProblems = async (reply: () => ReturnType<typeof api.get>) => {
    const bodies: string[] = [];
    const stop = observeStatements(({ text }) => {
      if (/"templates"/.test(text) && /"body"/.test(text)) bodies.push(text);
    });
    const { id, problems } = (await reply()).body.data;
    stop();
    return { id, count: problems.length, bodiesRead: bodies.length };
  };
  const draft = { name: 'J', definition: { entry: { type: 'manual' }, steps } };
  const { id, ...saved } = await readingProblems(() => api.post('/v1/journeys', draft));
  expect(saved).toEqual({ count: 5, bodiesRead: 1 });
  const problemsOf = async () => {
    const { count, bodiesRead } = await readingProblems(() => api.get(`/v1/journeys/${id}`));
    return { count, bodiesRead };
  };
  expect(await problemsOf()).toEqual({ count: 5, bodiesRead: 0 });
  await api.post('/v1/custom-fields', { key: 'plan', type: 'text' });
  expect(await problemsOf()).toEqual({ count: 0, bodiesRead: 1 });
  await api.patch(`/v1/templates/${templateId}`, { body: '<p>{{other}}</p>' });
  expect((await problemsOf()).count).toBe(0);
  await api.post(`/v1/templates/${templateId}/publish`);
  expect(await problemsOf()).toEqual({ count: 5, bodiesRead: 1 });
});

test('an entry by a date needs a field with dates, and one by a segment a segment', async () => {
  const api = await testApi();
  const problemsOf = async (entry: object) => {
    const { body } = await api.post('/v1/journeys', {
      name: JSON.stringify(entry).slice(0, 90),
      definition: { entry, steps: [wait('a', null)] },
    });
    const reply = await api.post(`/v1/journeys/${body.data.id}/publish`, {});
    return reply.body.error.details.map(({ field, message }: { field: string; message: string }) => [field, message]);
  };
  const date = { type: 'date', time: '09:00' };
  expect(await problemsOf({ ...date, field: 'custom_fields.born' })).toEqual([
    ['definition.entry.field', '"born" is not a custom field of this project with a date'],
  ]);
  expect(await problemsOf({ ...date, field: 'born', offset_days: 400 })).toEqual([
    ['definition.entry.field', 'must be custom_fields.<key>'],
    ['definition.entry.offset_days', 'must be at most 365'],
  ]);
  expect(await problemsOf({ type: 'segment_entered', segment_id: 'seg_x' })).toMatchObject([
    ['definition.entry.segment_id', expect.any(String)],
  ]);
});

/** Two contacts on version 1, at the steps `a` and `gone`, and a draft without the second. */
async function newVersion() {
  const api = await testApi();
  const [ada, bob] = [(await api.contact('ada@example.net')).id, (await api.contact('bob@example.net')).id];
  const journey = await published(api, { steps: [wait('a', 'gone'), wait('gone', null)] });
  await enroll(api, journey, [ada, bob]);
  await api.post(`/v1/enrollments/${(await runOf(api, journey, bob)).id}/move`, { step_id: 'gone' });
  await api.patch(`/v1/journeys/${journey}`, {
    definition: { entry: { type: 'manual' }, steps: [wait('a', 'new'), { id: 'new', type: 'exit' }] },
  });
  const publish = async (in_progress: string) => {
    expect((await api.post(`/v1/journeys/${journey}/publish`, { in_progress })).status).toBe(200);
    await makeDue(journey);
  };
  return { api, journey, ada, bob, publish };
}

test('before a version is published, contacts in progress are counted by step; they may finish on theirs', async () => {
  const { api, journey, ada, bob, publish } = await newVersion();
  expect((await api.get(`/v1/journeys/${journey}`)).body.data.inProgress).toEqual([
    { version: 1, stepId: 'a', contactCount: 1, dueWithinDay: 0, hasMatch: true },
    { version: 1, stepId: 'gone', contactCount: 1, dueWithinDay: 0, hasMatch: false },
  ]);
  await publish('finish');
  expect(await at(api, journey, ada, 'gone')).toMatchObject({ version: 1 });
  expect(await ended(api, journey, bob)).toMatchObject({ version: 1, endReason: 'completed' });
});

test('a new version moves contacts to the matching step, and those without one finish on theirs', async () => {
  const { api, journey, ada, bob, publish } = await newVersion();
  await publish('move');
  const run = await ended(api, journey, ada);
  expect(run).toMatchObject({ version: 2, stepId: 'new' });
  expect(pathOf(run)).toEqual(['a new_version', 'a waited']);
  expect(await ended(api, journey, bob)).toMatchObject({ version: 1, endReason: 'completed' });
});

test('a new version may end the runs on earlier ones', async () => {
  const { api, journey, ada, bob, publish } = await newVersion();
  await publish('exit');
  for (const contact of [ada, bob])
    expect(await runOf(api, journey, contact)).toMatchObject({ endReason: 'new_version', version: 1 });
});

test('a new version gives contacts that wait for an event its timeout, or takes it away, and keeps one that they have', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.net');
  const steps = (timeout?: object) => ({
    steps: [
      { id: 'paid', type: 'wait_for_event', event: 'paid', ...(timeout && { timeout, onTimeout: 'late' }) },
      ...(timeout ? [{ id: 'late', type: 'exit' }] : []),
    ],
  });
  const journey = await published(api, steps());
  await enroll(api, journey, [ada.id]);
  const dueAfter = async (timeout?: object) => {
    await api.patch(`/v1/journeys/${journey}`, { definition: { entry: { type: 'manual' }, ...steps(timeout) } });
    expect((await api.post(`/v1/journeys/${journey}/publish`, { in_progress: 'move' })).status).toBe(200);
    const { dueAt } = await runOf(api, journey, ada.id);
    return dueAt === null ? null : Math.round((Date.parse(dueAt) - Date.now()) / 86_400_000);
  };
  expect(await dueAfter({ days: 3 })).toBe(3);
  expect(await dueAfter({ days: 9 })).toBe(3);
  expect(await dueAfter()).toBe(null);
  expect(await dueAfter({ days: 1, hours: 24 })).toBe(2);
  await makeDue(journey);
  expect(await ended(api, journey, ada.id)).toMatchObject({ stepId: 'late' });
});

test('a wait of a new version ends at once for contacts that have already caused its event', async () => {
  const api = await testApi();
  const [ada, bob] = [await api.contact('ada@example.net'), await api.contact('bob@example.net')];
  const waitFor = (event: string) => ({
    entry: { type: 'manual' },
    steps: [{ id: 'paid', type: 'wait_for_event', event, where: [{ property: 'total', op: 'atLeast', value: 10 }] }],
  });
  const journey = await published(api, waitFor('payed'));
  await enroll(api, journey, [ada.id, bob.id]);
  await api.post('/v1/events', { contact_id: ada.id, name: 'paid', properties: { total: 10 } });
  await api.post('/v1/events', { contact_id: bob.id, name: 'paid', properties: { total: 9 } });
  await api.patch(`/v1/journeys/${journey}`, { definition: waitFor('paid') });
  expect((await api.post(`/v1/journeys/${journey}/publish`, { in_progress: 'move' })).status).toBe(200);
  expect(pathOf(await ended(api, journey, ada.id))).toEqual(['paid new_version', 'paid event']);
  expect(await runOf(api, journey, bob.id)).toMatchObject({ endedAt: null, waitsFor: 'paid' });
});

test('a journey whose template was deleted pauses itself and names the step; nobody leaves it', async () => {
  const { api, templateId } = await journeyProject();
  const ada = await api.contact('ada@example.net');
  const journey = await published(api, { steps: [wait('later', 'hello'), send('hello', templateId)] });
  await enroll(api, journey, [ada.id]);
  await api.delete(`/v1/templates/${templateId}`);
  await makeDue(journey);
  await eventually(async () =>
    expect((await api.get(`/v1/journeys/${journey}`)).body.data).toMatchObject({
      status: 'paused',
      pausedReason: 'Step "hello": No such template in this project.',
    }),
  );
  expect(await runOf(api, journey, ada.id)).toMatchObject({ stepId: 'hello', endedAt: null });
});

test.each(['filter', 'segment'])(
  'a journey whose step has a NOT on a deleted group in its %s pauses itself',
  async (kind) => {
    const { api, templateId } = await journeyProject();
    const ada = await api.contact('ada@example.net');
    const group = (await api.post('/v1/groups', { name: 'Customers', contact_ids: [ada.id] })).body.data.id;
    const filter = { not: { field: 'group', op: 'is', value: group } };
    const segment = (await api.post('/v1/segments', { name: 'No customers', filter })).body.data.id;
    const by = kind === 'filter' ? { filter } : { segment_id: segment };
    const condition = { id: 'check', type: 'condition', ...by, yes: 'hello', no: null };
    const journey = await published(api, { steps: [wait('later', 'check'), condition, send('hello', templateId)] });
    await enroll(api, journey, [ada.id]);
    await api.delete(`/v1/groups/${group}`);
    await makeDue(journey);
    await eventually(async () =>
      expect((await api.get(`/v1/journeys/${journey}`)).body.data).toMatchObject({
        status: 'paused',
        pausedReason: expect.stringContaining(`has a condition on the group ${group}, which was deleted`),
      }),
    );
    expect(await runOf(api, journey, ada.id)).toMatchObject({ stepId: 'check', endedAt: null });
  },
);

test('a request for contacts to enter by a filter with a NOT on a deleted group is a conflict, and pauses the journey', async () => {
  const { api } = await journeyProject();
  const [ada, bob] = [await api.contact('ada@example.net'), await api.contact('bob@example.net')];
  const group = (await api.post('/v1/groups', { name: 'Customers', contact_ids: [ada.id] })).body.data.id;
  const entry = { type: 'manual', filter: { not: { field: 'group', op: 'is', value: group } } };
  const journey = await published(api, { entry, steps: [wait('later', null)] });
  await api.delete(`/v1/groups/${group}`);
  const reply = await api.post(`/v1/journeys/${journey}/enrollments`, { contact_ids: [ada.id, bob.id] });
  const reason = `Nobody can enter: entry.filter has a condition on the group ${group}, which was deleted.`;
  expect([reply.status, reply.body.error.message]).toEqual([409, reason]);
  for (const { id } of [ada, bob]) expect(await runOf(api, journey, id)).toBeUndefined();
  expect((await api.get(`/v1/journeys/${journey}`)).body.data).toMatchObject({
    status: 'paused',
    pausedReason: reason,
  });
});

test('the published versions of a journey are listed with their definitions, the newest first, or one by number', async () => {
  const [api, other] = await Promise.all([testApi(), testApi()]);
  const journey = await published(api, { steps: [wait('first', null)] });
  const definition = { entry: { type: 'manual' }, steps: [wait('second', null)] };
  expect((await api.patch(`/v1/journeys/${journey}`, { definition })).status).toBe(200);
  const versions = async (query = '') => (await api.get(`/v1/journeys/${journey}/versions${query}`)).body;
  expect((await versions()).data).toMatchObject([{ number: 1, definition: { steps: [{ id: 'first' }] } }]);
  expect((await api.post(`/v1/journeys/${journey}/publish`, {})).status).toBe(200);
  const page = await versions('?limit=1&total=true');
  expect(page).toMatchObject({ data: [{ number: 2, definition: { steps: [{ id: 'second' }] } }], total: 2 });
  expect((await versions(`?limit=1&cursor=${page.next_cursor}`)).data).toMatchObject([{ number: 1 }]);
  expect((await versions('?number=1')).data).toMatchObject([
    { number: 1, publishedById: expect.stringMatching(/^key_/) },
  ]);
  expect((await versions('?number=3')).error.details).toEqual([
    { field: 'number', message: 'is not a published version' },
  ]);
  expect((await versions('?cursor=eA')).error.details[0].field).toBe('cursor');
  expect((await other.get(`/v1/journeys/${journey}/versions`)).status).toBe(404);
});

test('a draft is edited by version, names are unique, and another project sees nothing', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const { id, version } = (await api.post('/v1/journeys', { name: 'A' })).body.data;
  expect((await api.post('/v1/journeys', { name: 'A' })).status).toBe(409);
  expect((await api.patch(`/v1/journeys/${id}`, { name: 'B', version })).status).toBe(200);
  expect((await api.patch(`/v1/journeys/${id}`, { name: 'C', version })).status).toBe(409);
  expect((await api.post('/v1/journeys', { name: 'D', definition: [] })).status).toBe(400);
  expect((await other.get(`/v1/journeys/${id}`)).status).toBe(404);
  expect((await other.post(`/v1/journeys/${id}/publish`, {})).status).toBe(404);
});

test('the published definition is readable while the draft changes, also for several journeys', async () => {
  const api = await testApi();
  const draft = (await api.post('/v1/journeys', { name: 'Draft' })).body.data.id;
  const journey = await published(api, { steps: [wait('a', null)] });
  await api.patch(`/v1/journeys/${journey}`, { definition: { entry: { type: 'manual' }, steps: [wait('b', null)] } });
  const { definition, publishedDefinition } = (await api.get(`/v1/journeys/${journey}`)).body.data;
  expect([definition.steps[0].id, publishedDefinition.steps[0].id]).toEqual(['b', 'a']);
  const { nodes } = (await api.graphql('{ journeys { nodes { id publishedDefinition } } }')).body.data.journeys;
  expect(nodes).toEqual([
    { id: journey, publishedDefinition },
    { id: draft, publishedDefinition: null },
  ]);
});

import { pool } from '@postroom/platform';
import {
  type Api,
  eventually,
  signedIn,
  type SignedIn,
  startTestWorker,
  takeSystemMail,
  testApi,
} from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { mergePassages } from '../src/passages.ts';
import { deleteOldWaiting } from '../src/waiting-events.ts';
import { at, ended, enroll, journeyProject, makeDue, pathOf, published, runOf, send } from './support.ts';

beforeAll(startTestWorker);

const passagesOf = async (api: Api, id: string) => (await api.get(`/v1/journeys/${id}`)).body.data.passages;

const wait = (id: string, next: string | null) => ({ id, type: 'wait', for: { days: 2 }, next });

test('a contact gets each message once, waits in between, and its run is readable step by step', async () => {
  const { api, templateId } = await journeyProject('<p>Hello {{name|there}}, you chose {{event.plan}}</p>');
  const ada = await api.contact('ada@example.net', { name: 'Ada' });
  const journey = await published(api, {
    steps: [send('welcome', templateId, 'later'), wait('later', 'again'), send('again', templateId)],
  });
  expect(await enroll(api, journey, [ada.id], { properties: { plan: 'pro' } })).toMatchObject([
    { outcome: 'enrolled' },
  ]);
  const waiting = await at(api, journey, ada.id, 'later');
  expect(pathOf(waiting)).toEqual(['welcome sent']);
  expect(Date.parse(waiting.dueAt) - Date.now()).toBeGreaterThan(47 * 3_600_000);
  await makeDue(journey);
  const run = await ended(api, journey, ada.id);
  expect(pathOf(run)).toEqual(['welcome sent', 'later waited', 'again sent']);
  expect(run).toMatchObject({ status: 'completed', endReason: 'completed', stepId: 'again', version: 1 });
  const { rows } = await pool.query(
    `SELECT m.id, m.email, m.subject, m.needs_consent, m.contact_id, m.template_id, m.metadata, c.html FROM messages m
       JOIN message_contents c ON c.message_id = m.id WHERE m.project_id = $1 ORDER BY m.id`,
    [api.projectId],
  );
  expect(rows.map(({ id }) => id)).toEqual([run.steps[0].messageId, run.steps[2].messageId]);
  expect(rows[0]).toMatchObject({
    email: 'ada@example.net',
    subject: 'Hello Ada',
    needs_consent: true,
    contact_id: ada.id,
    template_id: templateId,
    metadata: { journey_id: journey, enrollment_id: run.id, step_id: 'welcome' },
  });
  expect(rows[0].html).toMatch(/Hello Ada, you chose pro/);
  expect(rows[0].html).toMatch(/<a href="[^"]*\/u\/[^"]+"/);
});

test('publishing a journey with problems is refused with each, naming the step', async () => {
  const { api, templateId } = await journeyProject();
  const ada = await api.contact('ada@example.net');
  const group = (await api.post('/v1/groups', { name: 'Old', contact_ids: [ada.id] })).body.data.id;
  await api.delete(`/v1/groups/${group}`);
  const { id } = (
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
  expect(draft.problems.map(({ field }: { field: string }) => field)).toEqual(
    reply.body.error.details.map(({ field }: { field: string }) => field),
  );
});

test('a custom event enrolls its contact, later events end a wait or reach the goal, and the same event twice enters once', async () => {
  const api = await testApi();
  const [ada, bob, eve] = await Promise.all(['ada', 'bob', 'eve'].map((name) => api.contact(`${name}@example.net`)));
  const journey = await published(api, {
    entry: { type: 'event', event: 'cart filled', where: [{ property: 'total', op: 'atLeast', value: 10 }] },
    goal: { event: 'account closed' },
    steps: [
      {
        id: 'paid',
        type: 'wait_for_event',
        event: 'order paid',
        where: [{ property: 'cart', op: 'is', value: 'A' }],
        timeout: { days: 1 },
        next: null,
        onTimeout: 'remind',
      },
      { id: 'remind', type: 'wait', for: { days: 1 } },
    ],
  });
  const track = (events: object[]) => api.post('/v1/events', { events });
  await track([
    { name: 'cart filled', contact_id: ada?.id, properties: { total: 10 } },
    { name: 'cart filled', contact_id: bob?.id, properties: { total: 20 } },
    { name: 'cart filled', contact_id: eve?.id, properties: { total: 9 } },
  ]);
  await at(api, journey, ada?.id ?? '', 'paid');
  await at(api, journey, bob?.id ?? '', 'paid');
  await track([
    { name: 'order paid', contact_id: ada?.id, properties: { cart: 'B' } },
    { name: 'cart filled', contact_id: ada?.id, properties: { total: 30 } },
    { name: 'order paid', contact_id: ada?.id, properties: { cart: 'A' } },
  ]);
  expect(pathOf(await ended(api, journey, ada?.id ?? ''))).toEqual(['paid event']);
  await makeDue(journey);
  await at(api, journey, bob?.id ?? '', 'remind');
  await track([{ name: 'account closed', contact_id: bob?.id }]);
  const run = await ended(api, journey, bob?.id ?? '');
  expect(pathOf(run)).toEqual(['paid timeout', 'remind goal']);
  expect(run).toMatchObject({ status: 'exited', endReason: 'goal' });
  expect(await runOf(api, journey, eve?.id ?? '')).toBeUndefined();
  expect((await api.get(`/v1/journeys/${journey}/enrollments`)).body.data).toHaveLength(2);
  expect(await passagesOf(api, journey)).toEqual([
    { stepId: null, outcome: null, toStepId: 'paid', runCount: 2 },
    { stepId: 'paid', outcome: 'event', toStepId: null, runCount: 1 },
    { stepId: 'paid', outcome: 'timeout', toStepId: 'remind', runCount: 1 },
    { stepId: 'remind', outcome: 'goal', toStepId: null, runCount: 1 },
  ]);
});

test('an event that came before the contact reached the wait ends it at once', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.net');
  const journey = await published(api, {
    entry: { type: 'event', event: 'signed up' },
    steps: [
      wait('first', 'paid'),
      { id: 'paid', type: 'wait_for_event', event: 'order paid', next: 'thanks' },
      { id: 'thanks', type: 'exit' },
    ],
  });
  await api.post('/v1/events', {
    events: [
      { name: 'signed up', contact_id: ada.id },
      { name: 'order paid', contact_id: ada.id },
    ],
  });
  await at(api, journey, ada.id, 'first');
  await pool.query(`UPDATE enrollments SET due_at = now() WHERE journey_id = $1`, [journey]);
  const run = await ended(api, journey, ada.id);
  expect(pathOf(run)).toEqual(['first waited', 'paid event']);
  expect(run).toMatchObject({ stepId: 'thanks', endReason: 'exit' });
});

test('joining a group enrolls, conditions and splits choose branches, and fields and groups change', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'plan', label: 'Plan', type: 'text' });
  const people = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      api.contact(`p${index}@example.net`, { custom_fields: { plan: index < 20 ? 'pro' : 'free' } }),
    ),
  );
  const other = await api.contact('other@example.net');
  const group = (await api.post('/v1/groups', { name: 'New', contact_ids: [other.id] })).body.data.id;
  const target = (await api.post('/v1/groups', { name: 'Target', contact_ids: [other.id] })).body.data.id;
  const journey = await published(api, {
    entry: { type: 'group_joined', groupId: group },
    steps: [
      {
        id: 'pro',
        type: 'condition',
        filter: { field: 'customFields.plan', op: 'is', value: 'pro' },
        yes: 'set',
        no: 'half',
      },
      { id: 'set', type: 'update_field', field: 'customFields.plan', value: 'vip', next: 'join' },
      { id: 'join', type: 'join_group', groupId: target, next: 'leave' },
      { id: 'leave', type: 'leave_group', groupId: group },
      { id: 'half', type: 'split', branches: [{ percent: 50, next: 'a' }, { percent: 50 }] },
      { id: 'a', type: 'exit' },
    ],
  });
  await api.post(`/v1/groups/${group}/contacts`, { contact_ids: people.map(({ id }) => id) });
  await eventually(async () => {
    const { rows } = await pool.query(
      `SELECT count(*) FILTER (WHERE ended_at IS NOT NULL)::int AS ended FROM enrollments WHERE journey_id = $1`,
      [journey],
    );
    expect(rows[0].ended).toBe(40);
  }, 30_000);
  const vip = (await api.get(`/v1/contacts/${people[0]?.id}`)).body.data;
  expect(vip.customFields).toEqual({ plan: 'vip' });
  expect((await api.get(`/v1/groups/${target}`)).body.data.memberCount).toBe(21);
  expect((await api.get(`/v1/groups/${group}`)).body.data.memberCount).toBe(21);
  const { rows } = await pool.query(
    `SELECT s.outcome, count(*)::int AS count FROM enrollment_steps s JOIN enrollments e ON e.id = s.enrollment_id
     WHERE e.journey_id = $1 AND s.step_id = 'half' GROUP BY 1`,
    [journey],
  );
  expect(rows).toHaveLength(2);
  expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(20);
});

test('a contact enters once, after some days or always, and of concurrent entries one succeeds', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.net');
  const steps = [wait('later', null)];
  const once = await published(api, { steps }, 'Once');
  const outcomes = await Promise.all([
    enroll(api, once, [ada.id]),
    enroll(api, once, [ada.id]),
    enroll(api, once, [ada.id]),
  ]);
  expect(
    outcomes
      .flat()
      .map(({ outcome }) => outcome)
      .sort(),
  ).toEqual(['enrolled', 'in_progress', 'in_progress']);
  await makeDue(once);
  await ended(api, once, ada.id);
  expect(await enroll(api, once, [ada.id, 'ctc_unknown'])).toMatchObject([
    { outcome: 'not_again' },
    { outcome: 'unknown' },
  ]);

  const yearly = await published(api, { steps, reentry: { afterDays: 365 } }, 'Yearly');
  await enroll(api, yearly, [ada.id]);
  await pool.query(
    `UPDATE enrollments SET entered_at = now() - interval '364 days', due_at = now() WHERE journey_id = $1`,
    [yearly],
  );
  await ended(api, yearly, ada.id);
  expect(await enroll(api, yearly, [ada.id])).toMatchObject([{ outcome: 'not_again' }]);
  await pool.query(`UPDATE enrollments SET entered_at = now() - interval '366 days' WHERE journey_id = $1`, [yearly]);
  expect(await enroll(api, yearly, [ada.id])).toMatchObject([{ outcome: 'enrolled' }]);
});

test('suppressed and unsubscribed contacts get nothing and go on, unless the message is transactional', async () => {
  const { api, templateId } = await journeyProject();
  const [ada, bob] = await Promise.all(['ada', 'bob'].map((name) => api.contact(`${name}@example.net`)));
  await api.patch(`/v1/contacts/${ada?.id}`, { subscribed: false });
  await api.post('/v1/suppressions', { email: 'bob@example.net' });
  const journey = await published(api, {
    steps: [send('news', templateId, 'receipt'), { ...send('receipt', templateId), transactional: true }],
  });
  await enroll(api, journey, [ada?.id ?? '', bob?.id ?? '']);
  expect(pathOf(await ended(api, journey, ada?.id ?? ''))).toEqual(['news suppressed', 'receipt sent']);
  expect(pathOf(await ended(api, journey, bob?.id ?? ''))).toEqual(['news suppressed', 'receipt suppressed']);
});

test('quiet hours in the zone of the contact postpone messages, and a cap across journeys skips them', async () => {
  const { api, templateId } = await journeyProject();
  await api.post('/v1/custom-fields', { key: 'zone', label: 'Zone', type: 'text' });
  const hour = new Date().getUTCHours();
  const quietHours = {
    from: `${String(hour).padStart(2, '0')}:00`,
    to: `${String((hour + 2) % 24).padStart(2, '0')}:00`,
  };
  const ada = await api.contact('ada@example.net');
  const far = await api.contact('far@example.net', { custom_fields: { zone: 'Etc/GMT-12' } });
  const steps = [send('one', templateId, 'two'), { ...send('two', templateId), transactional: true }];
  const limits = { timeZoneField: 'zone', quietHours, frequencyCap: { messages: 1, days: 7 }, steps };
  const journey = await published(api, limits);
  await enroll(api, journey, [ada.id, far.id]);
  expect(pathOf(await ended(api, journey, far.id))).toEqual(['one sent', 'two sent']);
  await eventually(async () => {
    const { stepId, dueAt } = await runOf(api, journey, ada.id);
    expect([stepId, new Date(dueAt).toISOString().slice(11, 16)]).toEqual(['one', quietHours.to]);
  });
  const other = await published(api, limits, 'Other');
  await enroll(api, other, [far.id]);
  expect(pathOf(await ended(api, other, far.id))).toEqual(['one capped', 'two sent']);
});

test("the project's frequency cap applies to all journeys and to campaigns, and not to transactional messages", async () => {
  const { api, templateId } = await journeyProject();
  const owner = await signedIn(api);
  await owner.graphql('mutation { updateSendingPolicy(input: { frequencyCapMessages: 1 }) { frequencyCapDays } }');
  const [ada, bob] = await Promise.all(['ada', 'bob'].map((name) => api.contact(`${name}@example.net`)));
  const steps = [send('one', templateId, 'two'), { ...send('two', templateId), transactional: true }];
  const [first, second] = await Promise.all(['First', 'Second'].map((name) => published(api, { steps }, name)));
  await Promise.all([first, second].map((journey) => enroll(api, journey as string, [ada?.id ?? ''])));
  const paths = await Promise.all([first, second].map((journey) => ended(api, journey as string, ada?.id ?? '')));
  expect(paths.map(pathOf).toSorted()).toEqual([
    ['one capped', 'two sent'],
    ['one sent', 'two sent'],
  ]);
  const { id } = (await api.post('/v1/groups', { name: 'Both', contact_ids: [ada?.id, bob?.id] })).body.data;
  const campaign = { name: 'C', subject: 'S', html: '<p>H</p>', from_email: 'news@acme.example', group_ids: [id] };
  const { body } = await api.post('/v1/campaigns', campaign);
  const PREFLIGHT = 'query ($id: ID!) { campaignPreflight(id: $id) { warnings { field message } } }';
  const { warnings } = (await api.graphql(PREFLIGHT, { id: body.data.id })).body.data.campaignPreflight;
  const message = 'skips 1 of the recipients now, who have had 1 or more messages in 7 days';
  expect(warnings).toContainEqual({ field: 'frequencyCap', message });
});

/** Makes the scan of a journey due, and waits for it. */
async function scanned(journey: string, since = new Date()) {
  await pool.query('UPDATE journey_entry_scans SET due_at = now() WHERE journey_id = $1', [journey]);
  await eventually(async () => {
    const { rows } = await pool.query(
      'SELECT scanned_at, due_at > now() AS planned FROM journey_entry_scans WHERE journey_id = $1',
      [journey],
    );
    expect(rows).toMatchObject([{ planned: true }]);
    expect(rows[0].scanned_at >= since).toBe(true);
  });
}

const notices = async (owner: SignedIn) =>
  (await owner.graphql('{ notifications(first: 10) { nodes { kind subjectId title detail } } }')).body.data
    .notifications.nodes;

test('contacts enter when they come into a segment or leave it, but not those who are in it at the start', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const filter = { field: 'name', op: 'contains', value: 'vip' };
  const segment = (await api.post('/v1/segments', { name: 'VIPs', filter })).body.data.id;
  const named = async (name: string, local: string) =>
    (await api.contact(`${local}@example.net`, { name })).id as string;
  const [first, ada, bob] = [await named('vip', 'first'), await named('ada', 'ada'), await named('bob', 'bob')];
  const by = (type: string) =>
    published(api, { entry: { type, segment_id: segment }, steps: [wait('later', null)] }, type);
  const [entered, left] = [await by('segment_entered'), await by('segment_left')];
  await Promise.all([scanned(entered), scanned(left)]);
  await api.patch(`/v1/contacts/${ada}`, { name: 'vip ada' });
  await api.patch(`/v1/contacts/${bob}`, { name: 'vip bob' });
  await Promise.all([scanned(entered), scanned(left)]);
  await Promise.all([ada, bob].map((id) => at(api, entered, id, 'later')));
  await api.patch(`/v1/contacts/${ada}`, { name: 'ada' });
  expect((await api.delete(`/v1/contacts/${bob}`)).status).toBe(200);
  await Promise.all([scanned(entered), scanned(left)]);
  await at(api, left, ada, 'later');
  for (const [journey, expected] of [
    [entered, [ada, bob]],
    [left, [ada]],
  ] as const) {
    const { data } = (await api.get(`/v1/journeys/${journey}/enrollments`)).body;
    expect(data.map(({ contactId }: { contactId: string }) => contactId).toSorted()).toEqual([...expected].toSorted());
  }
  expect(await runOf(api, entered, first)).toBeUndefined();
  await api.delete(`/v1/segments/${segment}`);
  await pool.query('UPDATE journey_entry_scans SET due_at = now() WHERE journey_id = $1', [entered]);
  await eventually(async () => {
    const { status, pausedReason } = (await api.get(`/v1/journeys/${entered}`)).body.data;
    expect([status, pausedReason]).toEqual(['paused', 'The segment by which contacts enter was deleted.']);
  });
  expect((await notices(owner))[0]).toEqual({
    kind: 'journey_paused',
    subjectId: entered,
    title: 'The journey "segment_entered" was paused',
    detail: 'The segment by which contacts enter was deleted.',
  });
});

test('contacts enter on a date, each year or once, days before or after it, at the local time of their zone', async () => {
  const api = await testApi();
  for (const key of ['born', 'trial_end']) await api.post('/v1/custom-fields', { key, label: key, type: 'date' });
  await api.post('/v1/custom-fields', { key: 'zone', label: 'Zone', type: 'text' });
  const anHourAgo = new Date(Date.now() - 3_600_000).toISOString();
  const [day, time] = [anHourAgo.slice(0, 10), anHourAgo.slice(11, 16)];
  const years = (count: number) => `${Number(day.slice(0, 4)) - count}${day.slice(4)}`;
  const inDays = (days: number) => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
  const fields = {
    ada: { born: years(4), trial_end: inDays(3) },
    bob: { born: years(0), trial_end: inDays(2) },
    eve: { born: years(8), trial_end: inDays(3), zone: 'Etc/GMT+6' },
    kim: { born: years(8), zone: 'nowhere' },
  };
  const ids = new Map<string, string>();
  for (const [name, custom_fields] of Object.entries(fields))
    ids.set((await api.contact(`${name}@example.net`, { custom_fields })).id, name);
  const on = (entry: object, more: object, name: string) =>
    published(api, { entry: { type: 'date', time, ...entry }, ...more, steps: [wait('later', null)] }, name);
  const birthday = await on(
    { field: 'custom_fields.born', yearly: true },
    { time_zone_field: 'custom_fields.zone' },
    'B',
  );
  const trial = await on({ field: 'custom_fields.trial_end', offset_days: -3 }, {}, 'Trial');
  const later = new Date(Date.now() + 7_200_000).toISOString().slice(11, 16);
  const notYet = await on({ field: 'custom_fields.born', yearly: true, time: later }, {}, 'Not yet');
  const journeys = [birthday, trial, notYet];
  // What had passed when it was published starts nobody.
  await Promise.all(journeys.map((journey) => scanned(journey)));
  const before = `UPDATE journey_entry_scans SET scanned_at = now() - interval '2 hours' WHERE journey_id = ANY ($1)`;
  await pool.query(before, [journeys]);
  await Promise.all(journeys.map((journey) => scanned(journey)));
  await Promise.all(journeys.map((journey) => scanned(journey)));
  const whoIsIn = async (journey: string) => {
    const { data } = (await api.get(`/v1/journeys/${journey}/enrollments`)).body;
    return data.map(({ contactId }: { contactId: string }) => ids.get(contactId)).toSorted();
  };
  await eventually(async () => expect(await whoIsIn(birthday)).toEqual(['ada', 'kim']));
  await eventually(async () => expect(await whoIsIn(trial)).toEqual(['ada', 'eve']));
  expect(await whoIsIn(notYet)).toEqual([]);
  const [kim] = [...ids].find(([, name]) => name === 'kim') as [string, string];
  expect((await runOf(api, birthday, kim)).properties).toEqual({ date: years(8) });
  const { rows } = await pool.query('SELECT due_at FROM journey_entry_scans WHERE journey_id = $1', [trial]);
  expect(rows[0].due_at.toISOString().slice(11, 16)).toBe(time);
});

test('a step notifies the team once for all contacts that reach it together, and those after them wait for a quarter of an hour', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const viewer = await signedIn(api, 'viewer');
  await using mail = await takeSystemMail();
  const names = ['ada', 'bob', 'eve', 'kim', 'lee'];
  const ids = await Promise.all(
    names.map(async (name) => (await api.contact(`${name}@example.net`, { name })).id as string),
  );
  const notifying = (id: string, text: string) => ({ id, type: 'notify', text, next: null });
  const steps = [
    { id: 'half', type: 'condition', where: [{ property: 'plan', op: 'is', value: 'pro' }], yes: 'pro', no: 'others' },
    { ...notifying('pro', 'Call these customers'), memberIds: [viewer.id] },
    notifying('others', 'Write to these customers'),
  ];
  const journey = await published(api, { steps }, 'Calls');
  await enroll(api, journey, ids, { properties: { plan: 'pro' } });
  for (const id of ids) expect(pathOf(await ended(api, journey, id))).toEqual(['half yes', 'pro notified']);
  const max = (await api.contact('max@example.net')).id;
  await enroll(api, journey, [max]);
  await eventually(async () => {
    const { stepId, dueAt } = await runOf(api, journey, max);
    expect(stepId).toBe('others');
    expect(new Date(dueAt).getTime()).toBeGreaterThan(Date.now() + 10 * 60_000);
  });
  expect(await notices(owner)).toEqual([
    {
      kind: 'journey_step',
      subjectId: journey,
      title: 'Call these customers',
      detail: expect.stringMatching(
        /^\w+ \(\w+@example\.net\), .*, and 2 other contacts reached this step of the journey "Calls"\.$/,
      ),
    },
  ]);
  const { rows: accounts } = await pool.query('SELECT email FROM users WHERE id = $1', [viewer.id]);
  await eventually(() => expect(mail.sink.mails.map(({ to }) => to)).toContain(accounts[0].email));
  const definition = { entry: { type: 'manual' }, steps: [{ ...notifying('a', 'Hi'), memberIds: ['usr_nobody'] }] };
  const bad = (await api.post('/v1/journeys', { name: 'Bad', definition })).body.data.id;
  expect((await api.post(`/v1/journeys/${bad}/publish`, {})).body.error.details).toMatchObject([
    { field: 'definition.steps.0.member_ids', message: expect.stringMatching(/not a member.*"a"/) },
  ]);
  await pool.query(`UPDATE notifications SET created_at = created_at - interval '1 hour' WHERE subject_id = $1`, [
    journey,
  ]);
  await makeDue(journey);
  await ended(api, journey, max);
  expect((await notices(owner)).map(({ title }: { title: string }) => title)).toEqual([
    'Write to these customers',
    'Call these customers',
  ]);
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

test('a contact without a variable of the template gets no message, with the reason, and goes on', async () => {
  const { api, templateId } = await journeyProject('<p>{{event.coupon}}</p>');
  const ada = await api.contact('ada@example.net');
  const journey = await published(api, { steps: [send('coupon', templateId, 'end'), { id: 'end', type: 'exit' }] });
  await enroll(api, journey, [ada.id]);
  const run = await ended(api, journey, ada.id);
  expect(run.steps[0]).toMatchObject({ outcome: 'failed', detail: expect.stringMatching(/coupon/), messageId: null });
});

test('a missing property takes the default that the project declared', async () => {
  const api = await testApi();
  const [ada, bob] = await Promise.all(['ada', 'bob'].map((name) => api.contact(`${name}@example.net`)));
  await api.post('/v1/events', { name: 'ordered', contact_id: bob?.id, properties: { total: 5 } });
  const [definition] = (await api.get('/v1/event-definitions')).body.data;
  await api.patch(`/v1/event-definitions/${definition.id}`, { properties: [{ name: 'total', default_value: 100 }] });
  const journey = await published(api, {
    entry: { type: 'event', event: 'ordered', where: [{ property: 'total', op: 'moreThan', value: 50 }] },
    steps: [wait('later', null)],
  });
  await api.post('/v1/events', {
    events: [
      { name: 'ordered', contact_id: ada?.id },
      { name: 'ordered', contact_id: bob?.id, properties: { total: 5 } },
    ],
  });
  expect((await at(api, journey, ada?.id ?? '', 'later')).properties).toEqual({ total: 100 });
  expect(await runOf(api, journey, bob?.id ?? '')).toBeUndefined();
});

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
  expect((await api.post(`/v1/enrollments/${id}/move`, { step_id: 'x' })).body.error.details[0].field).toBe('step_id');
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
  await Promise.all([mergePassages(() => {}), mergePassages(() => {})]);
  expect(await rows()).toEqual({ count: 3 });
  expect(await passagesOf(api, journey)).toEqual([{ ...counted[0], runCount: 602 }, ...counted.slice(1)]);
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

test('waiting until a time uses the zone of the contact, then of the journey', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'zone', label: 'Zone', type: 'text' });
  const tokyo = await api.contact('tokyo@example.net', { custom_fields: { zone: 'Asia/Tokyo' } });
  const other = await api.contact('other@example.net', { custom_fields: { zone: 'Nowhere' } });
  const journey = await published(api, {
    timeZone: 'America/New_York',
    timeZoneField: 'zone',
    steps: [{ id: 'morning', type: 'wait_until', time: '09:00', weekdays: [1] }],
  });
  await enroll(api, journey, [tokyo.id, other.id]);
  const local = async (id: string, timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'long', hour: '2-digit', minute: '2-digit' }).format(
      new Date((await runOf(api, journey, id)).dueAt),
    );
  expect(await local(tokyo.id, 'Asia/Tokyo')).toBe('Monday 09:00');
  expect(await local(other.id, 'America/New_York')).toBe('Monday 09:00');
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
  expect((await versions('?number=3')).data).toEqual([]);
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

import { listNotificationMails, sendNotificationMail } from '@postroom/notifications/activities';
import { pool } from '@postroom/platform';
import { eventually, signedIn, startTestWorker, takeSystemMail, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import {
  at,
  ended,
  enroll,
  journeyProject,
  makeDue,
  notices,
  pathOf,
  published,
  runOf,
  send,
  wait,
} from './support.ts';

beforeAll(startTestWorker);

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
  const query = 'query ($id: ID!) { contact(id: $id) { activity { messageId journeyId journeyName } } }';
  // The event of a message is recorded once the mail server has accepted it.
  await eventually(async () => {
    const { activity } = (await api.graphql(query, { id: ada.id })).body.data.contact;
    expect(activity).toContainEqual({ messageId: rows[0].id, journeyId: journey, journeyName: 'Journey' });
  });
  expect(rows[0].html).toMatch(/Hello Ada, you chose pro/);
  expect(rows[0].html).toMatch(/<a href="[^"]*\/u\/[^"]+"/);
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

test('a journey that sets a custom field that was deleted is paused, and its reason names the field by its key', async () => {
  const { api } = await journeyProject();
  const field = (await api.post('/v1/custom-fields', { key: 'plan', type: 'text' })).body.data.id;
  const ada = await api.contact('ada@example.net');
  const set = { id: 'set', type: 'update_field', field: 'customFields.plan', value: 'vip' };
  const journey = await published(api, { steps: [wait('later', 'set'), set] });
  await enroll(api, journey, [ada.id]);
  await api.delete(`/v1/custom-fields/${field}`);
  await makeDue(journey);
  await eventually(async () =>
    expect((await api.get(`/v1/journeys/${journey}`)).body.data).toMatchObject({
      status: 'paused',
      pausedReason: 'Step "set": "plan" is not a custom field of this project',
    }),
  );
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
  const message = 'skips 1 of the recipients now, who have received 1 or more messages in 7 days';
  expect(warnings).toContainEqual({ field: 'frequencyCap', message });
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
  // The worker of another process may have sent its email, and not to this sink.
  await eventually(async () => {
    const { rows } = await pool.query<{ notice: string; email: string }>(
      `UPDATE notification_recipients r SET mail_closed_at = NULL FROM users u WHERE r.user_id = $1 AND u.id = r.user_id
       RETURNING r.notification_id AS notice, u.email`,
      [viewer.id],
    );
    const [{ notice, email }] = rows as [{ notice: string; email: string }];
    expect(await listNotificationMails(notice)).toEqual([viewer.id]);
    await sendNotificationMail(notice, viewer.id);
    expect(mail.sink.mails.map(({ to }) => to)).toContain(email);
  });
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

test('a placeholder for a name or field that a contact does not have shows nothing, as in a campaign', async () => {
  const { api, templateId } = await journeyProject('<p>Dear {{name}} of {{city}}, {{name|friend}}!</p>');
  await api.post('/v1/custom-fields', { key: 'city', label: 'City', type: 'text' });
  const { id } = (await api.post('/v1/contacts', { email: 'ada@example.net' })).body.data;
  const journey = await published(api, { steps: [send('hello', templateId, 'end'), { id: 'end', type: 'exit' }] });
  await enroll(api, journey, [id]);
  const run = await ended(api, journey, id);
  expect(run.steps[0]).toMatchObject({ outcome: 'sent' });
  const { rows } = await pool.query('SELECT html FROM message_contents WHERE message_id = $1', [
    run.steps[0].messageId,
  ]);
  expect(rows[0].html).toContain('<p>Dear  of , friend!</p>');
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

import { pool } from '@postroom/platform';
import { eventually, signedIn, startTestWorker, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { at, ended, enroll, makeDue, notices, passagesOf, pathOf, published, runOf, wait } from './support.ts';

beforeAll(startTestWorker);

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

test('two journeys that start each other go round once an hour', async () => {
  const api = await testApi();
  const [ada, other] = [await api.contact('ada@example.net'), await api.contact('other@example.net')];
  const groupOf = async (name: string) =>
    (await api.post('/v1/groups', { name, contact_ids: [other.id] })).body.data.id as string;
  const [red, blue] = [await groupOf('Red'), await groupOf('Blue')];
  const start = (name: string, from: string, to: string) =>
    published(
      api,
      {
        entry: { type: 'group_joined', groupId: from },
        reentry: 'always',
        steps: [
          { id: 'join', type: 'join_group', groupId: to, next: 'leave' },
          { id: 'leave', type: 'leave_group', groupId: from },
        ],
      },
      name,
    );
  const journeys = [await start('From red', red, blue), await start('From blue', blue, red)];
  const runsAfter = async (change: () => Promise<unknown>) => {
    await change();
    return eventually(async () => {
      const { rows: open } = await pool.query(
        `SELECT FROM journey_triggers WHERE journey_id = ANY ($1)
         UNION ALL SELECT FROM enrollments WHERE journey_id = ANY ($1) AND ended_at IS NULL`,
        [journeys],
      );
      expect(open).toEqual([]);
      const { rows } = await pool.query('SELECT count(*)::int AS count FROM enrollments WHERE journey_id = ANY ($1)', [
        journeys,
      ]);
      return rows[0].count as number;
    }, 30_000);
  };
  const join = () => api.post(`/v1/groups/${red}/contacts`, { contact_ids: [ada.id] });
  expect(await runsAfter(join)).toBe(2);

  await pool.query(`UPDATE enrollments SET entered_at = now() - interval '61 minutes' WHERE journey_id = ANY ($1)`, [
    journeys,
  ]);
  const rejoin = async () => {
    await api.delete(`/v1/groups/${red}/contacts/${ada.id}`);
    await join();
  };
  expect(await runsAfter(rejoin)).toBe(4);
});

/** Makes the scan of a journey due, and waits for it. */
async function scanned(journey: string) {
  const since = new Date();
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

test('a journey pauses itself when a group is deleted that its segment is without, and nobody enters', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.net');
  const group = (await api.post('/v1/groups', { name: 'Customers', contact_ids: [ada.id] })).body.data.id;
  const filter = { not: { field: 'group', op: 'is', value: group } };
  const segment = (await api.post('/v1/segments', { name: 'No customers', filter })).body.data.id;
  const entry = { type: 'segment_entered', segment_id: segment };
  const journey = await published(api, { entry, steps: [wait('later', null)] }, 'Entered');
  await scanned(journey);
  await api.delete(`/v1/groups/${group}`);
  await pool.query('UPDATE journey_entry_scans SET due_at = now() WHERE journey_id = $1', [journey]);
  await eventually(async () => {
    const { status, pausedReason } = (await api.get(`/v1/journeys/${journey}`)).body.data;
    expect([status, pausedReason]).toEqual([
      'paused',
      `Nobody can enter: entry.segmentId has a condition on the group ${group}, which was deleted.`,
    ]);
  });
  expect(await runOf(api, journey, ada.id)).toBeUndefined();
});

test('a journey pauses itself when the custom field with the date of its entry is deleted', async () => {
  const api = await testApi();
  const field = (await api.post('/v1/custom-fields', { key: 'birthday', type: 'date' })).body.data.id;
  const entry = { type: 'date', field: 'customFields.birthday', time: '09:00' };
  const journey = await published(api, { entry, steps: [wait('later', null)] });
  expect((await api.delete(`/v1/custom-fields/${field}`)).status).toBe(200);
  await pool.query('UPDATE journey_entry_scans SET due_at = now() WHERE journey_id = $1', [journey]);
  await eventually(async () => {
    const { status, pausedReason } = (await api.get(`/v1/journeys/${journey}`)).body.data;
    expect([status, pausedReason]).toEqual([
      'paused',
      'Nobody can enter: entry.field is the custom field "birthday", which was deleted.',
    ]);
  });
});

test('a journey pauses itself when a group is deleted that the filter of its entry names, and nobody enters', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const ada = await api.contact('ada@example.net');
  const group = (await api.post('/v1/groups', { name: 'Customers', contact_ids: [ada.id] })).body.data.id;
  const filter = { not: { field: 'group', op: 'is', value: group } };
  const entry = { type: 'event', event: 'seen', filter };
  const steps = [wait('later', null)];
  const journey = await published(api, { entry, steps });
  await api.delete(`/v1/groups/${group}`);
  expect((await api.post('/v1/events', { name: 'seen', email: 'ada@example.net' })).status).toBeLessThan(300);
  const reason = `Nobody can enter: entry.filter has a condition on the group ${group}, which was deleted.`;
  await eventually(async () =>
    expect((await api.get(`/v1/journeys/${journey}`)).body.data).toMatchObject({
      status: 'paused',
      pausedReason: reason,
    }),
  );
  expect((await notices(owner))[0]).toMatchObject({ kind: 'journey_paused', subjectId: journey, detail: reason });
  expect(await runOf(api, journey, ada.id)).toBeUndefined();
  // What happened is kept until the filter is mended.
  const definition = { entry: { type: 'event', event: 'seen' }, steps };
  expect((await api.patch(`/v1/journeys/${journey}`, { definition })).status).toBe(200);
  expect((await api.post(`/v1/journeys/${journey}/publish`, {})).status).toBe(200);
  await at(api, journey, ada.id, 'later');
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

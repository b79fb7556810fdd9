import { db, inTransaction, newId, pool } from '@postroom/platform';
import { type Api, eventually, signedIn, takeSystemMail, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { listMailRecipients, mailOne } from '../src/mail.ts';
import { watchUnread } from '../src/notifications.ts';
import { type Notice, NOTIFICATION_ID, notify } from '../src/notify.ts';
import { deleteOld } from '../src/retention.ts';

const LIST = `{ unreadNotifications notifications { totalCount nodes { id kind subjectId title detail readAt } } }`;
const MARK = `mutation ($ids: [ID!], $through: ID) {
  markNotificationsRead(ids: $ids, through: $through) { unreadNotifications notifications { id readAt } }
}`;

/** A notice about a campaign; each has another one. */
const notice = (more: Partial<Notice> = {}): Notice => ({
  kind: 'campaign_paused',
  subjectId: newId('cmp'),
  title: 'The campaign "News" was paused',
  detail: '25 messages in a row were rejected.',
  advice: 'Resume or cancel it:',
  ...more,
});

/** Notifies the project of several things, earliest first; returns the ids of the notifications. */
async function notified(api: Api, ...notices: Notice[]): Promise<string[]> {
  const ids: string[] = [];
  for (const each of notices) {
    await inTransaction((tx) => notify(tx, api.projectId, each));
    const { id } = await db.notification.findFirstOrThrow({ where: { subjectId: each.subjectId } });
    ids.push(id);
  }
  return ids;
}

/** A notification that no worker of another test emails; returns its id. */
async function unattended(api: Api, each = notice()): Promise<string> {
  return inTransaction(async (tx) => {
    await notify(tx, api.projectId, each);
    const { rows } = await tx.query<{ id: string }>(
      `UPDATE notifications SET created_at = now() - interval '2 days' WHERE subject_id = $1 RETURNING id`,
      [each.subjectId],
    );
    const id = rows[0]?.id ?? '';
    await tx.query('DELETE FROM outbox WHERE workflow_id = $1', [id]);
    return id;
  });
}

test('owners and admins are notified, members and viewers are not', async () => {
  const api = await testApi();
  const people = {
    owner: await signedIn(api, 'owner'),
    admin: await signedIn(api, 'admin'),
    member: await signedIn(api, 'member'),
    viewer: await signedIn(api, 'viewer'),
  };
  const paused = notice();
  const [id] = await notified(api, paused);
  for (const role of ['owner', 'admin'] as const) {
    const { kind, subjectId, title, detail } = paused;
    expect((await people[role].graphql(LIST)).body.data).toEqual({
      unreadNotifications: 1,
      notifications: { totalCount: 1, nodes: [{ id, kind, subjectId, title, detail, readAt: null }] },
    });
  }
  for (const refused of [
    await people.member.graphql(LIST),
    await people.viewer.graphql(LIST),
    await api.graphql(LIST),
  ]) {
    expect(refused.body.errors[0].extensions.code).toBe('forbidden');
  }
});

test('a notification exists only if the change that caused it was committed', async () => {
  const api = await testApi();
  const failed = inTransaction(async (tx) => {
    await notify(tx, api.projectId, notice());
    throw new Error('The change failed.');
  });
  await expect(failed).rejects.toThrow('The change failed.');
  expect(await db.notification.count({ where: { projectId: api.projectId } })).toBe(0);
});

test('one event is one notification with one email workflow, however often its transaction reports it', async () => {
  const api = await testApi();
  await signedIn(api);
  const paused = notice();
  await inTransaction(async (tx) => {
    await notify(tx, api.projectId, paused);
    await notify(tx, api.projectId, { ...paused, detail: 'Another reason.' });
    const { rows } = await tx.query(
      'SELECT args FROM outbox WHERE name = $1 AND args->>0 IN (SELECT id FROM notifications WHERE project_id = $2)',
      ['mailNotification', api.projectId],
    );
    expect(rows).toHaveLength(1);
  });
  await inTransaction((tx) => notify(tx, api.projectId, { ...paused, detail: 'It happened again.' }));
  const rows = await db.notification.findMany({ where: { projectId: api.projectId }, orderBy: { id: 'asc' } });
  expect(rows.map(({ detail }) => detail)).toEqual([paused.detail, 'It happened again.']);
});

test('each person has their own read state, and the first time is kept', async () => {
  const api = await testApi();
  const [ada, grace] = [await signedIn(api, 'owner'), await signedIn(api, 'admin')];
  const [first = '', second = '', third = ''] = await notified(api, notice(), notice(), notice());
  const one = await ada.graphql(MARK, { ids: [second, newId(NOTIFICATION_ID)] });
  expect(one.body.data.markNotificationsRead).toEqual({
    unreadNotifications: 2,
    notifications: [{ id: second, readAt: expect.any(String) }],
  });
  // "Mark all as read" names the newest notification that is shown: one that has just arrived stays unread.
  const shown = await ada.graphql(MARK, { through: second });
  expect(shown.body.data.markNotificationsRead).toEqual({
    unreadNotifications: 1,
    notifications: [{ id: first, readAt: expect.any(String) }],
  });
  const all = await ada.graphql(MARK);
  expect(all.body.data.markNotificationsRead).toMatchObject({ unreadNotifications: 0, notifications: [{ id: third }] });
  const { nodes } = (await ada.graphql(LIST)).body.data.notifications;
  expect(nodes[1].readAt).toBe(one.body.data.markNotificationsRead.notifications[0].readAt);
  expect((await grace.graphql(LIST)).body.data.unreadNotifications).toBe(3);
});

test('marking as read changes nothing in another project', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const owner = await signedIn(api);
  await db.member.create({ data: { projectId: other.projectId, userId: owner.id, role: 'owner' } });
  const [theirs] = await notified(other, notice());
  await owner.graphql(MARK);
  await owner.graphql(MARK, { ids: [theirs] });
  const { body } = await owner.graphql(LIST, {}, { 'X-Project-Id': other.projectId });
  expect(body.data).toMatchObject({ unreadNotifications: 1, notifications: { nodes: [{ id: theirs, readAt: null }] } });
  expect((await owner.graphql('query ($id: ID!) { node(id: $id) { id } }', { id: theirs })).body.data.node).toBeNull();
});

test('the number of unread notifications is pushed at most once a second', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const counts = watchUnread(api.projectId, owner.id);
  const next = async () => ((await counts.next()) as { value: number }).value;
  expect(await next()).toBe(0);
  const pushed = performance.now();
  const ids = await notified(api, notice(), notice(), notice());
  expect(await next()).toBe(3);
  expect(performance.now() - pushed).toBeGreaterThan(900);
  await owner.graphql(MARK, { ids });
  expect(await next()).toBe(0);
  await counts.return?.();
});

test('the subscription is open to owners and admins only', async () => {
  const api = await testApi();
  const subscribe = async (headers: Record<string, string>) => {
    const stopped = new AbortController();
    const response = await fetch(`${api.url}/graphql/stream`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { unreadNotificationsChanged }' }),
      signal: stopped.signal,
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('data: {')) text += (await reader?.read())?.value ?? 'data: { closed';
    stopped.abort();
    return text;
  };
  const headersOf = async (role: 'admin' | 'member') => ({
    cookie: (await signedIn(api, role)).cookie,
    'X-Project-Id': api.projectId,
  });
  expect(await subscribe(await headersOf('admin'))).toContain('{"data":{"unreadNotificationsChanged":0}}');
  expect(await subscribe(await headersOf('member'))).toContain('"code":"forbidden"');
  expect(await subscribe({ Authorization: `Bearer ${api.key}` })).toContain('"code":"forbidden"');
});

test('emails go to recipients who want them, have not read it yet, and still manage the project', async () => {
  const api = await testApi();
  const [ada, grace, edith, joan] = [
    await signedIn(api, 'owner'),
    await signedIn(api, 'admin'),
    await signedIn(api, 'admin'),
    await signedIn(api, 'admin'),
  ];
  const settings =
    'mutation ($input: NotificationSettingsInput!) { updateNotificationSettings(input: $input) { notificationSettings { emails } } }';
  expect((await grace.graphql('{ notificationSettings { emails } }')).body.data.notificationSettings.emails).toBe(true);
  await grace.graphql(settings, { input: { emails: false } });
  const id = await unattended(api);
  await edith.graphql(MARK, { ids: [id] });
  await db.member.update({
    where: { projectId_userId: { projectId: api.projectId, userId: joan.id } },
    data: { role: 'member' },
  });
  expect(await listMailRecipients(id)).toEqual([ada.id]);
  expect((await grace.graphql('{ notificationSettings { emails } }')).body.data.notificationSettings.emails).toBe(
    false,
  );
  await grace.graphql(settings, { input: { emails: true } });
  const later = await unattended(api);
  expect(await listMailRecipients(later)).toEqual([ada.id, grace.id, edith.id]);
  expect((await api.graphql(settings, { input: { emails: true } })).body.errors[0].extensions.code).toBe('forbidden');
});

test('a person is emailed once; an attempt that was not recorded is repeated with the same Message-ID', async () => {
  await using mail = await takeSystemMail();
  const api = await testApi();
  const owner = await signedIn(api);
  const paused = notice();
  const id = await unattended(api, paused);
  const emailed = () => mail.sink.mails.filter(({ to }) => to === owner.email);
  await mailOne(id, owner.id);
  await mailOne(id, owner.id);
  await eventually(() => expect(emailed()).toHaveLength(1));
  await db.notificationRecipient.updateMany({ where: { notificationId: id }, data: { mailClosedAt: null } });
  await mailOne(id, owner.id);
  await eventually(() => expect(emailed()).toHaveLength(2));
  const ids = emailed().map(({ raw }) => /^Message-ID:\s+(<.*>)/im.exec(raw)?.[1]);
  expect(ids[0]).toContain(id);
  expect(ids[1]).toBe(ids[0]);
  const { name } = await db.project.findUniqueOrThrow({ where: { id: api.projectId } });
  expect(emailed()[0]?.raw.replaceAll('=\r\n', '')).toContain(`Project: ${name}`);
  expect(await mail.linkTo(owner.email)).toContain(`/p/${api.projectId}/campaigns/${paused.subjectId}`);
});

test('notifications are deleted after the time that events of their project are kept', async () => {
  const [api, longer] = [await testApi(), await testApi()];
  await signedIn(api);
  await pool.query('UPDATE projects SET event_retention_days = 4000 WHERE id = $1', [longer.projectId]);
  const [old] = await notified(api, notice());
  const [kept] = await notified(longer, notice());
  const [recent] = await notified(api, notice());
  const now = Date.now();
  await pool.query(`UPDATE notifications SET created_at = $2 WHERE id = ANY ($1)`, [
    [old, kept],
    new Date(now - 3_999 * 24 * 60 * 60 * 1000),
  ]);
  expect(await deleteOld({ days: 3_998, now })).toMatchObject({ notifications: expect.any(Number) });
  const left = await db.notification.findMany({ where: { id: { in: [old ?? '', kept ?? '', recent ?? ''] } } });
  expect(left.map(({ id }) => id).sort()).toEqual([kept, recent].sort());
});

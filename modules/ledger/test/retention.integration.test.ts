import { addLocalDomain } from '@postroom/domains';
import { idsFrom, newId, pool } from '@postroom/platform';
import { runExclusively, signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { holdMail } from '@postroom/emails/testing';
import { unsubscribeUrl } from '@postroom/unsubscribe';
import { deleteOldInboxMails } from '@postroom/emails/inbox';
import { deleteOldContents, deleteOldEmails } from '../src/retention.ts';
import { checkPlans } from '@postroom/testkit/plans';

checkPlans();

runExclusively('retention');

const DAY_MS = 24 * 60 * 60 * 1000;

test('content of old emails is deleted; recipients, subject and status stay', async () => {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  await holdMail(api.projectId);
  // Ids begin with a timestamp; this one makes the email 40 days old.
  const send = async (suffix: string) => {
    const attachments = [{ filename: 'a.txt', content: 'YQ==' }];
    const email = { from: 'hello@example.com', to: ['ada@example.net'], subject: 'Hello', html: '<p>Hi</p>' };
    const { id } = (await api.post('/v1/emails', { ...email, headers: { 'X-A': 'b' }, attachments })).body.data;
    const old = idsFrom('eml', new Date(Date.now() - 40 * DAY_MS)).slice(0, -12) + id.slice(-11) + suffix;
    for (const [table, column] of [
      ['messages', 'id'],
      ['message_contents', 'message_id'],
      ['message_attachments', 'message_id'],
    ])
      await pool.query(`UPDATE ${table} SET ${column} = $2 WHERE ${column} = $1`, [id, old]);
    return old;
  };
  const email = async (id: string) => (await api.get(`/v1/emails/${id}`)).body.data;
  const [sent, waiting] = [await send('1'), await send('2')];
  await pool.query(`UPDATE messages SET state = 'accepted', accepted_at = now(), dispatched_at = now() WHERE id = $1`, [
    sent,
  ]);
  // Nothing is deleted by default, and nothing before its retention ends.
  expect(await deleteOldContents()).toBe(0);
  await deleteOldContents({ days: 41 });
  expect(await email(sent)).toMatchObject({ html: '<p>Hi</p>', attachments: [{ filename: 'a.txt' }] });

  expect(await deleteOldContents({ days: 39 })).toBeGreaterThan(0);
  expect(await email(sent)).toMatchObject({
    to: ['ada@example.net'],
    subject: 'Hello',
    status: 'sent',
    html: null,
    text: null,
    headers: {},
    attachments: [],
  });
  expect(await email(waiting)).toMatchObject({ html: '<p>Hi</p>', attachments: [{ filename: 'a.txt' }] });
});

/** A project with the given retention, and helpers to insert emails to two addresses and count what is left of them. */
async function projectWithRetention(keptDays: number | null) {
  const api = await testApi();
  await pool.query('UPDATE projects SET message_retention_days = $2 WHERE id = $1', [api.projectId, keptDays]);
  let made = 0;
  const email = async (days: number, closedDays: number | null = days) => {
    const at = (of: number) => new Date(Date.now() - of * DAY_MS);
    const ids = [newId('eml'), newId('eml')].map(
      (id) => idsFrom('eml', at(days)).slice(0, -14) + String(made++).padStart(3, '0') + id.slice(-11),
    );
    await pool.query(
      `INSERT INTO messages (id, project_id, email, subject, copy_of, state, accepted_at, created_at, dispatched_at)
       SELECT id, $2, 'ada@example.net', 'Hi', CASE n WHEN 2 THEN $3 END, CASE WHEN $4::timestamptz IS NULL AND n = 2 THEN 'planned' ELSE 'accepted' END::message_state,
         coalesce($4, $5), $5, now() FROM unnest($1::text[]) WITH ORDINALITY AS t(id, n)`,
      [ids, api.projectId, ids[0], closedDays === null ? null : at(closedDays), at(days)],
    );
    await pool.query(
      `INSERT INTO message_contents (message_id, "from", "to", html) VALUES ($1, 'a@example.com', '[]', 'x')`,
      [ids[0]],
    );
    await pool.query(`INSERT INTO tracked_links (owner_id, position, url) VALUES ($1, 0, 'https://a.example/')`, [
      ids[0],
    ]);
    await pool.query(`INSERT INTO tracking_hits (message_id, kind, at) VALUES ($1, 'open', now())`, [ids[1]]);
    return ids;
  };
  const left = async (ids: string[]) => {
    const { rows } = await pool.query(
      `SELECT (SELECT count(*)::int FROM messages WHERE id = ANY ($1)) AS messages,
         (SELECT count(*)::int FROM message_contents WHERE message_id = ANY ($1)) AS contents,
         (SELECT count(*)::int FROM tracked_links WHERE owner_id = ANY ($1)) AS links,
         (SELECT count(*)::int FROM tracking_hits WHERE message_id = ANY ($1)) AS hits`,
      [ids],
    );
    return Object.values(rows[0] as object) as number[];
  };
  return { api, email, left };
}

const ALL = [2, 1, 1, 1];
const NONE = [0, 0, 0, 0];

test("emails are deleted with all their data once the project's retention ends; newer or unsent ones stay", async () => {
  const { api, email, left } = await projectWithRetention(40);
  const [old, young, lately, open] = [await email(41), await email(39), await email(60, 3), await email(90, null)];
  const forEver = await projectWithRetention(null);
  const others = await forEver.email(400);
  const link =
    api.url + new URL(unsubscribeUrl(old[0]!, { projectId: api.projectId, email: 'ada@example.net' })).pathname;
  expect(await deleteOldEmails()).toBeGreaterThanOrEqual(2);
  expect(await Promise.all([old, young, lately, open].map(left))).toEqual([NONE, ALL, ALL, ALL]);
  expect(await forEver.left(others)).toEqual(ALL);
  expect((await api.get(`/v1/emails/${old[0]}`)).status).toBe(404);
  expect((await fetch(link, { method: 'POST' })).status).toBe(200);
});

test("a project without a retention uses the installation's, and a longer one takes precedence", async () => {
  const [silent, longer] = [await projectWithRetention(null), await projectWithRetention(900)];
  const [theirs, ours] = [await silent.email(800), await longer.email(800)];
  await deleteOldEmails({ days: 700 });
  expect([await silent.left(theirs), await longer.left(ours)]).toEqual([NONE, ALL]);
});

test('an interrupted deletion continues on the next run', async () => {
  const { email, left } = await projectWithRetention(40);
  const old = await email(41);
  const stop = () => {
    throw new Error('cut off');
  };
  await expect(deleteOldEmails({ onBatch: stop })).rejects.toThrow('cut off');
  await deleteOldEmails();
  expect(await left(old)).toEqual(NONE);
});

test('project managers can set the message retention', async () => {
  const api = await testApi();
  const set = 'mutation ($days: Int) { setMessageRetention(days: $days) { messageRetentionDays keptMessageDays } }';
  const owner = await signedIn(api, 'owner');
  const { body } = await owner.graphql(set, { days: 365 });
  expect(body.data.setMessageRetention).toEqual({ messageRetentionDays: 365, keptMessageDays: 365 });
  for (const days of [0, 29, 3651]) {
    const refused = await owner.graphql(set, { days });
    expect(refused.body.errors[0].extensions).toMatchObject({ code: 'validation_error', details: [{ field: 'days' }] });
  }
  const forEver = await owner.graphql(set, { days: null });
  expect(forEver.body.data.setMessageRetention).toEqual({ messageRetentionDays: null, keptMessageDays: null });
  const member = await (await signedIn(api, 'member')).graphql(set, { days: 365 });
  expect(member.body.errors[0].extensions.code).toBe('forbidden');
});

test('mail in the development inbox is deleted after the event retention', async () => {
  const mail = async (days: number) => {
    const id = `old-${days}-${newId('eml')}`;
    await pool.query(
      `INSERT INTO inbox_mails (id, mail_from, recipient, sender, subject, size, raw, received_at)
       VALUES ($1, 'a@example.com', 'b@example.com', 'a@example.com', 'Hello', 1, 'x', $2)`,
      [id, new Date(Date.now() - days * DAY_MS)],
    );
    return id;
  };
  const [old, young] = [await mail(31), await mail(29)];
  expect(await deleteOldInboxMails()).toBeGreaterThan(0);
  const { rows } = await pool.query('SELECT id FROM inbox_mails WHERE id = ANY ($1)', [[old, young]]);
  expect(rows).toEqual([{ id: young }]);
});

import { addLocalDomain } from '@postroom/domains';
import { idsFrom, newId, pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { deleteOldContents, deleteOldInboxMails } from './retention.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

test('what old emails said is deleted; who got them, their subject and what became of them stay', async () => {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  // Ids begin with the time: this one says that its email is 40 days old.
  const send = async (suffix: string) => {
    const attachments = [{ filename: 'a.txt', content: 'YQ==' }];
    const email = { from: 'hello@example.com', to: ['ada@example.net'], subject: 'Hello', html: '<p>Hi</p>' };
    const { id } = (await api.post('/v1/emails', { ...email, headers: { 'X-A': 'b' }, attachments })).body.data;
    const old = idsFrom('eml', new Date(Date.now() - 40 * DAY_MS)).slice(0, -12) + id.slice(-11) + suffix;
    await pool.query('UPDATE messages SET id = $2 WHERE id = $1', [id, old]);
    return old;
  };
  const email = async (id: string) => (await api.get(`/v1/emails/${id}`)).body.data;
  const [sent, waiting] = [await send('1'), await send('2')];
  await pool.query(`UPDATE messages SET state = 'accepted', accepted_at = now(), handed_at = now() WHERE id = $1`, [
    sent,
  ]);
  // Nothing is deleted unless it is asked for, and nothing before its time.
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

test('what the development inbox took is deleted when it is as old as events get', async () => {
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

import { addLocalDomain } from '@postroom/domains';
import { idsFrom, pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { deleteOldContents } from './retention.ts';

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

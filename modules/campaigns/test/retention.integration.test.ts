import { deleteRecipients } from '@postroom/ledger';
import { unsubscribeUrl } from '@postroom/unsubscribe';
import { newId, pool } from '@postroom/platform';
import { runExclusively, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { addLocalDomain } from '@postroom/domains';
import { deleteOldRecipients } from '../src/retention.ts';
import { checkPlans } from '@postroom/testkit/plans';

checkPlans();

runExclusively('retention');

const DAY_MS = 24 * 60 * 60 * 1000;

/** A campaign that ended days ago in a project that keeps messages for 40: 2,500 accepted, one failed, one unknown. */
async function ended(days: number, more: { status?: string; open?: number } = {}) {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  await pool.query('UPDATE projects SET message_retention_days = 40 WHERE id = $1', [api.projectId]);
  const id = newId('cmp');
  const at = new Date(Date.now() - days * DAY_MS);
  const { status = 'completed', open = 0 } = more;
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, html, from_email, status, frozen_at, completed_at, recipient_count, accepted_count,
       failed_count, unknown_count, opened_count, unsubscribed_count)
     VALUES ($1, $2, 'News', 'News', 'x', 'news@example.com', $3::campaign_status, $4, $4, $5, 2500, 1, 1, 7, 1)`,
    [id, api.projectId, status, at, 2502 + open],
  );
  const messages = Array.from({ length: 2502 + open }, () => newId('eml'));
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, accepted_at, unsent_at)
     SELECT id, $2, $3, 'ctc_' || right(id, 26), 'r' || n || '@mail.test',
       CASE WHEN n <= 2500 THEN 'accepted' WHEN n = 2501 THEN 'failed' WHEN n = 2502 THEN 'unknown' ELSE 'planned' END::message_state,
       CASE WHEN n <= 2500 THEN $4::timestamptz END, CASE WHEN n IN (2501, 2502) THEN $4::timestamptz END
     FROM unnest($1::text[]) WITH ORDINALITY AS t(id, n)`,
    [messages, api.projectId, id, at],
  );
  // A pending start far in the future: a worker of other tests reconciles campaigns without a workflow, and skips this one.
  await pool.query(
    `INSERT INTO outbox (workflow_id, kind, name, args, available_at) VALUES ($1, 'start', 'none', '[]', now() + interval '1 day')`,
    [id],
  );
  await pool.query(
    `INSERT INTO tracked_links (owner_id, position, url, clicks, unique_clicks) VALUES ($1, 0, 'https://a.example/', 5, 4)`,
    [id],
  );
  const path = `/v1/campaigns/${id}`;
  const rows = async () => (await pool.query('SELECT FROM messages WHERE campaign_id = $1', [id])).rowCount;
  return { api, id, path, messages, rows };
}

test('recipients past retention are deleted; counters, links and suppressions are kept', async () => {
  const { api, path, messages, rows } = await ended(41);
  await api.post('/v1/suppressions', { email: 'r1@mail.test' });
  const before = (await api.get(path)).body.data;
  expect(await deleteOldRecipients()).toBeGreaterThanOrEqual(2502);
  expect(await rows()).toBe(0);
  const after = (await api.get(path)).body.data;
  expect(after).toEqual({ ...before, recipientsDeletedAt: expect.any(String) });
  expect(after.progress).toMatchObject({ accepted: 2500, failed: 1, unknown: 1 });
  expect((await api.get(`${path}/links`)).body.data).toMatchObject([{ clicks: 5, uniqueClicks: 4 }]);
  expect((await api.get(`${path}/recipients`)).body.data).toEqual([]);
  expect((await api.get('/v1/suppressions')).body.data).toHaveLength(1);
  const link = unsubscribeUrl(messages[5]!, { projectId: api.projectId, email: 'r5@mail.test' });
  expect((await fetch(api.url + new URL(link).pathname, { method: 'POST' })).status).toBe(200);
  expect((await api.get('/v1/suppressions?email=r5@mail.test')).body.data).toMatchObject([{ reason: 'unsubscribed' }]);
  expect((await api.get(path)).body.data.engagement).toEqual(before.engagement);
});

test('campaigns that are newer, still running or have open messages keep all recipients', async () => {
  const all = [
    await ended(39),
    await ended(60, { status: 'paused' }),
    await ended(60, { status: 'sending' }),
    await ended(60, { status: 'canceled', open: 1 }),
  ];
  await deleteOldRecipients();
  for (const { api, path, messages, rows } of all) {
    expect(await rows()).toBe(messages.length);
    expect((await api.get(path)).body.data.recipientsDeletedAt).toBeNull();
  }
});

test('an interrupted deletion resumes on the next run, and nothing is sent in between', async () => {
  const { api, id, path, rows } = await ended(41);
  const onBatch = () => {
    throw new Error('cut off');
  };
  await pool.query('UPDATE campaigns SET recipients_deleted_at = now() WHERE id = $1', [id]);
  await deleteRecipients(id);
  await expect(deleteOldRecipients({ onBatch })).rejects.toThrow('cut off');
  expect(await rows()).toBe(502);
  for (const [way, body] of [
    ['retry', {}],
    ['resend', { accept_duplicates: true }],
    ['resolve', { outcome: 'accepted' }],
  ] as const) {
    const { status, body: refused } = await api.post(`${path}/recipients/${way}`, body);
    expect([way, status, refused.error?.code]).toEqual([way, 409, 'conflict']);
  }
  await deleteOldRecipients();
  expect(await rows()).toBe(0);
});

test('a retry concurrent with the deletion either finds all recipients and proceeds, or is refused', async () => {
  const { api, path, rows } = await ended(41);
  const [retried] = await Promise.all([api.post(`${path}/recipients/retry`, {}), deleteOldRecipients()]);
  const { status, recipientsDeletedAt } = (await api.get(path)).body.data;
  const whole = [retried.status < 300, 'sending', true, 2502];
  const gone = [false, 'completed', false, 0];
  expect([whole, gone]).toContainEqual([retried.status < 300, status, recipientsDeletedAt === null, await rows()]);
});

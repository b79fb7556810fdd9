import { inTransaction, newId, pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { requeuePage, resolvePage, settle, settleStaleClaims } from '../src/index.ts';

const COUNT = 5_000;

/** A campaign whose messages PostgreSQL has no statistics of. If it compared each with each, a statement would exceed its timeout. */
async function campaignOf(state: 'claimed' | 'failed' | 'unknown'): Promise<string> {
  const { projectId } = await testApi();
  const campaignId = newId('cmp');
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, recipient_count, ${state}_count, updated_at)
     VALUES ($1, $2, 'News', 'News', 'sending', $3, $3, now())`,
    [campaignId, projectId, COUNT],
  );
  await pool.query(
    `INSERT INTO messages (id, project_id, campaign_id, contact_id, email, state, claim, claimed_at, unsent_at)
     SELECT postroom_id('eml'), $1, $2, postroom_id('ctc'), 'r' || n || '@mail.test', $4::message_state, 'old', now(),
       CASE WHEN $4 <> 'claimed' THEN now() END
     FROM generate_series(1, $3::int) n`,
    [projectId, campaignId, COUNT, state],
  );
  return campaignId;
}

const states = async (campaignId: string) => {
  const { rows } = await pool.query(
    'SELECT state, count(*)::int FROM messages WHERE campaign_id = $1 GROUP BY state ORDER BY state',
    [campaignId],
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
};

test('thousands of new messages are retried, resolved and recovered', async () => {
  const [failed, unknown, claimed] = [
    await campaignOf('failed'),
    await campaignOf('unknown'),
    await campaignOf('claimed'),
  ];
  const all = (campaignId: string) => ({ campaignId, ids: null, after: '' });
  expect(await inTransaction((client) => requeuePage(client, all(failed), 'failed'))).toMatchObject({ count: COUNT });
  expect(await states(failed)).toEqual({ planned: COUNT });
  expect(await inTransaction((client) => resolvePage(client, all(unknown), 'accepted'))).toMatchObject({
    count: COUNT,
  });
  expect(await states(unknown)).toEqual({ accepted: COUNT });
  expect(await settleStaleClaims({ campaignId: claimed }, 'new')).toBe(COUNT);
  expect(await states(claimed)).toEqual({ unknown: COUNT });
});

test('outcomes of thousands of new messages are recorded, each its own', async () => {
  const campaignId = await campaignOf('claimed');
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM messages WHERE campaign_id = $1', [campaignId]);
  const settlements = rows.map(({ id }, at) => ({
    id,
    state: at % 2 === 0 ? ('accepted' as const) : ('failed' as const),
    answer: `${at % 2 === 0 ? 250 : 550} ${id}`,
  }));
  expect(await settle('old', settlements)).toBe(COUNT);
  expect(await states(campaignId)).toEqual({ accepted: COUNT / 2, failed: COUNT / 2 });
  const { rows: wrong } = await pool.query(
    `SELECT id FROM messages WHERE campaign_id = $1 AND answer <> CASE state WHEN 'accepted' THEN '250 ' ELSE '550 ' END || id`,
    [campaignId],
  );
  expect(wrong).toEqual([]);
});

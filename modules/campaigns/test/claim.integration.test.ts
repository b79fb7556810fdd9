import { newId, pool } from '@postroom/platform';
import { expect, test } from 'vitest';
import { claimPage } from '../src/claim.ts';
import { snapshotRecipients } from '../src/snapshot-recipients.ts';

/** A sending campaign with the fencing token `first` and a snapshot of one new contact per name. */
async function sendingTo(names: readonly string[]) {
  const [projectId, id, groupId] = [newId('prj'), newId('cmp'), newId('grp')];
  await pool.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  await pool.query(`INSERT INTO groups (id, project_id, name, updated_at) VALUES ($1, $2, 'All', now())`, [
    groupId,
    projectId,
  ]);
  for (const name of names)
    await pool.query(
      `WITH contact AS (
         INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
         VALUES ($1, $2, $3, $3, $4, 'api', now()) RETURNING id
       ) INSERT INTO group_members (group_id, contact_id) SELECT $5, id FROM contact`,
      [newId('ctc'), projectId, `${name}@mail.test`, name, groupId],
    );
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, fencing_token, group_ids, updated_at)
     VALUES ($1, $2, 'Claims', 'News', 'sending', 'first', ARRAY[$3], now())`,
    [id, projectId, groupId],
  );
  await snapshotRecipients(id);
  return { id, projectId };
}

const suppress = (projectId: string, email: string) =>
  pool.query(`INSERT INTO suppressions (id, project_id, email, email_key, reason) VALUES ($1, $2, $3, $3, 'manual')`, [
    newId('sup'),
    projectId,
    email,
  ]);

const contact = (projectId: string, name: string, statement: string, more: unknown[] = []) =>
  pool.query(statement, [projectId, name, ...more]);

/** As if every message were reserved. */
const ALL = { position: '~', number: 0 };

test('a page claims contacts who can be mailed and marks those suppressed or deleted since the snapshot', async () => {
  const { id, projectId } = await sendingTo(['ada', 'bob', 'eve', 'kim', 'lee', 'max']);
  await suppress(projectId, 'bob@mail.test');
  await contact(projectId, 'eve', 'DELETE FROM contacts WHERE project_id = $1 AND name = $2');
  const move = 'UPDATE contacts SET email = $3, email_key = $3 WHERE project_id = $1 AND name = $2';
  await contact(projectId, 'kim', move, ['kim@moved.test']);
  await contact(projectId, 'lee', move, ['lee@moved.test']);
  await suppress(projectId, 'lee@mail.test');

  const first = await claimPage(id, 'first', 5, true, ALL);
  expect(first.rows.map(({ email, name }) => [name, email]).toSorted()).toEqual([
    ['ada', 'ada@mail.test'],
    ['kim', 'kim@mail.test'],
  ]);
  const second = await claimPage(id, 'first', 5, true, ALL);
  expect(second.rows.map(({ email }) => email)).toEqual(['max@mail.test']);
  expect((await claimPage(id, 'first', 5, true, ALL)).rows).toEqual([]);

  const { rows } = await pool.query(
    `SELECT split_part(email, '@', 1) AS name, state::text, claim, answer, unsent_at IS NOT NULL AS closed
     FROM messages WHERE campaign_id = $1 ORDER BY id`,
    [id],
  );
  const suppressed = 'Not sent: the address is suppressed (manual).';
  expect(rows).toEqual([
    { name: 'ada', state: 'claimed', claim: 'first', answer: null, closed: false },
    { name: 'bob', state: 'suppressed', claim: 'first', answer: suppressed, closed: true },
    {
      name: 'eve',
      state: 'suppressed',
      claim: 'first',
      answer: 'Not sent: the contact has been deleted.',
      closed: true,
    },
    { name: 'kim', state: 'claimed', claim: 'first', answer: null, closed: false },
    { name: 'lee', state: 'suppressed', claim: 'first', answer: suppressed, closed: true },
    { name: 'max', state: 'claimed', claim: 'first', answer: null, closed: false },
  ]);
  const counts = await pool.query('SELECT claimed_count, suppressed_count FROM campaigns WHERE id = $1', [id]);
  expect(counts.rows).toEqual([{ claimed_count: 3, suppressed_count: 3 }]);
});

test('a requeued message is claimed once due, before untried ones, and never twice by the same attempt', async () => {
  const { id } = await sendingTo(['ada', 'bob', 'eve']);
  const [given] = (await claimPage(id, 'first', 1, false, ALL)).rows;
  await pool.query(`UPDATE messages SET state = 'planned', not_before = now() WHERE id = $1`, [given?.id]);
  expect((await claimPage(id, 'first', 1, false, ALL)).rows.map(({ email }) => email)).toEqual(['bob@mail.test']);
  await pool.query(`UPDATE campaigns SET fencing_token = 'second' WHERE id = $1`, [id]);
  expect((await claimPage(id, 'first', 9, false, ALL)).rows).toEqual([]);
  expect((await claimPage(id, 'second', 1, false, ALL)).rows.map(({ email }) => email)).toEqual(['ada@mail.test']);
  expect((await claimPage(id, 'second', 9, false, ALL)).rows.map(({ email }) => email)).toEqual(['eve@mail.test']);
});

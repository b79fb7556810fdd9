import { newId, pool } from '@postroom/platform';
import { describe, expect, test } from 'vitest';
import { claimPage } from '../src/claim.ts';
import { snapshotRecipients } from '../src/snapshot-recipients.ts';

/** A sending campaign with the fencing token `first` and a snapshot of one new contact per name. */
async function sendingTo(names: readonly string[]) {
  const [projectId, groupId] = [newId('prj'), newId('grp')];
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
  return { id: await sendingToGroup(projectId, groupId), projectId, groupId };
}

async function sendingToGroup(projectId: string, groupId: string): Promise<string> {
  const id = newId('cmp');
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, fencing_token, group_ids, updated_at)
     VALUES ($1, $2, 'Claims', 'News', 'sending', 'first', ARRAY[$3], now())`,
    [id, projectId, groupId],
  );
  await snapshotRecipients(id);
  return id;
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

describe('with a frequency cap', () => {
  const claimBelowCap = async (projectId: string, id: string, messages: number, limit = 9, days = 7) =>
    (await claimPage(id, 'first', limit, false, ALL, { projectId, messages, days })).rows.map(({ email }) => email);

  test('contacts who have had as many messages are skipped, with the reason, and older messages do not count', async () => {
    const { id, projectId, groupId } = await sendingTo(['ada', 'bob']);
    const second = await sendingToGroup(projectId, groupId);
    expect(await claimBelowCap(projectId, id, 1, 1)).toEqual(['ada@mail.test']);
    expect(await claimBelowCap(projectId, second, 1)).toEqual(['bob@mail.test']);
    expect(await claimBelowCap(projectId, id, 1)).toEqual([]);
    const { rows } = await pool.query(
      `SELECT campaign_id = $1 AS first, split_part(email, '@', 1) AS name, state::text, answer FROM messages
       WHERE campaign_id IN ($1, $2) AND state = 'suppressed' ORDER BY name`,
      [id, second],
    );
    const answer = "Not sent: the contact has had as many messages as the project's frequency cap allows.";
    expect(rows).toEqual([
      { first: false, name: 'ada', state: 'suppressed', answer },
      { first: true, name: 'bob', state: 'suppressed', answer },
    ]);
    await pool.query(`UPDATE messages SET claimed_at = now() - interval '8 days' WHERE campaign_id IN ($1, $2)`, [
      id,
      second,
    ]);
    const third = await sendingToGroup(projectId, groupId);
    expect(await claimBelowCap(projectId, third, 1)).toEqual(['ada@mail.test', 'bob@mail.test']);
    const counts = await pool.query('SELECT claimed_count, suppressed_count FROM campaigns WHERE id = $1', [second]);
    expect(counts.rows).toEqual([{ claimed_count: 1, suppressed_count: 1 }]);
  });

  test('a deferred message does not count itself, and messages of journeys count once they are queued', async () => {
    const { id, projectId } = await sendingTo(['ada', 'bob']);
    await claimBelowCap(projectId, id, 1, 1);
    await pool.query(
      `UPDATE messages SET state = 'planned', not_before = now(), claim = 'earlier' WHERE campaign_id = $1 AND state = 'claimed'`,
      [id],
    );
    const journeys = `INSERT INTO messages (id, project_id, contact_id, email, needs_consent)
      SELECT $3, project_id, id, email, true FROM contacts WHERE project_id = $1 AND name = $2`;
    await contact(projectId, 'bob', journeys, [newId('eml')]);
    expect(await claimBelowCap(projectId, id, 1)).toEqual(['ada@mail.test']);
  });

  test('of campaigns that claim at the same time, as many send to a contact as the cap allows', async () => {
    const { id, projectId, groupId } = await sendingTo(['ada', 'bob', 'eve']);
    const others = await Promise.all(Array.from({ length: 5 }, () => sendingToGroup(projectId, groupId)));
    const claimed = await Promise.all([id, ...others].map((each) => claimBelowCap(projectId, each, 2)));
    expect(claimed.flat().toSorted()).toEqual(
      ['ada', 'ada', 'bob', 'bob', 'eve', 'eve'].map((name) => `${name}@mail.test`),
    );
  });
});

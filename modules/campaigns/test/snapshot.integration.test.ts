import { deleteSegment, updateSegment } from '@postroom/contacts';
import { deleteGroup } from '@postroom/groups';
import { type Erasure, inTransaction, isId, newId, pool } from '@postroom/platform';
import { beforeEach, expect, test } from 'vitest';
import { eraseSubject } from '../src/privacy.ts';
import { endSnapshot, snapshotRecipients } from '../src/snapshot-recipients.ts';

let projectId: string;
let groupId: string;
let id: string;

beforeEach(async () => {
  [projectId, groupId, id] = [newId('prj'), newId('grp'), newId('cmp')];
  await pool.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  await pool.query(`INSERT INTO groups (id, project_id, name, updated_at) VALUES ($1, $2, 'All', now())`, [
    groupId,
    projectId,
  ]);
  await pool.query(
    `INSERT INTO campaigns (id, project_id, name, subject, status, group_ids, updated_at)
     VALUES ($1, $2, 'Ranges', 'News', 'sending', ARRAY[$3], now())`,
    [id, projectId, groupId],
  );
});

async function addContact(name: string, { isMember = true } = {}): Promise<void> {
  const contactId = newId('ctc');
  await pool.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at) VALUES ($1, $2, $3, $3, $4, 'api', now())`,
    [contactId, projectId, `${name}@mail.test`, name],
  );
  if (isMember) await join(name);
}

const join = (name: string) =>
  pool.query(
    'INSERT INTO group_members (group_id, contact_id) SELECT $1, id FROM contacts WHERE project_id = $2 AND name = $3',
    [groupId, projectId, name],
  );

const leave = (name: string) =>
  pool.query(
    'DELETE FROM group_members WHERE contact_id = (SELECT id FROM contacts WHERE project_id = $1 AND name = $2)',
    [projectId, name],
  );

async function ledger(): Promise<{ id: string; name: string; state: string }[]> {
  const { rows } = await pool.query(
    `SELECT id, split_part(email, '@', 1) AS name, state::text FROM messages WHERE campaign_id = $1 ORDER BY id`,
    [id],
  );
  return rows;
}

async function campaign() {
  const { rows } = await pool.query(
    `SELECT recipient_count AS recipients, suppressed_count AS suppressed, frozen_at IS NOT NULL AS frozen FROM campaigns WHERE id = $1`,
    [id],
  );
  return rows[0];
}

async function started(): Promise<number[]> {
  const { rows } = await pool.query(
    `SELECT (data->>'recipients')::int AS recipients FROM events WHERE project_id = $1 AND type = 'campaign.started'`,
    [projectId],
  );
  return rows.map(({ recipients }) => recipients);
}

async function storedAudience(): Promise<unknown> {
  const { rows } = await pool.query('SELECT snapshot_audience AS audience FROM campaigns WHERE id = $1', [id]);
  return rows[0].audience;
}

const namesOf = (rows: { name: string }[]) => rows.map(({ name }) => name);

test('the first range is enough to begin, and the rest decides by the groups as they are then, without contacts that were added since', async () => {
  for (const name of ['ada', 'bob', 'eve', 'kim']) await addContact(name);
  await addContact('lee', { isMember: false });
  await addContact('max');
  expect(await snapshotRecipients(id, { isFirst: true, rangeSize: 2 })).toEqual({
    recipients: 2,
    suppressed: 0,
    isCounting: true,
  });
  expect(namesOf(await ledger())).toEqual(['ada', 'bob']);
  expect(await campaign()).toEqual({ recipients: 2, suppressed: 0, frozen: false });
  expect(await started()).toEqual([]);

  await leave('ada');
  await leave('eve');
  await join('lee');
  await addContact('new');
  await pool.query(
    `INSERT INTO suppressions (id, project_id, email, email_key, reason) VALUES ($1, $2, 'kim@mail.test', 'kim@mail.test', 'manual')`,
    [newId('sup'), projectId],
  );
  expect(await snapshotRecipients(id, { rangeSize: 2 })).toEqual({ recipients: 5, suppressed: 1 });
  const rows = await ledger();
  expect(namesOf(rows)).toEqual(['ada', 'bob', 'kim', 'lee', 'max']);
  expect(rows.map(({ state }) => state)).toEqual(['planned', 'planned', 'suppressed', 'planned', 'planned']);
  expect(await campaign()).toEqual({ recipients: 5, suppressed: 1, frozen: true });
  expect(await started()).toEqual([5]);
  expect(await snapshotRecipients(id)).toEqual({ recipients: 5, suppressed: 1 });
  expect(await started()).toEqual([5]);
});

test('ranges without recipients are passed over, and all ids begin with the time of the first range', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await addContact(name, { isMember: false });
  for (const name of ['e', 'f', 'g']) await addContact(name);
  expect(await snapshotRecipients(id, { isFirst: true, rangeSize: 1 })).toMatchObject({ recipients: 1 });
  await snapshotRecipients(id, { rangeSize: 1 });
  const rows = await ledger();
  expect(namesOf(rows)).toEqual(['e', 'f', 'g']);
  expect(new Set(rows.map((row) => row.id.slice(0, 18))).size).toBe(1);
  expect(rows.every((row) => isId('eml', row.id))).toBe(true);
});

test('concurrent attempts write every recipient once', async () => {
  for (let number = 0; number < 20; number++) await addContact(`reader${number}`);
  const attempts = Array.from({ length: 3 }, () => snapshotRecipients(id, { rangeSize: 1 }));
  expect(await Promise.all(attempts)).toEqual(attempts.map(() => ({ recipients: 20, suppressed: 0 })));
  expect(await ledger()).toHaveLength(20);
  expect(await started()).toEqual([20]);
});

test('ids keep their order and length past 268 million recipients', async () => {
  for (const name of ['ada', 'bob', 'eve']) await addContact(name);
  await pool.query('UPDATE campaigns SET recipient_count = 268435455 WHERE id = $1', [id]);
  await snapshotRecipients(id);
  const rows = await ledger();
  expect(namesOf(rows)).toEqual(['ada', 'bob', 'eve']);
  expect(rows.every((row) => isId('eml', row.id))).toBe(true);
});

test('a campaign that is canceled between two ranges gets no more recipients, and was started with those that it has', async () => {
  for (const name of ['ada', 'bob', 'eve']) await addContact(name);
  await snapshotRecipients(id, { isFirst: true, rangeSize: 2 });
  await pool.query(`UPDATE campaigns SET status = 'canceled' WHERE id = $1`, [id]);
  expect(await snapshotRecipients(id, { rangeSize: 2 })).toEqual({ recipients: 2, suppressed: 0 });
  await endSnapshot(id);
  await endSnapshot(id);
  expect(namesOf(await ledger())).toEqual(['ada', 'bob']);
  expect(await campaign()).toEqual({ recipients: 2, suppressed: 0, frozen: true });
  expect(await started()).toEqual([2]);
  expect(await storedAudience()).toBeNull();
});

test('a cancellation during a range takes the range back', async () => {
  for (const name of ['ada', 'bob']) await addContact(name);
  const client = await pool.connect();
  try {
    // Holds the campaign's row, which the range waits for at its end.
    await client.query('BEGIN');
    await client.query(`UPDATE campaigns SET status = 'canceled' WHERE id = $1`, [id]);
    const snapshot = snapshotRecipients(id);
    const failure = expect(snapshot).rejects.toThrow('was canceled');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await client.query('COMMIT');
    await failure;
  } finally {
    client.release();
  }
  expect(await ledger()).toEqual([]);
  expect(await started()).toEqual([]);
});

/** Adds a segment to the audience, or to what it excludes. */
async function addSegment(
  filter: object,
  column: 'segment_ids' | 'excluded_segment_ids' = 'segment_ids',
): Promise<string> {
  const segmentId = newId('seg');
  await pool.query(`INSERT INTO segments (id, project_id, name, filter, updated_at) VALUES ($1, $2, $1, $3, now())`, [
    segmentId,
    projectId,
    filter,
  ]);
  await pool.query(`UPDATE campaigns SET ${column} = ${column} || $2::text WHERE id = $1`, [id, segmentId]);
  return segmentId;
}

test('segments that are edited or deleted between two ranges select and exclude whom they did at the first', async () => {
  await pool.query(`UPDATE campaigns SET group_ids = '{}' WHERE id = $1`, [id]);
  for (const name of ['ada', 'bob', 'eve', 'kim', 'lee', 'max']) await addContact(name);
  const named = await addSegment({ field: 'name', op: 'contains', value: 'e' });
  const first = await addSegment({ or: ['ada', 'kim'].map((value) => ({ field: 'name', op: 'contains', value })) });
  const excluded = await addSegment({ field: 'name', op: 'contains', value: 'lee' }, 'excluded_segment_ids');
  await snapshotRecipients(id, { isFirst: true, rangeSize: 1 });
  expect(namesOf(await ledger())).toEqual(['ada']);

  await updateSegment(projectId, 'usr_1', first, { filter: { field: 'name', op: 'contains', value: 'max' } });
  await deleteSegment(projectId, named);
  await deleteSegment(projectId, excluded);
  expect(await snapshotRecipients(id, { rangeSize: 1 })).toMatchObject({ recipients: 3 });
  expect(namesOf(await ledger())).toEqual(['ada', 'eve', 'kim']);
  expect(await storedAudience()).toBeNull();
});

test('a group that is deleted between two ranges selects no more contacts', async () => {
  for (const name of ['ada', 'bob']) await addContact(name);
  await snapshotRecipients(id, { isFirst: true, rangeSize: 1 });
  await deleteGroup(projectId, groupId);
  expect(await snapshotRecipients(id, { rangeSize: 1 })).toEqual({ recipients: 1, suppressed: 0 });
});

test('a group that the conditions of a segment name must not be deleted between two ranges', async () => {
  const named = newId('grp');
  await pool.query(`INSERT INTO groups (id, project_id, name, updated_at) VALUES ($1, $2, 'Left out', now())`, [
    named,
    projectId,
  ]);
  await addSegment({ and: [{ not: { field: 'group', op: 'in', value: [named] } }] });
  for (const name of ['ada', 'bob', 'eve']) await addContact(name);
  await snapshotRecipients(id, { isFirst: true, rangeSize: 1 });
  await deleteGroup(projectId, named);
  await expect(snapshotRecipients(id, { rangeSize: 1 })).rejects.toThrow(
    `segmentIds.0 has a condition on the group ${named}, which was deleted.`,
  );
  expect(namesOf(await ledger())).toEqual(['ada']);
});

test('an address in the conditions is erased with its person', async () => {
  for (const name of ['ada', 'bob']) await addContact(name);
  await addSegment({ field: 'email', op: 'is', value: 'ada@mail.test' });
  await snapshotRecipients(id, { isFirst: true, rangeSize: 1 });
  expect(JSON.stringify(await storedAudience())).toContain('ada@mail.test');
  const address = 'ada@mail.test';
  const person: Erasure = {
    projectId,
    contactId: 'ctc_1',
    keys: [address],
    spellings: [address],
    alias: 'erased',
    messageIds: [],
  };
  await inTransaction((tx) => eraseSubject(tx, person));
  expect(JSON.stringify(await storedAudience())).not.toContain('ada@mail.test');
});

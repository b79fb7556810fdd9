import {
  claimPage,
  endShards,
  extendShard,
  hasExpiredShards,
  inLedgerTransaction,
  isWorthSharding,
  newClaim,
  openShard,
  renewShard,
  settle,
  settleStaleClaims,
} from '@postroom/ledger';
import { newId, pool, sql } from '@postroom/platform';
import { interleave } from '@postroom/testkit';
import { describe, expect, test } from 'vitest';
import { complete } from '../src/send-run.ts';
import { snapshotRecipients } from '../src/snapshot-recipients.ts';
import { checkPlans } from '@postroom/testkit/plans';
import { ALL } from './reserved.ts';

const sentStatements = checkPlans();

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

test('a claim that is carried out after its reservation has ended, or in a database of another epoch, takes nothing', async () => {
  const { id } = await sendingTo(['ada', 'bob']);
  await pool.query('UPDATE messages SET not_before = now() WHERE campaign_id = $1 AND email = $2', [
    id,
    'ada@mail.test',
  ]);
  for (const reserved of [
    { ...ALL, until: '2026-01-01T00:00:00Z' },
    { ...ALL, epoch: 2 },
  ])
    expect(await claimPage(id, 'first', 9, false, reserved)).toMatchObject({ rows: [], isFencedOff: true });
  // As if the reply came after the end.
  await expect(claimPage(id, 'first', 9, false, { ...ALL, expiresAt: -Infinity })).rejects.toThrow(
    'its reservation has ended',
  );
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

/** PostgreSQL then evaluates a part of the claim again for each message; it crashed at the second one, where a bound on ids was missing. */
test('messages that are due are claimed although all of them change while the claim waits for the campaign', async () => {
  const names = ['ada', 'bob', 'eve', 'kim'];
  const { id } = await sendingTo(names);
  await pool.query(`UPDATE messages SET not_before = now() - interval '1 minute' WHERE campaign_id = $1`, [id]);
  const page = await interleave(
    (tx) => sql(tx, 'SELECT FROM campaigns WHERE id = $1 FOR UPDATE', [id]),
    () => claimPage(id, 'first', 9, false, ALL),
    (tx) => sql(tx, `UPDATE messages SET deferrals = 1 WHERE campaign_id = $1`, [id]),
  );
  expect(page.rows.map(({ email }) => email).toSorted()).toEqual(names.map((name) => `${name}@mail.test`));
});

test('a campaign that waits leaves its part of the rate of the project to the others', async () => {
  const { id, projectId, groupId } = await sendingTo(['ada', 'bob']);
  const other = await sendingToGroup(projectId, groupId);
  await pool.query('INSERT INTO sending_policies (project_id, rate_per_second, updated_at) VALUES ($1, 100, now())', [
    projectId,
  ]);
  const rate = async () => (await claimPage(id, 'first', 1, false, ALL)).ratePerSecond;
  expect(await rate()).toBe(50);
  const wait = `UPDATE campaigns SET waiting_until = now() + $2::interval WHERE id = $1`;
  await pool.query(wait, [other, '1 hour']);
  expect(await rate()).toBe(100);
  await pool.query(wait, [other, '-1 second']);
  expect(await rate()).toBe(50);
});

test('a claim and its settlement read the partition of the campaign only', async () => {
  const { id } = await sendingTo(['ada', 'bob']);
  const before = sentStatements.length;
  const { rows } = await claimPage(id, 'first', 2, true, ALL);
  const outcomes = ['accepted', 'failed'] as const;
  await settle(
    'first',
    rows.map((row, index) => ({ id: row.id, state: outcomes[index] ?? 'accepted', answer: '' })),
    '',
  );
  const changing = sentStatements.slice(before).filter(({ text }) => / messages\w* m SET /.test(text));
  expect(changing).toHaveLength(3);
  for (const { text, values } of changing) {
    const { rows: plan } = await inLedgerTransaction((client) => client.query<object>(`EXPLAIN ${text}`, values));
    const partitions = new Set(JSON.stringify(plan).match(/messages_(past|rest|\d{8})(?= m| messages)/g));
    expect([text, partitions.size]).toEqual([text, 1]);
  }
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

describe('shards', () => {
  const NAMES = Array.from({ length: 900 }, (_, index) => `shard${index}`);
  /** A campaign to 900 contacts, and how to open shards of it and claim by them. */
  async function sharded() {
    const { id } = await sendingTo([]);
    const { rows } = await pool.query<{ projectId: string; groupId: string }>(
      `SELECT project_id AS "projectId", group_ids[1] AS "groupId" FROM campaigns WHERE id = $1`,
      [id],
    );
    const [{ projectId, groupId } = { projectId: '', groupId: '' }] = rows;
    await pool.query('DELETE FROM campaigns WHERE id = $1', [id]);
    await pool.query(
      `WITH contact AS (
         INSERT INTO contacts (id, project_id, email, email_key, name, source, updated_at)
         SELECT postroom_id('ctc'), $1, name || '@mail.test', name || '@mail.test', name, 'api', now() FROM unnest($2::text[]) AS name RETURNING id
       ) INSERT INTO group_members (group_id, contact_id) SELECT $3, id FROM contact`,
      [projectId, NAMES, groupId],
    );
    const campaign = await sendingToGroup(projectId, groupId);
    const open = async (run = 1) => {
      const token = newClaim();
      return { token, isOpen: await openShard({ id: campaign, run }, token) };
    };
    const claimBy = (token: string, until: string, limit = 1_000) =>
      claimPage(campaign, token, limit, false, { ...ALL, position: until }, undefined, 'shard');
    const claimRest = () => claimPage(campaign, 'first', 1_000, false, ALL);
    const state = async () => {
      const { rows: counted } = await pool.query(
        `SELECT state::text, count(*)::int AS count FROM messages WHERE campaign_id = $1 GROUP BY state ORDER BY state`,
        [campaign],
      );
      return Object.fromEntries(counted.map((row) => [row.state, row.count]));
    };
    const counters = async () => {
      const { rows: found } = await pool.query(
        'SELECT status::text, claimed_count AS claimed, accepted_count AS accepted, failed_count AS failed FROM campaigns WHERE id = $1',
        [campaign],
      );
      return found[0];
    };
    const extendBy = (token: string, messages: number) => extendShard(campaign, token, messages);
    /** The last message of the next range. */
    const extend = async (token: string, messages: number) => (await extendBy(token, messages))?.until ?? '';
    return { id: campaign, projectId, open, claimBy, claimRest, state, counters, extendBy, extend };
  }

  const accept = (token: string, ids: readonly { id: string }[], by: 'campaign' | 'shard' = 'shard') =>
    settle(
      token,
      ids.map(({ id }) => ({ id, state: 'accepted', answer: '250' })),
      '',
      by,
    );
  const expire = (token: string) =>
    pool.query(`UPDATE campaign_shards SET expires_at = now() - interval '1 ms' WHERE fencing_token = $1`, [token]);

  test('every message is in one range or with the run, although all claim at the same time', async () => {
    const { id, open, claimBy, claimRest, state, extend } = await sharded();
    const tokens = await Promise.all([open(), open(), open()]);
    const claimed = await Promise.all([
      ...tokens.map(async ({ token }) => {
        const ids: string[] = [];
        for (let until = ''; (until = await extend(token, 100)) !== '';)
          for (let page; (page = await claimBy(token, until, 60)).rows.length > 0;)
            ids.push(...page.rows.map((row) => row.id));
        return ids;
      }),
      (async () => {
        const ids: string[] = [];
        for (let page; (page = await claimPage(id, 'first', 30, false, ALL)).rows.length > 0;)
          ids.push(...page.rows.map((row) => row.id));
        return ids;
      })(),
    ]);
    expect(new Set(claimed.flat()).size).toBe(900);
    expect(claimed.flat()).toHaveLength(900);
    expect(claimed.filter((ids) => ids.length > 0).length).toBeGreaterThan(1);
    expect((await claimRest()).rows).toEqual([]);
    expect(await state()).toEqual({ claimed: 900 });
  });

  test('ranges shrink to halves of what is left, and the last one is not smaller than 200 messages', async () => {
    const { open, claimBy, extend, extendBy } = await sharded();
    const [{ token }, other] = [await open(), await open()];
    const sizes = [];
    for (let until = ''; (until = await extend(token, 800)) !== '';)
      sizes.push((await claimBy(token, until)).rows.length);
    expect(sizes).toEqual([450, 225, 200, 25]);
    expect(await extendBy(other.token, 800)).toMatchObject({ until: null });
  });

  test('a shard that is not used up is not extended', async () => {
    const { open, claimBy, extend, extendBy } = await sharded();
    const { token } = await open();
    const until = await extend(token, 300);
    await claimBy(token, until, 299);
    expect(await extendBy(token, 300)).toBeUndefined();
    await claimBy(token, until, 299);
    expect(await extend(token, 300)).not.toBe('');
  });

  test('no shard is opened for another run, or claims after a pause or for a run that is over', async () => {
    const { id, open, claimBy, extend, extendBy } = await sharded();
    expect((await open(2)).isOpen).toBe(false);
    const { token } = await open();
    const until = await extend(token, 300);
    await pool.query(`UPDATE campaigns SET status = 'paused' WHERE id = $1`, [id]);
    expect(await claimBy(token, until)).toMatchObject({ rows: [], isFencedOff: true });
    expect(await extendBy(token, 300)).toBeUndefined();
    expect((await open()).isOpen).toBe(false);
    await pool.query(`UPDATE campaigns SET status = 'sending', run = 2 WHERE id = $1`, [id]);
    expect(await claimBy(token, until)).toMatchObject({ rows: [], isFencedOff: true });
  });

  test('with a rate limit, of the campaign or its project, shards claim nothing more', async () => {
    const { id, projectId, open, claimBy, extend } = await sharded();
    const { token } = await open();
    const until = await extend(token, 300);
    expect((await claimBy(token, until, 10)).rows).toHaveLength(10);
    await pool.query('UPDATE campaigns SET rate_per_second = 1000 WHERE id = $1', [id]);
    expect(await claimBy(token, until, 10)).toMatchObject({ rows: [], isFencedOff: true });
    await pool.query('UPDATE campaigns SET rate_per_second = NULL WHERE id = $1', [id]);
    await pool.query(
      'INSERT INTO sending_policies (project_id, rate_per_second, updated_at) VALUES ($1, 1000, now())',
      [projectId],
    );
    expect(await claimBy(token, until, 10)).toMatchObject({ rows: [], isFencedOff: true });
    expect(await isWorthSharding(id, 1)).toBe(false);
  });

  test('a shard that was paused returns its rest to the run, which claims it after the pause', async () => {
    const { id, open, claimBy, claimRest, extend } = await sharded();
    const { token } = await open();
    const until = await extend(token, 300);
    const { rows } = await claimBy(token, until, 100);
    await accept(token, rows);
    await pool.query(`UPDATE campaigns SET status = 'paused' WHERE id = $1`, [id]);
    await endShards(id, { token });
    await pool.query(`UPDATE campaigns SET status = 'sending' WHERE id = $1`, [id]);
    const again = [...(await claimRest()).rows, ...(await claimRest()).rows];
    expect(again).toHaveLength(800);
    expect(again.some((row) => rows.some(({ id: before }) => before === row.id))).toBe(false);
  });

  test('an expired shard is fenced off: the run settles what it had claimed and sends the rest, and what it still reports is recorded', async () => {
    const { id, open, claimBy, claimRest, state, counters, extend, extendBy } = await sharded();
    const { token } = await open();
    const until = await extend(token, 300);
    const { rows } = await claimBy(token, until, 100);
    expect(await endShards(id, 'expired')).toBe(0);
    expect(await settleStaleClaims({ campaignId: id }, 'first')).toBe(0);
    expect(await hasExpiredShards(id, 'first')).toBe(false);
    await expire(token);
    expect(await hasExpiredShards(id, 'first')).toBe(true);
    expect(await hasExpiredShards(id, 'fenced off')).toBe(false);
    expect(await endShards(id, 'expired')).toBe(1);
    expect(await settleStaleClaims({ campaignId: id }, 'first')).toBe(100);
    expect(await claimBy(token, until)).toMatchObject({ rows: [], isFencedOff: true });
    expect(await extendBy(token, 300)).toBeUndefined();
    const others = [...(await claimRest()).rows, ...(await claimRest()).rows];
    expect(others).toHaveLength(800);
    expect(await state()).toEqual({ unknown: 100, claimed: 800 });
    await accept(token, rows.slice(0, 60));
    expect(await state()).toEqual({ unknown: 40, claimed: 800, accepted: 60 });
    expect(await counters()).toMatchObject({ claimed: 800, accepted: 60 });
  });

  test('the campaign gets the counters of a shard when it is renewed, except claims, and when it ends', async () => {
    const { id, open, claimBy, counters, extend } = await sharded();
    const { token } = await open();
    const { rows } = await claimBy(token, await extend(token, 300), 100);
    await accept(token, rows.slice(0, 70));
    await settle(token, [{ id: rows[70]?.id ?? '', state: 'failed', answer: '550 no' }], '', 'shard');
    expect(await counters()).toMatchObject({ claimed: 0, accepted: 0, failed: 0 });
    await renewShard(token);
    await renewShard(token);
    expect(await counters()).toMatchObject({ claimed: 0, accepted: 70, failed: 1 });
    await accept(token, rows.slice(71, 90));
    await endShards(id, { token });
    expect(await counters()).toMatchObject({ claimed: 10, accepted: 89, failed: 1 });
    await accept(token, rows.slice(90));
    expect(await counters()).toMatchObject({ claimed: 0, accepted: 99, failed: 1 });
  });

  test('a campaign completes once, when no shard has an open message, and counts what they sent', async () => {
    const { id, projectId, open, claimBy, claimRest, counters, extend } = await sharded();
    const { token } = await open();
    const page = await claimBy(token, await extend(token, 300));
    await accept('first', (await claimRest()).rows, 'campaign');
    expect(await complete({ id, run: 1 })).toBe(false);
    await accept(token, page.rows.slice(1));
    expect(await complete({ id, run: 1 })).toBe(false);
    await accept(token, page.rows);
    expect(await Promise.all([complete({ id, run: 1 }), complete({ id, run: 1 })])).toEqual([true, true]);
    expect(await counters()).toEqual({ status: 'completed', claimed: 0, accepted: 900, failed: 0 });
    const { rows } = await pool.query(`SELECT data FROM events WHERE project_id = $1 AND type = 'campaign.completed'`, [
      projectId,
    ]);
    expect(rows).toMatchObject([{ data: { sent: 900 } }]);
  });

  test('deferred messages are left to the run', async () => {
    const { id, open, claimBy, claimRest, extend } = await sharded();
    const { token } = await open();
    const until = await extend(token, 300);
    await pool.query(
      `UPDATE messages SET not_before = now() WHERE id = ANY (ARRAY(SELECT id FROM messages WHERE campaign_id = $1 ORDER BY id LIMIT 10))`,
      [id],
    );
    expect((await claimBy(token, until)).rows).toHaveLength(290);
    expect((await claimRest()).rows).toHaveLength(610);
  });
});

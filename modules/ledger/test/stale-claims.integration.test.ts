import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId, pool } from '@postroom/platform';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeInFlightJournals, openInFlightJournal, openInFlightJournals } from '../src/in-flight-journal.ts';
import { readInstallation } from '../src/installation.ts';
import { releaseClaims } from '../src/ledger.ts';
import { newClaim, type Scope } from '../src/claim.ts';
import { reserveQueue } from '../src/reservations.ts';
import { endShards } from '../src/shards.ts';
import { recoverFromJournals, settleStaleClaims } from '../src/stale-claims.ts';
import { checkPlans } from '@postroom/testkit/plans';

checkPlans();

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postroom-stale-'));
  await openInFlightJournals(folder);
});
afterAll(async () => {
  await closeInFlightJournals();
  rmSync(folder, { recursive: true });
});

const files = () => readdirSync(folder).filter((name) => name.endsWith('.journal'));

/** Claimed messages of a new campaign or workflow. The claim wrote the second to fourth, and got replies to the third and fourth. */
async function interrupted(
  kind: 'campaign' | 'workflow',
  { status = 'sending', epochsAgo = 0, withJournal = true } = {},
) {
  const [projectId, claim] = [newId('prj'), newClaim()];
  const scope: Scope = kind === 'campaign' ? { campaignId: newId('cmp') } : { workflowId: newId('eml') };
  await pool.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  if ('campaignId' in scope)
    await pool.query(
      `INSERT INTO campaigns (id, project_id, name, subject, status, claimed_count, recipient_count, updated_at)
       VALUES ($1, $2, 'Stale', 'News', $3::campaign_status, 4, 4, now())`,
      [scope.campaignId, projectId, status],
    );
  const ids = [newId('eml'), newId('eml'), newId('eml'), newId('eml')];
  const [unwritten, written = '', answered = '', refused = ''] = ids;
  for (const id of ids)
    await pool.query(
      `INSERT INTO messages (id, project_id, campaign_id, workflow_id, dispatched_at, email, subject, state, claim, claimed_at)
       VALUES ($1, $2, $3, $4, now(), $1 || '@mail.test', 'Hi', 'claimed', $5, now())`,
      [
        id,
        projectId,
        'campaignId' in scope ? scope.campaignId : null,
        'workflowId' in scope ? scope.workflowId : null,
        claim,
      ],
    );
  if (withJournal) {
    const { epoch } = await readInstallation();
    const journal = openInFlightJournal({ claim, scope, epoch: epoch - epochsAgo });
    for (const id of [written, answered, refused]) journal.writing(id);
    journal.answered({ id: answered, state: 'accepted', answer: '250 taken' });
    journal.answered({ id: refused, state: 'failed', answer: '550 5.1.1 no such user', hardBounce: true });
    journal.close({ isRecorded: false });
  }
  const states = async () => {
    const { rows } = await pool.query<{ state: string }>(
      'SELECT state::text FROM messages WHERE id = ANY ($1) ORDER BY id',
      [ids],
    );
    return rows.map(({ state }) => state);
  };
  return { scope, claim, ids, unwritten, states, projectId };
}

test.each(['campaign', 'workflow'] as const)(
  'of a killed %s attempt, unwritten messages are retried, answered ones recorded, and only written ones unknown',
  async (kind) => {
    const { scope, claim, ids, states, projectId } = await interrupted(kind);
    expect(await settleStaleClaims(scope, newClaim())).toBe(4);
    expect(await states()).toEqual(['planned', 'unknown', 'accepted', 'failed']);
    const { rows } = await pool.query(
      'SELECT answer, not_before IS NOT NULL AS due FROM messages WHERE id = ANY ($1) ORDER BY id',
      [ids],
    );
    expect(rows.map(({ answer }) => answer)).toEqual([
      null,
      'The sending process stopped before it recorded the answer of the server.',
      '250 taken',
      '550 5.1.1 no such user',
    ]);
    expect(rows[0].due).toBe(true);
    const suppressed = await pool.query('SELECT email FROM suppressions WHERE project_id = $1', [projectId]);
    expect(suppressed.rows).toEqual([{ email: `${ids[3]}@mail.test` }]);
    expect(files().filter((name) => name.includes(claim))).toEqual([]);
    if (!('campaignId' in scope)) return;
    const { rows: counted } = await pool.query(
      'SELECT claimed_count, accepted_count, failed_count, unknown_count FROM campaigns WHERE id = $1',
      [scope.campaignId],
    );
    expect(counted).toEqual([{ claimed_count: 0, accepted_count: 1, failed_count: 1, unknown_count: 1 }]);
  },
);

test('what the journal of a killed shard knows is counted once, before and after the shard ends', async () => {
  const { scope, claim, states } = await interrupted('campaign');
  const campaignId = 'campaignId' in scope ? scope.campaignId : '';
  await pool.query('UPDATE campaigns SET claimed_count = 0 WHERE id = $1', [campaignId]);
  await pool.query(
    `INSERT INTO campaign_shards (fencing_token, campaign_id, run, expires_at, claimed_count) VALUES ($1, $2, 1, now(), 4)`,
    [claim, campaignId],
  );
  const counters = async () =>
    (await pool.query('SELECT claimed_count, accepted_count, failed_count FROM campaigns WHERE id = $1', [campaignId]))
      .rows[0];
  await recoverFromJournals();
  expect(await states()).toEqual(['planned', 'claimed', 'accepted', 'failed']);
  expect(await counters()).toEqual({ claimed_count: 0, accepted_count: 0, failed_count: 0 });
  expect(await endShards(campaignId, 'all')).toBe(1);
  expect(await counters()).toEqual({ claimed_count: 1, accepted_count: 1, failed_count: 1 });
  expect(await settleStaleClaims(scope, newClaim())).toBe(1);
  expect(await counters()).toEqual({ claimed_count: 0, accepted_count: 1, failed_count: 1 });
});

test('without its journal, every message of a killed attempt is unknown', async () => {
  const { scope, states } = await interrupted('campaign', { withJournal: false });
  expect(await settleStaleClaims(scope, newClaim())).toBe(4);
  expect(await states()).toEqual(['unknown', 'unknown', 'unknown', 'unknown']);
});

test('a journal from before the database was restored releases nothing', async () => {
  const { scope, claim, states } = await interrupted('campaign', { epochsAgo: 1 });
  await settleStaleClaims(scope, newClaim());
  expect(await states()).toEqual(['unknown', 'unknown', 'unknown', 'unknown']);
  expect(files().filter((name) => name.includes(claim))).toEqual([]);
});

test('a journal never releases a message that a later claim holds', async () => {
  const { scope, ids, unwritten, states } = await interrupted('workflow');
  const later = newClaim();
  await pool.query('UPDATE messages SET claim = $2 WHERE id = $1', [unwritten, later]);
  await settleStaleClaims(scope, later);
  expect(await states()).toEqual(['claimed', 'unknown', 'accepted', 'failed']);
  const { rows } = await pool.query('SELECT claim FROM messages WHERE id = $1', [ids[0]]);
  expect(rows).toEqual([{ claim: later }]);
});

test('a message that a provider reported on is accepted, whatever the journal says', async () => {
  const { scope, unwritten, states } = await interrupted('campaign');
  await pool.query('UPDATE messages SET delivered_at = now() WHERE id = $1', [unwritten]);
  await settleStaleClaims(scope, newClaim());
  expect((await states())[0]).toBe('accepted');
});

test('unwritten messages of a campaign that was canceled are canceled', async () => {
  const { scope, states } = await interrupted('campaign', { status: 'canceled' });
  await settleStaleClaims(scope, newClaim());
  expect(await states()).toEqual(['canceled', 'unknown', 'accepted', 'failed']);
});

test('a worker that starts settles what killed processes left, except messages that may have been sent', async () => {
  const [campaign, workflow] = [await interrupted('campaign'), await interrupted('workflow')];
  await recoverFromJournals();
  for (const { states } of [campaign, workflow])
    expect(await states()).toEqual(['planned', 'claimed', 'accepted', 'failed']);
  expect(files()).toEqual([]);
  await settleStaleClaims(campaign.scope, newClaim());
  expect(await campaign.states()).toEqual(['planned', 'unknown', 'accepted', 'failed']);
});

test.each(['campaign', 'workflow'] as const)(
  'the claims of a %s are released in the database that they were made in',
  async (kind) => {
    const { claim, scope, states, projectId } = await interrupted(kind, { withJournal: false });
    await reserveQueue(projectId);
    const { epoch } = await readInstallation();
    const release = (of = epoch) => releaseClaims({ claim, scope, epoch: of });
    // A database that was restored, or a standby that was promoted, may lack outcomes that had been recorded.
    expect(await release(epoch - 1)).toBe(0);
    const restored = ["held_reason = 'A test.'", "timeline = 'another'", 'number = number - 1'];
    const same = ['held_reason = NULL', 'timeline = current_timeline()', 'number = number + 1'];
    for (const [index, change] of restored.entries()) {
      await pool.query(`UPDATE installation SET ${change}`);
      expect([change, await release()]).toEqual([change, 0]);
      await pool.query(`UPDATE installation SET ${same[index]}`);
    }
    expect(await states()).toEqual(Array(4).fill('claimed'));
    expect(await release()).toBe(4);
    expect(await states()).toEqual(Array(4).fill('planned'));
  },
);

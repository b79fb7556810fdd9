import { addToCampaignCounts, type CampaignCount } from '@postroom/campaigns/sql';
import { suppress } from '@postroom/contacts';
import { elementOf, isIdWithin, rowsById, rowWithId, valueById } from '@postroom/partitions/sql';
import { inTransaction, newId, recordTraced } from '@postroom/platform';
import type pg from 'pg';
import { EMAIL_EVENT_MEMBERS, EMAIL_EVENT_MEMBERS_ALONE, OF_ERASED } from './events.ts';
import { type ClaimKey, scopeColumn } from './claim.ts';
import { ledgerPool } from './ledger-pool.ts';
import { lastNumber } from './reservations.ts';
import type { Claimed, Settlement } from './settlement.ts';
import { countSoftBounces, type MessageAddress } from './soft-bounces.ts';
import { isSameDatabase, REPORTED_AT } from './sql.ts';

/**
 * The row whose counters a claim changes: its campaign, or the shard whose fencing token the claim is. If that shard does not exist, or no
 * longer, it is the campaign.
 */
export type CountedBy = 'campaign' | 'shard';

/**
 * CTEs that add to the counters of campaigns, or of the shard `$1`.
 * @param changes SQL of the number to add from the CTE `counted`, whose rows name a `campaign_id`.
 */
function counters(changes: Partial<Record<CampaignCount, string>>, by: CountedBy): string {
  const toCampaigns = addToCampaignCounts(changes, 'FROM counted n WHERE c.id = n.campaign_id');
  if (by === 'campaign') return `counters AS (${toCampaigns})`;
  const { delivered: _, ...inShard } = changes; // shards have none: see `consequences`
  const assignments = Object.entries(inShard).map(([name, change]) => `${name}_count = ${name}_count + ${change}`);
  return `in_shard AS (
    UPDATE campaign_shards s SET ${assignments.join(', ')} FROM counted n WHERE s.fencing_token = $1 RETURNING s.campaign_id
  ), counters AS (${toCampaigns} AND NOT EXISTS (SELECT FROM in_shard))`;
}

/**
 * CTEs that record the events and update the counters for changed ledger rows. They follow a CTE `settled` that
 * returns those rows with their previous state as `before` and an `event_id`. Locks are taken on messages first, then
 * shards and campaigns. An `unknown` row may be resolved later, so counters follow every state change. No provider reports deliveries
 * for a mailbox account, so acceptance counts as delivery (spec: connected mailbox-provider accounts); mailboxes have no shards.
 */
const consequences = (by: CountedBy): string => `
  emitted AS (
    ${recordTraced(`SELECT m.event_id, m.project_id, CASE m.state WHEN 'accepted' THEN 'email.sent' ELSE 'email.failed' END,
      CASE m.state WHEN 'accepted' THEN json_build_object(${EMAIL_EVENT_MEMBERS})
        ELSE json_build_object(${EMAIL_EVENT_MEMBERS}, 'reason', m.answer) END, m.traceparent
    FROM settled m LEFT JOIN campaigns c ON c.id = m.campaign_id
    WHERE m.state IN ('accepted', 'failed') AND m.before IN ('claimed', 'unknown', 'planned')
    UNION ALL
    SELECT postroom_id('evt'), m.project_id, 'email.delivered', json_build_object(${EMAIL_EVENT_MEMBERS}), m.traceparent
    FROM settled m LEFT JOIN campaigns c ON c.id = m.campaign_id
    WHERE m.mailbox_id IS NOT NULL AND m.state = 'accepted' AND m.before IN ('claimed', 'unknown', 'planned')`)}
  ), counted AS (
    SELECT campaign_id, ${['claimed', 'accepted', 'failed', 'suppressed', 'unknown', 'canceled']
      .map(
        (state) =>
          `count(*) FILTER (WHERE state = '${state}') - count(*) FILTER (WHERE before = '${state}') AS ${state}`,
      )
      .join(', ')},
      count(*) FILTER (WHERE mailbox_id IS NOT NULL AND state = 'accepted') AS delivered
    FROM settled WHERE campaign_id IS NOT NULL GROUP BY campaign_id
  ), ${counters(
    {
      claimed: 'n.claimed',
      accepted: 'n.accepted',
      failed: 'n.failed',
      suppressed: 'n.suppressed',
      unknown: 'n.unknown',
      canceled: 'n.canceled',
      delivered: 'n.delivered',
    },
    by,
  )}`;

export const CONSEQUENCES = consequences('campaign');

/** A value of the outcome of the message `m`. */
const outcome = (column: string, type = 'text') => valueById('outcome_by_id', 'm.id')(column, type);

/** Not after a report, which may be recorded before the server's reply. */
const ACCEPTED_AT = `least(now(), ${REPORTED_AT})`;

/**
 * Records any outcome. A row that would be retried ends as canceled or failed if its campaign is no longer active. Rows and
 * campaigns are found by primary key (`ledgerPool` allows no other plan).
 */
const settleSql = (by: CountedBy): string => `
  WITH outcome AS (
    SELECT m.id, m.state AS before, o.answer, o.wait_ms, o.deferred, o.subject, o.event_id,
      CASE WHEN o.state <> 'planned' OR c.id IS NULL OR c.status IN ('sending', 'paused') THEN o.state
        WHEN c.status = 'canceled' THEN 'canceled' ELSE 'failed' END AS state
    FROM (
      SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::int[], $6::bool[], $7::text[], $8::text[])
        AS o(id, state, answer, wait_ms, deferred, subject, event_id) ORDER BY id
    ) o
    CROSS JOIN LATERAL ${rowWithId(
      'messages',
      'm',
      'o.id',
      `AND ${isIdWithin('m.id', '$10', '$11')}
        AND m.claim = $1 AND (m.state IN ('claimed', 'unknown') OR m.state = 'planned' AND o.state = 'accepted')
        FOR NO KEY UPDATE`,
    )} m
    LEFT JOIN campaigns c ON c.id = m.campaign_id
  ), outcome_by_id AS (
    ${rowsById('outcome')}
  ), settled AS (
    UPDATE messages m SET state = ${outcome('state', 'message_state')},
      answer = CASE WHEN ${OF_ERASED} THEN substring(${outcome('answer')} FROM '^(?:[0-9]{3})?') ELSE coalesce(${outcome('answer')}, m.answer) END,
      subject = CASE WHEN ${OF_ERASED} THEN m.subject ELSE coalesce(${outcome('subject')}, m.subject) END,
      accepted_at = CASE WHEN ${outcome('state')} = 'accepted' THEN ${ACCEPTED_AT} END,
      delivered_at = CASE WHEN ${outcome('state')} = 'accepted' AND m.mailbox_id IS NOT NULL THEN now() ELSE m.delivered_at END,
      unsent_at = CASE WHEN ${outcome('state')} NOT IN ('accepted', 'planned') THEN now() END,
      not_before = CASE WHEN ${outcome('state')} = 'planned' THEN now() + ${outcome('wait_ms', 'int')} * interval '1 ms' END,
      deferrals = m.deferrals + ${outcome('deferred', 'bool')}::int,
      deferred_at = CASE WHEN ${outcome('deferred', 'bool')} THEN coalesce(m.deferred_at, now()) ELSE m.deferred_at END,
      workflow_id = CASE WHEN ${outcome('state')} = 'planned' THEN m.workflow_id END,
      -- A row marked unknown lost its workflow. If its claim is released after all, the dispatcher must pick it up again.
      dispatched_at = CASE WHEN ${outcome('state')} = 'planned' AND m.workflow_id IS NULL THEN NULL ELSE m.dispatched_at END
    WHERE m.id = ANY (ARRAY(SELECT id FROM outcome)) AND ${isIdWithin('m.id', '$10', '$11')}
    RETURNING m.*, ${outcome('before')} AS before, ${outcome('event_id')} AS event_id
  ), ${consequences(by)}
  SELECT CASE WHEN $9 <> '' THEN pg_notify('postroom', $9)::text END, (SELECT count(*)::int FROM settled) AS settled`;

/**
 * The fast path for the common case: a claimed message that the server accepted. It finds and updates a row in one step
 * and reads nothing else, where `SETTLE` locks it first. The ids in `$2` are sorted. It skips rows marked unknown, of erased contacts or of mailbox
 * accounts; `SETTLE` handles those.
 */
const settleAcceptedSql = (by: CountedBy): string => `
  WITH settled AS (
    UPDATE messages m SET state = 'accepted', answer = coalesce(${elementOf('$3::text[]', '$2::text[]', 'm.id')}, m.answer), subject = coalesce(${elementOf('$4::text[]', '$2::text[]', 'm.id')}, m.subject),
      accepted_at = ${ACCEPTED_AT}, unsent_at = NULL, not_before = NULL, workflow_id = NULL
    WHERE m.id = ANY ($2::text[]) AND ${isIdWithin('m.id', '$7', '$8')} AND m.claim = $1 AND m.state = 'claimed' AND m.mailbox_id IS NULL AND NOT (${OF_ERASED})
    RETURNING m.project_id, m.campaign_id, ${elementOf('$5::text[]', '$2::text[]', 'm.id')} AS event_id, json_build_object(${EMAIL_EVENT_MEMBERS_ALONE}) AS data, m.traceparent
  ), emitted AS (
    ${recordTraced(`SELECT event_id, project_id, 'email.sent', data, traceparent FROM settled`)}
  ), counted AS (
    SELECT campaign_id, count(*) AS accepted FROM settled WHERE campaign_id IS NOT NULL GROUP BY campaign_id ORDER BY campaign_id
  ), ${counters({ claimed: '-n.accepted', accepted: 'n.accepted' }, by)}
  SELECT CASE WHEN $6 <> '' THEN pg_notify('postroom', $6)::text END, (SELECT count(*)::int FROM settled) AS settled`;

const SETTLE = {
  campaign: { name: 'ledger-settle', text: settleSql('campaign') },
  shard: { name: 'ledger-settle-shard', text: settleSql('shard') },
};
const SETTLE_ACCEPTED = {
  campaign: { name: 'ledger-settle-accepted', text: settleAcceptedSql('campaign') },
  shard: { name: 'ledger-settle-accepted-shard', text: settleAcceptedSql('shard') },
};

/**
 * Records outcomes of the messages that `claim` holds: states, events and campaign counters, all in one statement per
 * message. Rows that another attempt marked unknown are updated too, unless a user has resolved them. A message that was
 * requeued meanwhile is not sent again if the first attempt turns out to have been accepted. Idempotent.
 * @param notice payload of the notification for subscribers; none is sent if empty.
 * @returns the number of rows changed.
 */
export async function settle(
  claim: string,
  settlements: readonly Settlement[],
  notice = '',
  by: CountedBy = 'campaign',
): Promise<number> {
  const accepted = settlements.filter(({ state }) => state === 'accepted');
  const others = settlements.filter(({ state }) => state !== 'accepted');
  let settled = 0;
  if (accepted.length > 0) {
    settled = await settleAccepted(claim, accepted, notice, by);
    if (settled < accepted.length) others.push(...accepted);
  }
  return others.length === 0 ? settled : settled + (await settleAny(claim, others, notice, by));
}

/** All writers lock rows in the order of their ids, which avoids deadlocks. The statements need sorted ids, too. */
const inOrder = (settlements: readonly Settlement[]) => settlements.toSorted((a, b) => (a.id < b.id ? -1 : 1));

async function settleAccepted(
  claim: string,
  unsorted: readonly Settlement[],
  notice: string,
  by: CountedBy,
): Promise<number> {
  const accepted = inOrder(unsorted);
  const ids = accepted.map(({ id }) => id);
  return settledCount(
    await ledgerPool.query<{ settled: number }>({
      ...SETTLE_ACCEPTED[by],
      values: [
        claim,
        ids,
        accepted.map(({ answer }) => answer),
        accepted.map(({ subject }) => subject ?? null),
        accepted.map(() => newId('evt')),
        notice,
        ids[0],
        ids.at(-1),
      ],
    }),
  );
}

async function settleAny(
  claim: string,
  unsorted: readonly Settlement[],
  notice: string,
  by: CountedBy,
): Promise<number> {
  const settlements = inOrder(unsorted);
  const ids = settlements.map(({ id }) => id);
  const statement = {
    ...SETTLE[by],
    values: [
      claim,
      ids,
      settlements.map(({ state }) => state),
      settlements.map(({ answer }) => answer),
      settlements.map(({ waitMs }) => Math.round(waitMs ?? 0)),
      settlements.map(({ deferred }) => deferred ?? false),
      settlements.map(({ subject }) => subject ?? null),
      settlements.map(() => newId('evt')),
      notice,
      ids[0],
      ids.at(-1),
    ],
  };
  const bounced = settlements.filter(({ hardBounce, softBounce }) => hardBounce === true || softBounce === true);
  if (bounced.length === 0) return settledCount(await ledgerPool.query<{ settled: number }>(statement));
  return inLedgerTransaction(async (client) => {
    const settled = settledCount(await client.query<{ settled: number }>(statement));
    // A repeated call changes no row, and its bounces have already been counted.
    if (settled > 0) await suppressBounced(client, bounced);
    return settled;
  });
}

/** The number of rows that a settling statement changed. */
export const settledCount = ({ rows }: pg.QueryResult<{ settled: number }>) => rows[0]?.settled ?? 0;

async function suppressBounced(client: pg.ClientBase, bounced: readonly Settlement[]): Promise<void> {
  const { rows } = await client.query<MessageAddress>(
    `SELECT id AS "messageId", project_id AS "projectId", email FROM messages WHERE id = ANY ($1) AND state = 'failed'`,
    [bounced.map(({ id }) => id)],
  );
  const soft = new Set(bounced.filter(({ hardBounce }) => hardBounce !== true).map(({ id }) => id));
  const tooMany = await countSoftBounces(
    client,
    rows.filter(({ messageId }) => soft.has(messageId)),
  );
  const hard = rows.filter(({ messageId }) => !soft.has(messageId));
  await suppressAll(
    client,
    [...hard, ...tooMany].map(({ projectId, email }) => ({ projectId, email, reason: 'bounced' })),
  );
}

/** Suppresses addresses of several projects, in a fixed order so that concurrent transactions cannot deadlock. */
export async function suppressAll(
  client: pg.ClientBase,
  entries: readonly { projectId: string; email: string; reason: 'bounced' | 'complained' }[],
): Promise<void> {
  const byProject = Map.groupBy(entries, ({ projectId }) => projectId);
  for (const projectId of [...byProject.keys()].sort())
    await suppress(client, projectId, byProject.get(projectId) ?? [], { origin: 'report' });
}

/**
 * Releases rows that were claimed but certainly not sent, such as after the connection broke between the commit of a claim
 * and its reply. In a database that was restored meanwhile, or a standby that was promoted, rows may lack an outcome that had been
 * recorded, so they stay claimed. `settlementOf` chooses the outcome of each row; by default it is retried.
 * @returns the number of rows released.
 */
export async function releaseClaims(
  { claim, scope, epoch }: ClaimKey,
  settlementOf: (row: Claimed) => Settlement = ({ id }) => ({ id, state: 'planned', answer: null }),
): Promise<number> {
  const [column, value] = scopeColumn(scope);
  const { rows } = await ledgerPool.query<Claimed>(
    `SELECT id, deferrals, deferred_at AS "deferredAt" FROM messages WHERE ${column} = $1 AND state = 'claimed' AND claim = $2
       AND ${isSameDatabase('$3', '$4')}`,
    [value, claim, epoch, lastNumber()],
  );
  return rows.length === 0 ? 0 : settle(claim, rows.map(settlementOf), '', 'shard');
}

/** Runs `work` in one transaction on a connection of `ledgerPool`; an error rolls it back. */
export const inLedgerTransaction = <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
  inTransaction(work, ledgerPool);

import { addToCampaignCounts } from '@postroom/campaigns/sql';
import { isIdWithin } from '@postroom/partitions/sql';
import { config, logger, NOW } from '@postroom/platform';
import { ledgerPool } from './ledger-pool.ts';
import { messageIdsOf } from './message-table.ts';
import { MAIL_POLICY } from './policy.ts';
import type { CampaignReservations } from './reservations.ts';
import { IS_UNLIMITED, MAKE_DUE } from './sql.ts';
import { settleStaleClaims } from './stale-claims.ts';

const { leaseMs, minCores, minLeft, minRange, renewMs } = MAIL_POLICY.shard;

const EXPIRES_AT = `now() + interval '${leaseMs} ms'`;

const WHICH = { expired: 'expires_at < now()', all: 'true' };

/** What a shard counts, each in the column `<name>_count`. */
const COUNTS = ['claimed', 'accepted', 'failed', 'suppressed', 'unknown', 'canceled'] as const;

/** Measures how many cores this process uses from now on: its CPU time per time. */
export function measureCores(): () => number {
  const [before, beganAt] = [process.cpuUsage(), performance.now()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000 / (performance.now() - beganAt);
  };
}

/**
 * Whether a campaign is worth sending in several workers. One with a rate limit is not: a single worker can keep the limit. Of one whose
 * messages wait for local times, those count that are due, too.
 * @param cores how many the worker has used that sent it until now.
 */
export async function isWorthSharding(campaignId: string, cores: number): Promise<boolean> {
  const { CAMPAIGN_SHARDS: mode } = config;
  if (mode === 'never' || (mode === 'auto' && cores < minCores)) return false;
  const { rows } = await ledgerPool.query<{ worth: boolean }>(
    `SELECT EXISTS (SELECT FROM messages m WHERE m.campaign_id = c.id AND m.id > c.cursor ORDER BY m.id OFFSET $2 LIMIT 1)
       OR c.time_zone_field IS NOT NULL AND EXISTS (
         SELECT FROM messages m WHERE m.campaign_id = c.id AND m.not_before <= ${NOW} ORDER BY m.not_before OFFSET $2 LIMIT 1) AS worth
     FROM campaigns c WHERE c.id = $1 AND c.status = 'sending' AND ${IS_UNLIMITED}`,
    [campaignId, minLeft],
  );
  return rows[0]?.worth ?? false;
}

/**
 * Opens a shard of a campaign that has no messages yet.
 * @param token the claim that its messages will have.
 * @returns false if the campaign is not sending, or in another run.
 */
export async function openShard({ id, run }: { id: string; run: number }, token: string): Promise<boolean> {
  const { rowCount } = await ledgerPool.query(
    `INSERT INTO campaign_shards (fencing_token, campaign_id, run, expires_at)
     SELECT $1, id, run, ${EXPIRES_AT} FROM campaigns WHERE id = $2 AND run = $3 AND status = 'sending'`,
    [token, id, run],
  );
  return rowCount === 1;
}

/** The shards of a campaign: how many there are, and how many have open messages, as far as they know. */
export async function countShards(campaignId: string): Promise<{ all: number; busy: number }> {
  const { rows } = await ledgerPool.query<{ all: number; busy: number }>(
    `SELECT count(*)::int AS all, count(*) FILTER (WHERE cursor < until OR claimed_count > 0)::int AS busy
     FROM campaign_shards WHERE campaign_id = $1`,
    [campaignId],
  );
  return rows[0] ?? { all: 0, busy: 0 };
}

/** Whether shards of a campaign have expired whose messages the holder of the campaign's fencing token may take over. */
export async function hasExpiredShards(campaignId: string, fencingToken: string): Promise<boolean> {
  const { rows } = await ledgerPool.query(
    `SELECT FROM campaigns c WHERE c.id = $1 AND c.fencing_token = $2
       AND EXISTS (SELECT FROM campaign_shards s WHERE s.campaign_id = c.id AND s.${WHICH.expired})`,
    [campaignId, fencingToken],
  );
  return rows.length > 0;
}

const BEHIND_CURSOR = `m.campaign_id = campaign.id AND (m.campaign_id, m.id) > (campaign.id, campaign.cursor) AND ${isIdWithin('m.id', '$3', '$4')}`;

/** What is left of a campaign behind its cursor is shared evenly, once it is less than two ranges. Locks are taken in the order of all statements. */
const EXTEND = `
  WITH shard AS (
    SELECT campaign_id, run FROM campaign_shards WHERE fencing_token = $1 AND cursor >= until FOR NO KEY UPDATE
  ), campaign AS (
    SELECT c.id, c.cursor FROM shard JOIN campaigns c ON c.id = shard.campaign_id
    WHERE c.run = shard.run AND c.status = 'sending' FOR NO KEY UPDATE OF c
  ), size AS (
    SELECT least(l.messages, greatest(${minRange}, least($2::int, l.messages / 2))) AS messages FROM (
      SELECT count(*)::int AS messages FROM (
        SELECT m.id FROM campaign CROSS JOIN LATERAL (
          SELECT m.id FROM messages m WHERE ${BEHIND_CURSOR} ORDER BY m.id LIMIT 2 * $2::int
        ) AS m
      ) AS ahead
    ) AS l
  ), range AS (
    SELECT campaign.id AS campaign_id, campaign.cursor AS after, last.id AS until FROM campaign CROSS JOIN LATERAL (
      SELECT m.id FROM messages m WHERE ${BEHIND_CURSOR}
      ORDER BY m.id OFFSET greatest(0, (SELECT messages FROM size) - 1) LIMIT 1
    ) AS last
  ), moved AS (
    ${addToCampaignCounts({}, 'FROM range WHERE c.id = range.campaign_id', { cursor: 'range.until' })}
  ), extended AS (
    UPDATE campaign_shards s SET cursor = range.after, until = range.until FROM range WHERE s.fencing_token = $1
  )
  SELECT (SELECT until FROM range) AS until, cursor AS after FROM campaign`;

/**
 * Moves the next messages of a campaign, up to `messages`, from the campaign's cursor to a shard that has none left.
 * @returns the last of them, which is null if none is left, and the message before them; undefined if the shard has ended, or the campaign is not sending.
 */
export async function extendShard(
  campaignId: string,
  token: string,
  messages: number,
): Promise<{ until: string | null; after: string } | undefined> {
  const { lowest, highest } = await messageIdsOf(campaignId);
  const { rows } = await ledgerPool.query<{ until: string | null; after: string }>({
    name: 'ledger-extend-shard',
    text: EXTEND,
    values: [token, messages, lowest, highest],
  });
  return rows[0];
}

const sumsOf = (of: string, counts: readonly string[] = COUNTS) =>
  Object.fromEntries(counts.map((name) => [name, `${of}.${name}_count`]));

/**
 * The counters that a renewal adds to the campaign. Claimed messages stay with their shard until it ends, because the run of the campaign
 * settles all claims that the campaign itself counts before it claims more.
 */
const RENEWED = COUNTS.filter((name) => name !== 'claimed');

const RENEW = `
  WITH shard AS (
    SELECT * FROM campaign_shards WHERE fencing_token = $1 FOR NO KEY UPDATE
  ), renewed AS (
    UPDATE campaign_shards s SET expires_at = ${EXPIRES_AT}, ${RENEWED.map((name) => `${name}_count = 0`).join(', ')}
    FROM shard WHERE s.fencing_token = shard.fencing_token
  ), counters AS (
    ${addToCampaignCounts(sumsOf('shard', RENEWED), `FROM shard WHERE c.id = shard.campaign_id AND (${RENEWED.map((name) => `shard.${name}_count <> 0`).join(' OR ')})`)}
  )
  SELECT pg_notify('postroom', 'campaign ' || campaign_id) FROM shard`;

/** Keeps a shard for some seconds more, and adds its counters to those of its campaign. */
export async function renewShard(token: string): Promise<void> {
  await ledgerPool.query({ name: 'ledger-renew-shard', text: RENEW, values: [token] });
}

/** @param which SQL of the shards to end. */
const END = (which: string) => `
  WITH ended AS (
    DELETE FROM campaign_shards WHERE campaign_id = $1 AND ${which} RETURNING *
  ), campaign AS (
    SELECT id FROM campaigns WHERE id = $1 AND EXISTS (SELECT FROM ended) FOR NO KEY UPDATE
  ), returned AS (
    ${MAKE_DUE} FROM campaign, ended
    WHERE m.campaign_id = campaign.id AND (m.campaign_id, m.id) > (campaign.id, ended.cursor)
      AND (m.campaign_id, m.id) <= (campaign.id, ended.until) AND ${isIdWithin('m.id', '$2', '$3')} AND m.state = 'planned' AND m.not_before IS NULL
  ), counters AS (
    ${addToCampaignCounts(
      sumsOf('n'),
      `FROM campaign, (SELECT ${COUNTS.map((name) => `sum(${name}_count)::int AS ${name}_count`).join(', ')} FROM ended) AS n WHERE c.id = campaign.id`,
    )}
  )
  SELECT count(*)::int AS ended FROM ended`;

/**
 * Ends shards of a campaign, or one of them: from here on nothing can be claimed by their tokens. Adds their counters to those of the
 * campaign, whose run claims the rest of their messages next.
 * @returns their number.
 */
export async function endShards(
  campaignId: string,
  which: keyof typeof WHICH | { token: string },
  client: Pick<typeof ledgerPool, 'query'> = ledgerPool,
): Promise<number> {
  const { lowest, highest } = await messageIdsOf(campaignId);
  const values = [campaignId, lowest, highest];
  const { rows } =
    typeof which === 'string'
      ? await client.query<{ ended: number }>(END(WHICH[which]), values)
      : await client.query<{ ended: number }>(END('fencing_token = $4'), [...values, which.token]);
  return rows[0]?.ended ?? 0;
}

/**
 * Ends shards whose process has died, while the campaign is being sent: its run claims the rest of their messages next.
 * @returns how to stop it.
 */
export function takeOverShards(
  campaignId: string,
  claim: string,
  reservations: CampaignReservations,
): () => Promise<void> {
  let last = Promise.resolve();
  const takeOver = async () => {
    if (!(await hasExpiredShards(campaignId, claim))) return;
    await reservations.extend(); // the last range may not be reserved yet
    if ((await endShards(campaignId, 'expired')) > 0) await settleStaleClaims({ campaignId }, claim);
  };
  const warn = (error: unknown) => logger.warn({ err: error }, 'shards not taken over; will retry');
  const timer = setInterval(() => void (last = last.then(takeOver).catch(warn)), renewMs);
  return () => {
    clearInterval(timer);
    return last;
  };
}

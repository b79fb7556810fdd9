import { isIdWithin } from '@postroom/partitions/sql';
import type pg from 'pg';
import { CONSEQUENCES } from './ledger.ts';
import { messageIdsOf } from './message-table.ts';

/** Messages of a campaign to requeue or resolve: all in the given state (`ids` null), or only those listed. */
export interface MessageSelection {
  campaignId: string;
  ids: readonly string[] | null;
  /** Only messages with a later id; all if empty. */
  after: string;
}

/** The most messages that are changed in a transaction. */
const PAGE = 5_000;

/** A page of messages that were changed. */
export interface ChangedPage {
  count: number;
  /** The last one, if there may be others; null if there are none. */
  last: string | null;
}

/** A message with any report has reached a server, whatever its state says, so it is never sent again. */
const UNREPORTED = `coalesce(m.delivered_at, m.bounced_at, m.complained_at, m.rejected_at, m.opened_at, m.clicked_at,
  m.unsubscribed_at) IS NULL`;

const SELECTED = `
  selected AS (
    SELECT m.id FROM messages m
    WHERE m.campaign_id = $1 AND ${isIdWithin('m.id', '$4', '$5')} AND m.unsent_at IS NOT NULL AND m.state = $2::message_state
      AND ($3::text[] IS NULL OR m.id = ANY ($3)) AND ${UNREPORTED} AND m.id > $6
    ORDER BY m.id LIMIT ${PAGE} FOR NO KEY UPDATE
  )`;
const IS_SELECTED = `m.id = ANY (ARRAY(SELECT id FROM selected)) AND ${isIdWithin('m.id', '$4', '$5')}`;

const REQUEUE = `
  WITH ${SELECTED}, settled AS (
    UPDATE messages m SET state = 'planned', not_before = now(), unsent_at = NULL, deferrals = 0, deferred_at = NULL
    WHERE ${IS_SELECTED} RETURNING m.*, $2::message_state AS before, NULL::text AS event_id
  ), ${CONSEQUENCES}
  SELECT count(*)::int AS count, CASE WHEN count(*) = ${PAGE} THEN max(id) END AS last FROM settled`;

/**
 * Requeues a page of failed or unknown messages of a campaign in the caller's transaction. Of two concurrent calls, the second finds
 * none left. The claim stays in the row, so that a late outcome of the first attempt is still recorded.
 */
export async function requeuePage(
  client: pg.ClientBase,
  { campaignId, ids, after }: MessageSelection,
  state: 'failed' | 'unknown',
): Promise<ChangedPage> {
  const { lowest, highest } = await messageIdsOf(campaignId);
  const values = [campaignId, state, ids, lowest, highest, after];
  return (await client.query<ChangedPage>(REQUEUE, values)).rows[0] as ChangedPage;
}

const RESOLVE = `
  WITH ${SELECTED}, settled AS (
    UPDATE messages m SET state = $7::message_state, answer = $8,
      accepted_at = CASE WHEN $7 = 'accepted' THEN coalesce(m.claimed_at, now()) END,
      delivered_at = CASE WHEN $7 = 'accepted' AND m.mailbox_id IS NOT NULL THEN coalesce(m.claimed_at, now()) ELSE m.delivered_at END,
      unsent_at = CASE WHEN $7 = 'accepted' THEN NULL ELSE m.unsent_at END
    WHERE ${IS_SELECTED} RETURNING m.*, $2::message_state AS before, postroom_id('evt') AS event_id
  ), ${CONSEQUENCES}
  SELECT count(*)::int AS count, CASE WHEN count(*) = ${PAGE} THEN max(id) END AS last FROM settled`;

/** Resolves a page of unknown messages of a campaign to the given outcome, with events and counters, in the caller's transaction. */
export async function resolvePage(
  client: pg.ClientBase,
  { campaignId, ids, after }: MessageSelection,
  outcome: 'accepted' | 'failed',
): Promise<ChangedPage> {
  const answer = outcome === 'accepted' ? 'Manually resolved as accepted.' : 'Manually resolved as not accepted.';
  const { lowest, highest } = await messageIdsOf(campaignId);
  const values = [campaignId, 'unknown', ids, lowest, highest, after, outcome, answer];
  return (await client.query<ChangedPage>(RESOLVE, values)).rows[0] as ChangedPage;
}

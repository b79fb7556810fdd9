import { isIdWithin } from '@postroom/partitions/sql';
import type pg from 'pg';
import { CONSEQUENCES } from './ledger.ts';
import { messageIdsOf } from './message-table.ts';

/** Messages of a campaign to requeue or resolve: all in the given state (`ids` null), or only those listed. */
export interface MessageSelection {
  campaignId: string;
  ids: readonly string[] | null;
}

/** A message with any report has reached a server, whatever its state says, so it is never sent again. */
const UNREPORTED = `coalesce(m.delivered_at, m.bounced_at, m.complained_at, m.rejected_at, m.opened_at, m.clicked_at,
  m.unsubscribed_at) IS NULL`;

const SELECTED = `
  selected AS (
    SELECT m.id FROM messages m
    WHERE m.campaign_id = $1 AND ${isIdWithin('m.id', '$4', '$5')} AND m.unsent_at IS NOT NULL AND m.state = $2::message_state
      AND ($3::text[] IS NULL OR m.id = ANY ($3)) AND ${UNREPORTED}
    ORDER BY m.id FOR NO KEY UPDATE
  )`;
const IS_SELECTED = `m.id = ANY (ARRAY(SELECT id FROM selected)) AND ${isIdWithin('m.id', '$4', '$5')}`;

const REQUEUE = `
  WITH ${SELECTED}, settled AS (
    UPDATE messages m SET state = 'planned', not_before = now(), unsent_at = NULL, deferrals = 0, deferred_at = NULL
    WHERE ${IS_SELECTED} RETURNING m.*, $2::message_state AS before, NULL::text AS event_id
  ), ${CONSEQUENCES}
  SELECT count(*)::int AS changed FROM settled`;

/**
 * Requeues failed or unknown messages of a campaign in the caller's transaction. Of two concurrent calls, the second finds
 * none left. The claim stays in the row, so that a late outcome of the first attempt is still recorded.
 * @returns the number of messages requeued.
 */
export async function requeue(
  client: pg.ClientBase,
  { campaignId, ids }: MessageSelection,
  state: 'failed' | 'unknown',
): Promise<number> {
  const { lowest, highest } = await messageIdsOf(campaignId);
  const { rows } = await client.query<{ changed: number }>(REQUEUE, [campaignId, state, ids, lowest, highest]);
  return rows[0]?.changed ?? 0;
}

const RESOLVE = `
  WITH ${SELECTED}, settled AS (
    UPDATE messages m SET state = $6::message_state, answer = $7,
      accepted_at = CASE WHEN $6 = 'accepted' THEN coalesce(m.claimed_at, now()) END,
      delivered_at = CASE WHEN $6 = 'accepted' AND m.mailbox_id IS NOT NULL THEN coalesce(m.claimed_at, now()) ELSE m.delivered_at END,
      unsent_at = CASE WHEN $6 = 'accepted' THEN NULL ELSE m.unsent_at END
    WHERE ${IS_SELECTED} RETURNING m.*, $2::message_state AS before, postroom_id('evt') AS event_id
  ), ${CONSEQUENCES}
  SELECT count(*)::int AS changed FROM settled`;

/**
 * Resolves unknown messages of a campaign to the given outcome, with events and counters, in the caller's transaction.
 * @returns the number of messages resolved.
 */
export async function resolveUnknown(
  client: pg.ClientBase,
  { campaignId, ids }: MessageSelection,
  outcome: 'accepted' | 'failed',
): Promise<number> {
  const answer = outcome === 'accepted' ? 'Manually resolved as accepted.' : 'Manually resolved as not accepted.';
  const { lowest, highest } = await messageIdsOf(campaignId);
  const { rows } = await client.query<{ changed: number }>(RESOLVE, [
    campaignId,
    'unknown',
    ids,
    lowest,
    highest,
    outcome,
    answer,
  ]);
  return rows[0]?.changed ?? 0;
}

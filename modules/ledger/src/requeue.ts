import type pg from 'pg';
import { CONSEQUENCES } from './ledger.ts';

/** Messages of a campaign that a person decides about: all that are in a state, or those of them that are named. */
export interface MessageSelection {
  campaignId: string;
  ids: readonly string[] | null;
}

/** Whatever has been reported on has reached a server, whatever its state says: it is never sent again. */
const UNREPORTED = `coalesce(m.delivered_at, m.bounced_at, m.complained_at, m.rejected_at, m.opened_at, m.clicked_at,
  m.unsubscribed_at) IS NULL`;

const CHOSEN = `
  chosen AS (
    SELECT m.id, m.state AS before FROM messages m
    WHERE m.campaign_id = $1 AND m.unsent_at IS NOT NULL AND m.state = $2::message_state
      AND ($3::text[] IS NULL OR m.id = ANY ($3)) AND ${UNREPORTED}
    ORDER BY m.id FOR NO KEY UPDATE
  )`;

const PLAN_AGAIN = `
  WITH ${CHOSEN}, settled AS (
    UPDATE messages m SET state = 'planned', not_before = now(), unsent_at = NULL, deferrals = 0, deferred_at = NULL
    FROM chosen WHERE m.id = chosen.id RETURNING m.*, chosen.before, NULL::text AS event_id
  ), ${CONSEQUENCES}
  SELECT count(*)::int AS changed FROM settled`;

/**
 * Makes messages of a campaign that failed, or whose outcome is unknown, go again, in the caller's transaction. Of two who
 * do it at once, the second finds nothing left. The claim stays in the row, so that late word of the first time is heard.
 * @returns how many there were.
 */
export async function requeue(
  client: pg.ClientBase,
  { campaignId, ids }: MessageSelection,
  state: 'failed' | 'unknown',
): Promise<number> {
  const { rows } = await client.query<{ changed: number }>(PLAN_AGAIN, [campaignId, state, ids]);
  return rows[0]?.changed ?? 0;
}

const RESOLVE = `
  WITH ${CHOSEN}, settled AS (
    UPDATE messages m SET state = $4::message_state, answer = $5,
      accepted_at = CASE WHEN $4 = 'accepted' THEN coalesce(m.claimed_at, now()) END,
      delivered_at = CASE WHEN $4 = 'accepted' AND m.mailbox_id IS NOT NULL THEN coalesce(m.claimed_at, now()) ELSE m.delivered_at END,
      unsent_at = CASE WHEN $4 = 'accepted' THEN NULL ELSE m.unsent_at END
    FROM chosen WHERE m.id = chosen.id RETURNING m.*, chosen.before, postroom_id('evt') AS event_id
  ), ${CONSEQUENCES}
  SELECT count(*)::int AS changed FROM settled`;

/**
 * Closes messages of a campaign whose outcome is unknown as a person says, with their events and counters, in the caller's
 * transaction.
 * @returns how many there were.
 */
export async function resolveUnknown(
  client: pg.ClientBase,
  { campaignId, ids }: MessageSelection,
  outcome: 'accepted' | 'failed',
): Promise<number> {
  const answer =
    outcome === 'accepted' ? 'Resolved by hand: it was accepted.' : 'Resolved by hand: it was not accepted.';
  const { rows } = await client.query<{ changed: number }>(RESOLVE, [campaignId, 'unknown', ids, outcome, answer]);
  return rows[0]?.changed ?? 0;
}

import { ledgerPool } from '@postroom/ledger';
import { pool } from '@postroom/platform';

/** The columns of a campaign that a send run reads. */
export interface CampaignRow {
  id: string;
  project_id: string;
  name: string;
  status: 'draft' | 'scheduled' | 'sending' | 'paused' | 'completed' | 'canceled';
  subject: string | null;
  from_name: string | null;
  from_email: string | null;
  reply_to: string | null;
  preview_text: string | null;
  utm_source: string | null;
  utm_medium: string | null;
  utm_campaign: string | null;
  utm_term: string | null;
  utm_content: string | null;
  html: string | null;
  text: string | null;
  track_opens: boolean | null;
  track_clicks: boolean | null;
  pause_reason: string | null;
  /** Set if its messages go at a local time in the time zones of their recipients. */
  time_zone_field: string | null;
  /** When the snapshot of its recipients was taken. */
  frozen_at: Date | null;
  run: number;
  refusals_in_row: number;
  recipient_count: number;
  claimed_count: number;
  accepted_count: number;
  failed_count: number;
  suppressed_count: number;
  unknown_count: number;
  canceled_count: number;
}

/** Recipients by state, from the campaign's counters. */
export interface Counts {
  recipients: number;
  planned: number;
  claimed: number;
  accepted: number;
  failed: number;
  suppressed: number;
  unknown: number;
  canceled: number;
}

export function countsOf(row: CampaignRow): Counts {
  const counts = {
    recipients: row.recipient_count,
    claimed: row.claimed_count,
    accepted: row.accepted_count,
    failed: row.failed_count,
    suppressed: row.suppressed_count,
    unknown: row.unknown_count,
    canceled: row.canceled_count,
  };
  const { recipients, ...states } = counts;
  return { ...counts, planned: recipients - Object.values(states).reduce((sum, count) => sum + count, 0) };
}

/** The campaign's current row; undefined if it has been deleted. */
export async function readCampaignRow(id: string): Promise<CampaignRow | undefined> {
  const { rows } = await pool.query<CampaignRow>('SELECT * FROM campaigns WHERE id = $1', [id]);
  return rows[0];
}

/**
 * Makes `claim` the fencing token of a campaign: from here on, only its holder may claim messages. An attempt that Temporal has
 * timed out may still be alive, and this fences it off.
 * @returns undefined if the campaign is not sending, or `run` is not its current run.
 */
export async function acquireFence(campaignId: string, run: number, claim: string): Promise<CampaignRow | undefined> {
  const { rows } = await ledgerPool.query<CampaignRow>(
    `UPDATE campaigns SET fencing_token = $3, waiting_until = NULL, waiting_reason = NULL WHERE id = $1 AND run = $2 AND status = 'sending' RETURNING *`,
    [campaignId, run, claim],
  );
  return rows[0];
}

/** Records on a campaign, while it is being sent, why it waits. @param until when it goes on, if that is known */
export async function setWaiting(campaignId: string, until: Date | null, reason: string | null): Promise<void> {
  await pool.query(
    `WITH waits AS (
       UPDATE campaigns SET waiting_until = $2, waiting_reason = $3 WHERE id = $1 AND status = 'sending'
     ) SELECT pg_notify('postroom', $4)`,
    [campaignId, until, reason, `campaign ${campaignId}`],
  );
}

/** A campaign and the number of the run that is sending it. */
export interface CampaignOfRun {
  id: string;
  run: number;
}

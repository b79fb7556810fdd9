/**
 * SQL of campaigns that other modules compose into their statements, because a message and its campaign's counters change in
 * one statement. This file imports nothing, so that modules below campaigns may use it.
 */

/** What a campaign counts, each in the column `<name>_count`. */
export type CampaignCount =
  | 'claimed'
  | 'accepted'
  | 'failed'
  | 'suppressed'
  | 'unknown'
  | 'canceled'
  | 'delivered'
  | 'bounced'
  | 'rejected'
  | 'complained'
  | 'opened'
  | 'clicked'
  | 'machine_opened'
  | 'machine_clicked'
  | 'unsubscribed';

/** Whether a campaign `c` is being sent, and has messages that may go now. */
export const isSendingNow = (c: string): string =>
  `${c}.status = 'sending' AND (${c}.waiting_until IS NULL OR ${c}.waiting_until <= now())`;

/**
 * Adds to the counters of campaigns `c`.
 * @param changes SQL of the number to add, by counter.
 * @param matching how the rest of the statement finds the campaigns: `FROM …` and `WHERE …`, or only `WHERE …`.
 * @param also SQL of the cursor, if it moves.
 */
export function addToCampaignCounts(
  changes: Partial<Record<CampaignCount, string>>,
  matching: string,
  also: { cursor?: string } = {},
): string {
  const assignments = Object.entries(changes).map(([name, change]) => `${name}_count = c.${name}_count + ${change}`);
  assignments.push(...Object.entries(also).map(([column, value]) => `${column} = ${value}`));
  return `UPDATE campaigns c SET ${assignments.join(', ')} ${matching}`;
}

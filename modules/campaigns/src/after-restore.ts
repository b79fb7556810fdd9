import { pool } from '@postroom/platform';
import type { Reservation } from '@postroom/ledger';
import { autoPause } from './send-monitor.ts';
import type { Campaign } from './campaigns.ts';

const REASON =
  'Sending had begun before the database was restored to an earlier time, and its recipients at that time are no longer known. Resume it to send it to everyone, or cancel it.';

/**
 * Pauses a campaign that was started after the point that the database was restored to: its recipients were chosen then, so none
 * of its messages of now can be marked. So does one whose recipients were still being counted at that point, if they get it at their local time:
 * messages that came later may have been sent, in no order.
 * @returns a line for the operator; undefined if its messages are known.
 */
export async function pauseUncertain({ scope, position }: Reservation): Promise<string | undefined> {
  const [kind, id = ''] = scope.split(' ');
  if (kind !== 'campaign' || position === '') return undefined;
  const { rows } = await pool.query<{ status: Campaign['status']; known: boolean }>(
    `SELECT status, EXISTS (SELECT FROM messages m WHERE m.id = $2 AND m.campaign_id = c.id)
       AND (frozen_at IS NOT NULL OR time_zone_field IS NULL) AS known FROM campaigns c WHERE c.id = $1`,
    [id, position],
  );
  const [campaign] = rows;
  if (campaign === undefined)
    return `${id}: created after the restored point, so it is gone. Some of its mail may have been sent.`;
  const { status, known } = campaign;
  if (known || status === 'completed' || status === 'canceled') return undefined;
  if (status !== 'paused') await autoPause(id, REASON, { from: status });
  return `${id}: started after the restored point, and now paused. Some of its mail may have been sent.`;
}

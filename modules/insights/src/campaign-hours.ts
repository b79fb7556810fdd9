import { pool } from '@postroom/platform';
import { countedSince } from './campaign-counts.ts';

/** The outcomes of a campaign's messages in one hour. */
export interface CampaignHour {
  /** Start of the hour. */
  at: Date;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
  unsubscribed: number;
}

/** Nearly all engagement happens within three days. */
const HOURS = 72;

const KINDS = [
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
] as const satisfies (keyof CampaignHour)[];

/**
 * The outcomes of a campaign's messages per hour, without gaps, for the first three days after its start; empty before that.
 * Each message counts once per outcome.
 * @throws DomainError `not_found`.
 */
export async function campaignHours(projectId: string, id: string): Promise<CampaignHour[]> {
  const startedAt = await countedSince(projectId, id);
  if (startedAt === null) return [];
  return (await pool.query<CampaignHour>(SERIES, [id, startedAt])).rows;
}

/** Reads all counts of the campaign by the primary key: at most 13,000. */
const SERIES = `
  WITH points AS (
    SELECT generate_series(first, least(now(), first + interval '${HOURS - 1} hours'), interval '1 hour') AS at
    FROM date_trunc('hour', $2::timestamptz, 'UTC') AS first
  )
  SELECT p.at, ${KINDS.map((kind) => `coalesce(sum(c.number) FILTER (WHERE c.kind = '${kind}'), 0)::int AS "${kind}"`).join(', ')}
  FROM points p LEFT JOIN campaign_counts c ON c.campaign_id = $1 AND date_bin('1 hour', c.at, 'epoch') = p.at GROUP BY p.at ORDER BY p.at`;

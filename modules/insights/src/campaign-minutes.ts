import { pool } from '@postroom/platform';
import { countedSince } from './campaign-counts.ts';

/** What happened to a campaign's messages in a period of a few minutes. */
export interface CampaignMinutes {
  /** Start of the period. */
  at: Date;
  /** Length of the period, in minutes; the same for all of a campaign. */
  minutes: number;
  sent: number;
  failed: number;
  bounced: number;
}

/** Period lengths, in minutes: the first with which a series has at most `MAX_POINTS`. */
const LENGTHS = [1, 5, 15, 60] as const;
const MAX_POINTS = 120;
const MINUTE_MS = 60_000;

/**
 * Messages of a campaign that were sent, failed and bounced, from its start to the last of them or three days later, without gaps;
 * empty before that.
 * @throws DomainError `not_found`.
 */
export async function campaignMinutes(projectId: string, id: string): Promise<CampaignMinutes[]> {
  const startedAt = await countedSince(projectId, id);
  if (startedAt === null) return [];
  return series((await pool.query<Minute>(BY_MINUTE, [id, startedAt])).rows, startedAt);
}

interface Minute {
  at: Date;
  sent: number;
  failed: number;
  bounced: number;
}

/** Reads ranges of the primary key: at most 4,320 rows of each kind. */
const BY_MINUTE = `
  SELECT at, ${['sent', 'failed', 'bounced'].map((kind) => `coalesce(sum(number) FILTER (WHERE kind = '${kind}'), 0)::int AS ${kind}`).join(', ')}
  FROM campaign_counts WHERE campaign_id = $1 AND kind IN ('sent', 'failed', 'bounced') AND at >= date_bin('1 minute', $2, 'epoch') GROUP BY at`;

/** Sums minutes to periods. Bounces come in for days, so sending alone decides where the series ends. */
function series(counted: readonly Minute[], startedAt: Date): CampaignMinutes[] {
  const start = Math.floor(startedAt.getTime() / MINUTE_MS);
  const minuteOf = ({ at }: Minute) => Math.floor(at.getTime() / MINUTE_MS) - start;
  const sending = counted.filter(({ sent, failed }) => sent + failed > 0);
  if (sending.length === 0) return [];
  const total = Math.max(...sending.map(minuteOf)) + 1;
  const minutes = LENGTHS.find((length) => total / length <= MAX_POINTS) ?? 60;
  const points = Array.from({ length: Math.ceil(total / minutes) }, (_, index) => ({
    at: new Date((start + index * minutes) * MINUTE_MS),
    minutes,
    sent: 0,
    failed: 0,
    bounced: 0,
  }));
  for (const minute of counted) {
    const point = points[Math.floor(minuteOf(minute) / minutes)];
    if (point === undefined) continue;
    point.sent += minute.sent;
    point.failed += minute.failed;
    point.bounced += minute.bounced;
  }
  return points;
}

import { cachedAggregate, pool, runCostly } from '@postroom/platform';
import { startOf } from './campaign-start.ts';

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
/** As in the series by hour; a throttled campaign can take longer. */
const MAX_HOURS = 72;
const MINUTE_MS = 60_000;

const cached = cachedAggregate<CampaignMinutes[]>();

/**
 * Messages of a campaign that were sent, failed and bounced, from its start to the last of them or three days later, without gaps;
 * empty before that. The query reads all messages, so results for large campaigns are cached for up to five minutes.
 * @throws DomainError `not_found`.
 */
export async function campaignMinutes(projectId: string, id: string): Promise<CampaignMinutes[]> {
  const { startedAt, messages } = await startOf(projectId, id);
  if (startedAt === null) return [];
  return cached(id, async () => {
    const counted = await runCostly(projectId, () => pool.query<Minute>(BY_MINUTE, [id, startedAt]));
    return { result: series(counted.rows, startedAt), rows: messages };
  });
}

interface Minute {
  at: Date;
  sent: number;
  failed: number;
  bounced: number;
}

/** Groups by minute, in any order; reads all messages of the campaign by the index on `campaign_id`. The result is cached. */
const BY_MINUTE = `
  SELECT fact.at, count(*) FILTER (WHERE kind = 'sent')::int AS sent, count(*) FILTER (WHERE kind = 'failed')::int AS failed,
    count(*) FILTER (WHERE kind = 'bounced')::int AS bounced
  FROM messages m CROSS JOIN LATERAL (VALUES
    ('sent', date_trunc('minute', m.accepted_at)),
    ('failed', CASE WHEN m.state = 'failed' THEN date_trunc('minute', m.unsent_at) END),
    ('bounced', date_trunc('minute', m.bounced_at))) AS fact (kind, at)
  WHERE m.campaign_id = $1 AND fact.at >= date_trunc('minute', $2::timestamptz)
    AND fact.at < $2::timestamptz + interval '${MAX_HOURS} hours'
  GROUP BY fact.at`;

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

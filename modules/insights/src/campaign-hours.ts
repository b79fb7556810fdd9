import { cachedAggregate, pool, runCostly } from '@postroom/platform';
import { startOf } from './campaign-start.ts';

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

const COUNTED = {
  delivered: 'delivered_at',
  opened: 'opened_at',
  clicked: 'clicked_at',
  bounced: 'bounced_at',
  complained: 'complained_at',
  unsubscribed: 'unsubscribed_at',
} satisfies Record<Exclude<keyof CampaignHour, 'at'>, string>;

const cached = cachedAggregate<CampaignHour[]>();

/**
 * The outcomes of a campaign's messages per hour, without gaps, for the first three days after its start; empty before that.
 * Each message counts once per outcome. The query reads all messages, so results for large campaigns are cached for up to five
 * minutes.
 * @throws DomainError `not_found`.
 */
export async function campaignHours(projectId: string, id: string): Promise<CampaignHour[]> {
  const { startedAt, messages } = await startOf(projectId, id);
  if (startedAt === null) return [];
  return cached(id, async () => ({
    result: (await runCostly(projectId, () => pool.query<CampaignHour>(SERIES, [id, startedAt]))).rows,
    rows: messages,
  }));
}

/** Groups messages by their combination of hours first. There are few combinations, which makes the unpivot cheap. Reads
 * all messages of the campaign by the index on `campaign_id`; the result is cached. */
const SERIES = `
  WITH alike AS (
    SELECT ${Object.entries(COUNTED)
      .map(([kind, column]) => `date_bin('1 hour', ${column}, date_trunc('hour', $2::timestamptz)) AS ${kind}`)
      .join(', ')}, count(*) AS messages
    FROM messages WHERE campaign_id = $1 GROUP BY ${Object.keys(COUNTED).join(', ')}
  ),
  counted AS (
    SELECT fact.at, kind, sum(messages)::int AS number
    FROM alike CROSS JOIN LATERAL (VALUES
      ${Object.keys(COUNTED)
        .map((kind) => `('${kind}', alike.${kind})`)
        .join(', ')}) AS fact (kind, at)
    WHERE fact.at IS NOT NULL GROUP BY 1, 2
  ),
  points AS (
    SELECT generate_series(date_trunc('hour', $2::timestamptz),
      least(now(), date_trunc('hour', $2::timestamptz) + interval '${HOURS - 1} hours'), interval '1 hour') AS at
  )
  SELECT p.at, ${Object.keys(COUNTED)
    .map((kind) => `coalesce(sum(c.number) FILTER (WHERE c.kind = '${kind}'), 0)::int AS "${kind}"`)
    .join(', ')}
  FROM points p LEFT JOIN counted c ON c.at = p.at GROUP BY p.at ORDER BY p.at`;

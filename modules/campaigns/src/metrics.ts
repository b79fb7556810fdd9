import { pool } from '@postroom/platform';
import type { Queue } from '@postroom/platform/metrics';
import { isSendingNow } from './sql.ts';

/** Neither a campaign that waits for its domain's next day of warm-up is due, nor messages that wait for the local time of their recipients. */
const SENDING = `
  SELECT coalesce(sum(due), 0)::int AS due, coalesce(extract(epoch FROM now() - min(since) FILTER (WHERE due > 0)), 0)::float AS age
  FROM (
    SELECT greatest(c.started_at, local.since) AS since, greatest(0, recipient_count - claimed_count - accepted_count - failed_count
      - suppressed_count - unknown_count - canceled_count - coalesce(local.waiting, 0)) AS due
    FROM campaigns c CROSS JOIN LATERAL (
      SELECT sum(messages) FILTER (WHERE at > now()) AS waiting, max(at) FILTER (WHERE at <= now()) AS since
      FROM campaign_local_times WHERE campaign_id = c.id
    ) AS local
    WHERE ${isSendingNow('c')}
  ) AS sending`;

/** Partial indexes on campaigns with an unknown outcome and on scheduled ones serve these. */
const ATTENTION = `
  SELECT (SELECT coalesce(sum(unknown_count), 0)::int FROM campaigns WHERE unknown_count > 0) AS unknown,
    (SELECT count(*)::int FROM campaigns WHERE status = 'scheduled' AND scheduled_at < now() - interval '1 minute') AS overdue`;

/** Campaign messages, from the counters of their campaigns; their age is that of the campaign's start, or of the last local time that has come. */
export const queues: readonly Queue[] = [
  {
    kind: 'campaigns',
    read: async () => {
      const [sending, attention] = await Promise.all([
        pool.query<{ due: number; age: number }>({ name: 'campaigns-metrics-sending', text: SENDING }),
        pool.query<{ unknown: number; overdue: number }>({ name: 'campaigns-metrics-attention', text: ATTENTION }),
      ]);
      const { due = 0, age: ageSeconds = 0 } = sending.rows[0] ?? {};
      return { due, ageSeconds, ...attention.rows[0] };
    },
  },
];

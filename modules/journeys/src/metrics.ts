import { pool } from '@postroom/platform';
import type { Queue } from '@postroom/platform/metrics';

/** Steps that are due, and what journeys have not reacted to yet. */
export const queues: readonly Queue[] = [
  {
    kind: 'journeys',
    read: async () => {
      const { rows } = await pool.query<{ due: number; age: number }>({
        name: 'journeys-metrics-due',
        text: `SELECT coalesce(sum(d.due), 0)::int AS due, coalesce(max(extract(epoch FROM now() - d.oldest)), 0)::float AS age
          FROM journeys j, LATERAL (
            SELECT count(*) AS due, min(at) AS oldest FROM (
              (SELECT due_at AS at FROM enrollments e WHERE e.journey_id = j.id AND e.status = 'active' AND e.due_at <= now()
                ORDER BY due_at LIMIT 10000)
              UNION ALL (SELECT created_at FROM journey_triggers t WHERE t.journey_id = j.id LIMIT 10000)
            ) AS waiting) AS d
          WHERE j.status = 'active'`,
      });
      return { due: rows[0]?.due ?? 0, ageSeconds: rows[0]?.age ?? 0 };
    },
  },
];

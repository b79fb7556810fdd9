import { pool } from '@postroom/platform';
import type { Queue } from '@postroom/platform/metrics';

/** Imports that wait for a worker. */
export const queues: readonly Queue[] = [
  {
    kind: 'imports',
    read: async () => {
      const { rows } = await pool.query<{ due: number; age: number }>({
        name: 'imports-metrics-due',
        text: `SELECT count(*)::int AS due, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float AS age
               FROM imports WHERE status = 'queued'`,
      });
      return { due: rows[0]?.due ?? 0, ageSeconds: rows[0]?.age ?? 0 };
    },
  },
];

import { ledgerPool } from '@postroom/ledger';
import { databaseNow, idsFrom } from '@postroom/platform';
import { MAX_DUE, type Queue } from '@postroom/platform/metrics';
import { FIRST_ATTEMPT, SEPARATE } from './due.ts';

/** Mail scheduled for later is in the same index, so each project's due mail is read as a range of it. */
const DUE = `
  WITH RECURSIVE waiting AS (
    (SELECT project_id, 1 AS number FROM messages WHERE ${FIRST_ATTEMPT} ORDER BY project_id LIMIT 1)
    UNION ALL
    SELECT next.project_id, waiting.number + 1
    FROM waiting CROSS JOIN LATERAL (
      SELECT project_id FROM messages WHERE ${FIRST_ATTEMPT} AND project_id > waiting.project_id ORDER BY project_id LIMIT 1
    ) AS next
    WHERE waiting.number < 10000
  ), due AS (
    SELECT of_project.not_before FROM waiting CROSS JOIN LATERAL (
      SELECT not_before FROM messages
      WHERE ${FIRST_ATTEMPT} AND project_id = waiting.project_id AND not_before <= now()
      ORDER BY not_before LIMIT ${MAX_DUE}
    ) AS of_project
    UNION ALL
    (SELECT not_before FROM messages WHERE ${SEPARATE} AND not_before <= now() ORDER BY not_before LIMIT ${MAX_DUE})
  ), part AS (
    SELECT not_before FROM due LIMIT ${MAX_DUE}
  )
  SELECT count(*)::int AS due, coalesce(extract(epoch FROM now() - min(not_before)), 0)::float AS age FROM part`;

/** Transactional messages of the last week that were closed without being accepted: a range of the index by id. */
const UNKNOWN = `
  SELECT count(*) FILTER (WHERE state = 'unknown')::int AS unknown FROM (
    SELECT state FROM messages WHERE campaign_id IS NULL AND unsent_at IS NOT NULL AND id > $1 ORDER BY id DESC LIMIT ${MAX_DUE}
  ) AS unsent`;

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** Transactional mail. */
export const queues: readonly Queue[] = [
  {
    kind: 'emails',
    read: async () => {
      const [due, unknown] = await Promise.all([
        ledgerPool.query<{ due: number; age: number }>({ name: 'emails-metrics-due', text: DUE }),
        ledgerPool.query<{ unknown: number }>({
          name: 'emails-metrics-unknown',
          text: UNKNOWN,
          values: [idsFrom('eml', new Date(databaseNow() - WEEK_MS))],
        }),
      ]);
      return {
        due: due.rows[0]?.due ?? 0,
        ageSeconds: due.rows[0]?.age ?? 0,
        unknown: unknown.rows[0]?.unknown ?? 0,
      };
    },
  },
];

import { logger, pool } from '@postroom/platform';
import { type DispatchSource, startOnce } from '@postroom/platform/dispatcher';
import type { Client } from '@temporalio/client';
import { verificationOf } from './domains.ts';

/** Interval between runs, and the domains restarted per run. */
const INTERVAL_MS = 5 * 60_000;
const MAX_PER_RUN = 100;

/** Overdue by an hour: a worker that was briefly down catches up on its own. */
const OVERDUE = `
  SELECT id, project_id AS "projectId", domain FROM domains
  WHERE mail_from_domain IS NOT NULL AND coalesce(next_check_at, created_at) < now() - interval '1 hour'
  ORDER BY coalesce(next_check_at, created_at) LIMIT ${MAX_PER_RUN}`;

/**
 * Safety net behind the outbox: a domain whose check is overdue has lost its workflow, for example when a Temporal
 * server lost its data. Starting the workflow again under the same id is harmless if it is merely late.
 */
export const source: DispatchSource = {
  name: 'domains',
  tasks: [{ intervalMs: INTERVAL_MS, run: restartOverdue }],
};

/** Restarts the workflows of overdue domains and returns their number. */
export async function restartOverdue(client: Client): Promise<number> {
  const { rows } = await pool.query<{ id: string; projectId: string; domain: string }>(OVERDUE);
  await Promise.all(rows.map((domain) => startOnce(client, verificationOf(domain))));
  if (rows.length > 0) logger.info({ domains: rows.length }, 'restarted verification of overdue domains');
  return rows.length;
}

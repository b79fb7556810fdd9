import { logger, pool } from '@postroom/platform';
import { type DispatchSource, startOnce } from '@postroom/platform/dispatcher';
import type { Client } from '@temporalio/client';
import { verificationOf } from './domains.ts';

/** How often overdue domains are looked for, and how many are taken up each time. */
const SWEEP_MS = 5 * 60_000;
const AT_ONCE = 100;

/** Overdue by an hour: a worker that was away for a while catches up by itself. */
const OVERDUE = `
  SELECT id, project_id AS "projectId", domain FROM domains
  WHERE mail_from_domain IS NOT NULL AND coalesce(next_check_at, created_at) < now() - interval '1 hour'
  ORDER BY coalesce(next_check_at, created_at) LIMIT ${AT_ONCE}`;

let sweptAt = 0;

/**
 * The net under the outbox: a domain whose check is overdue has lost its workflow, such as when the data of a Temporal
 * server are gone. Starting it again under its id is harmless where it is only late.
 */
export const source: DispatchSource = {
  name: 'domains',
  handOver: async (client) => {
    if (Date.now() - sweptAt < SWEEP_MS) return { handed: 0, more: false };
    sweptAt = Date.now();
    return { handed: await restartOverdue(client), more: false };
  },
};

/** Starts the workflows of overdue domains and returns how many there were. */
export async function restartOverdue(client: Client): Promise<number> {
  const { rows } = await pool.query<{ id: string; projectId: string; domain: string }>(OVERDUE);
  await Promise.all(rows.map((domain) => startOnce(client, verificationOf(domain))));
  if (rows.length > 0) logger.info({ domains: rows.length }, 'overdue domains were taken up again');
  return rows.length;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { countOf } from '@postroom/errors';
import type pg from 'pg';
import { waitForOlderTransactions } from './fence.ts';

const POLL_MS = 250;

/**
 * Messages and deliveries whose outcome is not recorded yet, and parts of campaigns that other workers send; and a range of events whose
 * files are being written.
 */
const IN_FLIGHT = `
  SELECT (SELECT coalesce(sum(claimed_count), 0) FROM campaigns WHERE project_id = $1)
    + (SELECT count(*) FROM campaign_shards s JOIN campaigns c ON c.id = s.campaign_id WHERE c.project_id = $1)
    + (SELECT count(*) FROM messages WHERE workflow_id IS NOT NULL AND campaign_id IS NULL AND project_id = $1 AND state = 'claimed') AS mail,
    (SELECT count(*) FROM deliveries WHERE project_id = $1 AND dispatched_at IS NOT NULL AND closed_at IS NULL
      AND next_attempt_at <= now()) AS webhooks,
    (SELECT count(*) FROM event_exports WHERE project_id = $1 AND until IS NOT NULL) AS exports`;

/** Reads the option `--drain-seconds`. @throws Error unless it is a number of seconds. */
export function drainMsOf(text: string): number {
  const seconds = Number(text);
  if (text.trim() === '' || !(seconds >= 0)) throw new Error(`--drain-seconds must be a number, not "${text}".`);
  return seconds * 1000;
}

/**
 * Waits up to `drainMs` until nothing of a project that starts no more work is in flight. Claims that were made before its requests were
 * refused are committed by then. @returns what is still in flight; undefined if nothing is.
 */
export async function drain(client: pg.ClientBase, projectId: string, drainMs: number): Promise<string | undefined> {
  await waitForOlderTransactions(client);
  const until = performance.now() + drainMs;
  for (;;) {
    const { rows } = await client.query<Record<'mail' | 'webhooks' | 'exports', string>>(IN_FLIGHT, [projectId]);
    const { mail, webhooks, exports } = rows[0] as Record<'mail' | 'webhooks' | 'exports', string>;
    const isOver = performance.now() > until;
    // An export that no worker finishes does not block the move: its range is written again, under other names.
    if (mail === '0' && webhooks === '0' && (exports === '0' || isOver)) return undefined;
    if (isOver)
      return `${countOf(Number(mail), 'message')} and ${countOf(Number(webhooks), 'webhook delivery', 'webhook deliveries')}`;
    await sleep(POLL_MS);
  }
}

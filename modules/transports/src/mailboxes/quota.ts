import { databaseNow, inTransaction, pool } from '@postroom/platform';
import { TRANSPORT_POLICY } from '../policy.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A reservation of an account's quota, or why there is none. */
export type QuotaReservation =
  /** The message may be sent in `inMs`; it is counted under `hour`. */
  { granted: true; inMs: number; hour: Date } | { granted: false; reason: 'rate' | 'daily cap'; waitMs: number };

/**
 * Reserves an account's next send slot if it is within `maxWaitMs`, and counts the message. Locks the account's row, so
 * concurrent workers never exceed its limits. The daily cap covers a sliding 24 hours, counted by the hour.
 * @returns undefined if the account was removed.
 */
export async function reserveQuota(mailboxId: string, maxWaitMs: number): Promise<QuotaReservation | undefined> {
  return inTransaction(async (client) => {
    const { rows } = await client.query<{ per_minute: number; daily_cap: number; wait_ms: number; now: Date }>(
      `SELECT per_minute, daily_cap, greatest(0, extract(epoch FROM next_send_at - clock_timestamp()) * 1000)::float AS wait_ms,
         clock_timestamp() AS now
       FROM mailbox_accounts WHERE id = $1 FOR NO KEY UPDATE`,
      [mailboxId],
    );
    const [account] = rows;
    if (account === undefined) return undefined;
    const { per_minute: perMinute, daily_cap: cap, wait_ms: inMs, now } = account;
    if (inMs > maxWaitMs) return { granted: false, reason: 'rate', waitMs: inMs };
    const used = await usedHours(client, mailboxId, now);
    if (used.reduce((sum, { count }) => sum + count, 0) >= cap) {
      const freesInMs = (used[0]?.hour.getTime() ?? now.getTime()) + 25 * HOUR_MS - now.getTime();
      return {
        granted: false,
        reason: 'daily cap',
        waitMs: Math.min(TRANSPORT_POLICY.mailboxes.maxCapWaitMs, Math.max(MINUTE_MS, freesInMs)),
      };
    }
    const hour = new Date(Math.floor((now.getTime() + inMs) / HOUR_MS) * HOUR_MS);
    await client.query(
      `INSERT INTO mailbox_usage (mailbox_id, hour, count) VALUES ($1, $2, 1)
       ON CONFLICT (mailbox_id, hour) DO UPDATE SET count = mailbox_usage.count + 1`,
      [mailboxId, hour],
    );
    await client.query('DELETE FROM mailbox_usage WHERE mailbox_id = $1 AND hour < $2', [
      mailboxId,
      new Date(now.getTime() - 48 * HOUR_MS),
    ]);
    await client.query(
      `UPDATE mailbox_accounts SET next_send_at = greatest(next_send_at, clock_timestamp()) + $2 * interval '1 ms' WHERE id = $1`,
      [mailboxId, MINUTE_MS / perMinute],
    );
    return { granted: true, inMs, hour };
  });
}

/** Uncounts a message that the server did not accept. */
export async function releaseQuota(mailboxId: string, hour: Date): Promise<void> {
  await pool.query('UPDATE mailbox_usage SET count = greatest(0, count - 1) WHERE mailbox_id = $1 AND hour = $2', [
    mailboxId,
    hour,
  ]);
}

/** Messages sent in the last 24 hours, by account id. */
export async function usedToday(mailboxIds: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ mailbox_id: string; count: number }>(
    `SELECT mailbox_id, sum(count)::int AS count FROM mailbox_usage
     WHERE mailbox_id = ANY ($1) AND hour > $2 GROUP BY mailbox_id`,
    [mailboxIds, new Date(databaseNow() - 25 * HOUR_MS)],
  );
  return new Map(rows.map(({ mailbox_id, count }) => [mailbox_id, count]));
}

async function usedHours(
  client: { query: typeof pool.query },
  mailboxId: string,
  now: Date,
): Promise<{ hour: Date; count: number }[]> {
  const { rows } = await client.query<{ hour: Date; count: number }>(
    `SELECT hour, count FROM mailbox_usage WHERE mailbox_id = $1 AND hour > $2 AND count > 0 ORDER BY hour`,
    [mailboxId, new Date(now.getTime() - 25 * HOUR_MS)],
  );
  return rows;
}

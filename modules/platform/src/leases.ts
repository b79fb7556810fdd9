import { randomUUID } from 'node:crypto';
import { pool } from './db.ts';

/** Identifies this process as a holder. */
const HOLDER = randomUUID();

/**
 * Takes or renews a lease, which at most one process holds at a time. A row instead of an advisory lock, so that neither a
 * connection nor a transaction is kept while the holder works.
 * @param forMs how long it lasts unless it is renewed, in milliseconds.
 * @returns false while another process holds it.
 */
export async function takeLease(name: string, forMs: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    `INSERT INTO leases AS l (name, holder, expires_at) VALUES ($1, $2, now() + $3 * interval '1 ms')
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
     WHERE l.holder = excluded.holder OR l.expires_at <= now()`,
    [name, HOLDER, Math.ceil(forMs)],
  );
  return rowCount === 1;
}

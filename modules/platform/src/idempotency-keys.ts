import { pool, sql, type Tx } from './db.ts';

/** Claims a key for 24 hours. Reclaims older ones: `ON CONFLICT … WHERE` lets exactly one concurrent request win. */
const CLAIM = `
  INSERT INTO idempotency_keys (project_id, key, fingerprint) VALUES ($1, $2, $3)
  ON CONFLICT (project_id, key) DO UPDATE SET fingerprint = $3, status = NULL, body = NULL, created_at = now()
    WHERE idempotency_keys.created_at < now() - interval '24 hours'
  RETURNING key`;

/** Claims a key for a request with this fingerprint. @returns false if another request holds it. */
export async function claimIdempotencyKey(projectId: string, key: string, fingerprint: string): Promise<boolean> {
  const values = [projectId, key, fingerprint];
  return (await pool.query({ name: 'idempotency-claim', text: CLAIM, values })).rowCount === 1;
}

/** A claimed key, and the response once there is one. */
export interface IdempotencyKey {
  /** Seconds since the key was claimed. */
  age: number;
  fingerprint: string;
  status: number | null;
  body: string | null;
}

/** Finds a key by its primary key. */
export async function readIdempotencyKey(projectId: string, key: string): Promise<IdempotencyKey | undefined> {
  const { rows } = await pool.query<IdempotencyKey>(
    'SELECT fingerprint, status, body, extract(epoch FROM now() - created_at)::int AS age FROM idempotency_keys WHERE project_id = $1 AND key = $2',
    [projectId, key],
  );
  return rows[0];
}

/** Stores the response of the request that holds the key. */
export async function settleIdempotencyKey(
  projectId: string,
  key: string,
  answer: { status: number; body: string },
): Promise<void> {
  await pool.query({
    name: 'idempotency-settle',
    text: 'UPDATE idempotency_keys SET status = $3, body = $4 WHERE project_id = $1 AND key = $2',
    values: [projectId, key, answer.status, answer.body],
  });
}

/** Releases a key whose request failed, so that the same request may use it again. */
export async function releaseIdempotencyKey(projectId: string, key: string): Promise<void> {
  await pool.query('DELETE FROM idempotency_keys WHERE project_id = $1 AND key = $2 AND status IS NULL', [
    projectId,
    key,
  ]);
}

/** Waits for a concurrent transaction with the same key. Keys older than 24 hours can be claimed again. */
const CLAIM_WITH_ANSWER = `
  INSERT INTO idempotency_keys (project_id, key, fingerprint, status, body) VALUES ($1, $2, $2, 202, $3)
  ON CONFLICT (project_id, key) DO UPDATE SET body = $3, created_at = now()
    WHERE idempotency_keys.created_at < now() - interval '24 hours'
  RETURNING key`;

/**
 * Claims a key and stores its answer in the caller's transaction.
 * @returns the answer of the earlier call with the same key; undefined if this is the first one within 24 hours.
 */
export async function answerOnce(tx: Tx, projectId: string, key: string, body: string): Promise<string | undefined> {
  if ((await sql(tx, CLAIM_WITH_ANSWER, [projectId, key, body])).length === 1) return undefined;
  const [first] = await sql<{ body: string }>(
    tx,
    'SELECT body FROM idempotency_keys WHERE project_id = $1 AND key = $2',
    [projectId, key],
  );
  return first?.body ?? '[]';
}

/** Deletes up to `limit` keys created before a time. @returns the number deleted. */
export async function deleteIdempotencyKeys(createdBefore: Date, limit: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM idempotency_keys WHERE (project_id, key) IN (
       SELECT project_id, key FROM idempotency_keys WHERE created_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
     )`,
    [createdBefore, limit],
  );
  return rowCount ?? 0;
}

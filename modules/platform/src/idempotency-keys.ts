import { randomUUID } from 'node:crypto';
import { DomainError } from '@postroom/errors';
import { pool, sql } from './db.ts';
import type { Tx } from './transaction-observer.ts';

/** Why a key conflicts; only `in_flight` is worth retrying. */
export const CONFLICT_REASONS = ['in_flight', 'different_request', 'outcome_unknown'] as const;

export const idempotencyConflict = (reason: (typeof CONFLICT_REASONS)[number], message: string): DomainError =>
  new DomainError('idempotency_conflict', message, [{ field: 'Idempotency-Key', message, reason }]);

/** A claimed key. Work that commits the response of its request together with what it does gets it. */
export interface KeyClaim {
  projectId: string;
  key: string;
  /** When it was claimed, as PostgreSQL writes it. A later claim of the key has another time, so this one no longer has an effect. */
  claimedAt: string;
  /** The response to store, for the data of the GraphQL document. */
  answerOf: (data: Record<string, unknown>) => { status: number; body: string };
}

/** Claims a key for 24 hours. Reclaims older ones: `ON CONFLICT … WHERE` lets exactly one concurrent request win. */
const CLAIM = `
  INSERT INTO idempotency_keys (project_id, key, fingerprint) VALUES ($1, $2, $3)
  ON CONFLICT (project_id, key) DO UPDATE SET fingerprint = $3, status = NULL, body = NULL, created_at = now()
    WHERE idempotency_keys.created_at < now() - interval '24 hours'
  RETURNING created_at::text AS "claimedAt"`;

/** Claims a key for a request with this fingerprint. @returns when; undefined if another request holds it. */
export async function claimIdempotencyKey(
  projectId: string,
  key: string,
  fingerprint: string,
): Promise<string | undefined> {
  const values = [projectId, key, fingerprint];
  const { rows } = await pool.query<{ claimedAt: string }>({ name: 'idempotency-claim', text: CLAIM, values });
  return rows[0]?.claimedAt;
}

/** A claimed key, and the response once there is one. */
export interface IdempotencyKey {
  /** As in a `KeyClaim`. */
  claimedAt: string;
  /** Seconds since then. */
  age: number;
  fingerprint: string;
  status: number | null;
  body: string | null;
}

/** Finds a key by its primary key. */
export async function readIdempotencyKey(projectId: string, key: string): Promise<IdempotencyKey | undefined> {
  const { rows } = await pool.query<IdempotencyKey>(
    `SELECT fingerprint, status, body, created_at::text AS "claimedAt", extract(epoch FROM now() - created_at)::int AS age
     FROM idempotency_keys WHERE project_id = $1 AND key = $2`,
    [projectId, key],
  );
  return rows[0];
}

/** Conditions of the claim `$1` to `$3` of a key without a response. */
const IS_OPEN = 'project_id = $1 AND key = $2 AND created_at = $3::timestamptz AND status IS NULL';

/** A claim that may not have a response yet. */
export type OpenClaim = Pick<KeyClaim, 'projectId' | 'key' | 'claimedAt'>;
const valuesOf = ({ projectId, key, claimedAt }: OpenClaim) => [projectId, key, claimedAt];

/** Claims a key that another request has held without a response. @returns when; undefined if it has one, or is claimed by a third. */
export async function takeOverIdempotencyKey(held: OpenClaim): Promise<string | undefined> {
  const { rows } = await pool.query<{ claimedAt: string }>(
    `UPDATE idempotency_keys SET created_at = now() WHERE ${IS_OPEN} RETURNING created_at::text AS "claimedAt"`,
    valuesOf(held),
  );
  return rows[0]?.claimedAt;
}

/** Stores the response of the request that holds the key. */
export async function settleIdempotencyKey(
  claim: OpenClaim,
  { status, body }: { status: number; body: string },
): Promise<void> {
  await pool.query({
    name: 'idempotency-settle',
    text: `UPDATE idempotency_keys SET status = $4, body = $5 WHERE ${IS_OPEN}`,
    values: [...valuesOf(claim), status, body],
  });
}

/** Releases a key whose request failed, so that the same request may use it again. */
export async function releaseIdempotencyKey(claim: OpenClaim): Promise<void> {
  await pool.query(`DELETE FROM idempotency_keys WHERE ${IS_OPEN}`, valuesOf(claim));
}

/** A claim with its response, as `settleClaims` reads it from JSON. */
export interface SettledClaim {
  /** Identifies the claim in the statement. */
  id: string;
  project_id: string;
  key: string;
  claimed_at: string;
  status: number;
  body: string;
}

/** @param data of the GraphQL document. */
export const settledClaim = (
  { projectId, key, claimedAt, answerOf }: KeyClaim,
  data: Record<string, unknown>,
): SettledClaim => ({ id: randomUUID(), project_id: projectId, key, claimed_at: claimedAt, ...answerOf(data) });

/**
 * Stores the responses of the claims in the JSON array `parameter`, for a statement that also does their work. It returns the ids of those that
 * still hold. The others have been taken over, so their work must not be done.
 */
export const settleClaims = (parameter: string): string => `
  UPDATE idempotency_keys k SET status = c.status, body = c.body
  FROM json_to_recordset(${parameter}::json) AS c(id text, project_id text, key text, claimed_at timestamptz, status int, body text)
  WHERE k.project_id = c.project_id AND k.key = c.key AND k.created_at = c.claimed_at AND k.status IS NULL RETURNING c.id`;

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

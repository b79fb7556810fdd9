import { LRUCache } from 'lru-cache';
import {
  type Caller,
  DomainError,
  type KeyScope,
  logger,
  type Permission,
  pool,
  coalesceReads,
  projectMoving,
} from '@postroom/platform';
import { hashKey, isWellFormedKey } from './api-keys.ts';
import { isHere } from './sql.ts';

interface KeyRow {
  id: string;
  scope: KeyScope;
  all_projects: boolean;
  projects: string[];
  /** Whether the named project exists; only queried for keys that cover every project. */
  named_exists: boolean;
  /** Those that are being moved to another cell or deleted, or were moved. */
  away: string[];
}

/**
 * Looks up keys by hash: the key, up to two of its projects, and the named one. A key for all projects with
 * exclusions lists the remaining projects.
 */
const FIND_KEYS = `
  SELECT a.hash, a.named, k.id, k.scope, k.all_projects AND k.excluded_project_ids = '{}' AS all_projects,
    CASE WHEN k.all_projects AND k.excluded_project_ids = '{}' THEN ARRAY(SELECT id FROM projects LIMIT 2)
      WHEN k.all_projects THEN ARRAY(SELECT id FROM projects WHERE id <> ALL (k.excluded_project_ids))
      ELSE ARRAY(SELECT project_id FROM api_key_projects WHERE key_id = k.id) END AS projects,
    EXISTS (SELECT FROM projects WHERE id = a.named) AS named_exists,
    ARRAY(SELECT project_id FROM project_cells c WHERE NOT ${isHere('c.project_id')}
      AND (k.all_projects OR c.project_id IN (SELECT project_id FROM api_key_projects WHERE key_id = k.id))) AS away
  FROM unnest($1::text[], $2::text[]) AS a(hash, named) JOIN api_keys k ON k.hash = a.hash AND k.revoked_at IS NULL`;

/** Lookup key: hash and named project, separated by a space, which hashes do not contain. */
const findKey = coalesceReads<KeyRow>(async (asked) => {
  const pairs = asked.map((pair) => [pair.slice(0, pair.indexOf(' ')), pair.slice(pair.indexOf(' ') + 1)] as const);
  const { rows } = await pool.query<KeyRow & { hash: string; named: string }>({
    name: 'authenticate',
    text: FIND_KEYS,
    values: [pairs.map(([hash]) => hash), pairs.map(([, named]) => named)],
  });
  return new Map(rows.map((row) => [`${row.hash} ${row.named}`, row]));
});

/**
 * Authenticates the `Authorization` header, and determines the project from `X-Project-Id` or the path. Every
 * request queries the database, so a revoked key stops working everywhere at once; concurrent requests share a
 * query.
 * @throws DomainError `unauthorized` for a missing, malformed, unknown or revoked key (spec: Authentication).
 */
export async function authenticate(
  authorization: string | undefined,
  namedProject: string | undefined,
): Promise<Caller> {
  const key = readBearerKey(authorization);
  const row = await findKey(`${hashKey(key)} ${namedProject ?? ''}`);
  if (row === undefined) throw new DomainError('unauthorized', 'This API key is unknown or has been revoked.');
  recordUse(row.id);
  return new KeyCaller(row, namedProject);
}

/** Keys whose use this process recorded within the last minute. */
const recentlyUsed = new LRUCache<string, true>({ max: 10_000, ttl: 60_000 });

/** Records a key's use. Asynchronous and infrequent, because keys are used thousands of times per minute. */
function recordUse(id: string): void {
  if (recentlyUsed.has(id)) return;
  recentlyUsed.set(id, true);
  pool
    .query('UPDATE api_keys SET last_used_at = now() WHERE id = $1', [id])
    .catch((error: unknown) => logger.warn({ err: error, keyId: id }, 'could not record the use of an API key'));
}

function readBearerKey(authorization: string | undefined): string {
  if (authorization === undefined || authorization === '') {
    throw new DomainError('unauthorized', 'Send an API key: Authorization: Bearer pr_…');
  }
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  if (key === undefined)
    throw new DomainError('unauthorized', 'Send the API key as a bearer token: Authorization: Bearer pr_…');
  if (!isWellFormedKey(key))
    throw new DomainError(
      'unauthorized',
      'This is not a well-formed API key. Copy all of it: pr_ and 40 letters and digits.',
    );
  return key;
}

class KeyCaller implements Caller {
  readonly id: string;
  readonly kind = 'key';
  readonly projects: 'all' | readonly string[];
  readonly #row: KeyRow;
  readonly #named: string | undefined;

  constructor(row: KeyRow, named: string | undefined) {
    this.id = row.id;
    this.projects = row.all_projects ? 'all' : row.projects;
    this.#row = row;
    this.#named = named === '' ? undefined : named;
  }

  /** Spec: Authentication, rule 3. No key may use dashboard-only operations. */
  may(permission: Permission): boolean {
    if (permission === 'manage' || permission === 'own') return false;
    return permission === 'sending' || this.#row.scope === 'full';
  }

  /** Spec: Authentication, rules 5 and 6. A project that is being moved or deleted answers `timeout` (503). */
  get projectId(): string {
    const id = this.#projectId();
    if (this.#row.away.includes(id)) throw projectMoving();
    return id;
  }

  #projectId(): string {
    const { projects, all_projects: all, named_exists: exists } = this.#row;
    if (this.#named !== undefined) {
      if (all ? exists : projects.includes(this.#named)) return this.#named;
      throw new DomainError(
        'forbidden',
        `This API key is not authorized for the project "${this.#named.slice(0, 40)}". GET /v1/projects lists those that it covers.`,
      );
    }
    const [only, second] = projects;
    if (only === undefined) throw new DomainError('forbidden', 'This API key is not authorized for any project.');
    if (second === undefined) return only;
    throw new DomainError(
      'validation_error',
      'This API key covers several projects: name one in the X-Project-Id header.',
      [{ field: 'X-Project-Id', message: 'is required' }],
    );
  }
}

import {
  type Caller,
  DomainError,
  type KeyScope,
  logger,
  type Permission,
  pool,
  coalesceReads,
} from '@postroom/platform';
import { hashKey, isWellFormedKey } from './api-keys.ts';

interface KeyRow {
  id: string;
  scope: KeyScope;
  all_projects: boolean;
  projects: string[];
  /** Whether the project named in the request exists; only asked for keys of every project. */
  named_exists: boolean;
}

/**
 * By the hash: the key, its projects (two of all of them when it covers every one), and the named one. A key that covers all but some
 * is one that covers those others.
 */
const FIND_KEYS = `
  SELECT a.hash, a.named, k.id, k.scope, k.all_projects AND k.excluded_project_ids = '{}' AS all_projects,
    CASE WHEN k.all_projects AND k.excluded_project_ids = '{}' THEN ARRAY(SELECT id FROM projects LIMIT 2)
      WHEN k.all_projects THEN ARRAY(SELECT id FROM projects WHERE id <> ALL (k.excluded_project_ids))
      ELSE ARRAY(SELECT project_id FROM api_key_projects WHERE key_id = k.id) END AS projects,
    EXISTS (SELECT FROM projects WHERE id = a.named) AS named_exists
  FROM unnest($1::text[], $2::text[]) AS a(hash, named) JOIN api_keys k ON k.hash = a.hash AND k.revoked_at IS NULL`;

/** By the hash and the named project, with a space between; hashes have none. */
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
 * Finds out who is calling, from the `Authorization` header, and which project the request acts on, from
 * `X-Project-Id` or the path. The database is asked for each request, so a revoked key stops working at once everywhere;
 * requests that wait for it at the same time ask together.
 * @throws DomainError `unauthorized` for a missing, malformed, unknown or revoked key (spec: Authentication).
 */
export async function authenticate(
  authorization: string | undefined,
  namedProject: string | undefined,
): Promise<Caller> {
  const key = bearer(authorization);
  const row = await findKey(`${hashKey(key)} ${namedProject ?? ''}`);
  if (row === undefined) throw new DomainError('unauthorized', 'This API key is not known, or has been revoked.');
  noteUse(row.id);
  return new KeyCaller(row, namedProject);
}

/** How exactly the last use of a key is known. */
const USE_EVERY_MS = 60_000;

/** When this process last wrote down that a key was used, in milliseconds since 1970. */
const noted = new Map<string, number>();

/** Writes down that a key is in use; not on the request's way, and seldom, since keys call thousands of times a minute. */
function noteUse(id: string): void {
  const now = Date.now();
  if (now - (noted.get(id) ?? 0) < USE_EVERY_MS) return;
  noted.set(id, now);
  pool
    .query('UPDATE api_keys SET last_used_at = now() WHERE id = $1', [id])
    .catch((error: unknown) => logger.warn({ err: error, keyId: id }, 'the use of a key could not be written down'));
}

function bearer(authorization: string | undefined): string {
  if (authorization === undefined || authorization === '') {
    throw new DomainError('unauthorized', 'Give an API key: Authorization: Bearer pr_…');
  }
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  if (key === undefined || !isWellFormedKey(key))
    throw new DomainError('unauthorized', 'This is not a well-formed API key.');
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

  /** Spec: Authentication, rule 3. What is kept to the dashboard no key may do. */
  may(permission: Permission): boolean {
    if (permission === 'manage' || permission === 'own') return false;
    return permission === 'sending' || this.#row.scope === 'full';
  }

  /** Spec: Authentication, rules 5 and 6. */
  get projectId(): string {
    const { projects, all_projects: all, named_exists: exists } = this.#row;
    if (this.#named !== undefined) {
      if (all ? exists : projects.includes(this.#named)) return this.#named;
      throw new DomainError('forbidden', 'This API key is not authorized for that project.');
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

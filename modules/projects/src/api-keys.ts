import { createHash, randomInt } from 'node:crypto';
import {
  checkDisplayName,
  checkLimit,
  databaseTime,
  db,
  DomainError,
  inTransaction,
  invalid,
  type KeyScope,
  newId,
  notFound,
  type Prisma,
  type RowsQuery,
  sql,
  type Tx,
} from '@postroom/platform';

const PREFIX = 'pr_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 34;
const CHECKSUM_LENGTH = 6;
const FORM = /^pr_[0-9A-Za-z]{40}$/;

/** Generates a key: `pr_`, 34 random base62 characters, and a 6-character checksum that secret scanners can verify. */
export function generateKey(): string {
  let random = '';
  for (let length = 0; length < RANDOM_LENGTH; length++) random += ALPHABET[randomInt(62)];
  return PREFIX + random + checksum(random);
}

/** Whether a text has a key's form and checksum; anything else is rejected without a query. */
export function isWellFormedKey(text: string): boolean {
  if (!FORM.test(text)) return false;
  const random = text.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH);
  return text.endsWith(checksum(random));
}

/** The first 35 bits of SHA-256 in base62, which avoids a CRC table. */
function checksum(random: string): string {
  let value = createHash('sha256').update(random).digest().readUIntBE(0, 5) >>> 0;
  let text = '';
  for (let length = 0; length < CHECKSUM_LENGTH; length++) {
    text = ALPHABET[value % 62] + text;
    value = Math.floor(value / 62);
  }
  return text;
}

/** The stored hash: SHA-256, hex. A key has 200 bits of entropy, so it needs no salt or slow hash. */
export const hashKey = (key: string) => createHash('sha256').update(key).digest('hex');

export interface NewApiKey {
  name: string;
  scope: KeyScope;
  /** Authorized projects; `all` includes future ones. */
  projects: 'all' | readonly string[];
  /** The user who creates it; an installation key has none. */
  createdById?: string;
}

/** Maximum number of keys of a project that are not revoked. Keys for all projects are not counted. */
const MAX_KEYS = 200;

/**
 * Creates a key and returns its secret, which is shown only once (spec: Authentication).
 * @throws DomainError `validation_error` without a name or project, `not_found` for an unknown project, `forbidden`
 * if its creator no longer manages one of them, `conflict` if one of them has too many keys.
 */
export async function createApiKey({
  name,
  scope,
  projects,
  createdById,
}: NewApiKey): Promise<{ id: string; key: string }> {
  const trimmedName = checkDisplayName(name);
  if (projects !== 'all') {
    if (projects.length === 0) throw invalid({ field: 'projectIds', message: 'must name at least one project' });
    const known = await db.project.count({ where: { id: { in: [...projects] } } });
    if (known !== new Set(projects).size) throw notFound('project');
  }
  const key = generateKey();
  const listed = projects === 'all' ? [] : [...new Set(projects)];
  const { id } = await db.$transaction(async (tx) => {
    if (createdById !== undefined) await assertManages(tx, createdById, listed);
    const created = await tx.apiKey.create({
      data: {
        id: newId('key'),
        name: trimmedName,
        hash: hashKey(key),
        last4: key.slice(-4),
        scope,
        allProjects: projects === 'all',
        createdById: createdById ?? null,
        projects: { create: listed.map((projectId) => ({ projectId })) },
      },
    });
    // In order, so that two requests never wait for each other.
    for (const projectId of listed.toSorted())
      await checkLimit(tx, { of: projectId, rows: 'API keys that are not revoked', max: MAX_KEYS }, () =>
        tx.apiKey.count({ where: { revokedAt: null, projects: { some: { projectId } } } }),
      );
    return created;
  });
  return { id, key };
}

/** If the user is removed concurrently, either the key is found and revoked, or it is not created. */
async function assertManages(tx: Tx, userId: string, projectIds: readonly string[]): Promise<void> {
  const managed = await sql(
    tx,
    `SELECT project_id FROM members WHERE user_id = $1 AND project_id = ANY ($2) AND role IN ('owner', 'admin') FOR SHARE`,
    [userId, projectIds],
  );
  if (managed.length < projectIds.length)
    throw new DomainError('forbidden', 'You may create keys only for projects that you manage.');
}

/** Revokes a key permanently, with immediate effect (spec: Authentication). Idempotent. */
export async function revokeApiKey(id: string): Promise<void> {
  const { count } = await db.apiKey.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: databaseTime() } });
  if (count === 0 && (await db.apiKey.count({ where: { id } })) === 0)
    throw new DomainError('not_found', 'No such API key.');
}

/** All keys that can act on a project, including revoked ones, newest first. */
export async function listApiKeys(projectId: string, query: RowsQuery = {}): Promise<Prisma.ApiKeyModel[]> {
  return db.apiKey.findMany({ ...query, where: coveredBy(projectId), orderBy: { id: 'desc' } });
}

/** Keys that can act on a project, by id. */
export async function findApiKeys(projectId: string, ids: string[]): Promise<Prisma.ApiKeyModel[]> {
  return db.apiKey.findMany({ where: { id: { in: ids }, ...coveredBy(projectId) } });
}

/** Whether the user owns every project, or manages all of the named ones. */
export interface KeyRights {
  userId: string;
  ownsAll: () => Promise<boolean>;
  manages: (projectId: string) => boolean;
}

/**
 * Revokes a key that can act on the project, in all of its projects.
 * @throws DomainError `not_found` for a key that can't act on the project, `forbidden` for one that covers a
 * project the user does not manage.
 */
export async function revokeKeyOf(
  projectId: string,
  id: string,
  { userId, ownsAll, manages }: KeyRights,
): Promise<void> {
  const key = await db.apiKey.findFirst({ where: { id, ...coveredBy(projectId) }, include: { projects: true } });
  if (key === null) throw notFound('API key');
  const isOwn = key.createdById === userId;
  if (key.allProjects && !isOwn && !(await ownsAll()))
    throw new DomainError(
      'forbidden',
      'This API key covers all projects: only its creator, or an owner of every project, may revoke it.',
    );
  if (!key.allProjects && !isOwn && !key.projects.every((row) => manages(row.projectId)))
    throw new DomainError(
      'forbidden',
      'This API key also covers projects that you do not manage. Remove it from this project instead (removeApiKeyFromProject).',
    );
  await revokeApiKey(id);
}

/**
 * Removes a key's access to one project; a key without another project is revoked.
 * @throws DomainError `not_found` for a key that can't act on the project, `forbidden` for an installation key.
 */
export async function removeKeyFromProject(projectId: string, id: string): Promise<void> {
  const key = await db.apiKey.findFirst({ where: { id, revokedAt: null, ...coveredBy(projectId) } });
  if (key === null) throw notFound('API key');
  if (key.allProjects) throw new DomainError('forbidden', 'This API key covers all projects.');
  await inTransaction(async (tx) => {
    await sql(tx, 'SELECT FROM api_keys WHERE id = $1 FOR UPDATE', [id]);
    await endAccess(tx, projectId, [id]);
  });
}

/**
 * Removes a project from the keys of a user who may no longer create keys there. Keys for this project alone are
 * revoked.
 * @returns the ids of the keys.
 */
export async function endAccessOfKeysBy(tx: Tx, projectId: string, userId: string): Promise<string[]> {
  const keys = await sql<{ id: string }>(
    tx,
    `SELECT id FROM api_keys k WHERE created_by_id = $2 AND revoked_at IS NULL AND NOT $1 = ANY (excluded_project_ids)
       AND (all_projects OR EXISTS (SELECT FROM api_key_projects WHERE key_id = k.id AND project_id = $1))
     ORDER BY id FOR UPDATE`,
    [projectId, userId],
  );
  const ids = keys.map(({ id }) => id);
  if (ids.length > 0) await endAccess(tx, projectId, ids);
  return ids;
}

/** A revoked key stays listed in its project. Locks the rows of the keys. */
async function endAccess(tx: Tx, projectId: string, ids: readonly string[]): Promise<void> {
  await sql(
    tx,
    `UPDATE api_keys k SET revoked_at = now() WHERE id = ANY ($2) AND revoked_at IS NULL AND NOT all_projects
       AND NOT EXISTS (SELECT FROM api_key_projects WHERE key_id = k.id AND project_id <> $1)`,
    [projectId, ids],
  );
  await sql(
    tx,
    `DELETE FROM api_key_projects p USING api_keys k
     WHERE k.id = p.key_id AND k.id = ANY ($2) AND k.revoked_at IS NULL AND p.project_id = $1`,
    [projectId, ids],
  );
  await sql(
    tx,
    'UPDATE api_keys SET excluded_project_ids = array_append(excluded_project_ids, $1) WHERE id = ANY ($2) AND all_projects',
    [projectId, ids],
  );
}

const coveredBy = (projectId: string) => ({
  OR: [{ allProjects: true, NOT: { excludedProjectIds: { has: projectId } } }, { projects: { some: { projectId } } }],
});

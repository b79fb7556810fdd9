import { createHash, randomInt } from 'node:crypto';
import { db, invalid, type KeyScope, newId, notFound, type Prisma, type RowsQuery } from '@postroom/platform';

const PREFIX = 'pr_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 34;
const CHECKSUM_LENGTH = 6;
const FORM = /^pr_[0-9A-Za-z]{40}$/;

/** A new secret: `pr_`, 34 random base62 characters, and a checksum of 6 that secret scanners can recompute. */
export function generateKey(): string {
  let random = '';
  for (let length = 0; length < RANDOM_LENGTH; length++) random += ALPHABET[randomInt(62)];
  return PREFIX + random + checksum(random);
}

/** Whether a text has the form and the checksum of a key; one that has not is refused without a query. */
export function isWellFormedKey(text: string): boolean {
  if (!FORM.test(text)) return false;
  const random = text.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH);
  return text.endsWith(checksum(random));
}

/** The first 35 bits of SHA-256 in base62, so that it does not depend on a CRC's table. */
function checksum(random: string): string {
  let value = createHash('sha256').update(random).digest().readUIntBE(0, 5) >>> 0;
  let text = '';
  for (let length = 0; length < CHECKSUM_LENGTH; length++) {
    text = ALPHABET[value % 62] + text;
    value = Math.floor(value / 62);
  }
  return text;
}

/** What is stored of a key: SHA-256, hex. A key has 200 bits of entropy, so no salt or slow hash is needed. */
export const hashKey = (key: string) => createHash('sha256').update(key).digest('hex');

export interface NewApiKey {
  name: string;
  scope: KeyScope;
  /** The projects it is authorized for; `all` includes those created later. */
  projects: 'all' | readonly string[];
}

/**
 * Creates a key and returns the secret, this once (spec: Authentication).
 * @throws DomainError `validation_error` without a name or a project, `not_found` for an unknown project.
 */
export async function createApiKey({ name, scope, projects }: NewApiKey): Promise<{ id: string; key: string }> {
  if (name.trim() === '') throw invalid({ field: 'name', message: 'must not be empty' });
  if (projects !== 'all') {
    if (projects.length === 0) throw invalid({ field: 'projects', message: 'must name at least one project' });
    const known = await db.project.count({ where: { id: { in: [...projects] } } });
    if (known !== new Set(projects).size) throw notFound('project');
  }
  const key = generateKey();
  const { id } = await db.apiKey.create({
    data: {
      id: newId('key'),
      name: name.trim(),
      hash: hashKey(key),
      last4: key.slice(-4),
      scope,
      allProjects: projects === 'all',
      projects: { create: projects === 'all' ? [] : [...new Set(projects)].map((projectId) => ({ projectId })) },
    },
  });
  return { id, key };
}

/** Revokes a key, at once and for ever (spec: Authentication). Revoking it again changes nothing. */
export async function revokeApiKey(id: string): Promise<void> {
  const { count } = await db.apiKey.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: new Date() } });
  if (count === 0 && (await db.apiKey.count({ where: { id } })) === 0) throw notFound('API key');
}

/** The keys that can act on a project, revoked ones included, newest first. */
export async function listApiKeys(projectId: string, query: RowsQuery = {}): Promise<Prisma.ApiKeyModel[]> {
  return db.apiKey.findMany({ ...query, where: coveredBy(projectId), orderBy: { id: 'desc' } });
}

/** Revokes a key that can act on the project; `not_found` for any other. */
export async function revokeKeyOf(projectId: string, id: string): Promise<void> {
  if ((await db.apiKey.count({ where: { id, ...coveredBy(projectId) } })) === 0) throw notFound('API key');
  await revokeApiKey(id);
}

const coveredBy = (projectId: string) => ({ OR: [{ allProjects: true }, { projects: { some: { projectId } } }] });

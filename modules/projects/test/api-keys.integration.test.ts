import { db, newId } from '@postroom/platform';
import { expect, test, vi } from 'vitest';
import { createApiKey, generateKey, isWellFormedKey, revokeApiKey } from '../src/api-keys.ts';
import { authenticate } from '../src/authenticate.ts';
import { createProject } from '../src/projects.ts';

test('a key starts with the service prefix and carries a checksum, so a mistyped one is refused without a query', () => {
  const key = generateKey();
  expect(key).toMatch(/^pr_[0-9A-Za-z]{40}$/);
  expect(isWellFormedKey(key)).toBe(true);
  const mistyped = key.slice(0, 10) + (key[10] === 'a' ? 'b' : 'a') + key.slice(11);
  expect(isWellFormedKey(mistyped)).toBe(false);
});

test('a key is shown only once, at creation: only its hash and last four characters are stored', async () => {
  const project = await createProject('Keys');
  const { id, key } = await createApiKey({ name: 'ci', scope: 'full', projects: [project.id] });
  const row = await db.apiKey.findUniqueOrThrow({ where: { id } });
  expect(row.last4).toBe(key.slice(-4));
  expect(JSON.stringify(row)).not.toContain(key.slice(0, -4));
});

test('a name has at most 200 characters', async () => {
  await createApiKey({ name: 'a'.repeat(200), scope: 'full', projects: 'all' });
  await expect(createApiKey({ name: 'a'.repeat(201), scope: 'full', projects: 'all' })).rejects.toMatchObject({
    code: 'validation_error',
    details: [{ field: 'name', message: 'must be at most 200 characters' }],
  });
});

test('when the key covers exactly one project, that project is used automatically', async () => {
  const project = await createProject('Only');
  const { key } = await createApiKey({ name: 'one', scope: 'full', projects: [project.id] });
  expect((await authenticate(`Bearer ${key}`, undefined)).projectId).toBe(project.id);
});

test('a multi-project key needs X-Project-Id, and takes only projects it is authorized for', async () => {
  const [first, second, other] = await Promise.all(['A', 'B', 'C'].map((name) => createProject(name)));
  const { key } = await createApiKey({ name: 'two', scope: 'full', projects: [first!.id, second!.id] });
  expect((await authenticate(`Bearer ${key}`, second!.id)).projectId).toBe(second!.id);
  const unnamed = await authenticate(`Bearer ${key}`, undefined);
  expect(() => unnamed.projectId).toThrow(expect.objectContaining({ code: 'validation_error' }));
  const wrong = await authenticate(`Bearer ${key}`, other!.id);
  expect(() => wrong.projectId).toThrow(expect.objectContaining({ code: 'forbidden' }));
});

test('a key for all projects covers those created later, and no project that does not exist', async () => {
  const { key } = await createApiKey({ name: 'all', scope: 'full', projects: 'all' });
  const later = await createProject('Later');
  expect((await authenticate(`Bearer ${key}`, later.id)).projectId).toBe(later.id);
  const nowhere = await authenticate(`Bearer ${key}`, newId('prj'));
  expect(() => nowhere.projectId).toThrow(expect.objectContaining({ code: 'forbidden' }));
});

test('revocation is immediate and irreversible', async () => {
  const project = await createProject('Revoked');
  const { id, key } = await createApiKey({ name: 'gone', scope: 'full', projects: [project.id] });
  await revokeApiKey(id);
  await expect(authenticate(`Bearer ${key}`, undefined)).rejects.toMatchObject({ code: 'unauthorized' });
  await revokeApiKey(id);
  await expect(revokeApiKey(newId('key'))).rejects.toMatchObject({ code: 'not_found' });
});

test.each([
  undefined,
  '',
  'Bearer',
  'Bearer nonsense',
  'Basic abc',
  `Bearer ${generateKey()}`,
  `Bearer  ${generateKey()} x`,
])('a missing, malformed or unknown key is unauthorized: %s', async (header) => {
  await expect(authenticate(header, undefined)).rejects.toMatchObject({ code: 'unauthorized' });
});

test('a malformed key says what is wrong with it', async () => {
  await expect(authenticate('Basic abc', undefined)).rejects.toThrow('Send the API key as a bearer token');
  await expect(authenticate(generateKey(), undefined)).rejects.toThrow('Send the API key as a bearer token');
  await expect(authenticate(`Bearer ${generateKey().slice(0, -1)}`, undefined)).rejects.toThrow('Copy all of it');
});

test('a key without a name, a project, or with a project that does not exist is refused', async () => {
  const project = await createProject('P');
  await expect(createApiKey({ name: ' ', scope: 'full', projects: [project.id] })).rejects.toMatchObject({
    details: [{ field: 'name' }],
  });
  await expect(createApiKey({ name: 'x', scope: 'full', projects: [] })).rejects.toMatchObject({
    details: [{ field: 'projectIds' }],
  });
  await expect(createApiKey({ name: 'x', scope: 'full', projects: [newId('prj')] })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('when a key was last called with is known, without the call waiting for it', async () => {
  const project = await createProject('P');
  const { id, key } = await createApiKey({ name: 'x', scope: 'full', projects: [project.id] });
  const lastUsed = async () => (await db.apiKey.findUniqueOrThrow({ where: { id } })).lastUsedAt?.getTime();
  expect(await lastUsed()).toBeUndefined();
  await authenticate(`Bearer ${key}`, undefined);
  await vi.waitFor(async () => expect(await lastUsed()).toBeGreaterThan(Date.now() - 60_000), 20_000);
});

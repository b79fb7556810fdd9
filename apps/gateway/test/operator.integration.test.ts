import { addDomain } from '@postroom/domains';
import { db, newId } from '@postroom/platform';
import { authenticate, createApiKey, createProject } from '@postroom/projects';
import { expect, test } from 'vitest';
import { runOperatorCommand } from '../src/operator-commands.ts';

test('an operator blocks a domain in every project, and unblocks it', async () => {
  const name = `${newId('dom').slice(4)}.example.com`;
  for (const project of ['One', 'Two'])
    await addDomain((await createProject(project)).id, { domain: name }, 'usr_test');
  const reasons = async () =>
    (await db.domain.findMany({ where: { domain: name } })).map(({ blockedReason }) => blockedReason);
  expect(await runOperatorCommand(['block', name.toUpperCase(), 'Complaints'])).toMatch(/which 2 projects have\.$/);
  expect(await reasons()).toEqual(['Complaints', 'Complaints']);
  expect(await runOperatorCommand(['block', name, 'Again'])).toBe(`${name} is blocked already.`);
  expect(await runOperatorCommand(['unblock', name])).toBe(`Unblocked ${name}, which 2 projects have.`);
  expect(await reasons()).toEqual([null, null]);
  expect(await runOperatorCommand(['unblock', name])).toBe(`${name} is not blocked.`);
});

test('an operator blocks a domain that no project has, and it is blocked in those that add it', async () => {
  const name = `${newId('dom').slice(4)}.example.com`;
  expect(await runOperatorCommand(['block', name, 'Phishing'])).toBe(`Blocked ${name}, which no project has yet.`);
  expect(await runOperatorCommand(['block', name, 'Again'])).toBe(`${name} is blocked already.`);
  const { id: projectId } = await createProject('One');
  const added = await addDomain(projectId, { domain: name }, 'usr_test');
  expect(added).toMatchObject({ blockedReason: 'Phishing', blockedAt: expect.any(Date) });
  await db.project.delete({ where: { id: projectId } });
  expect(await addDomain((await createProject('Two')).id, { domain: name }, 'usr_test')).toMatchObject({
    blockedReason: 'Phishing',
  });
  expect(await runOperatorCommand(['unblock', name])).toBe(`Unblocked ${name}, which 1 project has.`);
  expect(await addDomain((await createProject('Three')).id, { domain: name }, 'usr_test')).toMatchObject({
    blockedReason: null,
  });
});

test('an operator revokes any key', async () => {
  const { id, key } = await createApiKey({ name: 'all', scope: 'full', projects: 'all' });
  expect(await runOperatorCommand(['revoke-key', id])).toBe(`Revoked ${id}.`);
  await expect(authenticate(`Bearer ${key}`, undefined)).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(runOperatorCommand(['revoke-key', newId('key')])).rejects.toMatchObject({ code: 'not_found' });
});

test('messages that are partitioned are not partitioned again', async () => {
  await expect(runOperatorCommand(['partition-messages'])).rejects.toMatchObject({
    code: 'conflict',
    message: 'Messages are already partitioned.',
  });
});

test.each([[], ['block', 'example.com'], ['unblock'], ['revoke-key'], ['revoke', 'key_1'], ['unknown', 'example.com']])(
  'an invalid command does nothing: %j',
  async (...args) => {
    expect(await runOperatorCommand(args)).toBeUndefined();
  },
);

test.each([
  ['a reason without quotes', ['block', 'example.com', 'Complaints', 'about', 'phishing']],
  ['a second domain', ['unblock', 'example.com', 'example.org']],
  ['an argument that is not used', ['partition-messages', 'now']],
])('a command with more arguments than it takes does nothing: %s', async (_what, args) => {
  expect(await runOperatorCommand(args)).toBeUndefined();
});

test.each([
  [['block', 'example,com', 'Complaints'], 'validation_error', /domain name/],
  [['block', 'example.com', ' '], 'validation_error', /reason: is required/],
])('a command with an invalid argument is rejected: %j', async (args, code, message) => {
  await expect(runOperatorCommand(args)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

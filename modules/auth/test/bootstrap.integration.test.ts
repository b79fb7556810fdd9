import { db, newId } from '@postroom/platform';
import { createProject } from '@postroom/projects';
import { signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { bootstrap } from '../src/bootstrap.ts';

test('where users exist already, the one with the given address becomes the owner of a new project', async () => {
  const user = await signedIn(await testApi());
  const options = { project: newId('prj'), key: 'Deployment' };
  const password = 'not the password of this user';
  const unknown = { email: `${newId('usr')}@example.com`, password };
  await expect(bootstrap({ ...options, owner: unknown })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining(`"${options.project}" would have no owner`),
  });
  expect(await db.project.count({ where: { name: options.project } })).toBe(0);

  const first = await bootstrap({ ...options, owner: { email: user.email.toUpperCase(), password } });
  expect(first).toMatchObject({ owner: { created: false }, apiKey: { created: true } });
  const inProject = { 'X-Project-Id': first.project.id };
  const { body } = await user.graphql('{ members { role user { id } } }', {}, inProject);
  expect(body.data.members).toEqual([{ role: 'owner', user: { id: user.id } }]);

  // Once the project has an owner, no one else becomes one.
  const again = await bootstrap({ ...options, owner: unknown });
  expect(again).toMatchObject({ project: { id: first.project.id, created: false }, apiKey: { created: false } });
});

test('an existing project without an owner gets one, and a mistyped address is rejected as for a new project', async () => {
  const user = await signedIn(await testApi());
  const project = newId('prj');
  const { id } = await createProject(project);
  const owned = (email: string) => bootstrap({ project, key: 'Deployment', owner: { email, password: 'not theirs' } });
  await expect(owned(`${newId('usr')}@example.com`)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining(`"${project}" would have no owner`),
  });
  expect(await owned(user.email)).toMatchObject({ project: { id, created: false } });
  expect(await db.member.findMany({ where: { projectId: id } })).toMatchObject([{ userId: user.id, role: 'owner' }]);
});

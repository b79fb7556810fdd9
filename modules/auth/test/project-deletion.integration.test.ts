import { pool } from '@postroom/platform';
import { requestDeletion } from '@postroom/projects';
import { TAKE_MOVER_LOCK } from '@postroom/projects/cells';
import { type Api, type Reply, type Role, type SignedIn, signedIn, takeSystemMail, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { listDeletionMails, sendDeletionMail } from '../src/activities.ts';

const DELETE = 'mutation ($name: String!) { projectDelete(name: $name) { deletedId } }';
const CREATE = 'mutation { createProject(name: "Next") { id } }';
const MAY = '{ mayCreateProject }';
const PROJECTS = '{ myProjects { project { id } } }';

const errorOf = ({ body }: Reply) => body.errors?.[0];
const codeOf = (reply: Reply) => errorOf(reply)?.extensions.code;
const remove = (person: SignedIn, name: string) => person.graphql(DELETE, { name });

async function nameOf({ projectId }: Api): Promise<string> {
  const { rows } = await pool.query<{ name: string }>('SELECT name FROM projects WHERE id = $1', [projectId]);
  return rows[0]?.name ?? '';
}

/** The state of the project, and the workflows that its deletion would start. */
async function stateOf({ projectId }: Api) {
  const { rows } = await pool.query<{ state: string | null; starts: number }>(
    `SELECT (SELECT state::text FROM project_cells WHERE project_id = $1),
       (SELECT count(*)::int FROM outbox WHERE workflow_id = 'delete-' || $1) AS starts`,
    [projectId],
  );
  return rows[0];
}

const UNTOUCHED = { state: null, starts: 0 };

test.each<Role>(['viewer', 'member', 'admin'])('a project is not deleted by a user with the role %s', async (role) => {
  const api = await testApi();
  const person = await signedIn(api, role);
  expect(codeOf(await remove(person, await nameOf(api)))).toBe('forbidden');
  expect(await stateOf(api)).toEqual(UNTOUCHED);
});

test('a project is not deleted by a key, by an owner of another project, or without a sign-in', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const name = await nameOf(api);
  const stranger = await signedIn(other, 'owner');
  const asStranger = await stranger.graphql(DELETE, { name }, { 'X-Project-Id': api.projectId });
  const refused = [await api.graphql(DELETE, { name }), asStranger, await api.graphql(DELETE, { name }, { key: null })];
  expect(refused.map(codeOf)).toEqual(['forbidden', 'forbidden', 'unauthorized']);
  expect(await stateOf(api)).toEqual(UNTOUCHED);
});

test('a project is not deleted under another name, and the error names the field', async () => {
  const api = await testApi();
  const owner = await signedIn(api, 'owner');
  const name = await nameOf(api);
  for (const wrong of ['', `${name} `, name.toUpperCase() + '!']) {
    const error = errorOf(await remove(owner, wrong));
    expect(error?.extensions).toMatchObject({
      code: 'validation_error',
      details: [{ field: 'name', message: 'must be the name of the project' }],
    });
  }
  expect(await stateOf(api)).toEqual(UNTOUCHED);
});

test('the deletion of a project is requested with its workflow, and no one has the project any more', async () => {
  const api = await testApi();
  const [owner, member] = [await signedIn(api, 'owner'), await signedIn(api, 'member')];
  const deleted = await remove(owner, await nameOf(api));
  expect(deleted.body.data.projectDelete.deletedId).toBe(api.projectId);
  expect(await stateOf(api)).toEqual({ state: 'deleted', starts: 1 });
  for (const person of [owner, member]) {
    expect((await person.graphql(PROJECTS)).body.data.myProjects).toEqual([]);
    expect(codeOf(await person.graphql('{ members { role } }'))).toBe('forbidden');
  }
  expect((await api.get('/v1/groups')).status).toBe(503);
  const { rows } = await pool.query(
    'SELECT project_id, action, target_id FROM audit_entries WHERE actor_id = $1 AND target_id = $2',
    [owner.id, api.projectId],
  );
  expect(rows).toEqual([{ project_id: null, action: 'projectDelete', target_id: api.projectId }]);
});

test('after an owner has deleted their last project, its owners create another one, and its admins do not', async () => {
  const api = await testApi();
  const people = [await signedIn(api, 'owner'), await signedIn(api, 'owner'), await signedIn(api, 'admin')] as const;
  const may = () => Promise.all(people.map(async (person) => (await person.graphql(MAY)).body.data.mayCreateProject));
  expect(await may()).toEqual([true, true, false]);
  await remove(people[0], await nameOf(api));
  expect(await may()).toEqual([true, true, false]);
  const created = await Promise.all(people.map((person) => person.graphql(CREATE)));
  expect(created.map(codeOf)).toEqual([undefined, undefined, 'forbidden']);
  expect((await people[1].graphql(PROJECTS)).body.data.myProjects).toEqual([
    { project: { id: created[1]?.body.data.createProject.id } },
  ]);
});

test('an owner whose last project the operator has deleted does not create another one', async () => {
  const api = await testApi();
  const owner = await signedIn(api, 'owner');
  await requestDeletion(api.projectId, await nameOf(api), null);
  expect((await owner.graphql(MAY)).body.data.mayCreateProject).toBe(false);
  expect(codeOf(await owner.graphql(CREATE))).toBe('forbidden');
});

test('every owner of a deleted project is emailed who deleted it, and no one else is', async () => {
  await using mail = await takeSystemMail();
  const api = await testApi();
  const [owner, other] = [await signedIn(api, 'owner'), await signedIn(api, 'owner')];
  await signedIn(api, 'admin');
  const name = await nameOf(api);
  await remove(owner, name);
  const userIds = await listDeletionMails(api.projectId);
  expect(userIds).toEqual([owner.id, other.id].toSorted());
  for (const userId of userIds) await sendDeletionMail(api.projectId, userId);
  expect(mail.sink.mails.map(({ to }) => to).toSorted()).toEqual([owner.email, other.email].toSorted());
  const text = mail.sink.mails[0]?.raw.replaceAll('=\r\n', '');
  expect(text).toContain(`${name} was deleted`);
  expect(text).toContain(`A Person (${owner.email}) deleted the project ${name}`);
});

test('an email about a project that the operator deleted says so', async () => {
  await using mail = await takeSystemMail();
  const api = await testApi();
  const owner = await signedIn(api, 'owner');
  await requestDeletion(api.projectId, await nameOf(api), null);
  await sendDeletionMail(api.projectId, owner.id);
  expect(mail.sink.mails[0]?.raw).toContain('The operator of this installation deleted the project');
});

test('of two owners who delete a project at once, one begins it', async () => {
  const api = await testApi();
  const owners = [await signedIn(api, 'owner'), await signedIn(api, 'owner')];
  const name = await nameOf(api);
  const codes = (await Promise.all(owners.map((owner) => remove(owner, name)))).map(codeOf);
  expect(codes.filter((code) => code === undefined)).toHaveLength(1);
  expect(['conflict', 'forbidden']).toContain(codes.find((code) => code !== undefined));
  expect(await stateOf(api)).toEqual({ state: 'deleted', starts: 1 });
});

test('a project is not deleted while a mover has it, nor in the cell that it has left', async () => {
  const api = await testApi();
  const name = await nameOf(api);
  const owner = await signedIn(api, 'owner');
  const mover = await pool.connect();
  try {
    await mover.query(TAKE_MOVER_LOCK, [api.projectId]);
    expect(errorOf(await remove(owner, name))).toMatchObject({
      message: 'The project is being moved. Delete it once the move has ended.',
      extensions: { code: 'conflict' },
    });
    expect(await stateOf(api)).toEqual(UNTOUCHED);
  } finally {
    mover.release(true);
  }
  const insert = `INSERT INTO project_cells (project_id, cell, state, move_id) VALUES ($1, 'b', $2, 'm')
    ON CONFLICT (project_id) DO UPDATE SET state = excluded.state`;
  for (const [state, message] of [
    ['moving', 'The project is being moved. Delete it once the move has ended.'],
    ['moved', 'The project was moved to b. Delete it there.'],
  ]) {
    await pool.query(insert, [api.projectId, state]);
    await expect(requestDeletion(api.projectId, name, null)).rejects.toThrow(message);
    expect(await stateOf(api)).toEqual({ state, starts: 0 });
  }
  // One that came from another cell can be deleted.
  await pool.query(insert, [api.projectId, 'here']);
  expect(errorOf(await remove(owner, name))).toBeUndefined();
  expect(await stateOf(api)).toEqual({ state: 'deleted', starts: 1 });
});

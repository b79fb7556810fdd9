import { db, newId, pool, sql } from '@postroom/platform';
import { createApiKey } from '@postroom/projects';
import {
  type Api,
  interleave,
  type Reply,
  type Role,
  type SignedIn,
  signedIn,
  takeSystemMail,
  TEST_PASSWORD,
  testApi,
} from '@postroom/testkit';
import { expect, test } from 'vitest';

const REMOVE = 'mutation ($userId: ID!) { removeMember(userId: $userId) }';
const CHANGE = 'mutation ($userId: ID!, $role: Role!) { changeRole(userId: $userId, role: $role) }';
const INVITE = 'mutation ($input: InviteInput!) { invite(input: $input) { id } }';
const CREATE_KEY = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { id key } }';
const REVOKE = 'mutation ($id: ID!) { revokeApiKey(id: $id) }';
const REMOVE_KEY = 'mutation ($id: ID!) { removeApiKeyFromProject(id: $id) { projectIds revokedAt } }';

const code = (reply: Reply) => reply.body.errors?.[0]?.extensions.code;
const join = (api: Api, { id: userId }: SignedIn, role: 'owner' | 'admin') =>
  db.member.create({ data: { projectId: api.projectId, userId, role } });

/** Whether a key can act on a project now. */
async function works(api: Api, key: string): Promise<boolean> {
  const { status } = await api.send('GET', '/v1/groups', { key, headers: { 'X-Project-Id': api.projectId } });
  return status === 200;
}

async function createdBy(person: SignedIn, input: object): Promise<{ id: string; key: string }> {
  const { body } = await person.graphql(CREATE_KEY, { input: { name: 'theirs', scope: 'full', ...input } });
  return body.data.createApiKey;
}

/** Invites an address and takes the token from its mail. */
async function invited(person: SignedIn, role = 'viewer', email = `${newId('usr')}@people.example`): Promise<string> {
  await using mail = await takeSystemMail();
  const { body } = await person.graphql(INVITE, { input: { email, role } });
  expect(body.errors).toBeUndefined();
  return new URL(await mail.linkTo(email)).searchParams.get('token') ?? '';
}

const accept = (api: Api, token: string) =>
  api.graphql(
    'mutation ($input: AcceptInvitationInput!) { acceptInvitation(input: $input) }',
    { input: { token, name: 'N', password: TEST_PASSWORD } },
    { key: null },
  );

const leave = {
  removed: (owner: SignedIn, admin: SignedIn) => owner.graphql(REMOVE, { userId: admin.id }),
  'made a member': (owner: SignedIn, admin: SignedIn) => owner.graphql(CHANGE, { userId: admin.id, role: 'member' }),
  'made a viewer': (owner: SignedIn, admin: SignedIn) => owner.graphql(CHANGE, { userId: admin.id, role: 'viewer' }),
};

test.each(Object.entries(leave))(
  'when an admin is %s, keys that they created and invitations that they sent end, and the audit log says so',
  async (_how, go) => {
    const api = await testApi();
    const [owner, admin] = [await signedIn(api, 'owner'), await signedIn(api, 'admin')];
    const [theirs, ours] = [await createdBy(admin, {}), await createdBy(owner, {})];
    const [byThem, byUs] = [await invited(admin), await invited(owner)];
    expect(await works(api, theirs.key)).toBe(true);

    expect((await go(owner, admin)).body.errors).toBeUndefined();
    expect(await works(api, theirs.key)).toBe(false);
    expect(await works(api, ours.key)).toBe(true);
    expect(code(await accept(api, byThem))).toBe('not_found');
    expect((await accept(api, byUs)).body.data.acceptInvitation).toBe(api.projectId);
    const { rows } = await pool.query(
      `SELECT action, target_id, actor_id FROM audit_entries WHERE project_id = $1 AND details ? 'because' ORDER BY action`,
      [api.projectId],
    );
    expect(rows).toEqual([
      { action: 'removeApiKeyFromProject', target_id: theirs.id, actor_id: owner.id },
      { action: 'withdrawInvitation', target_id: expect.stringMatching(/^inv_/), actor_id: owner.id },
    ]);
    const { apiKeys } = (await owner.graphql('{ apiKeys { id revokedAt } }')).body.data;
    expect(apiKeys).toContainEqual({ id: theirs.id, revokedAt: expect.any(String) });
  },
);

test('an admin who is removed while they create a key is left with none that works', async () => {
  const api = await testApi();
  const owner = await signedIn(api, 'owner');
  const working: boolean[] = [];
  for (let time = 0; time < 5; time++) {
    const admin = await signedIn(api, 'admin');
    const [created] = await Promise.all([
      admin.graphql(CREATE_KEY, { input: { name: 'quick', scope: 'full' } }),
      owner.graphql(REMOVE, { userId: admin.id }),
    ]);
    // Without one, it is rejected like any invalid key.
    working.push(await works(api, created.body.data?.createApiKey?.key ?? 'none'));
  }
  expect(working).toEqual([false, false, false, false, false]);
});

test('an admin who is removed while they invite leaves no invitation behind', async () => {
  const api = await testApi();
  const [owner, admin] = [await signedIn(api, 'owner'), await signedIn(api, 'admin')];
  await using _mail = await takeSystemMail();
  const invite = () => admin.graphql(INVITE, { input: { email: `${newId('usr')}@people.example`, role: 'viewer' } });
  const [removed] = await Promise.all([
    owner.graphql(REMOVE, { userId: admin.id }),
    ...Array.from({ length: 6 }, invite),
  ]);
  expect(removed.body.errors).toBeUndefined();
  expect(await db.invitation.count({ where: { projectId: api.projectId } })).toBe(0);
});

test('an invitation replaces those that the address already has to the project, and no others', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const owner = await signedIn(api);
  const email = `${newId('usr')}@people.example`;
  const elsewhere = await invited(await signedIn(other), 'viewer', email);
  const [asAdmin, asViewer] = [await invited(owner, 'admin', email), await invited(owner, 'viewer', email)];
  expect((await owner.graphql('{ invitations { role } }')).body.data.invitations).toEqual([{ role: 'viewer' }]);
  expect(code(await accept(api, asAdmin))).toBe('not_found');
  expect((await accept(api, asViewer)).body.data.acceptInvitation).toBe(api.projectId);
  const preview = 'query ($token: String!) { invitationPreview(token: $token) { email } }';
  expect((await api.graphql(preview, { token: elsewhere }, { key: null })).body.data.invitationPreview).toEqual({
    email,
  });
});

test('an invitation also replaces one from a gateway whose clock is ahead', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const email = `${newId('usr')}@people.example`;
  const asAdmin = await invited(owner, 'admin', email);
  await db.invitation.updateMany({ where: { email }, data: { id: 'inv_7zzzzzzzzzzzzzzzzzzzzzzzzz' } });
  await invited(owner, 'viewer', email);
  expect((await owner.graphql('{ invitations { role } }')).body.data.invitations).toEqual([{ role: 'viewer' }]);
  expect(code(await accept(api, asAdmin))).toBe('not_found');
});

test('of two invitations of an address at the same moment, one is valid, and the other names its field', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const email = `${newId('usr')}@people.example`;
  await using mail = await takeSystemMail();
  const { body } = await interleave(
    (tx) =>
      sql(
        tx,
        `INSERT INTO invitations (id, project_id, email, role, token_hash, invited_by_id, expires_at)
         VALUES ($1, $2, $3, 'admin', $1, $4, now() + interval '1 day')`,
        [newId('inv'), api.projectId, email, owner.id],
      ),
    () => owner.graphql(INVITE, { input: { email, role: 'viewer' } }),
  );
  expect(body.errors[0].extensions).toMatchObject({ code: 'conflict', details: [{ field: 'email' }] });
  expect((await owner.graphql('{ invitations { role } }')).body.data.invitations).toEqual([{ role: 'admin' }]);
  expect(mail.sink.mails).toEqual([]);
});

test('a member who is removed cannot come back with an invitation that was still pending', async () => {
  const api = await testApi();
  const [owner, member] = [await signedIn(api), await signedIn(api, null)];
  const token = await invited(owner, 'admin', member.email);
  await db.member.create({ data: { projectId: api.projectId, userId: member.id, role: 'viewer' } });
  expect((await owner.graphql(REMOVE, { userId: member.id })).body.errors).toBeUndefined();
  const accepting = 'mutation ($token: String!) { acceptInvitation(input: { token: $token }) }';
  expect(code(await member.graphql(accepting, { token }, { 'X-Project-Id': '' }))).toBe('not_found');
  expect(await db.member.count({ where: { projectId: api.projectId } })).toBe(1);
});

test('a refusal names the roles that may do it', async () => {
  const api = await testApi();
  const refusalsOf = async (role: Role) => {
    const person = await signedIn(api, role);
    const mutations = [
      'groupDelete(id: "grp_1") { deletedId }',
      'renameProject(name: "News") { id }',
      'projectDelete(name: "News") { deletedId }',
    ];
    const replies = await Promise.all(mutations.map((mutation) => person.graphql(`mutation { ${mutation} }`)));
    return replies.map(({ body }) =>
      body.errors?.[0].extensions.code === 'forbidden' ? body.errors[0].message : null,
    );
  };
  const writing = 'Only members, admins and owners of this project may do this.';
  const managing = 'Only admins and owners of this project may do this.';
  const owning = 'Only owners of this project may do this.';
  expect(await refusalsOf('viewer')).toEqual([writing, managing, owning]);
  expect(await refusalsOf('member')).toEqual([null, managing, owning]);
  expect(await refusalsOf('admin')).toEqual([null, null, owning]);
});

test('every member may leave a project, but only managers remove others', async () => {
  const api = await testApi();
  const [owner, member, viewer] = [await signedIn(api), await signedIn(api, 'member'), await signedIn(api, 'viewer')];
  const leaving = 'mutation ($userId: ID!) { memberRemove(userId: $userId) { userId } }';
  expect(code(await member.graphql(leaving, { userId: viewer.id }))).toBe('forbidden');
  expect(code(await viewer.graphql(leaving, { userId: owner.id }))).toBe('forbidden');
  expect(code(await api.graphql(leaving, { userId: viewer.id }))).toBe('forbidden');
  for (const { graphql, id: userId } of [viewer, member])
    expect((await graphql(leaving, { userId })).body.data.memberRemove).toEqual({ userId });
  expect(code(await viewer.graphql('{ members { role } }'))).toBe('forbidden');
  expect(code(await owner.graphql(leaving, { userId: owner.id }))).toBe('conflict');
});

test.each([
  [
    'demotes',
    `UPDATE members SET role = 'member' WHERE user_id = $1`,
    'memberChangeRole(userId: $id, role: admin) { member { role } }',
  ],
  ['removes', 'DELETE FROM members WHERE user_id = $1', 'memberRemove(userId: $id) { userId }'],
])(
  'of two owners of whom each %s the other at the same time, the second no longer may',
  async (_does, first, second) => {
    const api = await testApi();
    const [one, other] = [await signedIn(api, 'owner'), await signedIn(api, 'owner')];
    await signedIn(api, 'owner');
    const outcome = await interleave(
      (tx) => sql(tx, 'SELECT FROM members WHERE project_id = $1 FOR UPDATE', [api.projectId]),
      () => other.graphql(`mutation ($id: ID!) { ${second} }`, { id: one.id }),
      (tx) => sql(tx, first, [other.id]),
    );
    expect(code(outcome)).toBe('forbidden');
    const row = { projectId: api.projectId, userId: one.id };
    expect(await db.member.findUnique({ where: { projectId_userId: row } })).toMatchObject({ role: 'owner' });
  },
);

test('a member whose right to manage ends meanwhile does not restore their own role', async () => {
  const api = await testApi();
  const admin = await signedIn(api, 'admin');
  const outcome = await interleave(
    (tx) => sql(tx, 'SELECT FROM members WHERE project_id = $1 FOR UPDATE', [api.projectId]),
    () => admin.graphql(CHANGE, { userId: admin.id, role: 'admin' }),
    (tx) => sql(tx, `UPDATE members SET role = 'viewer' WHERE user_id = $1`, [admin.id]),
  );
  expect(code(outcome)).toBe('forbidden');
});

test('an owner who becomes an admin keeps keys and invitations, but not those of owners', async () => {
  const api = await testApi();
  const [owner, other] = [await signedIn(api, 'owner'), await signedIn(api, 'owner')];
  const { key } = await createdBy(other, {});
  const [asOwner, asMember] = [await invited(other, 'owner'), await invited(other, 'member')];
  await owner.graphql(CHANGE, { userId: other.id, role: 'admin' });
  expect(await works(api, key)).toBe(true);
  expect(code(await accept(api, asOwner))).toBe('not_found');
  expect((await accept(api, asMember)).body.data.acceptInvitation).toBe(api.projectId);
});

test('an invitation of a person whose right ended in another way is not accepted, and no account is made', async () => {
  const api = await testApi();
  const admin = await signedIn(api, 'admin');
  const token = await invited(admin);
  await db.member.delete({ where: { projectId_userId: { projectId: api.projectId, userId: admin.id } } });
  const before = await db.user.count();
  expect(code(await accept(api, token))).toBe('not_found');
  expect(await db.user.count()).toBe(before);
});

test('a key of several projects, or of all, loses the project that its creator was removed from and keeps the others', async () => {
  const [one, two] = [await testApi(), await testApi()];
  const [owner, admin] = [await signedIn(one, 'owner'), await signedIn(one, 'admin')];
  await join(two, admin, 'admin');
  const both = await createdBy(admin, { projectIds: [one.projectId, two.projectId] });
  const all = await createApiKey({ name: 'all', scope: 'full', projects: 'all', createdById: admin.id });
  await owner.graphql(REMOVE, { userId: admin.id });
  for (const { key } of [both, all]) {
    expect(await works(one, key)).toBe(false);
    expect(await works(two, key)).toBe(true);
  }
  const later = await testApi();
  expect(await works(later, all.key)).toBe(true);
  const { body } = await two.send('GET', '/v1/projects', { key: all.key });
  const ids = body.data.map(({ id }: { id: string }) => id);
  expect(ids).toContain(later.projectId);
  expect(ids).not.toContain(one.projectId);
});

test("an admin or owner of one project cannot revoke a key of the installation, nor another tenant's access", async () => {
  const [one, two] = [await testApi(), await testApi()];
  const [owner, admin, ofTwo] = [await signedIn(one, 'owner'), await signedIn(one, 'admin'), await signedIn(two)];
  const all = await createApiKey({ name: 'all', scope: 'full', projects: 'all' });
  const both = await createApiKey({ name: 'both', scope: 'full', projects: [one.projectId, two.projectId] });
  for (const person of [owner, admin]) {
    expect(code(await person.graphql(REVOKE, { id: all.id }))).toBe('forbidden');
    expect(code(await person.graphql(REMOVE_KEY, { id: all.id }))).toBe('forbidden');
    expect(code(await person.graphql(REVOKE, { id: both.id }))).toBe('forbidden');
  }
  for (const { key } of [all, both]) for (const api of [one, two]) expect(await works(api, key)).toBe(true);

  // Each may revoke the key's access to their own project.
  const removed = await admin.graphql(REMOVE_KEY, { id: both.id });
  expect(removed.body.data.removeApiKeyFromProject).toEqual({ projectIds: [two.projectId], revokedAt: null });
  expect([await works(one, both.key), await works(two, both.key)]).toEqual([false, true]);
  expect(code(await admin.graphql(REMOVE_KEY, { id: both.id }))).toBe('not_found');
  expect((await ofTwo.graphql(REMOVE_KEY, { id: both.id })).body.data.removeApiKeyFromProject.revokedAt).not.toBeNull();
  expect(await works(two, both.key)).toBe(false);
});

test('a manager of every project of a key revokes it, and so does the creator of a key for all projects', async () => {
  const [one, two] = [await testApi(), await testApi()];
  const admin = await signedIn(one, 'admin');
  await join(two, admin, 'admin');
  const both = await createApiKey({ name: 'both', scope: 'full', projects: [one.projectId, two.projectId] });
  expect((await admin.graphql(REVOKE, { id: both.id })).body.data.revokeApiKey).toBe(true);
  expect(await works(two, both.key)).toBe(false);
  const all = await createApiKey({ name: 'all', scope: 'full', projects: 'all', createdById: admin.id });
  expect((await admin.graphql(REVOKE, { id: all.id })).body.data.revokeApiKey).toBe(true);
  expect(await works(two, all.key)).toBe(false);
});

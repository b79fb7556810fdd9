import { config, db, newId } from '@postroom/platform';
import { signedIn, signIn, TEST_PASSWORD, testApi } from '@postroom/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createUser } from './users.ts';

const CREATE_KEY = `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { id key } }`;
const code = (reply: { body: { errors?: { extensions: { code: string } }[] } }) =>
  reply.body.errors?.[0]?.extensions.code;

test('a person who signs in reads and writes in their projects as a key does', async () => {
  const api = await testApi();
  const owner = await signedIn(api, 'owner');
  const reply = await owner.graphql('{ me { email } myProjects { role project { id } } groups { nodes { id } } }');
  expect(reply.body.data).toEqual({
    me: { email: owner.email },
    myProjects: [{ role: 'owner', project: { id: api.projectId } }],
    groups: { nodes: [] },
  });
});

test('a viewer looks and does not change, a member changes and does not manage', async () => {
  const api = await testApi();
  const [viewer, member, admin] = [
    await signedIn(api, 'viewer'),
    await signedIn(api, 'member'),
    await signedIn(api, 'admin'),
  ];
  const createTemplate = `mutation { createTemplate(input: {name: "T", body: "b"}) { id } }`;
  expect((await viewer.graphql('{ templates { nodes { id } } }')).body.errors).toBeUndefined();
  expect(code(await viewer.graphql(createTemplate))).toBe('forbidden');
  expect((await member.graphql(createTemplate)).body.data.createTemplate.id).toMatch(/^tpl_/);
  const input = { name: 'ci', scope: 'full' };
  expect(code(await member.graphql(CREATE_KEY, { input }))).toBe('forbidden');
  expect((await admin.graphql(CREATE_KEY, { input })).body.data.createApiKey.key).toMatch(/^pr_/);
});

test('what the specification keeps to the dashboard is closed to every API key', async () => {
  const api = await testApi();
  expect(code(await api.graphql(CREATE_KEY, { input: { name: 'x', scope: 'full' } }))).toBe('forbidden');
  expect(code(await api.graphql('{ apiKeys { id } }'))).toBe('forbidden');
  expect(code(await api.graphql('{ me { id } }'))).toBe('forbidden');
  const { key } = await api.newKey('sending');
  expect(code(await api.graphql('{ apiKeys { id } }', {}, { key }))).toBe('insufficient_scope');
});

test('a key that a person created works at once, is shown only then, and stops at once when it is revoked', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const { id, key } = (await owner.graphql(CREATE_KEY, { input: { name: 'ci', scope: 'full' } })).body.data
    .createApiKey;
  expect((await api.send('GET', '/v1/groups', { key })).status).toBe(200);
  const listed = await owner.graphql('{ apiKeys { id last4 scope projectIds revokedAt } }');
  expect(listed.body.data.apiKeys).toContainEqual({
    id,
    last4: key.slice(-4),
    scope: 'full',
    projectIds: [api.projectId],
    revokedAt: null,
  });
  expect(JSON.stringify(listed.body)).not.toContain(key);
  await owner.graphql('mutation ($id: ID!) { revokeApiKey(id: $id) }', { id });
  expect((await api.send('GET', '/v1/groups', { key })).status).toBe(401);
});

test('nobody makes a key for a project that they do not manage', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const owner = await signedIn(api);
  for (const input of [
    { projectIds: [other.projectId] },
    { projectIds: [api.projectId, other.projectId] },
    { allProjects: true },
  ]) {
    expect(code(await owner.graphql(CREATE_KEY, { input: { name: 'x', scope: 'full', ...input } }))).toBe('forbidden');
  }
});

test('another project is closed to a person who is not in it, and a membership that ends, ends at once', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const member = await signedIn(api, 'member');
  expect(code(await member.graphql('{ groups { nodes { id } } }', {}, { 'X-Project-Id': other.projectId }))).toBe(
    'forbidden',
  );
  await db.member.delete({ where: { projectId_userId: { projectId: api.projectId, userId: member.id } } });
  expect(code(await member.graphql('{ groups { nodes { id } } }'))).toBe('forbidden');
});

test("a request that another site sent does not act with the person's cookie", async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const mutation = 'mutation { createTemplate(input: {name: "T", body: "b"}) { id } }';
  const otherSite: Record<string, string>[] = [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }];
  for (const headers of otherSite) {
    expect(code(await owner.graphql(mutation, {}, headers))).toBe('forbidden');
  }
});

test('an invitation makes a member of the invited address, once', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const email = `new-${newId('usr')}@people.example`;
  const invite = `mutation ($input: InviteInput!) { invite(input: $input) { id url } }`;
  const { url } = (await owner.graphql(invite, { input: { email, role: 'admin' } })).body.data.invite;
  const token = new URL(url).searchParams.get('token');
  const accept = (input: object) =>
    api.graphql(
      'mutation ($input: AcceptInvitationInput!) { acceptInvitation(input: $input) }',
      { input },
      { key: null },
    );
  expect(code(await accept({ token: 'nonsense', name: 'N', password: TEST_PASSWORD }))).toBe('not_found');
  expect(code(await accept({ token, name: 'N', password: 'short' }))).toBe('validation_error');
  expect((await accept({ token, name: 'Newcomer', password: TEST_PASSWORD })).body.data.acceptInvitation).toBe(
    api.projectId,
  );
  expect(code(await accept({ token, name: 'Newcomer', password: TEST_PASSWORD }))).toBe('not_found');
  expect(await signIn(api, email, TEST_PASSWORD)).toContain('postroom');
  const members = await owner.graphql('{ members { role user { email } } }');
  expect(members.body.data.members).toContainEqual({ role: 'admin', user: { email } });
});

test('an invitation that can not be mailed leaves its link to whoever invites', async () => {
  const before = config.SMTP_URL;
  config.SMTP_URL = 'smtp://127.0.0.1:9';
  onTestFinished(() => {
    config.SMTP_URL = before;
  });
  const owner = await signedIn(await testApi());
  const { body } = await owner.graphql(
    'mutation { invite(input: { email: "ada@people.example", role: viewer }) { url } }',
  );
  expect(body.data.invite.url).toMatch(/\/invitation\?token=[\w-]{43}$/);
});

test('an invitation to an address that has an account is accepted by that person only', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const owner = await signedIn(api);
  const [invited, stranger] = [await signedIn(other), await signedIn(other)];
  const { url } = (
    await owner.graphql('mutation ($input: InviteInput!) { invite(input: $input) { url } }', {
      input: { email: invited.email, role: 'viewer' },
    })
  ).body.data.invite;
  const input = { token: new URL(url).searchParams.get('token') };
  const accept = 'mutation ($input: AcceptInvitationInput!) { acceptInvitation(input: $input) }';
  const headers = { 'X-Project-Id': other.projectId };
  expect(code(await stranger.graphql(accept, { input }, headers))).toBe('forbidden');
  expect((await invited.graphql(accept, { input }, headers)).body.data.acceptInvitation).toBe(api.projectId);
});

test('a project keeps at least one owner, also when two leave at once, and only owners make owners', async () => {
  const api = await testApi();
  const [one, two, admin] = [await signedIn(api, 'owner'), await signedIn(api, 'owner'), await signedIn(api, 'admin')];
  const remove = 'mutation ($userId: ID!) { removeMember(userId: $userId) }';
  expect(code(await admin.graphql(remove, { userId: one.id }))).toBe('forbidden');
  expect(
    code(
      await admin.graphql('mutation ($userId: ID!) { changeRole(userId: $userId, role: owner) }', { userId: admin.id }),
    ),
  ).toBe('forbidden');
  const replies = await Promise.all([one.graphql(remove, { userId: two.id }), two.graphql(remove, { userId: one.id })]);
  expect(replies.filter((reply) => reply.body.data?.removeMember === true)).toHaveLength(1);
  expect(await db.member.count({ where: { projectId: api.projectId, role: 'owner' } })).toBe(1);
});

test('sessions are listed without their tokens and revoked by id, at once', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const second = await signIn(api, owner.email, TEST_PASSWORD);
  const { mySessions } = (await owner.graphql('{ mySessions { id current } }')).body.data;
  expect(mySessions).toHaveLength(2);
  const other = mySessions.find((session: { current: boolean }) => !session.current);
  await owner.graphql('mutation ($id: ID!) { revokeSession(id: $id) }', { id: other.id });
  expect(code(await owner.graphql('{ me { id } }', {}, { cookie: second }))).toBe('unauthorized');
  expect(
    (await fetch(`${api.url}/app/auth/list-sessions`, { headers: { cookie: owner.cookie, Origin: config.PUBLIC_URL } }))
      .status,
  ).toBe(404);
});

test('wrong passwords are throttled, whatever address the caller claims to have', async () => {
  const api = await testApi();
  await createUser({ email: 'throttled@people.example', name: 'T', password: TEST_PASSWORD });
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 100 && !statuses.includes(429); attempt++) {
    const response = await fetch(`${api.url}/app/auth/sign-in/email`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Origin: config.PUBLIC_URL,
        'X-Forwarded-For': `10.0.0.${attempt}`,
        'x-postroom-ip': `10.0.1.${attempt}`,
      },
      body: JSON.stringify({ email: 'throttled@people.example', password: 'wrong wrong wrong' }),
    });
    statuses.push(response.status);
  }
  expect(statuses).toContain(429);
  expect(statuses.filter((status) => status === 200)).toEqual([]);
});

test('what people change is in the audit log, with who did it', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const { id } = (await owner.graphql(CREATE_KEY, { input: { name: 'ci', scope: 'sending' } })).body.data.createApiKey;
  const log = await owner.graphql('{ auditLog(first: 5) { nodes { actorId action targetId } } }');
  expect(log.body.data.auditLog.nodes).toEqual([{ actorId: owner.id, action: 'createApiKey', targetId: id }]);
});

test('an owner creates a project and is its owner; who owns none can not, and names have bounds', async () => {
  const api = await testApi();
  const [owner, member] = [await signedIn(api, 'owner'), await signedIn(api, 'member')];
  const create = 'mutation ($name: String!) { createProject(name: $name) { id name } }';
  expect(code(await member.graphql(create, { name: 'Mine' }))).toBe('forbidden');
  expect(code(await owner.graphql(create, { name: ' ' }))).toBe('validation_error');
  const { id, name } = (await owner.graphql(create, { name: ' Mine ' })).body.data.createProject;
  expect(name).toBe('Mine');
  const { myProjects } = (await owner.graphql('{ myProjects { role project { id } } }')).body.data;
  expect(myProjects).toContainEqual({ role: 'owner', project: { id } });
});

test('who manages a project renames it, and everybody themselves', async () => {
  const api = await testApi();
  const [admin, member] = [await signedIn(api, 'admin'), await signedIn(api, 'member')];
  const rename = 'mutation { renameProject(name: "Better") { name } }';
  expect(code(await member.graphql(rename))).toBe('forbidden');
  expect((await admin.graphql(rename)).body.data.renameProject.name).toBe('Better');
  expect((await member.graphql('mutation { renameMe(name: "Grace Hopper") { name } }')).body.data.renameMe.name).toBe(
    'Grace Hopper',
  );
  const log = await admin.graphql('{ auditLog { nodes { action actorName } } }');
  expect(log.body.data.auditLog.nodes).toEqual([
    { action: 'renameMe', actorName: 'Grace Hopper' },
    { action: 'renameProject', actorName: 'A Person' },
  ]);
});

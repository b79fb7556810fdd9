import { randomInt } from 'node:crypto';
import { config, db, newId, parseNetworks, pool } from '@postroom/platform';
import { postAuth, signedIn, signIn, takeSystemMail, TEST_PASSWORD, testApi } from '@postroom/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createUser } from '../src/users.ts';

const CREATE_KEY = `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { id key } }`;
const INVITE = 'mutation ($input: InviteInput!) { invite(input: $input) { id } }';
const tokenOf = (link: string) => new URL(link).searchParams.get('token');
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
  const listed = await owner.graphql('{ apiKeys { id last4 scope projectIds createdByName revokedAt } }');
  expect(listed.body.data.apiKeys).toContainEqual({
    id,
    last4: key.slice(-4),
    scope: 'full',
    projectIds: [api.projectId],
    createdByName: 'A Person',
    revokedAt: null,
  });
  expect(JSON.stringify(listed.body)).not.toContain(key);
  await owner.graphql('mutation ($id: ID!) { revokeApiKey(id: $id) }', { id });
  expect((await api.send('GET', '/v1/groups', { key })).status).toBe(401);
});

test('only a manager of a project creates keys for it', async () => {
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

test('a key is created for all projects or for those that are named, never for all in spite of names', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  for (const input of [{ allProjects: true, projectIds: [api.projectId] }, { projectIds: [] }]) {
    const { body } = await owner.graphql(CREATE_KEY, { input: { name: 'x', scope: 'full', ...input } });
    expect(body.errors[0].extensions).toMatchObject({ code: 'validation_error', details: [{ field: 'projectIds' }] });
  }
});

test('another project is closed to a person who is not in it, and a membership that ends, ends at once', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const member = await signedIn(api, 'member');
  const { body } = await member.graphql('{ groups { nodes { id } } }', {}, { 'X-Project-Id': other.projectId });
  expect(body.errors).toMatchObject([
    { message: 'You are not a member of this project.', extensions: { code: 'forbidden' } },
  ]);
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
  await using mail = await takeSystemMail();
  const email = `new-${newId('usr')}@people.example`;
  await owner.graphql(INVITE, { input: { email, role: 'admin' } });
  const token = tokenOf(await mail.linkTo(email));
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

test('the link of an invitation is in the mail alone: no answer has it, no table, and not the audit log', async () => {
  const owner = await signedIn(await testApi());
  await using mail = await takeSystemMail();
  const email = `${newId('usr')}@people.example`;
  const invited = await owner.graphql('mutation ($input: InviteInput!) { invite(input: $input) { id url } }', {
    input: { email, role: 'admin' },
  });
  const token = tokenOf(await mail.linkTo(email));
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(invited.body.data.invite).toEqual({ id: expect.stringMatching(/^inv_/), url: null });
  const seen = await owner.graphql('{ invitations { id email role } auditLog { nodes { action targetId } } }');
  const { rows } = await pool.query('SELECT * FROM audit_entries WHERE actor_id = $1', [owner.id]);
  const invitation = await db.invitation.findUniqueOrThrow({ where: { id: invited.body.data.invite.id } });
  expect(JSON.stringify([invited.body, seen.body, rows, invitation])).not.toContain(token);
});

test('inviting without an installation mail server fails and names the settings to add', async () => {
  const before = config.SMTP_URL;
  delete config.SMTP_URL;
  onTestFinished(() => {
    config.SMTP_URL = before;
  });
  const owner = await signedIn(await testApi());
  const { body } = await owner.graphql(INVITE, { input: { email: 'ada@people.example', role: 'viewer' } });
  expect(code({ body })).toBe('conflict');
  expect(body.errors[0].message).toMatch(/SMTP_URL.*SYSTEM_MAIL_FROM/);
  expect((await owner.graphql('{ invitations { id } }')).body.data.invitations).toEqual([]);
});

test('an invitation that the mail server does not take is none, and the error says so', async () => {
  await using mail = await takeSystemMail();
  mail.sink.answer(() => ({ code: 550, message: '5.7.1 Sender rejected' }));
  const owner = await signedIn(await testApi());
  const { body } = await owner.graphql(INVITE, { input: { email: 'ada@people.example', role: 'viewer' } });
  expect(code({ body })).toBe('conflict');
  expect(body.errors[0].message).toContain('no one was invited');
  expect((await owner.graphql('{ invitations { id } }')).body.data.invitations).toEqual([]);
});

test('an invitation to an address that has an account is accepted by that person only', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const owner = await signedIn(api);
  const [invited, stranger] = [await signedIn(other), await signedIn(other)];
  await using mail = await takeSystemMail();
  await owner.graphql(INVITE, { input: { email: invited.email, role: 'viewer' } });
  const input = { token: tokenOf(await mail.linkTo(invited.email)) };
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

test('behind a trusted proxy each client has its own address and limits', async () => {
  const before = config.TRUSTED_PROXIES;
  config.TRUSTED_PROXIES = parseNetworks('127.0.0.0/8');
  onTestFinished(() => {
    config.TRUSTED_PROXIES = before;
  });
  const api = await testApi();
  const { email } = await createUser({ email: `${newId('usr')}@people.example`, name: 'T', password: TEST_PASSWORD });
  const octet = randomInt(1, 255);
  const from = (client: number, email: string, password: string) =>
    postAuth(api, '/sign-in/email', { email, password }, { 'X-Forwarded-For': `1.1.1.1, 198.18.${octet}.${client}` });
  const guesses: number[] = [];
  for (let time = 0; time < 11; time++) guesses.push((await from(1, `${newId('usr')}@people.example`, 'wrong')).status);
  expect(guesses).toEqual([...Array<number>(10).fill(401), 429]);
  expect((await from(1, email, TEST_PASSWORD)).status).toBe(429);
  expect((await from(2, email, TEST_PASSWORD)).status).toBe(200);
  const session = await db.session.findFirstOrThrow({ where: { user: { email } } });
  expect(session.ipAddress).toBe(`198.18.${octet}.2`);
});

test.each(['//evil.test', '/\t/evil.test', '/\\evil.test', '/..//evil.test', 'https://evil.test/', '/%2e//evil.test'])(
  'no endpoint of the sign-in library takes a redirect elsewhere: %j',
  async (target) => {
    const api = await testApi();
    const social = { provider: 'oidc', callbackURL: '/', errorCallbackURL: '/sign-in' };
    const bodies: [string, object][] = [
      ['/sign-in/email', { email: 'a@people.example', password: 'wrong', callbackURL: target }],
      ['/request-password-reset', { email: 'a@people.example', redirectTo: target }],
      ['/sign-in/social', { ...social, callbackURL: target }],
      ['/sign-in/social', { ...social, errorCallbackURL: target }],
      ['/sign-in/social', { ...social, newUserCallbackURL: target }],
    ];
    for (const [path, body] of bodies) expect([400, 403], path).toContain((await postAuth(api, path, body)).status);
    const link = `${api.url}/app/auth/reset-password/token?callbackURL=${encodeURIComponent(target)}`;
    const response = await fetch(link, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([expect.any(Number), null]);
  },
);

test('a text that cannot be stored is 400 at every endpoint of the sign-in library, in body and query', async () => {
  const api = await testApi();
  for (const [path, body] of [
    ['/sign-in/email', { email: 'a@people.example', password: 'x\0' }],
    ['/reset-password', { token: '\0', newPassword: TEST_PASSWORD }],
    ['/reset-password', { token: '\ud800', newPassword: TEST_PASSWORD }],
    ['/reset-password?token=%00', { newPassword: TEST_PASSWORD }],
    ['/request-password-reset', { email: 'a\0@people.example' }],
    ['/two-factor/verify-totp', { code: '\0' }],
  ] as const)
    expect([path, (await postAuth(api, path, body)).status]).toEqual([path, 400]);
  expect((await fetch(`${api.url}/app/auth/verify-email?token=%00`, { redirect: 'manual' })).status).toBe(400);
});

test('what people change is in the audit log, with who did it', async () => {
  const api = await testApi();
  const owner = await signedIn(api);
  const { id } = (await owner.graphql(CREATE_KEY, { input: { name: 'ci', scope: 'sending' } })).body.data.createApiKey;
  const log = await owner.graphql('{ auditLog(first: 5) { nodes { actorId action targetId } } }');
  expect(log.body.data.auditLog.nodes).toEqual([{ actorId: owner.id, action: 'createApiKey', targetId: id }]);
});

test('an owner creates a project and is its owner; who owns none cannot, and names have bounds', async () => {
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

test('managers rename their project, and users themselves', async () => {
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

test('an account has one address: another spelling signs in to the same account and creates no second one', async () => {
  const api = await testApi();
  const word = newId('usr').toLowerCase();
  const { email } = await createUser({ email: `${word}@BÜcher.example`, name: 'Ada', password: TEST_PASSWORD });
  expect(email).toBe(`${word}@xn--bcher-kva.example`);
  for (const spelling of [`${word.toUpperCase()}@bücher.example`, `${word}@bücher。example`]) {
    expect(await signIn(api, spelling, TEST_PASSWORD)).toContain('postroom.session_token');
    await expect(createUser({ email: spelling, name: 'Ada', password: TEST_PASSWORD })).rejects.toThrow(
      'has an account',
    );
  }
});

import { config, db, newId, pool } from '@postroom/platform';
import {
  eventually,
  postAuth,
  type SignedIn,
  signedIn,
  signIn,
  takeSystemMail,
  type SystemMail,
  TEST_PASSWORD,
  testApi,
} from '@postroom/testkit';
import { expect, onTestFinished, test } from 'vitest';

const REQUEST = 'mutation ($input: EmailChangeInput!) { emailChangeRequest(input: $input) { emailChange { email } } }';
const CONFIRM = 'mutation ($token: String!) { emailChangeConfirm(token: $token) { user { id email } } }';
const INVITE = 'mutation ($input: InviteInput!) { invite(input: $input) { id } }';

const newAddress = () => `${newId('usr')}@new.example`;
const code = (reply: { body: { errors?: { extensions: { code: string } }[] } }) =>
  reply.body.errors?.[0]?.extensions.code;
const request = (user: SignedIn, email: string, password: string | null = TEST_PASSWORD) =>
  user.graphql(REQUEST, { input: { email, password } });
const tokenFor = async (mail: SystemMail, email: string) =>
  new URL(await mail.linkTo(email)).searchParams.get('token') ?? '';
const subjectsTo = (mail: SystemMail, email: string) =>
  mail.sink.mails.filter(({ to }) => to === email).map(({ raw }) => /^Subject: (.*)$/m.exec(raw)?.[1]?.trim());

/** Asks for an address, and confirms it. */
async function changeTo(user: SignedIn, mail: SystemMail, email: string) {
  expect((await request(user, email)).body.errors).toBeUndefined();
  return user.graphql(CONFIRM, { token: await tokenFor(mail, email) });
}

test('a user changes their address by a link to the new one; session, role and password stay, and the old address is told', async () => {
  const api = await testApi();
  const user = await signedIn(api, 'admin');
  await using mail = await takeSystemMail();
  const email = newAddress();
  expect((await request(user, ` ${email.toUpperCase()} `)).body.data.emailChangeRequest).toEqual({
    emailChange: { email },
  });
  const state = '{ me { email } myEmailChange { email } myProjects { role project { id } } }';
  const projects = [{ role: 'admin', project: { id: api.projectId } }];
  const before = await user.graphql(state);
  expect(before.body.data).toEqual({ me: { email: user.email }, myEmailChange: { email }, myProjects: projects });
  await signIn(api, user.email, TEST_PASSWORD);

  const token = await tokenFor(mail, email);
  const confirmed = await user.graphql(CONFIRM, { token });
  expect(confirmed.body.data.emailChangeConfirm.user).toEqual({ id: user.id, email });
  const after = await user.graphql(state);
  expect(after.body.data).toEqual({ me: { email }, myEmailChange: null, myProjects: projects });
  await signIn(api, email, TEST_PASSWORD);
  await expect(signIn(api, user.email, TEST_PASSWORD)).rejects.toThrow('401');
  await eventually(() =>
    expect(subjectsTo(mail, user.email)).toEqual([
      'Someone asked to change the email address of your Postroom account',
      'The email address of your Postroom account was changed',
    ]),
  );
  expect(code(await user.graphql(CONFIRM, { token }))).toBe('not_found');
});

test('the audit log of each project of the user records the change', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const user = await signedIn(api);
  await db.member.create({ data: { projectId: other.projectId, userId: user.id, role: 'owner' } });
  await using mail = await takeSystemMail();
  const email = newAddress();
  await changeTo(user, mail, email);
  for (const { projectId } of [api, other]) {
    const { body } = await user.graphql(
      '{ auditLog { nodes { action actionLabel actorId targetId changes { field before after } } } }',
      {},
      { 'X-Project-Id': projectId },
    );
    expect(body.data.auditLog.nodes).toEqual([
      {
        action: 'emailChangeConfirm',
        actionLabel: 'Changed their email address',
        actorId: user.id,
        targetId: user.id,
        changes: [{ field: 'email', before: user.email, after: email }],
      },
    ]);
  }
});

test('the link works for the user who asked, in a session, and only while it is the newest and has not expired', async () => {
  const api = await testApi();
  const [user, other] = [await signedIn(api), await signedIn(api)];
  await using mail = await takeSystemMail();
  const [first, second] = [newAddress(), newAddress()];
  await request(user, first);
  const token = await tokenFor(mail, first);
  expect(code(await api.graphql(CONFIRM, { token }, { key: null }))).toBe('unauthorized');
  expect(code(await other.graphql(CONFIRM, { token }))).toBe('not_found');
  await request(user, second);
  expect(code(await user.graphql(CONFIRM, { token }))).toBe('not_found');
  await db.verification.updateMany({
    where: { identifier: `email-change:${user.id}` },
    data: { expiresAt: new Date(Date.now() - 1) },
  });
  expect(code(await user.graphql(CONFIRM, { token: await tokenFor(mail, second) }))).toBe('not_found');
  expect((await user.graphql('{ me { email } myEmailChange { email } }')).body.data).toEqual({
    me: { email: user.email },
    myEmailChange: null,
  });
  const { rows } = await pool.query('SELECT * FROM verifications WHERE identifier LIKE $1', [`%${user.id}`]);
  expect(JSON.stringify(rows)).not.toContain(token);
});

test('an address that has an account is answered as any other; only its mailbox learns about the account', async () => {
  const api = await testApi();
  const [user, other] = [await signedIn(api), await signedIn(await testApi())];
  await using mail = await takeSystemMail();
  const free = newAddress();
  const answers = [await request(user, free), await request(user, other.email)];
  const [ofFree, ofTaken] = answers.map(({ status, body }, index) =>
    JSON.stringify([status, body]).replace(index === 0 ? free : other.email, 'address'),
  );
  expect(ofTaken).toBe(ofFree);
  expect((await user.graphql('{ myEmailChange { email } }')).body.data.myEmailChange).toEqual({ email: other.email });
  await eventually(() =>
    expect(subjectsTo(mail, other.email)).toEqual(['Your address already has a Postroom account']),
  );
  expect(await mail.linkTo(other.email)).toBe(`${config.PUBLIC_URL}/sign-in`);
});

test('of two users who confirm one address at once, one gets it', async () => {
  const api = await testApi();
  const users = [await signedIn(api), await signedIn(api)];
  await using mail = await takeSystemMail();
  const email = newAddress();
  const tokens: string[] = [];
  for (const user of users) {
    await request(user, email);
    tokens.push(await tokenFor(mail, email));
  }
  const replies = await Promise.all(users.map((user, at) => user.graphql(CONFIRM, { token: tokens[at] })));
  expect(replies.map(code).sort()).toEqual(['conflict', undefined]);
  const refused = replies.find((reply) => code(reply) === 'conflict');
  expect(refused?.body.errors[0].message).toBe(`${email} already has an account.`);
  expect(await db.user.count({ where: { email } })).toBe(1);
  expect(await db.user.count({ where: { id: { in: users.map(({ id }) => id) } } })).toBe(2);
});

test('it takes the password; wrong ones are limited, and so are requests', async () => {
  const api = await testApi();
  const user = await signedIn(api);
  await using mail = await takeSystemMail();
  const fieldOf = (reply: Awaited<ReturnType<typeof request>>) =>
    reply.body.errors?.[0]?.extensions.details?.[0]?.field;
  expect(fieldOf(await request(user, newAddress(), null))).toBe('password');
  expect(fieldOf(await request(user, newAddress(), 'wrong wrong wrong'))).toBe('password');
  expect(fieldOf(await request(user, 'no address'))).toBe('email');
  expect(fieldOf(await request(user, user.email.toUpperCase()))).toBe('email');
  for (let time = 0; time < 5; time++) expect((await request(user, newAddress())).body.errors).toBeUndefined();
  expect(code(await request(user, newAddress()))).toBe('rate_limited');
  const guesses: unknown[] = [];
  for (let time = 0; time < 11; time++) guesses.push(code(await request(user, newAddress(), 'wrong wrong wrong')));
  expect(guesses).toEqual([...Array<string>(10).fill('validation_error'), 'rate_limited']);
  expect(mail.sink.mails.filter(({ to }) => to !== user.email)).toHaveLength(5);
});

test('a user without a password changes their address soon after they signed in', async () => {
  const api = await testApi();
  const user = await signedIn(api);
  await db.account.updateMany({ where: { userId: user.id }, data: { providerId: 'oidc', password: null } });
  await using mail = await takeSystemMail();
  expect((await user.graphql('{ hasPassword }')).body.data.hasPassword).toBe(false);
  const email = newAddress();
  await db.session.updateMany({ where: { userId: user.id }, data: { createdAt: new Date(Date.now() - 16 * 60_000) } });
  const late = await request(user, email, null);
  expect(code(late)).toBe('conflict');
  expect(late.body.errors[0].message).toContain('Sign out, sign in again');
  await db.session.updateMany({ where: { userId: user.id }, data: { createdAt: new Date() } });
  expect((await request(user, email, null)).body.errors).toBeUndefined();
  expect((await user.graphql(CONFIRM, { token: await tokenFor(mail, email) })).body.errors).toBeUndefined();
  const [account] = await db.account.findMany({ where: { userId: user.id } });
  expect(account).toMatchObject({ providerId: 'oidc', accountId: user.id });
});

test('pending invitations follow to the new address; of those of both addresses to a project the newest stays', async () => {
  const [one, two, three] = [await testApi(), await testApi(), await testApi()];
  const user = await signedIn(await testApi());
  await using mail = await takeSystemMail();
  const email = newAddress();
  const invite = async (api: typeof one, address: string, role: string) => {
    const owner = await signedIn(api);
    const { body } = await owner.graphql(INVITE, { input: { email: address, role } });
    return body.data.invite.id as string;
  };
  const ofOld = await invite(one, user.email, 'member');
  const link = await mail.linkTo(user.email);
  await invite(two, user.email, 'admin');
  const newer = await invite(two, email, 'viewer');
  await invite(three, email, 'viewer');
  const newest = await invite(three, user.email, 'member');
  await changeTo(user, mail, email);
  const left = await db.invitation.findMany({ where: { email }, orderBy: { id: 'asc' } });
  expect(left.map(({ id }) => id).sort()).toEqual([ofOld, newer, newest].sort());
  expect(await db.invitation.count({ where: { email: user.email } })).toBe(0);
  // The link in the mail to the old address still works, for the user only.
  const accept = 'mutation ($input: AcceptInvitationInput!) { invitationAccept(input: $input) { project { id } } }';
  const input = { token: new URL(link).searchParams.get('token') };
  const asNew = { input: { ...input, name: 'Someone', password: TEST_PASSWORD } };
  expect(code(await one.graphql(accept, asNew, { key: null }))).toBe('forbidden');
  expect((await user.graphql(accept, { input })).body.data.invitationAccept.project.id).toBe(one.projectId);
});

test('a password reset ends the request, and links to reset the password end with the old address', async () => {
  const api = await testApi();
  const user = await signedIn(api);
  await using mail = await takeSystemMail();
  const reset = async (address: string) => {
    await postAuth(api, '/request-password-reset', { email: address, redirectTo: '/reset-password' });
    return eventually(async () => {
      const link = await mail.linkTo(address);
      expect(link).toContain('/app/auth/reset-password/');
      return new URL(link).pathname.split('/').at(-1);
    });
  };
  const choose = (token: string | undefined) => postAuth(api, '/reset-password', { newPassword: TEST_PASSWORD, token });
  await request(user, newAddress());
  expect((await choose(await reset(user.email))).status).toBe(200);
  expect(await db.verification.count({ where: { identifier: `email-change:${user.id}` } })).toBe(0);

  const cookie = await signIn(api, user.email, TEST_PASSWORD);
  const again = { ...user, graphql: (query: string, variables = {}) => user.graphql(query, variables, { cookie }) };
  const link = await reset(user.email);
  const email = newAddress();
  await changeTo(again, mail, email);
  expect((await choose(link)).status).toBe(400);
});

test('without a mail server, or if it rejects the mail, nothing is pending and the error says so', async () => {
  const api = await testApi();
  const user = await signedIn(api);
  const pending = async () => (await user.graphql('{ myEmailChange { email } }')).body.data.myEmailChange;
  {
    await using mail = await takeSystemMail();
    mail.sink.answer(() => ({ code: 550, message: '5.7.1 Sender rejected' }));
    const { body } = await request(user, newAddress());
    expect([code({ body }), body.errors[0].message]).toEqual([
      'conflict',
      expect.stringContaining('rejected the mail'),
    ]);
    expect(await pending()).toBeNull();
  }
  const before = config.SMTP_URL;
  delete config.SMTP_URL;
  onTestFinished(() => {
    config.SMTP_URL = before;
  });
  const { body } = await request(user, newAddress());
  expect([code({ body }), body.errors[0].message]).toEqual(['conflict', expect.stringMatching(/SMTP_URL/)]);
  expect(await pending()).toBeNull();
});

import { addLocalDomain } from '@postroom/domains';
import { config, db, newId, pool } from '@postroom/platform';
import { type Api, type SignedIn, signedIn, testApi } from '@postroom/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SendOutcome } from '@postroom/smtp';
import { routeFor } from '../../src/transports.ts';
import { sendingProblem } from '../../src/sender-status.ts';
import { startMailboxServer, startTokenServer, type TokenServer, trustedMailboxServer } from './mail-server.ts';
import { PRESETS } from '../../src/mailboxes/presets.ts';
import { releaseQuota, reserveQuota, usedToday } from '../../src/mailboxes/quota.ts';
import type * as tokensModule from '../../src/mailboxes/tokens.ts';
import { accessToken, forgetToken } from '../../src/mailboxes/tokens.ts';

const server = await trustedMailboxServer();
const presets = structuredClone(PRESETS);
let tokens: TokenServer;

/** The presets with the hosts of the test's servers. */
beforeEach(async () => {
  tokens = await startTokenServer();
  for (const name of ['gmail', 'microsoft'] as const) {
    const { oauth } = presets[name];
    Object.assign(PRESETS[name], {
      host: server.host,
      port: server.port,
      implicitTls: false,
      oauth: oauth && { ...oauth, tokenUrl: tokens.url },
    });
  }
});
afterEach(async () => {
  Object.assign(PRESETS, structuredClone(presets));
  await tokens.close();
});

const ACCOUNT = 'id email provider host port status statusReason perMinute dailyCap sentToday';
const CONNECT = `mutation ($input: ConnectMailboxInput!) { connectMailbox(input: $input) { authorizationUrl account { ${ACCOUNT} } } }`;

async function project() {
  const api = await testApi();
  return { api, owner: await signedIn(api, 'owner') };
}

let number = 0;
/** An address whose access tokens and password the servers accept. */
function newUser(): { email: string; password: string } {
  const user = { email: `person${++number}@mailbox.test`, password: `secret ${number}` };
  server.passwords.set(user.email, user.password);
  tokens.onToken = (token) => void server.tokens.set(token, user.email);
  return user;
}

const other = ({ email, password }: { email: string; password: string }, more: object = {}) => ({
  input: { email, password, provider: 'other', signIn: 'password', host: server.host, port: server.port, ...more },
});

async function connect(owner: SignedIn, variables: object) {
  const { body } = await owner.graphql(CONNECT, variables as Record<string, unknown>);
  expect(body.errors, JSON.stringify(body.errors)).toBeUndefined();
  return body.data.connectMailbox as {
    authorizationUrl: string | null;
    account: Record<string, string> & { id: string };
  };
}

const oauth = ({ email }: { email: string }, more: object = {}) => ({
  input: {
    email,
    provider: 'gmail',
    signIn: 'oauth2',
    clientId: tokens.clientId,
    clientSecret: tokens.clientSecret,
    ...more,
  },
});

/** Follows the redirect from the provider, in a user's browser. */
async function comeBack(api: Api, { code, state }: { code?: string; state: string }, person?: SignedIn) {
  const query = new URLSearchParams({ state, ...(code === undefined ? { error: 'access_denied' } : { code }) });
  const response = await fetch(`${api.url}/providers/mailbox/callback?${query.toString()}`, {
    headers: { ...(person === undefined ? {} : { cookie: person.cookie }), 'sec-fetch-site': 'cross-site' },
  });
  return { status: response.status, text: await response.text() };
}

async function connectedByOauth() {
  const { api, owner } = await project();
  const user = newUser();
  const { account, authorizationUrl } = await connect(owner, oauth(user));
  const back = await comeBack(api, tokens.consent(authorizationUrl ?? ''), owner);
  expect(back.text).toContain('<h1>Connected</h1>');
  return { api, owner, user, id: account.id };
}

async function send(api: Api, email: string, to = 'ada@mail.test'): Promise<SendOutcome> {
  const route = await routeFor({ projectId: api.projectId, fromEmail: email, traffic: 'campaigns', byMailbox: true });
  const data = `From: ${email}\r\nTo: ${to}\r\nSubject: Hi\r\n\r\nHello\r\n`;
  return route.send({ id: newId('eml'), from: `b+1@bounce.example.com`, to, data, signAs: email });
}

const statusOf = async (id: string) =>
  (await pool.query('SELECT status, status_reason AS reason FROM mailbox_accounts WHERE id = $1', [id])).rows[0];
const mailsOf = ({ email }: { email: string }) => server.mails.filter(({ user }) => user === email);

test('what the server of a mailbox took is accepted, also when nothing can be written down about the account', async () => {
  const { api, owner } = await project();
  const user = newUser();
  const { account } = await connect(owner, other(user));
  await pool.query(
    `UPDATE mailbox_accounts SET status = 'needs_attention', checked_at = now() - interval '1 hour' WHERE id = $1`,
    [account.id],
  );
  await pool.query(
    `CREATE FUNCTION refuse_status() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`,
  );
  await pool.query(
    `CREATE TRIGGER refuse_status BEFORE UPDATE OF status ON mailbox_accounts FOR EACH ROW
     WHEN (OLD.id = '${account.id}') EXECUTE FUNCTION refuse_status()`,
  );
  try {
    // An error here would look like nothing had been sent, and the message would be sent twice.
    expect(await send(api, user.email)).toMatchObject({ kind: 'accepted' });
  } finally {
    await pool.query('DROP FUNCTION refuse_status CASCADE');
  }
  expect((await statusOf(account.id)).status).toBe('needs_attention');
  await pool.query('UPDATE mailbox_accounts SET next_send_at = now() WHERE id = $1', [account.id]);
  expect(await send(api, user.email)).toMatchObject({ kind: 'accepted' });
  expect((await statusOf(account.id)).status).toBe('connected');
  expect(mailsOf(user)).toHaveLength(2);
});

test.each([['PLAIN'], ['LOGIN']])('a mailbox is connected with a password by %s, over STARTTLS', async (method) => {
  const own = await startMailboxServer([method]);
  const { api, owner } = await project();
  const user = newUser();
  own.passwords.set(user.email, user.password);
  const { account, authorizationUrl } = await connect(owner, other(user, { port: own.port }));
  expect(authorizationUrl).toBeNull();
  expect(account).toMatchObject({ email: user.email, status: 'connected', statusReason: null });
  expect(await send(api, user.email)).toMatchObject({ kind: 'accepted' });
  // Its server accepts no other envelope sender.
  expect(own.mails).toMatchObject([{ user: user.email, from: user.email, to: 'ada@mail.test' }]);
  expect(own.signIns.every((signIn) => signIn.method === method)).toBe(true);
  expect(own.secured()).toBe(own.signIns.length);
  await own.close();
});

test('who may no longer manage the project does not finish connecting an account of it', async () => {
  const { api, owner } = await project();
  const { authorizationUrl } = await connect(owner, oauth(newUser()));
  const { code, state } = tokens.consent(authorizationUrl ?? '');
  await db.member.updateMany({ where: { userId: owner.id }, data: { role: 'member' } });
  const back = await comeBack(api, { code, state }, owner);
  expect(back.status).toBe(403);
});

test('secrets are encrypted at rest, and no answer shows them', async () => {
  const { owner } = await project();
  const user = newUser();
  const { account } = await connect(owner, other(user));
  const { rows } = await pool.query('SELECT * FROM mailbox_accounts WHERE id = $1', [account.id]);
  expect(JSON.stringify(rows)).not.toContain(user.password);
  expect(rows[0].credentials).toMatch(/^v2:/);
});

test('a server that offers no TLS is sent no password', async () => {
  const { createServer } = await import('node:net');
  const said: string[] = [];
  const plain = createServer((socket) => {
    socket.write('220 plain\r\n');
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      said.push(String(chunk));
      socket.write('250-plain\r\n250 AUTH PLAIN\r\n');
    });
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const { owner } = await project();
  const { port } = plain.address() as { port: number };
  const { account } = await connect(owner, other(newUser(), { port }));
  expect(account).toMatchObject({ status: 'needs_attention', statusReason: expect.stringContaining('STARTTLS') });
  expect(said.join('')).not.toContain('AUTH PLAIN ');
  plain.close();
});

test('a password that is refused needs attention, with what the server said; the right one connects it', async () => {
  const { api, owner } = await project();
  const user = newUser();
  const { account } = await connect(owner, other({ ...user, password: 'wrong' }));
  expect(account).toMatchObject({
    status: 'needs_attention',
    statusReason: expect.stringMatching(/535 5\.7\.8.*only app passwords/),
  });
  expect(await sendingProblem(api.projectId, user.email)).toMatch(/needs attention: 535/);
  const update = `mutation ($id: ID!, $input: UpdateMailboxInput!) { updateMailbox(id: $id, input: $input) { ${ACCOUNT} } }`;
  const { body } = await owner.graphql(update, { id: account.id, input: { password: user.password } });
  expect(body.data.updateMailbox).toMatchObject({ status: 'connected', statusReason: null });
  expect(await sendingProblem(api.projectId, user.email)).toBeUndefined();
});

test('an account whose credentials cannot be decrypted is connected again with a new password', async () => {
  const { owner } = await project();
  const user = newUser();
  const { account } = await connect(owner, other(user));
  await pool.query(
    "UPDATE mailbox_accounts SET credentials = regexp_replace(credentials, '^v2:[^:]+', 'v2:00000000') WHERE id = $1",
    [account.id],
  );
  const update = `mutation ($id: ID!, $input: UpdateMailboxInput!) { updateMailbox(id: $id, input: $input) { ${ACCOUNT} } }`;
  const unrelated = await owner.graphql(update, { id: account.id, input: { perMinute: 5 } });
  expect(unrelated.body.errors[0].extensions.details).toMatchObject([{ field: 'password' }]);
  const { body } = await owner.graphql(update, { id: account.id, input: { password: user.password } });
  expect(body.data.updateMailbox).toMatchObject({ status: 'connected', statusReason: null });
});

test('an account that needs attention is not tried again and again, and its mail waits', async () => {
  const { api, owner } = await project();
  const user = newUser();
  const { account } = await connect(owner, other(user));
  server.passwords.set(user.email, 'changed elsewhere');
  expect(await send(api, user.email)).toMatchObject({ kind: 'refused', verdict: 'configuration' });
  expect(await statusOf(account.id)).toMatchObject({ status: 'needs_attention' });
  const before = server.signIns.length;
  expect(await send(api, user.email)).toMatchObject({ kind: 'deferred', scope: 'host', untried: true });
  expect(server.signIns.length).toBe(before);
});

test('only people who may manage the project connect mailboxes, never an API key', async () => {
  const { api } = await project();
  const member = await signedIn(api, 'member');
  const variables = other(newUser());
  for (const reply of [await api.graphql(CONNECT, variables), await member.graphql(CONNECT, variables)]) {
    expect(reply.body.errors[0].extensions.code).toBe('forbidden');
  }
});

test('bad fields are named, and an address is connected once', async () => {
  const { owner } = await project();
  const user = newUser();
  const refused = await owner.graphql(CONNECT, other(user, { host: 'not a host', port: 0, dailyCap: 0 }));
  expect(refused.body.errors[0].extensions).toMatchObject({
    code: 'validation_error',
    details: [{ field: 'host' }, { field: 'port' }, { field: 'dailyCap' }],
  });
  await connect(owner, other(user));
  const twice = await owner.graphql(CONNECT, other({ ...user, email: user.email.toUpperCase() }));
  expect(twice.body.errors[0].extensions.code).toBe('conflict');
});

test('consent is asked for at the provider, with a state and a challenge that only we can answer', async () => {
  const { owner } = await project();
  const user = newUser();
  const { account, authorizationUrl } = await connect(owner, oauth(user));
  expect(account).toMatchObject({ status: 'connecting', perMinute: 20, dailyCap: 400 });
  const url = new URL(authorizationUrl ?? '');
  expect(url.origin + url.pathname).toBe('https://accounts.google.com/o/oauth2/v2/auth');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    response_type: 'code',
    client_id: tokens.clientId,
    redirect_uri: `${config.PUBLIC_URL}/providers/mailbox/callback`,
    scope: 'https://mail.google.com/',
    state: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
    login_hint: user.email,
    access_type: 'offline',
    prompt: 'consent',
  });
});

test('Microsoft 365 is asked in the tenant that is named', async () => {
  const { owner } = await project();
  const { authorizationUrl } = await connect(
    owner,
    oauth(newUser(), { provider: 'microsoft', tenant: 'acme.example' }),
  );
  expect(authorizationUrl).toMatch(/^https:\/\/login\.microsoftonline\.com\/acme\.example\/oauth2\/v2\.0\/authorize\?/);
  expect(new URL(authorizationUrl ?? '').searchParams.get('scope')).toBe(
    'https://outlook.office.com/SMTP.Send offline_access',
  );
});

test('only the user who started an authorization completes it, once', async () => {
  const { api, owner } = await project();
  const user = newUser();
  const { account, authorizationUrl } = await connect(owner, oauth(user));
  const back = tokens.consent(authorizationUrl ?? '');
  expect(await comeBack(api, back)).toMatchObject({ status: 401 });
  expect(await comeBack(api, back, await signedIn(api, 'owner'))).toMatchObject({ status: 403 });
  expect(await comeBack(api, { ...back, state: 'made-up' }, owner)).toMatchObject({ status: 404 });
  expect(await comeBack(api, back, owner)).toMatchObject({ status: 200, text: expect.stringContaining(user.email) });
  expect(await comeBack(api, back, owner)).toMatchObject({ status: 404 });
  expect(await statusOf(account.id)).toMatchObject({ status: 'connected' });
  expect(await send(api, user.email)).toMatchObject({ kind: 'accepted' });
  expect(mailsOf(user)).toHaveLength(1);
  expect(server.signIns.at(-1)).toMatchObject({ method: 'XOAUTH2', user: user.email });
});

test('without consent, or with a code for another, nothing is connected', async () => {
  const { api, owner } = await project();
  const first = await connect(owner, oauth(newUser()));
  const { state } = tokens.consent(first.authorizationUrl ?? '');
  expect(await comeBack(api, { state }, owner)).toMatchObject({
    status: 400,
    text: expect.stringContaining('access_denied'),
  });
  const second = await connect(owner, oauth(newUser()));
  const stolen = tokens.consent(first.authorizationUrl ?? '').code;
  const { state: own } = tokens.consent(second.authorizationUrl ?? '');
  expect(await comeBack(api, { state: own, code: stolen }, owner)).toMatchObject({ status: 400 });
  expect(await statusOf(second.account.id)).toMatchObject({ status: 'connecting' });
});

test('a token that has run out is replaced by two workers at once with one request, and the rotated one is kept', async () => {
  tokens.lifetime = 1;
  const { api, user, id } = await connectedByOauth();
  tokens.lifetime = 3600;
  tokens.requests.length = 0;
  forgetToken(id);
  // Another worker has its own module instance, so it does not see what this one fetches.
  const copy = '../../src/mailboxes/tokens.ts?another';
  const another = (await import(/* @vite-ignore */ copy)) as typeof tokensModule;
  const [mine, theirs] = await Promise.all([accessToken(id), another.accessToken(id), accessToken(id)]);
  expect(mine).toBe(theirs);
  expect(tokens.requests.map(({ grant_type }) => grant_type)).toEqual(['refresh_token']);
  // Only the rotated one is valid now.
  expect(tokens.refreshTokens.size).toBe(1);
  forgetToken(id);
  expect(await accessToken(id, mine)).not.toBe(mine);
  expect(await send(api, user.email)).toMatchObject({ kind: 'accepted' });
});

test('a token that the server refuses before its time is replaced, and the message goes out', async () => {
  const { api, user } = await connectedByOauth();
  server.tokens.clear();
  expect(await send(api, user.email)).toMatchObject({ kind: 'accepted' });
});

test('a consent that was withdrawn needs attention, and keeps the message', async () => {
  const { api, user, id } = await connectedByOauth();
  server.tokens.clear();
  tokens.refreshTokens.clear();
  expect(await send(api, user.email)).toMatchObject({ kind: 'refused', verdict: 'configuration' });
  expect(await statusOf(id)).toEqual({
    status: 'needs_attention',
    reason: expect.stringMatching(/no longer valid \(invalid_grant: Token has been revoked/),
  });
});

test('a token server that does not answer is waited for, and nothing needs attention', async () => {
  const { api, user, id } = await connectedByOauth();
  server.tokens.clear();
  tokens.failing = 503;
  expect(await send(api, user.email)).toMatchObject({ kind: 'deferred', scope: 'host' });
  expect(await statusOf(id)).toMatchObject({ status: 'connected' });
});

test('the daily cap is kept by many who ask at once, and what was not taken does not count', async () => {
  const { owner } = await project();
  const { account } = await connect(owner, other(newUser(), { dailyCap: 5, perMinute: 600 }));
  const turns = await Promise.all(Array.from({ length: 20 }, () => reserveQuota(account.id, 60_000)));
  const granted = turns.filter((turn) => turn?.granted === true);
  expect(granted).toHaveLength(5);
  expect(turns).toContainEqual({ granted: false, reason: 'daily cap', waitMs: expect.any(Number) });
  expect((await usedToday([account.id])).get(account.id)).toBe(5);
  const [first] = granted;
  if (first?.granted === true) await releaseQuota(account.id, first.hour);
  expect(await reserveQuota(account.id, 60_000)).toMatchObject({ granted: true });
  // Messages sent more than a day ago no longer count.
  await pool.query(`UPDATE mailbox_usage SET hour = hour - interval '25 hours' WHERE mailbox_id = $1`, [account.id]);
  expect(await reserveQuota(account.id, 60_000)).toMatchObject({ granted: true });
});

test('messages are sent at the rate of the account, whichever worker sends them', async () => {
  const { owner } = await project();
  const { account } = await connect(owner, other(newUser(), { perMinute: 1 }));
  const turns = await Promise.all([1, 2, 3].map(() => reserveQuota(account.id, 150_000)));
  const waits = turns.map((turn) => (turn?.granted === true ? Math.round(turn.inMs / 60_000) : NaN)).sort();
  expect(waits).toEqual([0, 1, 2]);
  expect(await reserveQuota(account.id, 10_000)).toMatchObject({ granted: false, reason: 'rate' });
});

test('a mailbox that is connected may send though its domain is not one of the project, and no other may', async () => {
  const { api, owner } = await project();
  const user = newUser();
  // It is deferred, so that no worker claims it.
  const anHourOn = new Date(Date.now() + 3_600_000).toISOString();
  const email = (from: string) =>
    api.post('/v1/emails', { from, to: 'ada@mail.test', subject: 'Hi', text: 'Hi', scheduled_at: anHourOn });
  expect((await email(user.email)).status).toBe(403);
  const { account } = await connect(owner, other(user));
  const reply = await email(`Person <${user.email}>`);
  expect(reply.status, JSON.stringify(reply.body)).toBe(202);
  expect((await email('somebody-else@mailbox.test')).status).toBe(403);
  const rows = async () =>
    (await pool.query('SELECT mailbox_id, state FROM messages WHERE id = $1', [reply.body.data.id])).rows;
  expect(await rows()).toEqual([{ mailbox_id: account.id, state: 'planned' }]);
  // Messages queued for an account are deleted with it.
  const gone = await owner.graphql('mutation ($id: ID!) { disconnectMailbox(id: $id) }', { id: account.id });
  expect(gone.body.data).toEqual({ disconnectMailbox: true });
  expect(await rows()).toEqual([{ mailbox_id: account.id, state: 'canceled' }]);
  expect((await email(user.email)).status).toBe(403);
});

test('mail planned for a removed account is not sent through another transport', async () => {
  const { api } = await project();
  await addLocalDomain(api.projectId, 'mailbox.test');
  expect(await send(api, 'gone@mailbox.test')).toMatchObject({ kind: 'refused', verdict: 'configuration' });
});

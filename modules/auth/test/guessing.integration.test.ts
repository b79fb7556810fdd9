import { createHmac, randomBytes } from 'node:crypto';
import { db, logger, newId, pool } from '@postroom/platform';
import {
  type Api,
  eventually,
  postAuth,
  type SignedIn,
  signedIn,
  signIn,
  takeSystemMail,
  TEST_PASSWORD,
  testApi,
} from '@postroom/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { countFailure } from '../src/guessing.ts';

const STEP_MS = 30_000;
const WRONG = 'wrong wrong wrong';

const tryPassword = (api: Api, email: string, password: string, cookie = '') =>
  postAuth(api, '/sign-in/email', { email, password }, cookie === '' ? {} : { cookie });

const guesses = async (api: Api, email: string, times: number) => {
  const statuses: number[] = [];
  for (let time = 0; time < times; time++) statuses.push((await tryPassword(api, email, WRONG)).status);
  return statuses;
};

const cookieOf = (cookies: readonly string[], name?: string) =>
  cookies
    .map((line) => line.split(';', 1)[0] ?? '')
    .filter((pair) => name === undefined || pair.startsWith(`${name}=`))
    .join('; ');

test('wrong passwords of one account are throttled, from however many addresses they come', async () => {
  const api = await testApi();
  const { email } = await signedIn(api);
  const statuses = await guesses(api, email, 12);
  expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429]);
  // The correct one is not checked either, so that it can't be guessed meanwhile.
  const right = await tryPassword(api, email.toUpperCase(), TEST_PASSWORD);
  expect(right.status).toBe(429);
  expect(right.text).toContain('Too many failed sign-in attempts');
});

test('a hundred guesses at once count as a hundred', async () => {
  const api = await testApi();
  const { email } = await signedIn(api);
  const replies = await Promise.all(Array.from({ length: 40 }, () => tryPassword(api, email, WRONG)));
  expect(replies.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(10);
});

test('an address without an account is throttled in the same way, so that throttling tells nothing', async () => {
  const api = await testApi();
  expect(await guesses(api, `nobody-${randomBytes(6).toString('hex')}@people.example`, 11)).toEqual([
    ...Array<number>(10).fill(401),
    429,
  ]);
});

test('the owner of an account still signs in where they have signed in before, and where another account has not', async () => {
  const api = await testApi();
  const [owner, other] = [await signedIn(api), await signedIn(api)];
  const known = await signIn(api, owner.email, TEST_PASSWORD);
  await guesses(api, owner.email, 11);
  expect((await tryPassword(api, owner.email, TEST_PASSWORD, known)).status).toBe(200);
  // A cookie of another account, or an invented one, has no effect.
  const others = await signIn(api, other.email, TEST_PASSWORD);
  expect((await tryPassword(api, owner.email, TEST_PASSWORD, others)).status).toBe(429);
  const made = known.replace(/(postroom\.device=[^;.]*)[^;]*/, '$1.made-up');
  expect((await tryPassword(api, owner.email, TEST_PASSWORD, made)).status).toBe(429);
});

test('who chooses a new password by mail signs in at once', async () => {
  const api = await testApi();
  const person = await signedIn(api);
  await guesses(api, person.email, 11);
  await postAuth(api, '/request-password-reset', { email: person.email, redirectTo: '/reset-password' });
  const { identifier } = await db.verification.findFirstOrThrow({ where: { value: person.id } });
  const token = identifier.replace('reset-password:', '');
  const reset = await postAuth(api, '/reset-password', { newPassword: 'another horse battery', token });
  expect(reset.status).toBe(200);
  const device = cookieOf(reset.cookies, 'postroom.device');
  expect((await tryPassword(api, person.email, 'another horse battery', device)).status).toBe(200);
});

test('the account waits a minute, then twice as long each time, and a quarter of an hour at most', async () => {
  const key = randomBytes(8).toString('hex');
  const waits: (number | undefined)[] = [];
  for (let time = 0; time < 18; time++) {
    const wait = await countFailure(key);
    if (wait !== undefined) waits.push(wait);
    // As if time had passed.
    if (wait !== undefined) {
      await db.signInFailure.update({ where: { key }, data: { nextAt: new Date(Date.now() - 1000) } });
    }
  }
  expect(waits).toEqual([60, 120, 240, 480]);
});

test('passwords are not guessed by a session either', async () => {
  const api = await testApi();
  const { cookie } = await signedIn(api);
  const change = () =>
    postAuth(api, '/change-password', { currentPassword: WRONG, newPassword: 'some other password' }, { cookie });
  const statuses: number[] = [];
  for (let time = 0; time < 12; time++) statuses.push((await change()).status);
  expect(statuses.slice(0, 10)).toEqual(Array<number>(10).fill(400));
  expect(statuses.slice(10)).toEqual([429, 429]);
});

type Factor = SignedIn & { secret: string; codes: string[] };

/** A user whose second factor was set up some time ago. */
async function withFactor(api: Api): Promise<Factor> {
  const person = await signedIn(api);
  const { cookie } = person;
  const enabled = JSON.parse((await postAuth(api, '/two-factor/enable', { password: TEST_PASSWORD }, { cookie })).text);
  const secret = new URL(enabled.totpURI).searchParams.get('secret') ?? '';
  const verified = await postAuth(api, '/two-factor/verify-totp', { code: totp(secret) }, { cookie });
  expect(verified.status).toBe(200);
  await db.twoFactor.updateMany({ where: { userId: person.id }, data: { lastUsedStep: null } });
  // It replaces the session.
  return { ...person, cookie: cookieOf(verified.cookies), secret, codes: enabled.backupCodes };
}

/** Submits the password, and returns the cookie of the sign-in that awaits its code. */
async function challenge(api: Api, email: string): Promise<string> {
  const { status, cookies, text } = await tryPassword(api, email, TEST_PASSWORD);
  expect([status, JSON.parse(text).twoFactorRedirect]).toEqual([200, true]);
  return cookieOf(cookies);
}

test('a program signs in without an Origin, also with a code; a request of another site is refused', async () => {
  const api = await testApi();
  const { email, secret } = await withFactor(api);
  // Node's fetch sends the mode.
  const program = { Origin: undefined, 'Sec-Fetch-Mode': 'cors' };
  const { text, cookies } = await postAuth(api, '/sign-in/email', { email, password: TEST_PASSWORD }, program);
  expect(JSON.parse(text)).toMatchObject({ twoFactorRedirect: true });
  const cookie = cookieOf(cookies);
  const verify = async (headers: Record<string, string>) =>
    (await postAuth(api, '/two-factor/verify-totp', { code: totp(secret) }, { ...program, cookie, ...headers })).status;
  expect(await verify({ Origin: 'https://evil.example' })).toBe(403);
  expect(await verify({ 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
  expect(await verify({ Referer: 'https://evil.example/' })).toBe(403);
  expect(await verify({})).toBe(200);
});

test('a code of an authenticator signs in once, also when it is sent twice at once', async () => {
  const api = await testApi();
  const { email, secret } = await withFactor(api);
  const code = totp(secret);
  const challenges = await Promise.all(Array.from({ length: 5 }, () => challenge(api, email)));
  const replies = await Promise.all(
    challenges.map((cookie) => postAuth(api, '/two-factor/verify-totp', { code }, { cookie })),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
  expect(replies.find(({ status }) => status === 401)?.text).toContain('This code was already used');
  const again = await postAuth(api, '/two-factor/verify-totp', { code }, { cookie: await challenge(api, email) });
  expect(again.status).toBe(401);
  // Neither is an unused code of an earlier time step.
  const older = await postAuth(
    api,
    '/two-factor/verify-totp',
    { code: totp(secret, -1) },
    { cookie: await challenge(api, email) },
  );
  expect(older.status).toBe(401);
  const next = await postAuth(
    api,
    '/two-factor/verify-totp',
    { code: totp(secret, 1) },
    { cookie: await challenge(api, email) },
  );
  expect(next.status).toBe(200);
});

test('the code that set an authenticator up does not sign in as well', async () => {
  const api = await testApi();
  const person = await signedIn(api);
  const { cookie } = person;
  const enabled = JSON.parse((await postAuth(api, '/two-factor/enable', { password: TEST_PASSWORD }, { cookie })).text);
  const code = totp(new URL(enabled.totpURI).searchParams.get('secret') ?? '');
  expect((await postAuth(api, '/two-factor/verify-totp', { code }, { cookie })).status).toBe(200);
  const waiting = await challenge(api, person.email);
  expect((await postAuth(api, '/two-factor/verify-totp', { code }, { cookie: waiting })).status).toBe(401);
});

test('a second factor whose key was lost is logged with the cause; once it is removed, the user signs in without it', async () => {
  const api = await testApi();
  const { id, email, secret } = await withFactor(api);
  await pool.query(
    String.raw`UPDATE two_factors SET secret = regexp_replace(secret, '^\$ba\$\d+', '$ba$1') WHERE user_id = $1`,
    [id],
  );
  const error = vi.spyOn(logger, 'error').mockReturnValue(undefined);
  onTestFinished(() => error.mockRestore());
  const cookie = await challenge(api, email);
  expect((await postAuth(api, '/two-factor/verify-totp', { code: totp(secret) }, { cookie })).status).toBe(500);
  expect(error.mock.calls).toContainEqual([{ err: expect.any(Error) }, expect.any(String)]);
  // The statement of docs/how-to/disaster-recovery.md, for one user.
  await pool.query(
    `WITH removed AS (DELETE FROM two_factors WHERE user_id = $1 RETURNING user_id)
     UPDATE users SET two_factor_enabled = false WHERE id IN (SELECT user_id FROM removed)`,
    [id],
  );
  expect(await signIn(api, email, TEST_PASSWORD)).toContain('session_token');
});

test('each change of how a user signs in is in the audit log of their projects, and mailed to them', async () => {
  await using mail = await takeSystemMail();
  const api = await testApi();
  const owner = await signedIn(api);
  const { id, email, cookie, secret } = await withFactor(api);
  const change = async (path: string, body: object) => (await postAuth(api, path, body, { cookie })).status;
  // Nothing changes by a code of a factor that is on, or by a wrong password.
  await change('/two-factor/verify-totp', { code: totp(secret, 1) });
  const next = 'a password of mine';
  expect(await change('/change-password', { currentPassword: WRONG, newPassword: next })).toBe(400);
  expect(await change('/two-factor/generate-backup-codes', { password: TEST_PASSWORD })).toBe(200);
  expect(await change('/two-factor/disable', { password: TEST_PASSWORD })).toBe(200);
  // Turning it off replaced the session.
  const now = await signIn(api, email, TEST_PASSWORD);
  const changed = { currentPassword: TEST_PASSWORD, newPassword: next };
  expect((await postAuth(api, '/change-password', changed, { cookie: now })).status).toBe(200);
  await db.verification.create({
    data: { id: newId('ses'), identifier: `reset-password:${id}`, value: id, expiresAt: new Date(Date.now() + 60_000) },
  });
  const reset = { newPassword: 'another of mine', token: id };
  expect((await postAuth(api, '/reset-password', reset)).status).toBe(200);
  const { body } = await owner.graphql('{ auditLog(first: 9) { nodes { actorId targetId actionLabel } } }');
  const labels = [
    'Reset their password by email',
    'Changed their password',
    'Turned off two-factor authentication',
    'Generated new backup codes',
    'Turned on two-factor authentication',
  ];
  expect(body.data.auditLog.nodes).toEqual(labels.map((actionLabel) => ({ actorId: id, targetId: id, actionLabel })));
  await eventually(async () => expect(mail.sink.mails.filter(({ to }) => to === email)).toHaveLength(5));
  expect(new URL(await mail.linkTo(email)).pathname).toBe('/reset-password');
});

test('a user without a password is told so where one is asked for', async () => {
  const api = await testApi();
  const { id, cookie } = await signedIn(api);
  await db.account.deleteMany({ where: { userId: id } });
  const enable = await postAuth(api, '/two-factor/enable', { password: WRONG }, { cookie });
  expect([enable.status, JSON.parse(enable.text).message]).toEqual([400, expect.stringContaining('has no password')]);
});

test('a backup code signs in once, also when it is sent twice at once', async () => {
  const api = await testApi();
  const { email, codes } = await withFactor(api);
  const challenges = await Promise.all(Array.from({ length: 5 }, () => challenge(api, email)));
  const replies = await Promise.all(
    challenges.map((cookie) => postAuth(api, '/two-factor/verify-backup-code', { code: codes[0] }, { cookie })),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  const again = await postAuth(
    api,
    '/two-factor/verify-backup-code',
    { code: codes[0] },
    { cookie: await challenge(api, email) },
  );
  expect(again.status).toBe(401);
});

test('wrong codes of one account are throttled, from however many addresses and sign-ins they come, and not for ever', async () => {
  const api = await testApi();
  const { email, secret, id } = await withFactor(api);
  const statuses: number[] = [];
  for (let time = 0; time < 11; time++) {
    const cookie = await challenge(api, email);
    statuses.push((await postAuth(api, '/two-factor/verify-totp', { code: wrongCode(secret) }, { cookie })).status);
  }
  expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
  const right = () =>
    challenge(api, email).then((cookie) =>
      postAuth(api, '/two-factor/verify-totp', { code: totp(secret, 1) }, { cookie }),
    );
  expect((await right()).status).toBe(429);
  const { lockedUntil } = await db.twoFactor.findFirstOrThrow({ where: { userId: id } });
  expect(lockedUntil?.getTime()).toBeLessThan(Date.now() + 16 * 60_000);
  await db.twoFactor.updateMany({
    where: { userId: id },
    data: { lockedUntil: new Date(Date.now() - 1000), lastUsedStep: null },
  });
  expect((await right()).status).toBe(200);
});

test('signing in again and again with the right password is never throttled by account', async () => {
  const api = await testApi();
  const { email } = await signedIn(api);
  for (let time = 0; time < 15; time++) expect(await signIn(api, email, TEST_PASSWORD)).toContain('postroom.session');
});

test.each([
  [
    'a password',
    async (api: Api, { email }: SignedIn) =>
      () =>
        tryPassword(api, email, TEST_PASSWORD),
  ],
  [
    'a new password',
    async (api: Api, { cookie }: SignedIn) =>
      () =>
        postAuth(
          api,
          '/change-password',
          { currentPassword: TEST_PASSWORD, newPassword: 'another horse battery', revokeOtherSessions: true },
          { cookie },
        ),
  ],
  [
    'a code',
    async (api: Api, { email, secret }: Factor) => {
      const cookie = await challenge(api, email);
      return () => postAuth(api, '/two-factor/verify-totp', { code: totp(secret) }, { cookie });
    },
  ],
  [
    'a backup code',
    async (api: Api, { email, codes }: Factor) => {
      const cookie = await challenge(api, email);
      return () => postAuth(api, '/two-factor/verify-backup-code', { code: codes[0] }, { cookie });
    },
  ],
] as const)(
  '%s that was checked while the account is linked to the provider signs no one in',
  async (what, prepare) => {
    const api = await testApi();
    const person = what.endsWith('code') ? await withFactor(api) : { ...(await signedIn(api)), secret: '', codes: [] };
    const send = await prepare(api, person);
    // Linking has deleted these, but not committed: the request still finds them.
    const linking = await pool.connect();
    await linking.query('BEGIN');
    const { rows } = await linking.query(`DELETE FROM accounts WHERE user_id = $1 RETURNING pg_backend_pid() AS pid`, [
      person.id,
    ]);
    await linking.query('DELETE FROM sessions WHERE user_id = $1', [person.id]);
    const reply = send();
    await eventually(async () => {
      const blocked = await pool.query('SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))', [
        rows[0].pid,
      ]);
      expect(blocked.rowCount).toBe(1);
    });
    await linking.query('COMMIT');
    linking.release();
    expect((await reply).status).toBe(401);
    expect(await db.session.count({ where: { userId: person.id } })).toBe(0);
  },
);

/** The code of an authenticator (RFC 6238), `steps` away from now. */
function totp(secret: string, steps = 0): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / STEP_MS) + steps));
  const digest = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/** A code of no accepted time step. */
function wrongCode(secret: string): string {
  const right = [-2, -1, 0, 1, 2].map((steps) => totp(secret, steps));
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.includes(code)) ?? '';
}

function fromBase32(text: string): Buffer {
  const bits = [...text.replaceAll('=', '')]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

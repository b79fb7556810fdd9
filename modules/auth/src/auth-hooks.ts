import { randomBytes } from 'node:crypto';
import { config, db, emailKey, jsonProblem, pool, safeRedirect } from '@postroom/platform';
import type { GenericEndpointContext } from 'better-auth';
import { APIError, createAuthMiddleware, getSessionFromCtx, isAPIError } from 'better-auth/api';
import { countFailure, forgetFailures, guessingKey } from './guessing.ts';
import { cancelEmailChange, emailChangeOf } from './pending-email.ts';
import { actionAt, recordSecurityChange, type SecurityChange } from './security-changes.ts';
import { useCode } from './used-codes.ts';

/** Redirect parameters that clients control. */
const REDIRECT_FIELDS = ['callbackURL', 'errorCallbackURL', 'newUserCallbackURL', 'redirectTo'];

/** Endpoints that check a password and so allow guessing it. */
const SIGN_IN_PATH = '/sign-in/email';
const PASSWORD_PATHS = new Set([
  SIGN_IN_PATH,
  '/change-password',
  '/verify-password',
  '/two-factor/enable',
  '/two-factor/disable',
  '/two-factor/get-totp-uri',
  '/two-factor/generate-backup-codes',
]);

/** A browser that has signed in to an account keeps a signed cookie that proves it. */
const DEVICE_COOKIE = 'device';
const DEVICE_SECONDS = 365 * 24 * 3600;

/** The library's name of the cookie that identifies a sign-in waiting for its second factor. */
const CHALLENGE_COOKIE = 'two_factor';

/** The counter of each request that a password came with, until its outcome is known. */
const counted = new WeakMap<object, string>();
/** What each request changes about how a user signs in, if it succeeds. */
const changing = new WeakMap<object, SecurityChange>();

/** Runs before each endpoint of the sign-in library. @throws APIError to reject the request. */
export const beforeAuth = createAuthMiddleware(async (ctx) => {
  refuseUnstorable(ctx);
  refuseForeignRedirects(ctx);
  // Accounts and their failure counters are keyed by the canonical address.
  const email = textOf(ctx.body, 'email');
  const body = ctx.body as { email?: string } | undefined;
  if (email !== undefined && body !== undefined) body.email = emailKey(email);
  if (PASSWORD_PATHS.has(ctx.path)) await countPassword(ctx);
  if (ctx.path === '/two-factor/verify-totp') await consumeCode(ctx);
  const change = await securityChange(ctx);
  if (change !== undefined && ctx.request !== undefined) changing.set(ctx.request, change);
  return email === undefined ? undefined : { context: { body } };
});

/** Runs after each endpoint, with its result or error. */
export const afterAuth = createAuthMiddleware(async (ctx) => {
  if (ctx.request === undefined || isAPIError(ctx.context.returned)) return;
  const key = counted.get(ctx.request);
  if (key !== undefined) await forgetFailures(key);
  const change = changing.get(ctx.request);
  if (change !== undefined) await recordSecurityChange(change);
  if (change?.action === 'resetPassword') await cancelEmailChange(change.user.id);
  const { newSession } = ctx.context;
  const isWaitingForCode = ctx.path === SIGN_IN_PATH && newSession?.user.twoFactorEnabled === true;
  const resetFor = change?.action === 'resetPassword' ? change.user.email : undefined;
  const email = resetFor ?? (isWaitingForCode ? undefined : newSession?.user.email);
  if (email !== undefined) await rememberDevice(ctx, email);
});

/** What a request changes about how its user signs in: the user of a mailed link, or else of the session. */
async function securityChange(ctx: GenericEndpointContext): Promise<SecurityChange | undefined> {
  const action = actionAt(ctx.path);
  if (action === undefined) return undefined;
  if (action === 'resetPassword') {
    const token = textOf(ctx.body, 'token') ?? textOf(ctx.query, 'token') ?? '';
    const link = await ctx.context.internalAdapter.findVerificationValue(`reset-password:${token}`);
    const user = link === null ? null : await db.user.findUnique({ where: { id: link.value } });
    return user === null ? undefined : { action, user };
  }
  const user = (await getSessionFromCtx(ctx))?.user;
  // A code of a factor that is on already changes nothing.
  if (user === undefined || (action === 'enableTwoFactor' && user.twoFactorEnabled === true)) return undefined;
  return { action, user };
}

/** Rejects texts that PostgreSQL can't store, which would fail as an internal error. */
function refuseUnstorable({ body, query }: GenericEndpointContext): void {
  for (const source of [body, query] as unknown[]) {
    const problem = jsonProblem(source);
    if (problem !== undefined) throw new APIError('BAD_REQUEST', { message: `${problem.path} ${problem.message}` });
  }
}

/** Allows only same-site paths: the author of a link must not choose where users end up. */
function refuseForeignRedirects({ body, query }: GenericEndpointContext): void {
  for (const source of [body, query]) {
    for (const field of REDIRECT_FIELDS) {
      const target: unknown = (source as Record<string, unknown> | undefined)?.[field];
      if (target != null && safeRedirect(target, config.PUBLIC_URL) === undefined)
        throw new APIError('BAD_REQUEST', { message: `${field} must be a path on this site, such as /sign-in` });
    }
  }
}

async function countPassword(ctx: GenericEndpointContext): Promise<void> {
  if (ctx.request === undefined) return;
  const user = ctx.path === SIGN_IN_PATH ? undefined : (await getSessionFromCtx(ctx))?.user;
  if (user !== undefined) await refuseWithoutPassword(user.id);
  const email = ctx.path === SIGN_IN_PATH ? textOf(ctx.body, 'email') : user?.email;
  if (email === undefined) return;
  const account = emailKey(email);
  const key = guessingKey(account, await knownDevice(ctx, account));
  const waitSeconds = await countFailure(key);
  if (waitSeconds !== undefined) {
    const message = 'Too many failed sign-in attempts for this account. Wait a moment, or reset your password.';
    throw new APIError('TOO_MANY_REQUESTS', { message }, { 'X-Retry-After': String(waitSeconds) });
  }
  counted.set(ctx.request, key);
}

/** Users of the provider may have no password. The library would call any that they enter wrong. */
async function refuseWithoutPassword(userId: string): Promise<void> {
  if ((await db.account.count({ where: { userId, providerId: 'credential' } })) > 0) return;
  throw new APIError('BAD_REQUEST', {
    code: 'CREDENTIAL_ACCOUNT_NOT_FOUND',
    message:
      'Your account has no password. To set one, sign out and choose “Forgot your password?” on the sign-in page.',
  });
}

async function consumeCode(ctx: GenericEndpointContext): Promise<void> {
  const code = textOf(ctx.body, 'code');
  const userId = code === undefined ? undefined : await challengedUser(ctx);
  if (code === undefined || userId === undefined || (await useCode(userId, code))) return;
  throw new APIError('UNAUTHORIZED', {
    code: 'CODE_ALREADY_USED',
    message: 'This code was already used. Wait for your authenticator to show the next one.',
  });
}

/** The user whose code it is: signed in, or past the password step. */
async function challengedUser(ctx: GenericEndpointContext): Promise<string | undefined> {
  const session = await getSessionFromCtx(ctx);
  if (session !== null) return session.user.id;
  const { name } = ctx.context.createAuthCookie(CHALLENGE_COOKIE);
  const challenge = await ctx.getSignedCookie(name, ctx.context.secret);
  if (typeof challenge !== 'string') return undefined;
  return (await ctx.context.internalAdapter.findVerificationValue(challenge))?.value;
}

/** The id of this browser, when it has signed in to the account before. */
async function knownDevice(ctx: GenericEndpointContext, account: string): Promise<string | undefined> {
  const { name } = ctx.context.createAuthCookie(DEVICE_COOKIE);
  const value = await ctx.getSignedCookie(name, ctx.context.secret);
  if (typeof value !== 'string') return undefined;
  const [owner, id] = value.split('.');
  return id !== undefined && owner === guessingKey(account, undefined) ? id : undefined;
}

async function rememberDevice(ctx: GenericEndpointContext, email: string): Promise<void> {
  const account = emailKey(email);
  if ((await knownDevice(ctx, account)) !== undefined) return;
  const { name, attributes } = ctx.context.createAuthCookie(DEVICE_COOKIE, { maxAge: DEVICE_SECONDS });
  const value = `${guessingKey(account, undefined)}.${randomBytes(16).toString('hex')}`;
  await ctx.setSignedCookie(name, value, ctx.context.secret, attributes);
}

/**
 * Runs after a session was created. A password or a code that was correct when checked may be gone, because its account was
 * linked to the provider meanwhile. Waits for a link that is being made: it may have removed the sessions already.
 */
export async function afterSession(
  { id, userId }: { id: string; userId: string },
  ctx?: GenericEndpointContext | null,
) {
  if (ctx?.path === undefined || ctx.path.includes('/callback/')) return;
  const { rows } = await pool.query(
    `SELECT id FROM accounts WHERE user_id = $1 AND provider_id = 'credential' FOR SHARE`,
    [userId],
  );
  if (rows.length > 0) return;
  await db.session.deleteMany({ where: { id } });
  throw new APIError('UNAUTHORIZED', { message: 'Invalid email or password' });
}

function textOf(source: unknown, field: string): string | undefined {
  const value = (source as Record<string, unknown> | null | undefined)?.[field];
  return typeof value === 'string' ? value : undefined;
}

/**
 * Runs before a provider account is linked to an existing user. Someone else may have chosen its password, so every
 * credential is removed: password, second factor, sessions, and pending links.
 */
export async function beforeLinking({ userId, providerId }: { userId: string; providerId: string }): Promise<void> {
  if (providerId === 'credential') return;
  const user = await db.user.findUnique({ where: { id: userId } });
  await db.$transaction([
    db.account.deleteMany({ where: { userId, providerId: 'credential' } }),
    db.twoFactor.deleteMany({ where: { userId } }),
    db.user.update({ where: { id: userId }, data: { twoFactorEnabled: false } }),
    db.verification.deleteMany({ where: { OR: [{ value: userId }, { identifier: emailChangeOf(userId) }] } }),
    db.session.deleteMany({ where: { userId } }),
  ]);
  if (user !== null) await recordSecurityChange({ action: 'linkProvider', user });
}

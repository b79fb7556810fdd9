import { config, db, emailKey, type IdPrefix, logger, newId } from '@postroom/platform';
import { betterAuth } from 'better-auth/minimal';
import { prismaAdapter } from 'better-auth/adapters/prisma';
import { genericOAuth, twoFactor } from 'better-auth/plugins';
import { afterAuth, afterSession, beforeAuth, beforeLinking } from './auth-hooks.ts';
import { signInSecrets } from './sign-in-secrets.ts';
import { sendSystemMail } from './system-mail.ts';

/** Base path of the sign-in library's endpoints. */
export const AUTH_PATH = '/app/auth';

/** Header for the client's address, set by the gateway after removing the client's own value. */
export const ADDRESS_HEADER = 'x-postroom-ip';

/** Minimum password length. */
export const MIN_PASSWORD_LENGTH = 10;

const PREFIXES: Record<string, IdPrefix> = { user: 'usr', session: 'ses' };

let instance: ReturnType<typeof createAuth> | undefined;

/** The OpenID Connect provider's id in accounts and callback URLs. */
const OIDC_PROVIDER = 'oidc';

/** Delay before retrying a provider whose discovery failed, in milliseconds. */
const RETRY_MS = 10_000;

/** The sign-in library, initialized on first use: programs without sign-in need no secret. */
export function auth() {
  instance ??= createAuth();
  return instance;
}

/** Whether sign-in with the provider is available. */
export async function hasProvider(created = auth()): Promise<boolean> {
  const { socialProviders } = await created.$context;
  return socialProviders.some(({ id }) => id === OIDC_PROVIDER);
}

/** The library runs discovery once, during setup, and ignores a provider that does not respond; so set it up again. */
async function renewWithoutProvider(created: ReturnType<typeof createAuth>): Promise<void> {
  if (await hasProvider(created)) return;
  logger.warn(`the sign-in provider ${config.oidc?.issuer} does not respond to discovery; will retry`);
  setTimeout(() => {
    if (instance === created) instance = undefined;
  }, RETRY_MS).unref();
}

function createAuth() {
  const created = configureAuth();
  if (config.oidc !== undefined) void renewWithoutProvider(created);
  return created;
}

/** Errors get the field that serializes them: as JSON they would be empty. */
function logFields(args: readonly unknown[]): { err?: unknown; signIn?: readonly unknown[] } {
  const [error] = args.filter((arg) => arg instanceof Error);
  const others = args.filter((arg) => !(arg instanceof Error));
  return { ...(error === undefined ? {} : { err: error }), ...(others.length === 0 ? {} : { signIn: others }) };
}

function configureAuth() {
  return betterAuth({
    appName: 'Postroom',
    baseURL: config.PUBLIC_URL,
    basePath: AUTH_PATH,
    ...signInSecrets(),
    trustedOrigins: [config.PUBLIC_URL],
    database: prismaAdapter(db, { provider: 'postgresql', transaction: true }),
    telemetry: { enabled: false },
    logger: { log: (level, message, ...args) => logger[level](logFields(args), message) },
    emailAndPassword: {
      enabled: true,
      // Users join by invitation; the first owner is created at first start.
      disableSignUp: true,
      minPasswordLength: MIN_PASSWORD_LENGTH,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: async ({ user, url }) => {
        await sendSystemMail({
          to: user.email,
          subject: 'Choose a new password',
          text: `Someone requested a new password for your Postroom account.\n\nChoose it here within an hour:\n${url}\n\nIf it wasn't you, ignore this email.`,
        });
      },
    },
    session: { expiresIn: 7 * 24 * 3600, updateAge: 24 * 3600, freshAge: 24 * 3600 },
    // Sessions are listed and ended by GraphQL, by id: the library's answers would show their tokens.
    disabledPaths: [
      '/list-sessions',
      '/revoke-session',
      '/update-user',
      '/change-email',
      '/delete-user',
      '/link-social',
      '/unlink-account',
    ],
    rateLimit: {
      enabled: true,
      storage: 'database',
      customRules: {
        '/sign-in/email': { window: 60, max: 10 },
        '/sign-in/social': { window: 60, max: 30 },
        '/request-password-reset': { window: 3600, max: 5 },
        // Their paths contain input of the caller, and each path would get its own row. They lead to forms, and can't be used to guess.
        '/reset-password/*': false,
        '/callback/*': false,
        '/oauth2/callback/*': false,
      },
    },
    advanced: {
      // The library would skip the check in tests, which would then find out nothing about it.
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      useSecureCookies: config.PUBLIC_URL.startsWith('https:'),
      cookiePrefix: 'postroom',
      database: { generateId: ({ model }) => newId(PREFIXES[model] ?? 'ses') },
    },
    // A provider's account is linked to the user with its address if the provider verified that; our users' are verified by invitation.
    account: { accountLinking: { enabled: true, trustedProviders: [], requireLocalEmailVerified: true } },
    // For a sign-in with the provider whose own error page is not known, such as one that took too long.
    onAPIError: { errorURL: `${config.PUBLIC_URL}/sign-in` },
    hooks: { before: beforeAuth, after: afterAuth },
    databaseHooks: {
      account: { create: { before: beforeLinking } },
      session: { create: { after: afterSession } },
    },
    plugins: [twoFactor({ issuer: 'Postroom' }), ...openIdConnect()],
  });
}

function openIdConnect() {
  const { oidc } = config;
  if (oidc === undefined) return [];
  return [
    genericOAuth({
      config: [
        {
          providerId: OIDC_PROVIDER,
          name: oidc.name,
          discoveryUrl: `${oidc.issuer}/.well-known/openid-configuration`,
          clientId: oidc.clientId,
          clientSecret: oidc.clientSecret,
          scopes: ['openid', 'email', 'profile'],
          requireIdTokenVerification: true,
          // Sign-in with the provider requires an existing user.
          disableSignUp: true,
          // The address identifies the user, so only a literal `true` counts; some providers send the string
          // "false". A look-alike spelling of an address may be another mailbox, so it does not count either.
          mapProfileToUser: ({ email: given, email_verified: verified }) => {
            const email = typeof given === 'string' ? emailKey(given) : undefined;
            return { email, emailVerified: verified === true && mailboxOf(String(given)) === mailboxOf(email) };
          },
        },
      ],
    }),
  ];
}

const mailboxOf = (address = '') => address.slice(0, address.lastIndexOf('@')).toLowerCase().normalize();

import { hkdfSync } from 'node:crypto';
import { config, db, type IdPrefix, logger, newId } from '@postroom/platform';
import { betterAuth } from 'better-auth';
import { prismaAdapter } from 'better-auth/adapters/prisma';
import { genericOAuth, twoFactor } from 'better-auth/plugins';
import { sendSystemMail } from './system-mail.ts';

/** Where the sign-in library's own endpoints are. */
export const AUTH_PATH = '/app/auth';

/** The header that the gateway writes the caller's address to, after removing what the caller wrote. */
export const ADDRESS_HEADER = 'x-postroom-ip';

/** Passwords have at least this many characters. */
export const MIN_PASSWORD_LENGTH = 10;

const PREFIXES: Record<string, IdPrefix> = { user: 'usr', session: 'ses' };

let instance: ReturnType<typeof createAuth> | undefined;

/** The sign-in library, set up at its first use: programs that nobody signs in to need no secret. */
export function auth() {
  instance ??= createAuth();
  return instance;
}

function createAuth() {
  return betterAuth({
    appName: 'Postroom',
    baseURL: config.PUBLIC_URL,
    basePath: AUTH_PATH,
    secret: signInSecret(),
    trustedOrigins: [config.PUBLIC_URL],
    database: prismaAdapter(db, { provider: 'postgresql', transaction: true }),
    telemetry: { enabled: false },
    logger: { log: (level, message, ...args) => logger[level]({ signIn: args }, message) },
    emailAndPassword: {
      enabled: true,
      // People come by invitation; the first owner is made at the first start.
      disableSignUp: true,
      minPasswordLength: MIN_PASSWORD_LENGTH,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: async ({ user, url }) => {
        await sendSystemMail({
          to: user.email,
          subject: 'Choose a new password',
          text: `Somebody asked for a new password for your Postroom account.\n\nChoose it here, within an hour:\n${url}\n\nIf it was not you, do nothing.`,
        });
      },
    },
    session: { expiresIn: 7 * 24 * 3600, updateAge: 24 * 3600, freshAge: 24 * 3600 },
    // What lists or hands out session tokens is ours (GraphQL, by id): the library's answers would show the tokens.
    disabledPaths: ['/list-sessions', '/revoke-session', '/update-user', '/change-email', '/delete-user'],
    rateLimit: {
      enabled: true,
      storage: 'database',
      customRules: { '/sign-in/email': { window: 60, max: 10 }, '/request-password-reset': { window: 3600, max: 5 } },
    },
    advanced: {
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      useSecureCookies: config.PUBLIC_URL.startsWith('https:'),
      cookiePrefix: 'postroom',
      database: { generateId: ({ model }) => newId(PREFIXES[model] ?? 'ses') },
    },
    account: { accountLinking: { enabled: false } },
    plugins: [twoFactor({ issuer: 'Postroom' }), ...openIdConnect()],
  });
}

/** A key of its own for signing cookies, from the one that secrets at rest are encrypted with. */
function signInSecret(): string {
  if (config.secretKey === undefined)
    throw new Error('POSTROOM_SECRET_KEY (or POSTROOM_KEY_FILE) is not set, so nobody can sign in.');
  return Buffer.from(hkdfSync('sha256', config.secretKey, '', 'postroom sign-in', 32)).toString('base64');
}

function openIdConnect() {
  const { OIDC_DISCOVERY_URL: discoveryUrl, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = config;
  if (discoveryUrl === undefined || clientId === undefined || clientSecret === undefined) return [];
  // Only people who have a place already may come this way, too.
  return [
    genericOAuth({
      config: [
        {
          providerId: 'oidc',
          discoveryUrl,
          clientId,
          clientSecret,
          scopes: ['openid', 'email', 'profile'],
          disableSignUp: true,
        },
      ],
    }),
  ];
}

import {
  assertValid,
  config,
  conflictIfTaken,
  db,
  DomainError,
  emailKey,
  emailProblem,
  type FieldProblem,
  hostProblem,
  isId,
  newId,
  normalizeEmail,
  notFound,
  type Prisma,
} from '@postroom/platform';
import { cancelPlanned } from '@postroom/ledger';
import { type OAuthCredentials, openCredentials, sealCredentials } from './credentials.ts';
import { beginAuthorization } from './authorization.ts';
import { type MailboxProvider, PRESETS } from './presets.ts';
import { explained, noteConnected, noteTrouble } from './status.ts';
import { forgetToken } from './tokens.ts';
import { testMailboxServer } from './transport.ts';

export type MailboxAccount = Prisma.MailboxAccountModel;

type Optional<T> = T | null | undefined;

export interface MailboxSettings {
  /** Only of `other` providers. */
  host?: Optional<string>;
  port?: Optional<number>;
  implicitTls?: Optional<boolean>;
  /** Who signs in; the address unless given. */
  username?: Optional<string>;
  password?: Optional<string>;
  clientId?: Optional<string>;
  clientSecret?: Optional<string>;
  tenant?: Optional<string>;
  perMinute?: Optional<number>;
  dailyCap?: Optional<number>;
}

export interface ConnectMailboxInput extends MailboxSettings {
  email: string;
  provider: MailboxProvider;
  signIn: MailboxAccount['signIn'];
}

/** Far above what any provider allows; a typing error is caught. */
const MOST_PER_MINUTE = 600;
const MOST_PER_DAY = 100_000;

/**
 * Adds a mailbox account. One with a password is tried at once; for OAuth2 the answer says where to consent.
 * @throws DomainError `validation_error` naming each bad field, `conflict` when the project has an account of the address.
 */
export async function connectMailbox(
  projectId: string,
  userId: string,
  input: ConnectMailboxInput,
): Promise<{ id: string; authorizationUrl: string | null }> {
  const preset = PRESETS[input.provider];
  const given = input.email.trim();
  const email = normalizeEmail(given);
  const settings = {
    host: (input.provider === 'other' ? input.host?.trim() : undefined) ?? preset.host,
    port: (input.provider === 'other' ? input.port : undefined) ?? preset.port,
    implicitTls: (input.provider === 'other' ? input.implicitTls : undefined) ?? preset.implicitTls,
    perMinute: input.perMinute ?? preset.perMinute,
    dailyCap: input.dailyCap ?? preset.dailyCap,
    tenant: input.tenant?.trim() || null,
  };
  const missing = (field: string, value: Optional<string>) =>
    value == null || value === '' ? [{ field, message: 'is required' }] : [];
  const emailFault = emailProblem(given);
  assertValid([
    ...(emailFault === undefined ? [] : [{ field: 'email', message: emailFault }]),
    ...settingProblems(settings),
    ...(input.provider !== 'other' && input.host != null
      ? [{ field: 'host', message: 'is known for this provider' }]
      : []),
    ...(input.signIn === 'password' ? missing('password', input.password) : missing('clientId', input.clientId)),
    ...(input.signIn === 'oauth2' && preset.oauth === undefined
      ? [{ field: 'signIn', message: 'must be password for other providers' }]
      : []),
  ]);
  const id = newId('mbx');
  await db.mailboxAccount
    .create({
      data: {
        id,
        projectId,
        email,
        emailKey: emailKey(email),
        provider: input.provider,
        username: input.username?.trim() || email,
        signIn: input.signIn,
        credentials: sealCredentials(
          id,
          input.signIn === 'password'
            ? { password: input.password ?? '' }
            : { clientId: input.clientId ?? '', clientSecret: input.clientSecret ?? '' },
        ),
        ...settings,
      },
    })
    .catch(conflictIfTaken(`This project has a mailbox account of ${email} already.`));
  if (input.signIn === 'oauth2') return { id, authorizationUrl: await beginAuthorization(projectId, id, userId) };
  await testMailbox(projectId, id);
  return { id, authorizationUrl: null };
}

function settingProblems(settings: {
  host: string;
  port: number;
  perMinute: number;
  dailyCap: number;
  tenant: string | null;
}): FieldProblem[] {
  const { host, port, perMinute, dailyCap, tenant } = settings;
  const within = (field: string, value: number, most: number) =>
    value >= 1 && value <= most ? [] : [{ field, message: `must be 1 to ${most}` }];
  const hostFault = hostProblem(host, config.providerScope);
  return [
    ...(hostFault === undefined ? [] : [{ field: 'host', message: hostFault }]),
    ...within('port', port, 65_535),
    ...within('perMinute', perMinute, MOST_PER_MINUTE),
    ...within('dailyCap', dailyCap, MOST_PER_DAY),
    ...(tenant === null || /^[\w.-]{1,100}$/.test(tenant)
      ? []
      : [{ field: 'tenant', message: 'must be the id or a domain of a Microsoft 365 tenant' }]),
  ];
}

/** A mailbox account of the project, or `not_found`. */
export async function getMailbox(projectId: string, id: string): Promise<MailboxAccount> {
  const account = isId('mbx', id) ? await db.mailboxAccount.findFirst({ where: { id, projectId } }) : null;
  if (account === null) throw notFound('mailbox account');
  return account;
}

/** The project's mailbox accounts by their addresses; there are a few. */
export function listMailboxes(projectId: string): Promise<MailboxAccount[]> {
  return db.mailboxAccount.findMany({ where: { projectId }, orderBy: { emailKey: 'asc' }, take: 1000 });
}

/**
 * Changes what is given, and tries the account. A password or client secret that is not given stays.
 * @throws DomainError `not_found`, `validation_error` naming each bad field.
 */
export async function updateMailbox(projectId: string, id: string, input: MailboxSettings): Promise<void> {
  const account = await getMailbox(projectId, id);
  const isOther = account.provider === 'other';
  const settings = {
    host: (isOther ? input.host?.trim() : undefined) ?? account.host,
    port: (isOther ? input.port : undefined) ?? account.port,
    implicitTls: (isOther ? input.implicitTls : undefined) ?? account.implicitTls,
    perMinute: input.perMinute ?? account.perMinute,
    dailyCap: input.dailyCap ?? account.dailyCap,
    tenant: input.tenant?.trim() || account.tenant,
  };
  const stored = openCredentials(account);
  const isPassword = 'password' in stored;
  assertValid([
    ...settingProblems(settings),
    ...(!isOther && input.host != null ? [{ field: 'host', message: 'is known for this provider' }] : []),
    ...(isPassword || input.password == null
      ? []
      : [{ field: 'password', message: 'is not what this account signs in with' }]),
  ]);
  const credentials = isPassword ? { password: input.password ?? stored.password } : clientOf(stored, input);
  await db.mailboxAccount.update({
    where: { id },
    data: {
      ...settings,
      username: input.username?.trim() || account.username,
      // Nothing else may change tokens meanwhile, so they are written only when they were to change.
      ...(input.password == null && input.clientId == null && input.clientSecret == null
        ? {}
        : { credentials: sealCredentials(id, credentials) }),
      revision: { increment: 1 },
    },
  });
  forgetToken(id);
  if ('password' in credentials || credentials.refreshToken !== undefined) await testMailbox(projectId, id);
  else if (account.status !== 'connecting') await noteTrouble(id, 'Its OAuth2 client has changed: connect it again.');
}

/** Consent was given to a client, so that another one has none. */
function clientOf(stored: OAuthCredentials, input: MailboxSettings): OAuthCredentials {
  const clientId = input.clientId ?? stored.clientId;
  const clientSecret = input.clientSecret ?? stored.clientSecret;
  return clientId === stored.clientId ? { ...stored, clientSecret } : { clientId, clientSecret };
}

/** Signs in at the account's server and writes down how that went. @throws DomainError `not_found`. */
export async function testMailbox(projectId: string, id: string): Promise<void> {
  const account = await getMailbox(projectId, id);
  if (account.signIn === 'oauth2' && (openCredentials(account) as OAuthCredentials).refreshToken === undefined) {
    throw new DomainError('conflict', 'Nobody has consented for this account yet: open its authorization URL first.');
  }
  const trouble = await testMailboxServer(account);
  if (trouble === undefined) await noteConnected(id);
  else await noteTrouble(id, explained(trouble.answer));
  // Whoever holds connections of the account looks at it anew.
  await db.mailboxAccount.update({ where: { id }, data: { revision: { increment: 1 } } });
}

/**
 * Removes an account with its credentials. Transactional mail that waits for it is canceled; a campaign that goes by it is
 * paused at its next turn. @throws DomainError `not_found`.
 */
export async function disconnectMailbox(projectId: string, id: string): Promise<void> {
  const { count } = isId('mbx', id) ? await db.mailboxAccount.deleteMany({ where: { id, projectId } }) : { count: 0 };
  if (count === 0) throw notFound('mailbox account');
  forgetToken(id);
  await cancelPlanned('mailbox_id = $1', id, 'Its mailbox account was disconnected.');
}

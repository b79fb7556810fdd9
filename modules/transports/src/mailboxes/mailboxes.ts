import {
  assertValid,
  config,
  conflictIfTaken,
  db,
  DomainError,
  emailKey,
  type FieldProblem,
  hostProblem,
  isId,
  newId,
  normalizeEmail,
  notFound,
  type Prisma,
  senderProblem,
  checkLimit,
  ifReadable,
  requireReadable,
} from '@postroom/platform';
import { cancelPlanned } from '@postroom/ledger';
import { ENTER_AGAIN, UNREADABLE } from '../credentials.ts';
import { type OAuthCredentials, openCredentials, sealCredentials } from './credentials.ts';
import { beginAuthorization } from './authorization.ts';
import { type MailboxProvider, PRESETS } from './presets.ts';
import { withAdvice, recordConnected, recordNeedsAttention } from './status.ts';
import { forgetToken } from './tokens.ts';
import { testMailboxServer } from './transport.ts';

export type MailboxAccount = Prisma.MailboxAccountModel;

type Optional<T> = T | null | undefined;

export interface MailboxSettings {
  /** For `other` providers only. */
  host?: Optional<string>;
  port?: Optional<number>;
  implicitTls?: Optional<boolean>;
  /** Username; defaults to the address. */
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

const MAX_MAILBOXES = 200;
/** Far above any provider's limits, to catch typos. */
const MAX_PER_MINUTE = 600;
const MAX_PER_DAY = 100_000;

/**
 * Adds a mailbox account. With a password the connection is tested immediately; with OAuth2 the result has the URL for consent.
 * @throws DomainError `validation_error` naming each bad field, `conflict` if the project already has an account for the address.
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
  const emailFieldProblem = senderProblem(given);
  assertValid([
    ...(emailFieldProblem === undefined ? [] : [{ field: 'email', message: emailFieldProblem }]),
    ...settingProblems(settings),
    ...(input.provider !== 'other' && input.host != null
      ? [{ field: 'host', message: 'must be omitted: it is known for this provider' }]
      : []),
    ...(input.signIn === 'password' ? missing('password', input.password) : missing('clientId', input.clientId)),
    ...(input.signIn === 'oauth2' && preset.oauth === undefined
      ? [{ field: 'signIn', message: 'must be password for other providers' }]
      : []),
  ]);
  const id = newId('mbx');
  const data = {
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
  };
  await db.$transaction(async (tx) => {
    await tx.mailboxAccount
      .create({ data })
      .catch(conflictIfTaken('email', `This project already has a mailbox account for ${email}.`));
    const limit = { of: projectId, rows: 'mailbox accounts', max: MAX_MAILBOXES };
    await checkLimit(tx, limit, () => tx.mailboxAccount.count({ where: { projectId } }));
  });
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
  const within = (field: string, value: number, max: number) =>
    value >= 1 && value <= max ? [] : [{ field, message: `must be between 1 and ${max}` }];
  const hostFieldProblem = hostProblem(host, config.providerScope);
  return [
    ...(hostFieldProblem === undefined ? [] : [{ field: 'host', message: hostFieldProblem }]),
    ...within('port', port, 65_535),
    ...within('perMinute', perMinute, MAX_PER_MINUTE),
    ...within('dailyCap', dailyCap, MAX_PER_DAY),
    ...(tenant === null || /^[\w.-]{1,100}$/.test(tenant)
      ? []
      : [{ field: 'tenant', message: 'must be the id or a domain of a Microsoft 365 tenant' }]),
  ];
}

/** A mailbox account of the project. @throws DomainError `not_found`. */
export async function getMailbox(projectId: string, id: string): Promise<MailboxAccount> {
  const account = isId('mbx', id) ? await db.mailboxAccount.findFirst({ where: { id, projectId } }) : null;
  if (account === null) throw notFound('mailbox account');
  return account;
}

/** The project's mailbox accounts by address; a project has few. */
export function listMailboxes(projectId: string): Promise<MailboxAccount[]> {
  return db.mailboxAccount.findMany({ where: { projectId }, orderBy: { emailKey: 'asc' }, take: 1000 });
}

/**
 * Updates the given fields and tests the connection. An omitted password or client secret is kept.
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
  const stored = ifReadable(() => openCredentials(account)) ?? enteredAgain(account, input);
  const isPassword = 'password' in stored;
  assertValid([
    ...settingProblems(settings),
    ...(!isOther && input.host != null
      ? [{ field: 'host', message: 'must be omitted: it is known for this provider' }]
      : []),
    ...(isPassword || input.password == null
      ? []
      : [{ field: 'password', message: 'must be omitted: this account signs in with OAuth2' }]),
  ]);
  const credentials = isPassword ? { password: input.password ?? stored.password } : oauthClient(stored, input);
  const data = {
    ...settings,
    username: input.username?.trim() || account.username,
    // Tokens may be refreshed concurrently, so write credentials only if they were changed.
    ...(input.password == null && input.clientId == null && input.clientSecret == null
      ? {}
      : { credentials: sealCredentials(id, credentials) }),
    revision: { increment: 1 },
  };
  await db.$transaction((tx) => tx.mailboxAccount.update({ where: { id }, data }));
  forgetToken(id);
  if ('password' in credentials || credentials.refreshToken !== undefined) await testMailbox(projectId, id);
  else if (account.status !== 'connecting')
    await recordNeedsAttention(id, 'The OAuth2 client has changed: connect the account again.');
}

/** Stands for credentials that can't be decrypted. @throws DomainError `validation_error` unless the input replaces them. */
function enteredAgain(
  { signIn }: MailboxAccount,
  { password, clientId, clientSecret }: MailboxSettings,
): { password: string } | OAuthCredentials {
  if (signIn === 'password') {
    assertValid(password == null ? [{ field: 'password', message: UNREADABLE }] : []);
    return { password: '' };
  }
  assertValid([
    ...(clientId == null ? [{ field: 'clientId', message: UNREADABLE }] : []),
    ...(clientSecret == null ? [{ field: 'clientSecret', message: UNREADABLE }] : []),
  ]);
  return { clientId: '', clientSecret: '' };
}

/** Consent belongs to the client it was given to, so a new client id discards the tokens. */
function oauthClient(stored: OAuthCredentials, input: MailboxSettings): OAuthCredentials {
  const clientId = input.clientId ?? stored.clientId;
  const clientSecret = input.clientSecret ?? stored.clientSecret;
  return clientId === stored.clientId ? { ...stored, clientSecret } : { clientId, clientSecret };
}

/** Tests the connection and records the result. @throws DomainError `not_found`; `conflict` before consent, or for lost credentials. */
export async function testMailbox(projectId: string, id: string): Promise<void> {
  const account = await getMailbox(projectId, id);
  const stored = requireReadable(() => openCredentials(account), ENTER_AGAIN);
  if (account.signIn === 'oauth2' && (stored as OAuthCredentials).refreshToken === undefined) {
    throw new DomainError(
      'conflict',
      'Consent has not been given for this account yet: open its authorization URL first.',
    );
  }
  const failure = await testMailboxServer(account);
  if (failure === undefined) await recordConnected(id);
  else await recordNeedsAttention(id, withAdvice(failure.answer));
  // Makes open transports of the account reload its status.
  await db.mailboxAccount.update({ where: { id }, data: { revision: { increment: 1 } } });
}

/**
 * Removes an account with its credentials. Its queued transactional mail is canceled; a campaign that uses it pauses at its
 * next run. @throws DomainError `not_found`.
 */
export async function disconnectMailbox(projectId: string, id: string): Promise<void> {
  const { count } = isId('mbx', id) ? await db.mailboxAccount.deleteMany({ where: { id, projectId } }) : { count: 0 };
  if (count === 0) throw notFound('mailbox account');
  forgetToken(id);
  await cancelPlanned('mailbox_id = $1', id, 'Its mailbox account was disconnected.');
}

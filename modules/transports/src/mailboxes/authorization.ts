import { createHash, randomBytes } from 'node:crypto';
import {
  type Caller,
  config,
  databaseNow,
  databaseTime,
  db,
  DomainError,
  isId,
  notFound,
  requireReadable,
  secretColumn,
} from '@postroom/platform';
import { type OAuthCredentials, openCredentials, sealCredentials } from './credentials.ts';
import { ENTER_AGAIN } from '../credentials.ts';
import { PRESETS } from './presets.ts';
import { forgetToken, requestToken, withTenant } from './tokens.ts';
import { TRANSPORT_POLICY } from '../policy.ts';

const sealedVerifier = secretColumn('mailbox_authorizations', 'verifier');

/** Path of the OAuth2 redirect URI, which is registered with the OAuth2 client. */
export const CALLBACK_PATH = '/providers/mailbox/callback';

const hash = (text: string) => createHash('sha256').update(text).digest();

/** The row of an authorization, by the state that the provider returns. */
export const authorizationId = (state: string): string => hash(state).toString('hex');

/**
 * Starts an OAuth2 authorization and returns the provider's consent URL. `state` identifies the returning user; the code is
 * useless without a secret that never leaves the server (PKCE).
 * @throws DomainError `not_found`, `conflict` for an account with a password, or whose credentials can't be decrypted.
 */
export async function beginAuthorization(projectId: string, id: string, userId: string): Promise<string> {
  const account = isId('mbx', id) ? await db.mailboxAccount.findFirst({ where: { id, projectId } }) : null;
  if (account === null) throw notFound('mailbox account');
  const { oauth } = PRESETS[account.provider];
  const stored = requireReadable(() => openCredentials(account), ENTER_AGAIN);
  if (oauth === undefined || 'password' in stored) {
    throw new DomainError('conflict', 'This account signs in with a password.');
  }
  const state = randomBytes(32).toString('base64url');
  const verifier = randomBytes(32).toString('base64url');
  const authorization = authorizationId(state);
  await db.mailboxAuthorization.deleteMany({ where: { expiresAt: { lt: databaseTime() } } });
  await db.mailboxAuthorization.create({
    data: {
      id: authorization,
      mailboxId: id,
      userId,
      verifier: sealedVerifier.encrypt(verifier, authorization),
      expiresAt: new Date(databaseNow() + TRANSPORT_POLICY.mailboxes.consentMs),
    },
  });
  const url = new URL(withTenant(oauth.authorizeUrl, account.tenant));
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: stored.clientId,
    redirect_uri: redirectUri(),
    scope: oauth.scopes.join(' '),
    state,
    code_challenge: hash(verifier).toString('base64url'),
    code_challenge_method: 'S256',
    login_hint: account.email,
    ...oauth.parameters,
  }).toString();
  return url.href;
}

const redirectUri = () => `${config.PUBLIC_URL}${CALLBACK_PATH}`;

/** Query parameters of the OAuth2 redirect. */
export interface AuthorizationResponse {
  state: string;
  /** Undefined without consent. */
  code: string | undefined;
  error: string | undefined;
}

/**
 * Completes an authorization, once, for the user who started it.
 * @returns the account, whose connection has yet to be tested.
 * @throws DomainError `not_found` if the state is unknown, used or expired, `forbidden` for another user, `validation_error`
 * without consent or with an invalid code.
 */
export async function finishAuthorization(
  { state, code, error }: AuthorizationResponse,
  user: Pick<Caller, 'id' | 'may'>,
): Promise<{ id: string; projectId: string; email: string }> {
  const id = authorizationId(state);
  const pending = await db.mailboxAuthorization.findUnique({ where: { id }, include: { mailbox: true } });
  if (pending === null || pending.expiresAt < databaseTime()) throw notFound('authorization');
  if (pending.userId !== user.id) throw new DomainError('forbidden', 'Another user started connecting this account.');
  if (!user.may('manage', pending.mailbox.projectId))
    throw new DomainError('forbidden', 'You may no longer connect accounts of this project.');
  const { count } = await db.mailboxAuthorization.deleteMany({ where: { id } });
  if (count === 0) throw notFound('authorization');
  const { mailbox } = pending;
  if (code === undefined) {
    throw new DomainError('validation_error', `The mailbox provider did not grant access (${error ?? 'no code'}).`);
  }
  const stored = requireReadable(() => openCredentials(mailbox), ENTER_AGAIN) as OAuthCredentials;
  const tokens = await requestToken(mailbox, stored, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri(),
    code_verifier: sealedVerifier.decrypt(pending.verifier, id),
  }).catch((failure: unknown) => {
    throw new DomainError('validation_error', failure instanceof Error ? failure.message : String(failure));
  });
  if (tokens.refreshToken === undefined) {
    throw new DomainError(
      'validation_error',
      'The mailbox provider issued no refresh token, so access would expire within an hour.',
    );
  }
  await db.mailboxAccount.update({
    where: { id: mailbox.id },
    data: { credentials: sealCredentials(mailbox.id, tokens), revision: { increment: 1 } },
  });
  forgetToken(mailbox.id);
  return { id: mailbox.id, projectId: mailbox.projectId, email: mailbox.email };
}

import { createHash, randomBytes } from 'node:crypto';
import { type Caller, config, db, DomainError, isId, notFound, secretColumn } from '@postroom/platform';
import { type OAuthCredentials, openCredentials, sealCredentials } from './credentials.ts';
import { PRESETS } from './presets.ts';
import { forgetToken, requestToken, withTenant } from './tokens.ts';

const sealedVerifier = secretColumn('mailbox_authorizations', 'verifier');

/** Where mailbox providers send people back to; it is registered with the OAuth2 client. */
export const CALLBACK_PATH = '/providers/mailbox/callback';

/** Whoever was sent to the provider has so long to consent, in milliseconds. */
const PATIENCE_MS = 15 * 60_000;

const hash = (text: string) => createHash('sha256').update(text).digest();

/**
 * The page of the mailbox provider to consent at. Who comes back is known by `state`; the code that they bring is good only
 * together with a secret that never leaves us (PKCE).
 * @throws DomainError `not_found`, `conflict` for an account that signs in with a password.
 */
export async function beginAuthorization(projectId: string, id: string, userId: string): Promise<string> {
  const account = isId('mbx', id) ? await db.mailboxAccount.findFirst({ where: { id, projectId } }) : null;
  if (account === null) throw notFound('mailbox account');
  const { oauth } = PRESETS[account.provider];
  const stored = openCredentials(account);
  if (oauth === undefined || 'password' in stored) {
    throw new DomainError('conflict', 'This account signs in with a password.');
  }
  const state = randomBytes(32).toString('base64url');
  const verifier = randomBytes(32).toString('base64url');
  const authorization = hash(state).toString('hex');
  await db.mailboxAuthorization.deleteMany({ where: { expiresAt: { lt: new Date() } } });
  await db.mailboxAuthorization.create({
    data: {
      id: authorization,
      mailboxId: id,
      userId,
      verifier: sealedVerifier.encrypt(verifier, authorization),
      expiresAt: new Date(Date.now() + PATIENCE_MS),
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

/** What a mailbox provider sends somebody back with. */
export interface Return {
  state: string;
  /** Absent when there was no consent. */
  code: string | undefined;
  error: string | undefined;
}

/**
 * Takes the consent of whoever comes back from the mailbox provider, once; it must be who was sent there.
 * @returns the account, whose connection is still to be tried.
 * @throws DomainError `not_found` for a state that is none, was used or is too old, `forbidden` for somebody else,
 * `validation_error` when there was no consent or the code is not good.
 */
export async function finishAuthorization(
  { state, code, error }: Return,
  person: Pick<Caller, 'id' | 'may'>,
): Promise<{ id: string; projectId: string; email: string }> {
  const id = hash(state).toString('hex');
  const begun = await db.mailboxAuthorization.findUnique({ where: { id }, include: { mailbox: true } });
  if (begun === null || begun.expiresAt < new Date()) throw notFound('authorization');
  if (begun.userId !== person.id) throw new DomainError('forbidden', 'Somebody else began to connect this account.');
  if (!person.may('manage', begun.mailbox.projectId))
    throw new DomainError('forbidden', 'You may no longer connect accounts of this project.');
  const { count } = await db.mailboxAuthorization.deleteMany({ where: { id } });
  if (count === 0) throw notFound('authorization');
  const { mailbox } = begun;
  if (code === undefined) {
    throw new DomainError('validation_error', `The mailbox provider gave no consent (${error ?? 'no code'}).`);
  }
  const stored = openCredentials(mailbox) as OAuthCredentials;
  const tokens = await requestToken(mailbox, stored, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri(),
    code_verifier: sealedVerifier.decrypt(begun.verifier, id),
  }).catch((failure: unknown) => {
    throw new DomainError('validation_error', failure instanceof Error ? failure.message : String(failure));
  });
  if (tokens.refreshToken === undefined) {
    throw new DomainError(
      'validation_error',
      'The mailbox provider gave no refresh token, so access would end in an hour.',
    );
  }
  await db.mailboxAccount.update({
    where: { id: mailbox.id },
    data: { credentials: sealCredentials(mailbox.id, tokens), revision: { increment: 1 } },
  });
  forgetToken(mailbox.id);
  return { id: mailbox.id, projectId: mailbox.projectId, email: mailbox.email };
}

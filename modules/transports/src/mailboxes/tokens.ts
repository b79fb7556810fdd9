import { config, guardedFetch, inTransaction } from '@postroom/platform';
import { z } from 'zod';
import { HandshakeError, hostDeferred, oneLine } from '@postroom/smtp';
import { type OAuthCredentials, openCredentials, sealCredentials } from './credentials.ts';
import { type MailboxProvider, PRESETS } from './presets.ts';
import { noteTrouble } from './status.ts';

/** A token is not used in the last minute of its life, so that it lasts for what it is shown for. */
const MARGIN_MS = 60_000;
const TOKEN_SERVER_MS = 10_000;

interface Token {
  token: string;
  expiresAt: number;
}

/** Tokens of this process, and those that are being fetched. */
const known = new Map<string, Token>();
const fetching = new Map<string, Promise<Token>>();

/**
 * An access token of an account that is good for another minute; given one that a server refused, another. Workers that need
 * one at the same time wait for the first of them, since a refresh token may be good for one use.
 * @throws HandshakeError when the consent is gone (`configuration`), or the token server does not answer (`deferred`).
 */
export async function accessToken(mailboxId: string, refused?: string): Promise<string> {
  const held = known.get(mailboxId);
  if (held !== undefined && held.token !== refused && isFresh(held.expiresAt)) return held.token;
  const under = fetching.get(mailboxId) ?? refresh(mailboxId, refused);
  fetching.set(mailboxId, under);
  try {
    const token = await under;
    known.set(mailboxId, token);
    return token.token;
  } catch (error) {
    known.delete(mailboxId);
    if (error instanceof ConsentGone) {
      await noteTrouble(mailboxId, error.message);
      throw new HandshakeError({ kind: 'refused', answer: error.message, verdict: 'configuration', stop: 'account' });
    }
    throw new HandshakeError(hostDeferred(error instanceof Error ? error.message : String(error)));
  } finally {
    if (fetching.get(mailboxId) === under) fetching.delete(mailboxId);
  }
}

const isFresh = (expiresAt: number | undefined) => (expiresAt ?? 0) - MARGIN_MS > Date.now();

/** Somebody has to consent again. */
class ConsentGone extends Error {}

interface Row {
  id: string;
  provider: MailboxProvider;
  tenant: string | null;
  credentials: string;
}

/** The lock is held while the token server is asked; what it answers is stored in the same transaction. */
async function refresh(mailboxId: string, refused: string | undefined): Promise<Token> {
  return inTransaction(async (client) => {
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 3))', [mailboxId]);
    const { rows } = await client.query<Row>(
      'SELECT id, provider, tenant, credentials FROM mailbox_accounts WHERE id = $1',
      [mailboxId],
    );
    const [row] = rows;
    if (row === undefined) throw new ConsentGone('The mailbox account has been removed.');
    const stored = openCredentials(row) as OAuthCredentials;
    const { accessToken: token, expiresAt = 0, refreshToken } = stored;
    // Another worker was quicker.
    if (token !== undefined && token !== refused && isFresh(expiresAt)) return { token, expiresAt };
    if (refreshToken === undefined) throw new ConsentGone('Nobody has consented yet: connect the account.');
    const fresh = await requestToken(row, stored, { grant_type: 'refresh_token', refresh_token: refreshToken });
    await client.query('UPDATE mailbox_accounts SET credentials = $2 WHERE id = $1', [
      mailboxId,
      sealCredentials(mailboxId, fresh),
    ]);
    return { token: fresh.accessToken ?? '', expiresAt: fresh.expiresAt ?? 0 };
  });
}

const tokenAnswer = z.object({
  access_token: z.string().min(1).max(20_000),
  expires_in: z.coerce.number().int().positive().default(3600),
  refresh_token: z.string().max(20_000).optional(),
});

const tokenRefusal = z.object({ error: z.string(), error_description: z.string().optional() });

/** Trades a code or a refresh token for tokens. A refresh token that is not replaced stays good. */
export async function requestToken(
  { provider, tenant }: Pick<Row, 'provider' | 'tenant'>,
  credentials: OAuthCredentials,
  grant: Record<string, string>,
): Promise<OAuthCredentials> {
  const { oauth } = PRESETS[provider];
  if (oauth === undefined) throw new ConsentGone('This mailbox provider knows no OAuth2.');
  const { clientId, clientSecret } = credentials;
  const response = await guardedFetch(withTenant(oauth.tokenUrl, tenant), config.providerScope, {
    method: 'POST',
    signal: AbortSignal.timeout(TOKEN_SERVER_MS),
    body: new URLSearchParams({
      client_id: clientId,
      ...(clientSecret === '' ? {} : { client_secret: clientSecret }),
      ...grant,
    }),
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.status >= 400 && response.status < 500 && response.status !== 429) {
    const { error, error_description: description = '' } = tokenRefusal.safeParse(answer).data ?? {
      error: `${response.status}`,
    };
    throw new ConsentGone(
      oneLine(`The sign-in is not valid any more (${error}${description === '' ? '' : `: ${description}`}).`),
    );
  }
  const parsed = tokenAnswer.safeParse(answer);
  if (!response.ok || !parsed.success) throw new Error(`The token server answered with ${response.status}.`);
  const { access_token, expires_in, refresh_token } = parsed.data;
  return {
    clientId,
    clientSecret,
    accessToken: access_token,
    expiresAt: Date.now() + expires_in * 1000,
    refreshToken: refresh_token ?? credentials.refreshToken,
  };
}

/** A URL of Microsoft's names whose accounts may sign in. */
export const withTenant = (url: string, tenant: string | null) =>
  url.replace('{tenant}', encodeURIComponent(tenant ?? 'common'));

/** Forgets what this process knows of an account, whose credentials have changed. */
export function forgetToken(mailboxId: string): void {
  known.delete(mailboxId);
}

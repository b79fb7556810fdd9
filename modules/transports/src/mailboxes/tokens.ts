import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanLine, config, databaseNow, guardedFetch, pool } from '@postroom/platform';
import { z } from 'zod';
import { HandshakeError, hostDeferred } from '@postroom/smtp';
import { type OAuthCredentials, openCredentials, sealCredentials } from './credentials.ts';
import { type MailboxProvider, PRESETS } from './presets.ts';
import { recordNeedsAttention } from './status.ts';
import { TRANSPORT_POLICY } from '../policy.ts';

const { tokenMarginMs: EXPIRY_MARGIN_MS, tokenMs: TOKEN_TIMEOUT_MS } = TRANSPORT_POLICY.mailboxes;

interface Token {
  token: string;
  expiresAt: number;
}

/** Tokens by account, until a minute before they expire; concurrent callers share a refresh. */
const tokens = new LRUCache<string, Token, string | undefined>({
  max: 1_000,
  ttl: EXPIRY_MARGIN_MS,
  ignoreFetchAbort: true,
  fetchMethod: async (mailboxId, _stale, { context: refused, options }) => {
    const token = await refresh(mailboxId, refused);
    options.ttl = Math.max(1, token.expiresAt - EXPIRY_MARGIN_MS - databaseNow());
    return token;
  },
});

/**
 * Returns an access token valid for at least another minute; given one that a server rejected, a new one. Concurrent workers
 * share one refresh, since a refresh token may be single-use.
 * @throws HandshakeError if consent was withdrawn (`configuration`) or the token server doesn't answer (`deferred`).
 */
export async function accessToken(mailboxId: string, refused?: string): Promise<string> {
  try {
    const forceRefresh = refused !== undefined && tokens.peek(mailboxId)?.token === refused;
    const { token } = await tokens.forceFetch(mailboxId, { context: refused, forceRefresh });
    return token;
  } catch (error) {
    if (error instanceof ConsentRequired) {
      await recordNeedsAttention(mailboxId, error.message);
      throw new HandshakeError({ kind: 'refused', answer: error.message, verdict: 'configuration', stop: 'account' });
    }
    throw new HandshakeError(hostDeferred(error instanceof Error ? error.message : String(error)));
  }
}

const isFresh = (expiresAt: number | undefined) => (expiresAt ?? 0) - EXPIRY_MARGIN_MS > databaseNow();

/** A user has to consent again. */
class ConsentRequired extends Error {}

interface Row {
  id: string;
  provider: MailboxProvider;
  tenant: string | null;
  credentials: string;
}

/** How often a worker looks whether another one has refreshed a token, in milliseconds. */
const LOOK_MS = 200;

/** Leases the token, unless another worker has: for as long as a request for a new one may take. */
const LEASE = `
  UPDATE mailbox_accounts SET token_lease_until = now() + $3 * interval '1 millisecond'
  WHERE id = $1 AND credentials = $2 AND (token_lease_until IS NULL OR token_lease_until < now())`;

/** Requests a token while holding the lease, and no transaction; waits while another worker has it. */
async function refresh(mailboxId: string, refused: string | undefined): Promise<Token> {
  for (;;) {
    const { rows } = await pool.query<Row>(
      'SELECT id, provider, tenant, credentials FROM mailbox_accounts WHERE id = $1',
      [mailboxId],
    );
    const [row] = rows;
    if (row === undefined) throw new ConsentRequired('The mailbox account has been removed.');
    const stored = openCredentials(row) as OAuthCredentials;
    const { accessToken: token, expiresAt = 0, refreshToken } = stored;
    // Another worker has refreshed it.
    if (token !== undefined && token !== refused && isFresh(expiresAt)) return { token, expiresAt };
    if (refreshToken === undefined) throw new ConsentRequired('Consent has not been given yet: connect the account.');
    const { rowCount } = await pool.query(LEASE, [mailboxId, row.credentials, TOKEN_TIMEOUT_MS + 1_000]);
    if (rowCount === 1) return requestFresh(row, stored, refreshToken);
    await sleep(LOOK_MS);
  }
}

/** Stores the new token and ends the lease. Credentials that a user has entered meanwhile stay. */
async function requestFresh(row: Row, stored: OAuthCredentials, refreshToken: string): Promise<Token> {
  let credentials = row.credentials;
  try {
    const fresh = await requestToken(row, stored, { grant_type: 'refresh_token', refresh_token: refreshToken });
    credentials = sealCredentials(row.id, fresh);
    return { token: fresh.accessToken ?? '', expiresAt: fresh.expiresAt ?? 0 };
  } finally {
    await pool.query(
      `UPDATE mailbox_accounts SET token_lease_until = NULL, credentials = CASE credentials WHEN $2 THEN $3 ELSE credentials END
         WHERE id = $1`,
      [row.id, row.credentials, credentials],
    );
  }
}

const tokenAnswer = z.object({
  access_token: z.string().min(1).max(20_000),
  expires_in: z.coerce.number().int().positive().default(3600),
  refresh_token: z.string().max(20_000).optional(),
});

const tokenRefusal = z.object({ error: z.string(), error_description: z.string().optional() });

/** Exchanges a code or a refresh token for tokens. A refresh token that isn't rotated stays valid. */
export async function requestToken(
  { provider, tenant }: Pick<Row, 'provider' | 'tenant'>,
  credentials: OAuthCredentials,
  grant: Record<string, string>,
): Promise<OAuthCredentials> {
  const { oauth } = PRESETS[provider];
  if (oauth === undefined) throw new ConsentRequired('This mailbox provider does not support OAuth2.');
  const { clientId, clientSecret } = credentials;
  const response = await guardedFetch(withTenant(oauth.tokenUrl, tenant), config.providerScope, {
    method: 'POST',
    signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS),
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
    throw new ConsentRequired(
      cleanLine(`The authorization is no longer valid (${error}${description === '' ? '' : `: ${description}`}).`),
    );
  }
  const parsed = tokenAnswer.safeParse(answer);
  if (!response.ok || !parsed.success) throw new Error(`The token server answered with ${response.status}.`);
  const { access_token, expires_in, refresh_token } = parsed.data;
  return {
    clientId,
    clientSecret,
    accessToken: access_token,
    expiresAt: databaseNow() + expires_in * 1000,
    refreshToken: refresh_token ?? credentials.refreshToken,
  };
}

/** Fills the tenant into a Microsoft URL; `common` allows any. */
export const withTenant = (url: string, tenant: string | null) =>
  url.replace('{tenant}', encodeURIComponent(tenant ?? 'common'));

/** Drops the cached token of an account whose credentials have changed. */
export function forgetToken(mailboxId: string): void {
  tokens.delete(mailboxId);
}

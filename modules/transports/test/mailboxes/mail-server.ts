import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHash, randomBytes } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SMTPServer } from 'smtp-server';
import { afterAll } from 'vitest';
import { selfSigned } from '@postroom/platform';

/** A mail of the mailbox server: who was signed in, and the envelope. */
interface MailboxMail {
  user: string;
  from: string;
  to: string;
  raw: string;
}

export interface MailboxServer {
  host: string;
  port: number;
  /** The certificate to trust. */
  cert: string;
  /** Accepted mail. */
  mails: MailboxMail[];
  /** Authentication attempts, successful or not. */
  signIns: { method: string; user: string; secret: string }[];
  /** Connections upgraded to TLS. */
  secured: () => number;
  passwords: Map<string, string>;
  /** Valid access tokens, and their users. */
  tokens: Map<string, string>;
  /** The rejection of a recipient; undefined accepts the mail. */
  answer: (to: string) => { code: number; message: string } | undefined;
  close: () => Promise<void>;
}

/** One certificate for all servers of a test, because they share a name. */
const certificate = selfSigned();

/** A mailbox server that this process trusts, for the tests of a file, which call this before them. */
export async function trustedMailboxServer(): Promise<MailboxServer> {
  const trusted = getCACertificates();
  const server = await startMailboxServer();
  setDefaultCACertificates([...trusted, server.cert]);
  afterAll(async () => {
    setDefaultCACertificates(trusted);
    await server.close();
  });
  return server;
}

/** A submission server on this machine, with STARTTLS and AUTH by the methods named. Only tests import this file. */
export async function startMailboxServer(methods: string[] = ['PLAIN', 'LOGIN', 'XOAUTH2']): Promise<MailboxServer> {
  const { key, cert } = certificate;
  let secured = 0;
  const standIn: MailboxServer = {
    host: 'localhost',
    port: 0,
    cert,
    mails: [],
    signIns: [],
    secured: () => secured,
    passwords: new Map(),
    tokens: new Map(),
    answer: () => undefined,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  const server = new SMTPServer({
    key,
    cert,
    authMethods: methods,
    closeTimeout: 50, // connections that wait for more mail are cut
    disableReverseLookup: true,
    logger: false,
    onSecure: (_socket, _session, callback) => {
      secured++;
      callback();
    },
    onAuth: ({ method, username, password, accessToken }, _session, callback) => {
      const secret = (method === 'XOAUTH2' ? accessToken : password) ?? '';
      const user = username ?? '';
      standIn.signIns.push({ method, user, secret });
      const isGood =
        method === 'XOAUTH2' ? standIn.tokens.get(secret) === user : standIn.passwords.get(user) === secret;
      if (isGood) return callback(null, { user });
      // The reason for a rejected token is sent in a challenge, which the client must answer before the rejection.
      if (method === 'XOAUTH2') return callback(null, { data: { status: '401', schemes: 'bearer mac' } } as never);
      callback(Object.assign(new Error('5.7.8 Username and Password not accepted'), { responseCode: 535 }));
    },
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const to = rcptTo[0]?.address ?? '';
        const refusal = standIn.answer(to);
        if (refusal !== undefined) {
          return callback(Object.assign(new Error(refusal.message), { responseCode: refusal.code }));
        }
        const from = mailFrom === false ? '' : mailFrom.address;
        standIn.mails.push({ user: String(session.user), from, to, raw: Buffer.concat(chunks).toString('latin1') });
        callback(null, 'taken');
      });
    },
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  standIn.port = (server.server.address() as AddressInfo).port;
  return standIn;
}

export interface TokenServer {
  url: string;
  clientId: string;
  clientSecret: string;
  /** Requests received. */
  requests: Record<string, string>[];
  /** Whether each use replaces the refresh token. */
  rotates: boolean;
  /** Lifetime of access tokens, in seconds. */
  lifetime: number;
  /** Valid refresh tokens. */
  refreshTokens: Set<string>;
  /** Consents as a user does, and returns the code. */
  consent: (authorizationUrl: string) => { code: string; state: string };
  /** Called with each issued access token. */
  onToken: (token: string) => void;
  /** Responds to every request with this status. */
  failing: number | undefined;
  close: () => Promise<void>;
}

/** An OAuth2 server on this machine, which checks clients, codes and PKCE. Only tests import this file. */
export async function startTokenServer(): Promise<TokenServer> {
  const codes = new Map<string, { challenge: string; redirectUri: string }>();
  const fresh = () => randomBytes(12).toString('hex');
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
    standIn.requests.push(form);
    const answer = (status: number, body: object) =>
      void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (standIn.failing !== undefined) return answer(standIn.failing, { error: 'temporarily_unavailable' });
    if (form.client_id !== standIn.clientId || form.client_secret !== standIn.clientSecret) {
      return answer(401, { error: 'invalid_client' });
    }
    if (!isGranted(form)) return answer(400, { error: 'invalid_grant', error_description: 'Token has been revoked.' });
    const accessToken = fresh();
    standIn.onToken(accessToken);
    const isNew = form.grant_type === 'authorization_code' || standIn.rotates;
    const refreshToken = isNew ? fresh() : undefined;
    if (refreshToken !== undefined) standIn.refreshTokens.add(refreshToken);
    answer(200, {
      token_type: 'Bearer',
      access_token: accessToken,
      expires_in: standIn.lifetime,
      ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    });
  });

  function isGranted(form: Record<string, string>): boolean {
    if (form.grant_type === 'authorization_code') {
      const code = codes.get(form.code ?? '');
      codes.delete(form.code ?? '');
      const challenge = createHash('sha256')
        .update(form.code_verifier ?? '')
        .digest('base64url');
      return code !== undefined && code.challenge === challenge && code.redirectUri === form.redirect_uri;
    }
    const known = standIn.refreshTokens.has(form.refresh_token ?? '');
    if (standIn.rotates) standIn.refreshTokens.delete(form.refresh_token ?? '');
    return form.grant_type === 'refresh_token' && known;
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: TokenServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/{tenant}/token`,
    clientId: 'client',
    clientSecret: 'client secret',
    requests: [],
    rotates: true,
    lifetime: 3600,
    refreshTokens: new Set(),
    consent: (authorizationUrl) => {
      const { searchParams } = new URL(authorizationUrl);
      const code = fresh();
      codes.set(code, {
        challenge: searchParams.get('code_challenge') ?? '',
        redirectUri: searchParams.get('redirect_uri') ?? '',
      });
      return { code, state: searchParams.get('state') ?? '' };
    },
    onToken: () => {},
    failing: undefined,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return standIn;
}

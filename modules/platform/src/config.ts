import { isIP } from 'node:net';
import { z } from 'zod';
import { parseNetworks } from './networks.ts';
import { readSecretKeys } from './secret-keys.ts';
import type { AddressScope } from './ssrf-guard.ts';

const port = z.coerce.number().int().min(0).max(65535);
/** `127.0.0.1:5353, 2001:db8::53, [2001:db8::53]:53`: addresses with a port where it is not 53. */
const nameServers = z.string().transform((text, context) =>
  text.split(',').map((entry) => {
    const server = nameServer(entry.trim());
    if (server === undefined) context.addIssue(`${entry.trim()} is not an IP address, or one with a port`);
    return server ?? { address: '', port: 0 };
  }),
);
/** `10.0.0.0/8, 127.0.0.1, fd00::/8`. */
const networks = z.string().transform((text, context) => {
  const list = parseNetworks(text);
  if (list === undefined) context.addIssue('must be addresses or networks, such as 127.0.0.1, 10.0.0.0/8, fd00::/8');
  return list;
});
const flag = z.enum(['0', '1', 'false', 'true']).transform((value) => value === '1' || value === 'true');

/** Every setting that Postroom reads, with its default. `docs/how-to/operations.md` explains them. */
const environment = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('production'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' }).optional(),
  /** Connections to PostgreSQL that one process opens at most. */
  DATABASE_POOL: z.coerce.number().int().min(2).max(500).default(20),
  TEMPORAL_ADDRESS: z.string().min(1).default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_TASK_QUEUE: z.string().min(1).default('postroom'),
  /** Where people open the Temporal UI; links to workflows begin with it. */
  TEMPORAL_UI_URL: z.url().optional(),
  HOST: z.string().min(1).default('127.0.0.1'),
  GATEWAY_PORT: port.default(3400),
  /** The address that people and mail clients reach the gateway at; tracking and unsubscribe links begin with it. */
  PUBLIC_URL: z.url().optional(),
  /** The proxies in front of the gateway, whose X-Forwarded-For (or Forwarded) tells the client's address. */
  TRUSTED_PROXIES: networks.optional(),
  /** Where programs hand over mail by SMTP. */
  SUBMISSION_PORT: port.default(3406),
  /** PEM files of the certificate, with its chain, that SMTP clients are shown; development makes one up. */
  SUBMISSION_TLS_CERT: z.string().optional(),
  SUBMISSION_TLS_KEY: z.string().optional(),
  /** Connections that one client address may have at once to the SMTP servers for programs and for returned mail. */
  SMTP_CLIENT_CONNECTIONS: z.coerce.number().int().min(1).max(10_000).default(50),
  INBOX_SMTP_PORT: port.default(3403),
  INBOX_WEB_PORT: port.default(3404),
  /** Where people open the inbox, when mail goes there; the dashboard links to it. */
  INBOX_URL: z.url().optional(),
  /** The relay that mail goes out by: smtp://user:password@host:port or smtps://… */
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' }).optional(),
  SMTP_CONNECTIONS: z.coerce.number().int().min(1).max(200).default(10),
  /** The resolvers that sending domains are looked up with; the system's own when not given. */
  DNS_SERVERS: nameServers.optional(),
  /** Where authoritative name servers listen; anything but 53 is for tests. */
  DNS_AUTHORITATIVE_PORT: port.default(53),
  /** The host that takes bounces: what the MX record of a sending domain's MAIL FROM subdomain names. */
  MAIL_FROM_MX: z.hostname().optional(),
  /** Where mail that comes back is taken. The internet knows port 25 only, so something has to pass it on. */
  RETURNS_SMTP_PORT: port.default(3407),
  /** PEM files of the certificate, with its chain, that servers are shown which return mail; development makes one up. */
  RETURNS_TLS_CERT: z.string().optional(),
  RETURNS_TLS_KEY: z.string().optional(),
  /** Who may send for a MAIL FROM subdomain, as SPF mechanisms, such as `include:amazonses.com` or `ip4:203.0.113.7`. */
  MAIL_FROM_SPF: z.string().min(1).optional(),
  /** 32 bytes in base64 that secrets at rest are encrypted with; or a file that holds them, and on further lines keys of before. */
  POSTROOM_SECRET_KEY: z.string().optional(),
  POSTROOM_KEY_FILE: z.string().optional(),
  /** Keys that were used before, separated by commas: what they encrypted and signed is still read. */
  POSTROOM_SECRET_KEY_PREVIOUS: z.string().optional(),
  /** Lets webhooks go to loopback and private addresses and over plain http; development allows loopback. */
  WEBHOOKS_ALLOW_PRIVATE: flag.optional(),
  /** Lets mail servers that projects set up be on loopback and private addresses; development allows loopback. */
  PROVIDERS_ALLOW_PRIVATE: flag.optional(),
  /** Days that events, deliveries and attempts are kept. */
  RETENTION_DAYS: z.coerce.number().int().min(1).max(3650).default(30),
  /** Days that the words and attachments of transactional mail are kept; for ever when not given. */
  CONTENT_RETENTION_DAYS: z.coerce.number().int().min(1).max(3650).optional(),
  /** Days that messages are kept where a project does not say; for ever when not given. */
  MESSAGE_RETENTION_DAYS: z.coerce.number().int().min(30).max(3650).optional(),
  /** Days that the audit log is kept; for ever when not given. */
  AUDIT_RETENTION_DAYS: z.coerce.number().int().min(1).max(3650).optional(),
  /** What Prometheus shows as its bearer token at `/metrics`; without one nothing is there. */
  METRICS_TOKEN: z.string().min(16).optional(),
  /** Requests a second that one API key or signed-in person may make. */
  RATE_LIMIT_PER_SECOND: z.coerce.number().int().min(1).default(100),
  /** Requests a second of all callers of a project together; three times those of one when not given. */
  RATE_LIMIT_PROJECT_PER_SECOND: z.coerce.number().int().min(1).optional(),
  /** Requests of a project that a gateway works on at once; four fifths of DATABASE_POOL when not given. */
  REQUESTS_PER_PROJECT: z.coerce.number().int().min(1).optional(),
  /** Queries of a project at once whose cost grows with its data: counts of segments and audiences, searches, statistics. */
  COSTLY_QUERIES_PER_PROJECT: z.coerce.number().int().min(1).default(2),
  /** Subscriptions that one API key or signed-in person, and a project, may have open at one gateway. */
  STREAMS_PER_CALLER: z.coerce.number().int().min(1).default(50),
  STREAMS_PER_PROJECT: z.coerce.number().int().min(1).default(200),
  /** Files that one API key or signed-in person, and a project, may download at once from one gateway. */
  DOWNLOADS_PER_CALLER: z.coerce.number().int().min(1).default(4),
  DOWNLOADS_PER_PROJECT: z.coerce.number().int().min(1).default(8),
  /** Imports of a project that wait or run. */
  IMPORTS_PER_PROJECT: z.coerce.number().int().min(1).default(20),
  /** Seconds that one statement may take in PostgreSQL: of a request, and of work in the background. */
  STATEMENT_TIMEOUT_SECONDS: z.coerce.number().min(0.1).max(3600).default(15),
  BACKGROUND_STATEMENT_TIMEOUT_SECONDS: z.coerce.number().min(1).max(86_400).default(900),
  /** What one worker does at once: workflows' turns of mail, campaigns that send, webhook attempts and batches, imports. */
  WORKER_MAIL_SLOTS: z.coerce.number().int().min(2).default(200),
  WORKER_CAMPAIGN_SLOTS: z.coerce.number().int().min(2).default(16),
  WORKER_WEBHOOK_SLOTS: z.coerce.number().int().min(2).default(400),
  WORKER_IMPORT_SLOTS: z.coerce.number().int().min(2).default(2),
  /** The first owner, made when nobody has an account; without them `npm start` makes one up and prints it. */
  POSTROOM_OWNER_EMAIL: z.email().optional(),
  POSTROOM_OWNER_PASSWORD: z.string().min(10).max(128).optional(),
  /** The From of mail that Postroom itself sends: invitations, password resets, warnings. */
  SYSTEM_MAIL_FROM: z.string().min(3).default('Postroom <postroom@localhost.invalid>'),
  /** A sign-in provider that speaks OpenID Connect: its issuer, and what it gave us; all three, or none. */
  OIDC_ISSUER: z.url({ protocol: /^https?$/, error: 'must be an https:// URL' }).optional(),
  OIDC_CLIENT_ID: z.string().min(1).optional(),
  OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  /** What its button says, after "Sign in with". */
  OIDC_NAME: z.string().min(1).max(50).default('single sign-on'),
  /** GraphiQL and introspection; on unless in production. */
  GRAPHQL_EXPLORER: flag.optional(),
  /** A JSON file of documents known beforehand, by SHA-256; and whether only those are taken. */
  GRAPHQL_TRUSTED_DOCUMENTS: z.string().optional(),
  GRAPHQL_TRUSTED_ONLY: flag.default(false),
});

function nameServer(entry: string): { address: string; port: number } | undefined {
  const [, bracketed, plain, given] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const address = bracketed ?? plain ?? entry;
  const port = Number(given ?? 53);
  return isIP(address) === 0 || port < 1 || port > 65535 ? undefined : { address, port };
}

export type Config = ReturnType<typeof parseConfig>;

/** Reads the settings; throws one Error whose message names every bad value. */
export function parseConfig(env: NodeJS.ProcessEnv) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`Some settings in the environment are not usable:\n${lines.join('\n')}`);
  }
  const settings = parsed.data;
  if (settings.GRAPHQL_TRUSTED_ONLY && settings.GRAPHQL_TRUSTED_DOCUMENTS === undefined)
    throw new Error('GRAPHQL_TRUSTED_ONLY: needs GRAPHQL_TRUSTED_DOCUMENTS, the file of what is trusted');
  const development = settings.NODE_ENV !== 'production';
  return {
    ...settings,
    RATE_LIMIT_PROJECT_PER_SECOND: settings.RATE_LIMIT_PROJECT_PER_SECOND ?? 3 * settings.RATE_LIMIT_PER_SECOND,
    REQUESTS_PER_PROJECT: settings.REQUESTS_PER_PROJECT ?? Math.max(1, Math.floor(settings.DATABASE_POOL * 0.8)),
    PUBLIC_URL: (settings.PUBLIC_URL ?? `http://${settings.HOST}:${settings.GATEWAY_PORT}`).replace(/\/$/, ''),
    /** Where webhooks may go. */
    webhookScope: addressScope(settings.WEBHOOKS_ALLOW_PRIVATE, development),
    /** Where mail servers, and other servers that projects name for their mail, may be. */
    providerScope: addressScope(settings.PROVIDERS_ALLOW_PRIVATE, development),
    /** Where the name servers of sending domains may be. */
    nameServerScope: addressScope(undefined, development),
    GRAPHQL_EXPLORER: settings.GRAPHQL_EXPLORER ?? development,
    oidc: openIdConnect(settings),
    secretKeys: readSecretKeys(settings),
  };
}

/** Loopback is for development alone, unless the operator said otherwise. */
function addressScope(allowsPrivate: boolean | undefined, development: boolean): AddressScope {
  if (allowsPrivate === true) return 'private';
  return allowsPrivate === undefined && development ? 'loopback' : 'public';
}

function openIdConnect(settings: z.infer<typeof environment>) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, OIDC_NAME: name } = settings;
  if (issuer !== undefined && clientId !== undefined && clientSecret !== undefined)
    return { issuer: issuer.replace(/\/$/, ''), clientId, clientSecret, name };
  if (issuer !== undefined || clientId !== undefined || clientSecret !== undefined)
    throw new Error('OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET: must be given together');
  return undefined;
}

function configOrExit(): Config {
  try {
    return parseConfig(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

/** The settings of this process, checked when it starts; a bad one ends it with a sentence that names it. */
export const config: Config = configOrExit();

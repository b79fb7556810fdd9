import { isIP } from 'node:net';
import { z } from 'zod';
import { parseNetworks } from './networks.ts';
import { readSecretKeys } from './secret-keys.ts';
import type { AddressScope } from './ssrf-guard.ts';

const port = z.coerce.number().int().min(0).max(65535);
/** Parses addresses with an optional port, 53 by default: `127.0.0.1:5353, 2001:db8::53, [2001:db8::53]:53`. */
const nameServers = z.string().transform((text, context) =>
  text.split(',').map((entry) => {
    const server = nameServer(entry.trim());
    if (server === undefined) context.addIssue(`${entry.trim()} must be an IP address with an optional port`);
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
  /** Maximum PostgreSQL connections per process. */
  DATABASE_POOL: z.coerce.number().int().min(2).max(500).default(20),
  TEMPORAL_ADDRESS: z.string().min(1).default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_TASK_QUEUE: z.string().min(1).default('postroom'),
  /** Public URL of the Temporal UI, used for links to workflows. */
  TEMPORAL_UI_URL: z.url().optional(),
  HOST: z.string().min(1).default('127.0.0.1'),
  GATEWAY_PORT: port.default(3400),
  /** Public base URL of the gateway; tracking and unsubscribe links begin with it. */
  PUBLIC_URL: z.url().optional(),
  /** Proxies in front of the gateway whose X-Forwarded-For (or Forwarded) header is trusted. */
  TRUSTED_PROXIES: networks.optional(),
  /** SMTP submission port. */
  SUBMISSION_PORT: port.default(3406),
  /** PEM files of the submission server's certificate (with chain) and key; self-signed in development. */
  SUBMISSION_TLS_CERT: z.string().optional(),
  SUBMISSION_TLS_KEY: z.string().optional(),
  /** Maximum concurrent connections per client address to the submission and bounce servers. */
  SMTP_CLIENT_CONNECTIONS: z.coerce.number().int().min(1).max(10_000).default(50),
  INBOX_SMTP_PORT: port.default(3403),
  INBOX_WEB_PORT: port.default(3404),
  /** Public URL of the development inbox; the dashboard links to it. */
  INBOX_URL: z.url().optional(),
  /** The default mail transport: smtp://user:password@host:port or smtps://… */
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' }).optional(),
  SMTP_CONNECTIONS: z.coerce.number().int().min(1).max(200).default(10),
  /** Resolvers for sending domains; the system's own by default. */
  DNS_SERVERS: nameServers.optional(),
  /** Port of authoritative name servers; changed only by tests. */
  DNS_AUTHORITATIVE_PORT: port.default(53),
  /** Host that accepts bounces: the MX of a sending domain's MAIL FROM subdomain. */
  MAIL_FROM_MX: z.hostname().optional(),
  /** Port of the bounce server. Senders connect to port 25, so something must forward it. */
  BOUNCE_SMTP_PORT: port.default(3407),
  /** PEM files of the bounce server's certificate (with chain) and key; self-signed in development. */
  BOUNCE_TLS_CERT: z.string().optional(),
  BOUNCE_TLS_KEY: z.string().optional(),
  /** SPF mechanisms authorized for a MAIL FROM subdomain, such as `include:amazonses.com` or `ip4:203.0.113.7`. */
  MAIL_FROM_SPF: z.string().min(1).optional(),
  /**
   * 32 bytes in base64 that encrypt secrets at rest; or a file that holds them, followed by previous keys, one per
   * line.
   */
  POSTROOM_SECRET_KEY: z.string().optional(),
  POSTROOM_KEY_FILE: z.string().optional(),
  /** Previous keys, comma-separated. They still decrypt and verify, but no longer encrypt or sign. */
  POSTROOM_SECRET_KEY_PREVIOUS: z.string().optional(),
  /** Allows webhooks to loopback and private addresses and over plain http; development allows loopback. */
  WEBHOOKS_ALLOW_PRIVATE: flag.optional(),
  /** Allows projects' mail servers on loopback and private addresses; development allows loopback. */
  PROVIDERS_ALLOW_PRIVATE: flag.optional(),
  /** Retention of events, deliveries and attempts, in days. */
  RETENTION_DAYS: z.coerce.number().int().min(1).max(3650).default(30),
  /** Retention of transactional bodies and attachments, in days; unlimited by default. */
  CONTENT_RETENTION_DAYS: z.coerce.number().int().min(1).max(3650).optional(),
  /** Retention of messages, in days, unless a project sets its own; unlimited by default. */
  MESSAGE_RETENTION_DAYS: z.coerce.number().int().min(30).max(3650).optional(),
  /** Retention of the audit log, in days; unlimited by default. */
  AUDIT_RETENTION_DAYS: z.coerce.number().int().min(1).max(3650).optional(),
  /** Bearer token for `/metrics`; without one the endpoint does not exist. */
  METRICS_TOKEN: z.string().min(16).optional(),
  /** Requests per second per API key or user. */
  RATE_LIMIT_PER_SECOND: z.coerce.number().int().min(1).default(100),
  /** Requests per second per project; three times the per-caller limit by default. */
  RATE_LIMIT_PROJECT_PER_SECOND: z.coerce.number().int().min(1).optional(),
  /** Concurrent requests per project and gateway; four fifths of DATABASE_POOL by default. */
  REQUESTS_PER_PROJECT: z.coerce.number().int().min(1).optional(),
  /** Concurrent expensive queries per project: segment and audience counts, searches, statistics. */
  COSTLY_QUERIES_PER_PROJECT: z.coerce.number().int().min(1).default(2),
  /** Maximum open subscriptions per gateway, for one API key or user and for a project. */
  STREAMS_PER_CALLER: z.coerce.number().int().min(1).default(50),
  STREAMS_PER_PROJECT: z.coerce.number().int().min(1).default(200),
  /** Maximum concurrent downloads per gateway, for one API key or user and for a project. */
  DOWNLOADS_PER_CALLER: z.coerce.number().int().min(1).default(4),
  DOWNLOADS_PER_PROJECT: z.coerce.number().int().min(1).default(8),
  /** Maximum pending and running imports per project. */
  IMPORTS_PER_PROJECT: z.coerce.number().int().min(1).default(20),
  /** Statement timeouts in seconds: for requests, and for background work. */
  STATEMENT_TIMEOUT_SECONDS: z.coerce.number().min(0.1).max(3600).default(15),
  BACKGROUND_STATEMENT_TIMEOUT_SECONDS: z.coerce.number().min(1).max(86_400).default(900),
  /** Worker concurrency: mail workflows, sending campaigns, webhook attempts and batches, imports. */
  WORKER_MAIL_SLOTS: z.coerce.number().int().min(2).default(200),
  WORKER_CAMPAIGN_SLOTS: z.coerce.number().int().min(2).default(16),
  WORKER_WEBHOOK_SLOTS: z.coerce.number().int().min(2).default(400),
  WORKER_IMPORT_SLOTS: z.coerce.number().int().min(2).default(2),
  /**
   * The longest pause of bulk work (imports, campaigns, counts) while the database responds slowly, relative to the work
   * before it: with 2, bulk work always gets a third of its time; with 0 it never pauses.
   */
  BULK_PAUSE_RATIO: z.coerce.number().min(0).max(10).default(2),
  /** Credentials of the first owner, created while no user exists; `npm start` generates and prints them otherwise. */
  POSTROOM_OWNER_EMAIL: z.email().optional(),
  POSTROOM_OWNER_PASSWORD: z.string().min(10).max(128).optional(),
  /** From address of system mail: invitations, password resets, warnings. */
  SYSTEM_MAIL_FROM: z.string().min(3).default('Postroom <postroom@localhost.invalid>'),
  /** OpenID Connect provider: its issuer, and our client id and secret. All three or none. */
  OIDC_ISSUER: z.url({ protocol: /^https?$/, error: 'must be an https:// URL' }).optional(),
  OIDC_CLIENT_ID: z.string().min(1).optional(),
  OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  /** Label of the sign-in button, after "Sign in with". */
  OIDC_NAME: z.string().min(1).max(50).default('single sign-on'),
  /** GraphiQL and introspection; enabled outside production. */
  GRAPHQL_EXPLORER: flag.optional(),
  /** A JSON file of trusted documents by SHA-256, and whether to accept only those. */
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

/** Parses the environment. @throws Error listing every invalid value. */
export function parseConfig(env: NodeJS.ProcessEnv) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`Invalid settings in the environment:\n${lines.join('\n')}`);
  }
  const settings = parsed.data;
  if (settings.GRAPHQL_TRUSTED_ONLY && settings.GRAPHQL_TRUSTED_DOCUMENTS === undefined)
    throw new Error('GRAPHQL_TRUSTED_ONLY: requires GRAPHQL_TRUSTED_DOCUMENTS, the file of trusted documents');
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

/** Loopback is allowed only in development, unless the operator overrides it. */
function addressScope(allowsPrivate: boolean | undefined, development: boolean): AddressScope {
  if (allowsPrivate === true) return 'private';
  return allowsPrivate === undefined && development ? 'loopback' : 'public';
}

function openIdConnect(settings: z.infer<typeof environment>) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, OIDC_NAME: name } = settings;
  if (issuer !== undefined && clientId !== undefined && clientSecret !== undefined)
    return { issuer: issuer.replace(/\/$/, ''), clientId, clientSecret, name };
  if (issuer !== undefined || clientId !== undefined || clientSecret !== undefined)
    throw new Error('OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET: must be set together');
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

/** This process's settings, validated at startup. An invalid one exits with a message that names it. */
export const config: Config = configOrExit();

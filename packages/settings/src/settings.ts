import { isIP } from 'node:net';
import { parseRelayUrl } from '@postroom/smtp/relay-url';
import { z } from 'zod';
import { parseNetworks } from './networks.ts';

const port = z.coerce.number().int().min(0).max(65535);
const count = z.coerce.number().int().min(1);
const days = z.coerce.number().int().min(1).max(3650);
const flag = z.enum(['0', '1', 'false', 'true']).transform((value) => value === '1' || value === 'true');
const storeUrl = z.string().regex(/^(?:s3:\/\/[a-z0-9][a-z0-9._-]+(?:\/[^?#\s]*)?|file:\/\/\/[^?#\s]+)$/, {
  error: 'must be s3://bucket/prefix or file:///folder',
});
const postgresUrl = z.url({
  protocol: /^postgres(ql)?$/,
  error: 'must be a postgresql:// URL; percent-encode characters such as / # @ in its password',
});
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
const NO_RELAY = 'none';
const relayUrl = z.string().superRefine((url, context) => {
  if (url === NO_RELAY) return;
  try {
    parseRelayUrl(url);
  } catch (error) {
    context.addIssue(`${(error as Error).message} Set "${NO_RELAY}" if there is no mail server.`);
  }
});
/** `Name <local@host>` or `local@host`. A name with commas must be quoted, as in a header. */
const MAILBOX = /^(?:(?:"[^"]*" *|[^<>",;:]*)<[^\s<>@,]+@[^\s<>@,]+>|[^\s<>@,]+@[^\s<>@,]+)$/;
/** Links begin with it, and browsers send it as their origin, so it has no path. */
const publicUrl = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!isPlain) context.addIssue('must be an https:// URL without a path, such as https://mail.example.com');
  return isPlain ? url.origin : text;
});

function nameServer(entry: string): { address: string; port: number } | undefined {
  const [, bracketed, plain, given] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const address = bracketed ?? plain ?? entry;
  const port = Number(given ?? 53);
  return isIP(address) === 0 || port < 1 || port > 65535 ? undefined : { address, port };
}

/** Whether SMTP_URL names a relay, and doesn't say that there is none. */
export const isRelay = (url: string | undefined): url is string => url !== undefined && url !== NO_RELAY;

const general = {
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .default('production')
    .describe('`development`, which `npm start` sets, allows loopback addresses and opens GraphiQL'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('minimum level; logs are JSON lines on standard output'),
  ADMIN_PORT: port
    .optional()
    .describe(
      'where a program serves `/livez`, `/readyz` and `/metrics`; off by default; see [monitoring](../how-to/operations.md#monitoring). Programs on one machine need different ports',
    ),
  ADMIN_HOST: z.string().min(1).optional().describe('address that it serves them on; `HOST` by default'),
  METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe('bearer token that `/metrics` requires, at least 16 characters; none by default'),
  DRAIN_SECONDS: z.coerce
    .number()
    .min(0)
    .max(600)
    .optional()
    .describe(
      'how long gateway, submission and bounces go on serving after SIGTERM while `/readyz` fails, so that load balancers stop using them first; 5 in production, otherwise 0',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an https:// or http:// URL' })
    .transform((url) => url.replace(/\/$/, ''))
    .optional()
    .describe(
      'OpenTelemetry collector that gets [traces](../how-to/operations.md#traces) by OTLP over HTTP, such as `http://127.0.0.1:4318`; without it there is no tracing',
    ),
  TRACES_SAMPLE_RATIO: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('share of the requests that are traced, unless the caller has decided by its `traceparent`'),
  BUILD_ID: z
    .string()
    .regex(/^[\w.+-]{1,100}$/, 'must have 1 to 100 letters, digits, dots, hyphens, underscores and plus signs')
    .optional()
    .describe('the build that runs, for metrics, traces and worker versioning; the version by default'),
};

const database = {
  DATABASE_URL: postgresUrl
    .optional()
    .describe('PostgreSQL 15 to 18, `postgresql://…`; `npm start` brings its own when it is not set'),
  DATABASE_LISTEN_URL: postgresUrl
    .optional()
    .describe(
      'a direct connection to the same database, for LISTEN and migrations, if `DATABASE_URL` leads to a pooler in transaction mode: see [PgBouncer](../how-to/operations.md#pgbouncer)',
    ),
  DATABASE_POOL: z.coerce
    .number()
    .int()
    .min(5)
    .max(500)
    .default(27)
    .describe(
      'maximum connections of a process: one for LISTEN, up to six for the ledger of messages, the others for everything else',
    ),
  MIGRATION_WAIT_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .max(86_400)
    .default(0)
    .describe('how long a program waits for pending migrations before it refuses to start'),
  STATEMENT_TIMEOUT_SECONDS: z.coerce
    .number()
    .min(0.1)
    .max(3600)
    .default(15)
    .describe('seconds before PostgreSQL cancels a statement of a request'),
  BACKGROUND_STATEMENT_TIMEOUT_SECONDS: z.coerce
    .number()
    .min(1)
    .max(86_400)
    .default(900)
    .describe("the same for a worker's statements"),
};

const temporal = {
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i, 'must be host:port, without http://')
    .default('127.0.0.1:7233')
    .describe('the Temporal server, `host:port`'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default').describe('its namespace'),
  TEMPORAL_TASK_QUEUE: z
    .string()
    .min(1)
    .default('postroom')
    .describe(
      'the task queue of workflows; webhook deliveries and the activities of mail, campaigns, imports and maintenance run on `postroom-webhooks`, `postroom-mail` and so on',
    ),
  WORKER_DEPLOYMENT: z
    .string()
    .regex(/^[\w-]{1,100}$/, 'must have 1 to 100 letters, digits, hyphens and underscores')
    .optional()
    .describe(
      "Temporal's name for the workers' deployment; turns on [worker versioning](../how-to/operations.md#upgrades-without-downtime) by `BUILD_ID`, which is then required",
    ),
  TEMPORAL_UI_URL: z.url().optional().describe('URL of the Temporal UI, for links to workflows'),
  TEMPORAL_ENCRYPT_PAYLOADS: flag
    .default(false)
    .describe(
      "encrypts what Temporal stores of workflows with the installation's key, see [payload encryption](../how-to/operations.md#payload-encryption)",
    ),
  TEMPORAL_API_KEY: z.string().optional().describe('API key, such as one of Temporal Cloud; turns TLS on'),
};

const keys = {
  POSTROOM_SECRET_KEY: z
    .string()
    .optional()
    .describe('32 bytes in base64 that encrypt secrets at rest and sign links and cookies: `openssl rand -base64 32`'),
  POSTROOM_KEY_FILE: z
    .string()
    .optional()
    .describe('instead of the setting above, a file with that key on its first line and previous keys on the others'),
  POSTROOM_SECRET_KEY_PREVIOUS: z
    .string()
    .optional()
    .describe(
      'previous keys, separated by commas; they still decrypt and verify, see [key rotation](../how-to/operations.md#key-rotation)',
    ),
};

const gateway = {
  HOST: z.string().min(1).default('127.0.0.1').describe('address that every program listens on'),
  GATEWAY_PORT: port.default(3400).describe('port of the gateway'),
  PUBLIC_URL: publicUrl
    .optional()
    .describe(
      'public URL of the gateway, with which tracking, unsubscribe and sign-in links begin; outside production the address it listens on',
    ),
  TRUSTED_PROXIES: networks
    .optional()
    .describe(
      'addresses and networks of the proxies in front of the gateway, and of the SMTP servers with `SMTP_PROXY_PROTOCOL`: `127.0.0.1, 10.0.0.0/8, fd00::/8`; see [behind a proxy](../how-to/operations.md#behind-a-proxy)',
    ),
  GRAPHQL_EXPLORER: flag.optional().describe('GraphiQL and introspection; on outside production'),
  GRAPHQL_TRUSTED_DOCUMENTS: z
    .string()
    .optional()
    .describe('a JSON file of trusted documents by SHA-256, from which a request selects one by its hash'),
  GRAPHQL_TRUSTED_ONLY: flag.default(false).describe('rejects every other document'),
};

const signIn = {
  POSTROOM_OWNER_EMAIL: z
    .email()
    .optional()
    .describe('the first owner, created at startup while there are no accounts; `npm start` generates one'),
  POSTROOM_OWNER_PASSWORD: z.string().min(10).max(128).optional().describe('its password'),
  OIDC_ISSUER: z
    .url({ protocol: /^https?$/, error: 'must be an https:// URL' })
    .optional()
    .describe('an OpenID Connect provider, see [sign-in](../how-to/sign-in.md)'),
  OIDC_CLIENT_ID: z.string().min(1).optional().describe('our client id there'),
  OIDC_CLIENT_SECRET: z.string().min(1).optional().describe('our client secret there'),
  OIDC_NAME: z
    .string()
    .min(1)
    .max(50)
    .default('single sign-on')
    .describe('label of the sign-in button, after "Sign in with"'),
};

const mail = {
  SMTP_URL: relayUrl
    .optional()
    .describe(
      'the relay: `smtp://user:password@host:587`, `smtps://…`; `?tls=required` or `?tls=insecure`; `?dsn=off` disables [delivery reports](../how-to/bounce-processing.md#delivery-reports); `?name=mail.example.com` sets the name in EHLO. By default that is the hostname or, if it has no domain, the host of `PUBLIC_URL`. `none` if only projects with their own [provider](../how-to/providers.md) send; then users cannot be invited. With `npm start` mail goes to the inbox',
    ),
  HOLD_SENDING: flag
    .default(false)
    .describe(
      'no mail is sent while it is set, such as until a [restored](../how-to/restore.md) database has been checked',
    ),
  SENDING_JOURNAL: z
    .string()
    .min(1)
    .optional()
    .describe(
      "a folder, on another disk than the database's, where workers record how far mail may have been sent; for [restores](../how-to/restore.md), in addition to Temporal",
    ),
  IN_FLIGHT_JOURNAL: z
    .string()
    .min(1)
    .optional()
    .describe(
      'a folder on this machine, which may be in memory, where workers note what they are sending; after a kill it tells [sent from unsent](../decisions/in-flight-journal.md). Linux only; none by default, except with `npm start`',
    ),
  SMTP_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(10)
    .describe('connections to the mail server for campaigns, and as many for transactional mail, over all workers'),
  SYSTEM_MAIL_FROM: z
    .string()
    .regex(MAILBOX, 'must be an email address, such as Postroom <postroom@example.com>; quote a name that has commas')
    .default('Postroom <postroom@localhost.invalid>')
    .describe(
      "From address of Postroom's own mail: invitations, password resets, warnings. It uses `SMTP_URL`, never a project's provider",
    ),
  PROVIDERS_ALLOW_PRIVATE: flag
    .optional()
    .describe(
      "allows projects' mail servers on loopback and private addresses, see [providers](../how-to/providers.md); `0` allows public ones only; outside production, loopback is allowed",
    ),
  DNS_SERVERS: nameServers
    .optional()
    .describe("resolvers used to verify sending domains, `192.0.2.1, [2001:db8::53]:5353`; the system's by default"),
  DNS_AUTHORITATIVE_PORT: port.default(53).describe('port of authoritative name servers; only tests change it'),
  CLOUDFLARE_BASE_URL: z.url().optional().describe("base URL of Cloudflare's API; only tests change it"),
  MAIL_FROM_MX: z
    .hostname()
    .optional()
    .describe("host that accepts bounces: the MX of a sending domain's [MAIL FROM](../how-to/domains.md) subdomain"),
  MAIL_FROM_SPF: z
    .string()
    .min(1)
    .optional()
    .describe(
      'SPF mechanisms authorized for a MAIL FROM subdomain, such as `include:amazonses.com` or `ip4:203.0.113.7`',
    ),
};

const smtpServers = {
  SUBMISSION_PORT: port.default(3406).describe('port of the [SMTP submission](../how-to/smtp.md) server'),
  SUBMISSION_TLS_CERT: z
    .string()
    .optional()
    .describe('PEM file of its certificate with chain, read at startup; self-signed outside production'),
  SUBMISSION_TLS_KEY: z.string().optional().describe("PEM file of the certificate's key"),
  BOUNCE_SMTP_PORT: port
    .default(3407)
    .describe(
      'port of the [bounce](../how-to/bounce-processing.md) server. Senders connect to port 25, so something must forward it',
    ),
  BOUNCE_TLS_CERT: z
    .string()
    .optional()
    .describe(
      'PEM file of its certificate with chain, read at startup; self-signed outside production. Without one STARTTLS is not offered',
    ),
  BOUNCE_TLS_KEY: z.string().optional().describe("PEM file of the certificate's key"),
  SMTP_CLIENT_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(50)
    .describe(
      'concurrent connections per client address (per /64 for IPv6) to the submission and bounce servers. Behind a proxy without the PROXY protocol all clients share its address: raise it there',
    ),
  SMTP_PROXY_PROTOCOL: flag
    .default(false)
    .describe(
      'the proxies in `TRUSTED_PROXIES` begin each connection to the submission and bounce servers with a header of the [PROXY protocol](../how-to/operations.md#behind-a-proxy), version 1 or 2, that names the client',
    ),
};

const webhooks = {
  WEBHOOK_WORKFLOWS: z
    .enum(['auto', 'always'])
    .default('auto')
    .describe(
      'whether each webhook delivery has its own workflow (`always`), or first attempts are sent in batches while Temporal would take more than two seconds to start them, and retries of those too (`auto`)',
    ),
  WEBHOOK_MAX_IN_FLIGHT: z.coerce
    .number()
    .int()
    .min(600)
    .max(60_000)
    .default(6_000)
    .describe(
      'first attempts of webhook deliveries that workers have in flight, over all endpoints; a quarter as many retries may be in flight besides. Set the same value for all workers',
    ),
  WEBHOOK_REQUESTS_PER_ENDPOINT: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(100)
    .describe('concurrent requests to one webhook endpoint, over all workers'),
  WEBHOOKS_ALLOW_PRIVATE: flag
    .optional()
    .describe(
      'allows webhooks to loopback and private addresses, and over plain http; `0` allows public ones only; outside production, loopback is allowed',
    ),
};

const retention = {
  RETENTION_DAYS: days
    .default(30)
    .describe(
      'days that events, deliveries and attempts are kept, unless a project overrides it (Settings, Project, or `setEventRetention`). Also applies to raw tracking hits and the development inbox',
    ),
  CUSTOM_EVENT_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(30)
    .max(3650)
    .default(365)
    .describe(
      'days that custom events are kept after they occurred, unless a project overrides it (Settings, Project, or `setCustomEventRetention`)',
    ),
  CONTENT_RETENTION_DAYS: days
    .optional()
    .describe(
      'days that HTML, text, headers and attachments of transactional mail are kept; recipients and outcomes remain; forever by default',
    ),
  MESSAGE_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(30)
    .max(3650)
    .optional()
    .describe(
      'days that messages with their recipients and outcomes are kept, unless a project overrides it (Settings, Project, or `setMessageRetention`): see [retention](../decisions/message-retention.md); forever by default',
    ),
  AUDIT_RETENTION_DAYS: days.optional().describe('days that the audit log is kept; forever by default'),
  ARCHIVE_URL: storeUrl
    .optional()
    .describe(
      'where expired events, deliveries, attempts and messages are stored as Parquet, `s3://bucket/prefix` or `file:///folder`: see [archive](../how-to/archive.md)',
    ),
  EVENT_EXPORT_URL: storeUrl
    .optional()
    .describe(
      'where new events are stored as Parquet every five minutes, `s3://bucket/prefix` or `file:///folder`, with the access of the archive: see [event export](../how-to/event-export.md)',
    ),
  ARCHIVE_S3_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an https:// or http:// URL' })
    .optional()
    .describe('an S3-compatible server other than Amazon S3'),
  ARCHIVE_S3_REGION: z.string().min(1).default('us-east-1').describe('its region'),
  ARCHIVE_S3_ACCESS_KEY_ID: z.string().optional().describe('an access key that may put objects there'),
  ARCHIVE_S3_SECRET_ACCESS_KEY: z.string().optional().describe('its secret'),
};

const limits = {
  RATE_LIMIT_PER_SECOND: count.default(100).describe('requests per second of an API key or user, across all processes'),
  RATE_LIMIT_PROJECT_PER_SECOND: count
    .optional()
    .describe('requests per second of a project, across all processes; three times the limit above by default'),
  REQUESTS_PER_PROJECT: count
    .optional()
    .describe(
      'concurrent requests of a project per gateway, four times as many of single emails, and a quarter of it, or half for a project with few, while other projects make requests; more queue; four fifths of its connections by default',
    ),
  COSTLY_QUERIES_PER_PROJECT: count
    .default(2)
    .describe('concurrent queries of a project whose cost grows with its data; one while other projects make requests'),
  STREAMS_PER_CALLER: count.default(50).describe('open subscriptions of an API key or user per gateway'),
  STREAMS_PER_PROJECT: count.default(200).describe('open subscriptions of a project per gateway'),
  DOWNLOADS_PER_CALLER: count
    .default(4)
    .describe('concurrent downloads (exports and other files) of an API key or user per gateway'),
  DOWNLOADS_PER_PROJECT: count.default(8).describe('concurrent downloads of a project per gateway'),
  IMPORTS_PER_PROJECT: count.default(20).describe('unfinished imports of a project'),
};

const WORKER_ROLES = ['mail', 'campaigns', 'webhooks', 'maintenance'] as const;
/** `mail, campaigns`. */
const workerRoles = z
  .string()
  .transform((text) => text.split(',').map((role) => role.trim()))
  .pipe(z.array(z.enum(WORKER_ROLES, { error: `must be a list of ${WORKER_ROLES.join(', ')}` })).min(1))
  .default([...WORKER_ROLES]);

const worker = {
  WORKER_ROLES: workerRoles.describe(
    'what a worker runs, separated by commas: transactional mail, campaigns, webhooks, and maintenance with imports; all workers together need all of them, see [roles](../how-to/operations.md#worker-roles)',
  ),
  WORKER_MAIL_SLOTS: z.coerce.number().int().min(2).default(200).describe('concurrent transactional mail per worker'),
  WORKER_CAMPAIGN_SLOTS: z.coerce
    .number()
    .int()
    .min(2)
    .default(16)
    .describe('concurrent campaigns per worker; one project gets at most half'),
  CAMPAIGN_SHARDS: z
    .enum(['auto', 'always', 'never'])
    .default('auto')
    .describe(
      'whether other workers send parts of a large campaign: `auto` for when the CPU of the worker that sends it is the limit, `always` or `never`; see [campaign shards](../decisions/campaign-shards.md)',
    ),
  WORKER_WEBHOOK_SLOTS: z.coerce
    .number()
    .int()
    .min(2)
    .default(400)
    .describe('concurrent webhook attempts and batches per worker'),
  WORKER_IMPORT_SLOTS: z.coerce
    .number()
    .int()
    .min(2)
    .default(2)
    .describe('concurrent imports per worker; one project gets at most half'),
  BULK_PAUSE_RATIO: z.coerce
    .number()
    .min(0)
    .max(10)
    .default(2)
    .describe(
      'how long imports, campaigns and counts pause while the database is slow, relative to the work before, and four times that while other projects make requests; 0 for never',
    ),
};

/** What a cell may be called. */
export const CELL_NAME = /^[a-z0-9-]{1,40}$/;
/** `home=http://10.0.0.1:3400, eu=http://10.0.1.1:3400`. */
const cellGateways = z.string().transform((text, context) => {
  const gateways = new Map<string, string>();
  for (const entry of text.split(',').map((part) => part.trim())) {
    const [name = '', url = ''] = entry.split('=', 2);
    if (!CELL_NAME.test(name) || !/^https?:\/\//.test(url) || !URL.canParse(url) || gateways.has(name))
      context.addIssue(
        `${entry} must be a cell's name and the http:// or https:// URL of its gateways, such as eu=http://10.0.1.1:3400`,
      );
    else gateways.set(name, new URL(url).origin);
  }
  return gateways;
});

const cells = {
  CELL: z
    .string()
    .regex(CELL_NAME, 'must have 1 to 40 lower-case letters, digits and hyphens')
    .optional()
    .describe('the name of this [cell](../how-to/cells.md), if there are several'),
  CELL_GATEWAYS: cellGateways
    .optional()
    .describe(
      'where gateways reach those of the other cells, to which they forward requests for projects that were moved there: `home=http://10.0.0.1:3400, eu=http://10.0.1.1:3400`',
    ),
  TARGET_DATABASE_URL: postgresUrl
    .optional()
    .describe('a direct connection to the database of the cell to which `postroom move-project` moves'),
};

const mcp = {
  MCP_PORT: port.default(3409).describe('port of the [MCP server](../how-to/mcp.md) with `--http`'),
  POSTROOM_URL: z
    .url()
    .default('http://127.0.0.1:3400')
    .describe('the gateway that the MCP server and `postroom journeys` call'),
  POSTROOM_API_KEY: z.string().optional().describe('their API key; the MCP server uses it over stdio'),
  POSTROOM_PROJECT_ID: z.string().optional().describe('their project, if the key covers several'),
};

const development = {
  INBOX_SMTP_PORT: port.default(3403).describe('port on which the development inbox accepts mail'),
  INBOX_WEB_PORT: port.default(3404).describe('port of its API'),
  INBOX_URL: z
    .url()
    .optional()
    .describe('its URL, to which the dashboard links; `npm start` sets it when mail goes there'),
};

/** Every setting that Postroom reads, by the headings of docs/reference/settings.md, which is generated from it. */
export const SECTIONS = {
  General: general,
  Database: database,
  Temporal: temporal,
  'Encryption keys': keys,
  Gateway: gateway,
  'Sign-in': signIn,
  'Outbound mail': mail,
  'SMTP servers': smtpServers,
  Webhooks: webhooks,
  Retention: retention,
  Limits: limits,
  Worker: worker,
  Cells: cells,
  'MCP server': mcp,
  'Development inbox': development,
};

/** The environment as strings become values. */
export const environment = z.object({
  ...general,
  ...database,
  ...temporal,
  ...keys,
  ...gateway,
  ...signIn,
  ...mail,
  ...smtpServers,
  ...webhooks,
  ...retention,
  ...limits,
  ...worker,
  ...cells,
  ...mcp,
  ...development,
});

export type Settings = z.infer<typeof environment>;
export type SettingName = keyof Settings;

/** Settings that can also be given as a file, by their name with `_FILE` at the end. */
export const SECRETS = [
  'ARCHIVE_S3_SECRET_ACCESS_KEY',
  'DATABASE_LISTEN_URL',
  'DATABASE_URL',
  'METRICS_TOKEN',
  'OIDC_CLIENT_SECRET',
  'POSTROOM_API_KEY',
  'POSTROOM_OWNER_PASSWORD',
  'POSTROOM_SECRET_KEY',
  'POSTROOM_SECRET_KEY_PREVIOUS',
  'SMTP_URL',
  'TARGET_DATABASE_URL',
  'TEMPORAL_API_KEY',
] as const satisfies readonly SettingName[];

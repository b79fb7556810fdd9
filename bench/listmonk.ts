/**
 * listmonk as a peer in the same run, with the same PostgreSQL and mail server. It is not part of this repository: `--listmonk`
 * names the binary and `--listmonk-dir` its sources, from which it reads `static`, `i18n`, `queries` and `schema.sql`.
 */
import { execFile, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';

const READY_MS = 30_000;
const DATABASE = 'listmonk';
/** Settings for its installation, which prints a token for this user. */
const API_USER = 'bench';

export interface ListmonkOptions {
  binary: string;
  sources: string;
  /** Any database of the server on which its own is created. */
  postgresUrl: string;
  port: number;
  smtpPort: number;
  /** Connections to the mail server, and its number of senders. */
  connections: number;
  logFile: string;
}

export interface ListmonkCampaign {
  subject: string;
  /** In listmonk's syntax: `{{ .Subscriber.Name }}`, `https://example.com/@TrackLink`. */
  html: string;
}

export interface Listmonk {
  readonly pid: number;
  readonly version: string;
  readonly url: string;
  /** For requests to its API. */
  readonly headers: Record<string, string>;
  /** Adds subscribers with the addresses `addressOf(n)` to a new list, and returns its id. */
  subscribe: (count: number, addressOf: (number: string) => string) => Promise<number>;
  /** A template for `/api/tx`. */
  addTemplate: (subject: string, html: string) => Promise<number>;
  /** Starts a campaign to a list, with open tracking and an unsubscribe link; returns a function that reads its status. */
  sendCampaign: (list: number, campaign: ListmonkCampaign) => Promise<() => Promise<string>>;
  stop: () => Promise<void>;
}

/** Installs it into a new database and starts it. */
export async function startListmonk(options: ListmonkOptions): Promise<Listmonk> {
  const { binary, sources, postgresUrl, port, logFile } = options;
  const url = `http://127.0.0.1:${port}`;
  const server = new URL(postgresUrl);
  await query(postgresUrl, `CREATE DATABASE ${DATABASE}`);
  const own = new URL(postgresUrl);
  own.pathname = DATABASE;
  const database = own.href;
  const setting = (name: string, value: string | number) => [`LISTMONK_${name}`, String(value)];
  const env = {
    ...process.env,
    ...Object.fromEntries([
      setting('app__address', `127.0.0.1:${port}`),
      setting('db__host', server.hostname),
      setting('db__port', server.port),
      setting('db__user', server.username),
      setting('db__password', decodeURIComponent(server.password)),
      setting('db__database', DATABASE),
      setting('db__ssl_mode', 'disable'),
      setting('db__max_open', 25),
      setting('db__max_idle', 25),
      setting('db__max_lifetime', '300s'),
      setting('ADMIN_USER', 'admin'),
      setting('ADMIN_PASSWORD', 'benchbench'),
      setting('ADMIN_API_USER', API_USER),
    ]),
  };
  const args = ['--config', '', '--static-dir', join(sources, 'static'), '--i18n-dir', join(sources, 'i18n')];
  const run = (...more: string[]) => promisify(execFile)(binary, [...args, ...more], { cwd: sources, env });
  const installed = await run('--install', '--yes', '--idempotent');
  const [, token = ''] = /API_TOKEN="([^"]+)"/.exec(installed.stdout + installed.stderr) ?? [];
  const { stdout: version } = await run('--version');
  await configure(database, url, options);

  const log = openSync(logFile, 'a');
  const child = spawn(binary, args, { cwd: sources, env, stdio: ['ignore', log, log] });
  const headers = { authorization: `token ${API_USER}:${token}` };
  const api = async <Data>(method: string, path: string, body?: unknown): Promise<Data> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`listmonk: ${method} ${path} returned ${response.status}: ${text}`);
    return (JSON.parse(text) as { data: Data }).data;
  };
  await untilUp(`${url}/health`);
  const addTemplate = async (template: Record<string, string>) =>
    (await api<{ id: number }>('POST', '/api/templates', template)).id;

  return {
    pid: child.pid ?? 0,
    version: version.trim(),
    url,
    headers,
    subscribe: async (count, addressOf) => {
      const { id } = await api<{ id: number }>('POST', '/api/lists', {
        name: `List of ${count}`,
        type: 'private',
        optin: 'single',
      });
      await subscribe(database, id, count, addressOf);
      return id;
    },
    addTemplate: (subject, body) => addTemplate({ name: subject, type: 'tx', subject, body }),
    sendCampaign: async (list, { subject, html }) => {
      const template = await addTemplate({
        name: subject,
        type: 'campaign',
        subject: '',
        body: '<!doctype html><html><body>{{ template "content" . }}<p><a href="{{ UnsubscribeURL }}">Unsubscribe</a></p>{{ TrackView }}</body></html>',
      });
      const { id } = await api<{ id: number }>('POST', '/api/campaigns', {
        name: subject,
        subject,
        lists: [list],
        from_email: 'News <news@example.com>',
        type: 'regular',
        content_type: 'html',
        messenger: 'email',
        template_id: template,
        body: html,
      });
      await api('PUT', `/api/campaigns/${id}/status`, { status: 'running' });
      return async () => (await api<{ status: string }>('GET', `/api/campaigns/${id}`)).status;
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill('SIGTERM');
      const impatient = setTimeout(() => child.kill('SIGKILL'), 8_000);
      await gone;
      clearTimeout(impatient);
    },
  };
}

/** At full speed: no rate limit, and one sender per connection. */
async function configure(database: string, url: string, { smtpPort, connections }: ListmonkOptions): Promise<void> {
  const smtp = {
    enabled: true,
    host: '127.0.0.1',
    port: smtpPort,
    auth_protocol: 'none',
    username: '',
    password: '',
    hello_hostname: '',
    max_conns: connections,
    idle_timeout: '15s',
    wait_timeout: '5s',
    max_msg_retries: 2,
    msg_retry_delay: '10ms',
    tls_type: 'none',
    tls_skip_verify: true,
    email_headers: [],
    from_addresses: [],
  };
  const settings = {
    'app.concurrency': connections,
    'app.message_rate': 20_000,
    'app.batch_size': 5_000,
    'app.max_send_errors': 0,
    'app.check_updates': false,
    'app.root_url': url,
    'privacy.individual_tracking': true,
    smtp: [smtp],
  };
  for (const [key, value] of Object.entries(settings))
    await query(database, 'UPDATE settings SET value = $2 WHERE key = $1', [key, JSON.stringify(value)]);
}

async function subscribe(database: string, list: number, count: number, addressOf: (number: string) => string) {
  const [before = '', after = ''] = addressOf('{i}').split('{i}');
  await query(
    database,
    `WITH added AS (
       INSERT INTO subscribers (uuid, email, name, attribs)
       SELECT gen_random_uuid(), $2 || i || $3, 'User Number ' || i, jsonb_build_object('plan', 'pro', 'city', 'City ' || i % 500)
       FROM generate_series(0, $4::int - 1) i
       ON CONFLICT (email) DO UPDATE SET updated_at = now() RETURNING id
     ) INSERT INTO subscriber_lists (subscriber_id, list_id, status) SELECT id, $1, 'confirmed' FROM added`,
    [list, before, after, count],
  );
  await query(database, 'VACUUM ANALYZE');
}

async function query(database: string, text: string, values: unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  await client.query(text, values).finally(() => client.end());
}

async function untilUp(url: string): Promise<void> {
  for (const deadline = Date.now() + READY_MS; ; await sleep(100)) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok === true) return;
    if (Date.now() > deadline) throw new Error(`listmonk did not start at ${url}.`);
  }
}

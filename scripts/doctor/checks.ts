import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { Resolver } from 'node:dns/promises';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import pg from 'pg';
import { type Config, parseConfig, type Program } from '@postroom/settings';
import { temporalSettings } from '@postroom/settings';
import { countOf, errorLine } from '@postroom/errors';
import { readMigrations } from '@postroom/migrations';
import { isFree } from '../../packages/embedded/src/ports.ts';
import { validityProblem, readCertificateFiles, type TlsServer } from '../../packages/network/src/certificate.ts';
import { parseRelayUrl, probeRelay } from '../../packages/smtp/src/index.ts';
import { SEARCH_ATTRIBUTES } from '../../packages/temporal/src/workflow-labels.ts';

/** One finding. `fix` says what to do about it, as an imperative sentence. */
export interface CheckResult {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  detail: string;
  fix?: string;
}

type Finding = Omit<CheckResult, 'check'>;

/** How long any single check may take, in milliseconds. */
const CHECK_TIMEOUT_MS = 10_000;
/** PostgreSQL 15 is the oldest version that the tests run on. */
const MIN_POSTGRES_VERSION = 150_000;

/** How far this machine's clock may differ from PostgreSQL's, in seconds. */
const MAX_CLOCK_SECONDS = 5;

/** PostgreSQL's codes. */
const NO_PRIVILEGE = '42501';
const TOO_MANY_CONNECTIONS = '53300';

const ok = (detail: string): Finding => ({ status: 'ok', detail });
const warning = (detail: string, fix: string): Finding => ({ status: 'warning', detail, fix });
const failed = (detail: string, fix: string): Finding => ({ status: 'failed', detail, fix });
/** The programs that every installation runs. */
const ALWAYS_RUN: readonly Program[] = ['gateway', 'worker'];

/**
 * Runs every check that concerns one of the programs in order, calls `onResult` after each, and returns all results. Never
 * throws for what it finds.
 */
export async function runChecks(
  env: NodeJS.ProcessEnv,
  onResult: (result: CheckResult) => void = () => {},
  programs: readonly Program[] = ALWAYS_RUN,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  const report = (check: string, finding: Finding) => {
    const result = { check, ...finding };
    results.push(result);
    onResult(result);
  };

  let config: Config;
  try {
    config = parseConfig(env);
    report('Settings', ok(`every value is valid, NODE_ENV is ${config.NODE_ENV}`));
  } catch (error) {
    report('Settings', failed(errorLine(error), 'Correct the settings above.'));
    return results;
  }
  for (const program of programs) report(`Settings of the ${program}`, checkSettingsOf(program, env));
  const checks: [string, readonly Program[], () => Promise<Finding> | Finding][] = [
    ['Public URL', ['gateway', 'worker'], () => checkPublicUrl(config)],
    ['Encryption key', ['gateway', 'worker', 'bounces'], () => checkEncryptionKey(config)],
    ['Database', [...ALWAYS_RUN, 'submission', 'bounces', 'inbox', 'migrate'], () => checkDatabase(config)],
    ['Migrations', [...ALWAYS_RUN, 'submission', 'bounces', 'inbox'], () => checkMigrations(config)],
    ['Database grant', ALWAYS_RUN, () => checkGrant(config)],
    ['Sending', ['worker'], () => checkSending(config)],
    ['Journals', ['worker'], () => checkJournals(config)],
    ['Temporal', ['worker'], () => checkTemporal(config, env)],
    ['DNS', ['worker'], () => checkDns(config)],
    ['Mail transport', ['gateway', 'worker'], () => checkMailTransport(config)],
    ['TLS certificate for bounces', ['bounces'], () => checkCertificate(config, 'BOUNCE')],
    ['Gateway port', ['gateway'], () => checkGatewayPort(config)],
  ];
  // If it is missing, the check of the settings says so.
  if (config.SUBMISSION_TLS_CERT !== undefined)
    checks.push(['TLS certificate for submission', ['submission'], () => checkCertificate(config, 'SUBMISSION')]);
  if (config.CELL_GATEWAYS !== undefined) checks.push(['Cells', ALWAYS_RUN, () => checkCells(config)]);
  for (const [check, concerned, run] of checks) {
    if (!concerned.some((program) => programs.includes(program))) continue;
    try {
      report(check, await withTimeout(run));
    } catch (error) {
      report(check, failed(errorLine(error), 'See the message above.'));
    }
  }
  return results;
}

async function withTimeout(run: () => Promise<Finding> | Finding): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${CHECK_TIMEOUT_MS / 1000} s`)), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([run(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function checkSettingsOf(program: Program, env: NodeJS.ProcessEnv): Finding {
  try {
    parseConfig(env, program);
    return ok('everything that it needs is set');
  } catch (error) {
    return failed(errorLine(error), 'Set what is missing above.');
  }
}

function checkPublicUrl(config: Config): Finding {
  const { hostname, protocol } = new URL(config.PUBLIC_URL);
  const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname);
  if (config.NODE_ENV !== 'production') return ok(`links in mail begin with ${config.PUBLIC_URL}`);
  if (isLocal)
    return failed(
      `links in mail would begin with ${config.PUBLIC_URL}, which recipients can't open`,
      'Set PUBLIC_URL to the https:// URL at which people reach the gateway.',
    );
  if (protocol !== 'https:')
    return warning(`${config.PUBLIC_URL} is not HTTPS`, 'Put a reverse proxy with TLS in front and use https://.');
  return ok(`links in mail begin with ${config.PUBLIC_URL}`);
}

function checkEncryptionKey(config: Config): Finding {
  if (config.secretKeys.length === 0)
    return failed(
      'no key to encrypt secrets with',
      'Set POSTROOM_SECRET_KEY to 32 random bytes in base64 (openssl rand -base64 32), or POSTROOM_KEY_FILE to a file that holds them.',
    );
  const { POSTROOM_KEY_FILE: file } = config;
  if (file !== undefined && (statSync(file).mode & 0o077) !== 0 && process.platform !== 'win32')
    return warning(`${file} can be read by other users`, `Run: chmod 600 ${file}`);
  const previous = config.secretKeys.length - 1;
  return ok(previous === 0 ? 'one key' : `one key, and ${previous} previous`);
}

async function withDatabase(config: Config, work: (client: pg.Client) => Promise<Finding>): Promise<Finding> {
  if (config.DATABASE_URL === undefined)
    return failed('DATABASE_URL is not set', 'Set DATABASE_URL to a postgresql:// URL, or run `postroom start` first.');
  const client = new pg.Client({ connectionString: config.DATABASE_URL, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
  } catch (error) {
    return failed(
      `can't connect: ${errorLine(error)}`,
      (error as { code?: unknown }).code === TOO_MANY_CONNECTIONS
        ? "Raise PostgreSQL's max_connections, or the limit of the role, or lower DATABASE_POOL."
        : 'Check host, port, user, password and database name in DATABASE_URL, and that PostgreSQL is running.',
    );
  }
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

interface DatabaseFacts {
  number: number;
  version: string;
  max: number;
  used: number;
  fsync: string;
  /** Whether the locale knows letters beyond ASCII. */
  cases: boolean;
  /** Its time, in milliseconds since the epoch. */
  ms: number;
}

/** What happens while workers cannot write to a journal. */
const JOURNAL_FAILURES = {
  SENDING_JOURNAL: 'nothing is sent',
  IN_FLIGHT_JOURNAL: 'all messages that a killed worker had claimed become unknown',
};

/**
 * Whether workers can write to the folders of their journals, if they run as the current user, and whether something outside of the database's
 * server knows how far mail may have been sent.
 */
async function checkJournals(config: Config): Promise<Finding> {
  const settings = (['SENDING_JOURNAL', 'IN_FLIGHT_JOURNAL'] as const).filter((name) => config[name] !== undefined);
  for (const name of settings) {
    const folder = config[name] as string;
    try {
      accessSync(folder, constants.W_OK | constants.X_OK);
      if (statfsSync(folder).bavail === 0) throw new Error('its disk is full');
    } catch (error) {
      return failed(
        `${name}: ${folder} can't be written: ${errorLine(error)}`,
        `Create the folder, let the user of the workers write to it, or free disk space: otherwise ${JOURNAL_FAILURES[name]}.`,
      );
    }
  }
  if (config.SENDING_JOURNAL === undefined && (await lagsWithTemporal(config)))
    return warning(
      "SENDING_JOURNAL is not set, and Temporal's database is on the server of this one, which has an asynchronous standby: both would lack the last moments after a failover, and mail would be sent twice",
      "Set SENDING_JOURNAL to a folder on another machine's disk that all workers share, or move Temporal's database to another server.",
    );
  return ok(settings.length === 0 ? 'none is configured' : `${settings.join(' and ')} can be written`);
}

/** Whether the server has a standby that may lag behind, and a database of Temporal. */
async function lagsWithTemporal({ DATABASE_URL: url }: Config): Promise<boolean> {
  if (url === undefined) return false;
  // Without an answer, the check of the database says so.
  const names = await ask<{ name: string }>(
    url,
    `SELECT datname AS name FROM pg_database WHERE datallowconn AND EXISTS (SELECT FROM pg_stat_replication)
       AND current_setting('synchronous_standby_names') = ''`,
  ).catch(() => []);
  const areTemporals = await Promise.all(names.map(({ name }) => isTemporals(url, name)));
  return areTemporals.includes(true);
}

/** Whether a database of the server is Temporal's: it has its tables, or, if the role may not look, the name that its setup gives it. */
async function isTemporals(url: string, name: string): Promise<boolean> {
  const other = new URL(url);
  other.pathname = `/${encodeURIComponent(name)}`;
  const tables = await ask(
    other.href,
    `SELECT FROM pg_class WHERE relkind = 'r' AND relname IN ('current_executions', 'history_node')`,
  ).catch(() => undefined);
  return tables === undefined ? name === 'temporal' : tables.length === 2;
}

async function ask<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Whether a server's certificate can be used, and whether it is valid now. */
function checkCertificate(config: Config, server: TlsServer): Finding {
  const files = readCertificateFiles(config, server);
  if (files === undefined)
    return warning(
      'none is configured',
      `Set ${server}_TLS_CERT and ${server}_TLS_KEY: without them, mail arrives unencrypted.`,
    );
  const problem = validityProblem(files.cert);
  return problem === undefined
    ? ok('valid, with the matching key')
    : failed(problem, `Renew the files of ${server}_TLS_CERT and ${server}_TLS_KEY, and restart the program.`);
}

/** Whether gateways reach those of the other cells. */
async function checkCells(config: Config): Promise<Finding> {
  const gateways = config.CELL_GATEWAYS ?? new Map<string, string>();
  for (const [name, url] of gateways) {
    if (name === config.CELL) continue;
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3_000) }).catch(errorLine);
    if (typeof answer === 'string' || !answer.ok)
      return failed(
        `the gateways of ${name} at ${url} ${typeof answer === 'string' ? `can't be reached: ${answer}` : `answer ${answer.status}`}`,
        'Check CELL_GATEWAYS, and that the other cell runs: requests for its projects fail here.',
      );
  }
  return ok(`the other ${gateways.size - 1} can be reached`);
}

/** Whether projects can be deleted, and moved from and to this cell. */
const checkGrant = (config: Config) =>
  withDatabase(config, async (client) => {
    const { rows } = await client.query<{ may: boolean }>(
      "SELECT has_parameter_privilege('session_replication_role', 'SET') AS may",
    );
    return rows[0]?.may === true
      ? ok('projects can be deleted, and moved between cells')
      : warning(
          'the role in DATABASE_URL may not skip triggers, so no project can be deleted, or moved from or to this cell',
          'As a superuser: GRANT SET ON PARAMETER session_replication_role TO the role.',
        );
  });

const checkDatabase = (config: Config) =>
  withDatabase(config, async (client) => {
    const { rows } = await client.query<DatabaseFacts>(
      `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
         current_setting('max_connections')::int AS max, current_setting('fsync') AS fsync, lower('É') = 'é' AS cases,
         (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms,
         (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used`,
    );
    const { number, version, max, used, fsync, cases, ms } = rows[0]!;
    const ahead = Math.round((Date.now() - ms) / 1000);
    if (number < MIN_POSTGRES_VERSION)
      return failed(`PostgreSQL ${version} is too old`, 'Upgrade PostgreSQL to 15 or later.');
    if (!cases)
      return failed(
        "the database's locale knows upper and lower case of ASCII only, so searches miss names such as É",
        'Create the database with a UTF-8 locale: CREATE DATABASE postroom TEMPLATE template0 LOCALE "C.UTF-8".',
      );
    if (fsync !== 'on' && config.NODE_ENV === 'production')
      return failed('fsync is off: a power failure loses accepted mail', 'Set fsync = on in postgresql.conf.');
    if (Math.abs(ahead) > MAX_CLOCK_SECONDS)
      return warning(
        `the clock of this machine is ${Math.abs(ahead)} seconds ${ahead > 0 ? 'ahead of' : 'behind'} PostgreSQL's`,
        'Run NTP on both machines: sign-in, authenticator codes and certificates are checked with the clock of the machine.',
      );
    const problem = await writeProblem(client);
    if (problem !== undefined)
      return failed(
        `PostgreSQL ${version} can be read, but not written: ${problem}`,
        'Free disk space, or let DATABASE_URL lead to the primary: until then requests fail and nothing is sent.',
      );
    const perProcess = config.DATABASE_POOL;
    if (max - used < perProcess)
      return warning(
        `PostgreSQL ${version}: ${used} of ${max} connections are in use, and one more process needs up to ${perProcess}`,
        'Raise max_connections, or lower DATABASE_POOL.',
      );
    return ok(`PostgreSQL ${version}, ${used} of ${max} connections in use`);
  });

/** Why nothing can be written, as when the disk is full, the server is a standby, or another database has taken over; undefined if it can, or if the role may make no temporary table. */
async function writeProblem(client: pg.Client): Promise<string | undefined> {
  try {
    await client.query('CREATE TEMP TABLE doctor ON COMMIT DROP AS SELECT 1');
  } catch (error) {
    if ((error as { code?: unknown }).code !== NO_PRIVILEGE) return errorLine(error);
  }
  const { rows } = await client.query(`SELECT to_regproc('database_problem') IS NOT NULL AS exists`);
  if (!rows[0].exists) return undefined;
  const found = await client.query<{ problem: string | null }>('SELECT database_problem() AS problem');
  return found.rows[0]?.problem ?? undefined;
}

const checkMigrations = (config: Config) =>
  withDatabase(config, async (client) => {
    const known = await readMigrations();
    const { rows: tables } = await client.query(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`);
    const { rows } = tables[0].exists
      ? await client.query<{ name: string; finished: boolean }>(
          `SELECT migration_name AS name, finished_at IS NOT NULL AS finished FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
        )
      : { rows: [] };
    const unfinished = rows.filter(({ finished }) => !finished).map(({ name }) => name);
    if (unfinished.length > 0)
      return failed(
        `${unfinished.join(', ')} did not finish`,
        'Restore a backup, or repair it and run `postroom migrate`.',
      );
    const applied = new Set(rows.map(({ name }) => name));
    const pending = known.filter(({ name }) => !applied.has(name));
    const newer = rows.filter(({ name }) => !known.some((migration) => migration.name === name));
    if (newer.length > 0)
      return failed(
        `the database has ${countOf(newer.length, 'migration')} that this version does not know`,
        'Run a newer version.',
      );
    if (pending.length > 0)
      return failed(`the database lacks ${countOf(pending.length, 'migration')}`, 'Run `postroom migrate`.');
    return ok(`all ${known.length} are applied`);
  });

/** Whether mail is held (docs/how-to/restore.md). */
async function checkSending(config: Config): Promise<Finding> {
  if (config.HOLD_SENDING)
    return warning(
      'HOLD_SENDING is set, so no mail is sent',
      'Unset it and restart the programs once mail may be sent.',
    );
  return withDatabase(config, async (client) => {
    const { rows: tables } = await client.query(`SELECT to_regclass('installation') IS NOT NULL AS exists`);
    if (!tables[0].exists) return ok('nothing to send yet');
    const { rows } = await client.query<{ reason: string | null; since: string | null; changed: boolean }>(
      `SELECT held_reason AS reason, to_char(held_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"') AS since,
         timeline <> current_timeline() AS changed FROM installation`,
    );
    const [{ reason, since, changed } = { reason: null, since: null, changed: false }] = rows;
    if (reason?.startsWith('Another database has taken over') === true)
      return failed(
        reason,
        'After a failover, connect the programs to the other database, stop this one, and do not run `postroom after-restore` here. Run it if this is a backup, older than an earlier restore.',
      );
    const fix =
      'Run `postroom after-restore --list FILE`, check the messages that may have been sent, then run `postroom after-restore --release`.';
    if (reason !== null) return warning(`held since ${since}: ${reason}`, fix);
    if (changed) return warning('PostgreSQL was promoted or recovered, so mail is held once a worker runs', fix);
    return ok('mail is not held');
  });
}

async function checkTemporal(config: Config, env: NodeJS.ProcessEnv): Promise<Finding> {
  const { connection: options, namespace } = temporalSettings(config, env);
  let connection: Connection;
  try {
    connection = await Connection.connect({ ...options, connectTimeout: 5_000 });
  } catch (error) {
    return failed(
      `can't connect to ${options.address}: ${errorLine(error)}`,
      'Check TEMPORAL_ADDRESS, and TEMPORAL_TLS_* and TEMPORAL_API_KEY if the server needs them.',
    );
  }
  try {
    const client = new Client({ connection, namespace });
    await connection.workflowService.describeNamespace({ namespace });
    const taskQueue = config.TEMPORAL_TASK_QUEUE;
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = SEARCH_ATTRIBUTES.filter((name) => !(name in (customAttributes ?? {})));
    if (missing.length > 0)
      return failed(
        `namespace ${namespace} lacks the keyword search attributes ${missing.join(', ')}`,
        `Start a worker once, or run: temporal operator search-attribute create ${missing.map((name) => `--name ${name} --type Keyword`).join(' ')}`,
      );
    if ((pollers ?? []).length === 0)
      return warning(`no worker polls task queue ${taskQueue}`, 'Start a worker: `postroom worker`.');
    return ok(`${options.address}, namespace ${namespace}, workers on ${taskQueue}: ${pollers?.length}`);
  } catch (error) {
    return failed(
      `namespace ${namespace}: ${errorLine(error)}`,
      `Create the namespace, or set TEMPORAL_NAMESPACE: temporal operator namespace create ${namespace}`,
    );
  } finally {
    await connection.close();
  }
}

async function checkDns(config: Config): Promise<Finding> {
  const resolver = new Resolver({ timeout: 3_000, tries: 1 });
  if (config.DNS_SERVERS !== undefined)
    resolver.setServers(
      config.DNS_SERVERS.map(({ address, port }) => `${address.includes(':') ? `[${address}]` : address}:${port}`),
    );
  const servers = resolver.getServers().join(', ');
  try {
    await resolver.resolveNs('.');
    return ok(`${servers} answers`);
  } catch (error) {
    const finding = config.NODE_ENV === 'production' ? failed : warning;
    return finding(
      `${servers}: ${errorLine(error)}`,
      'Sending domains are verified by DNS: set DNS_SERVERS to resolvers that this machine can reach.',
    );
  }
}

async function checkMailTransport({ SMTP_URL: relay, NODE_ENV, PUBLIC_URL }: Config): Promise<Finding> {
  if (relay === undefined) {
    if (NODE_ENV === 'production')
      return warning(
        'no relay: only projects with their own mail provider can send, and users cannot be invited',
        'Set SMTP_URL to your relay, such as smtp://user:password@host:587, unless this is intended.',
      );
    return ok('development: mail goes to the built-in inbox');
  }
  const server = parseRelayUrl(relay, PUBLIC_URL);
  const { host, port } = server;
  const problem = await probeRelay(server, { connectMs: 5_000 });
  if (problem === undefined) return ok(`${host}:${port} accepts our connection and credentials`);
  return failed(
    `${host}:${port}: ${problem.answer}`,
    'Check host, port, user and password in SMTP_URL, and the firewall.',
  );
}

async function checkGatewayPort(config: Config): Promise<Finding> {
  const { HOST: host, GATEWAY_PORT: port } = config;
  if (await isFree(port, host)) return ok(`${host}:${port} is free`);
  try {
    const response = await fetch(`http://${host}:${port}/readyz`, { signal: AbortSignal.timeout(5_000) });
    if (response.ok) return ok(`a gateway answers on ${host}:${port} and is ready`);
    return failed(`the gateway on ${host}:${port} is not ready (${response.status})`, 'Read its log.');
  } catch (error) {
    return failed(
      `${host}:${port} is in use by another program: ${errorLine(error)}`,
      'Stop the program that listens there, or set GATEWAY_PORT.',
    );
  }
}

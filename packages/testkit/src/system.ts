import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId, selfSigned } from '@postroom/platform';
import { generateKey } from '@postroom/projects';
import { freePorts } from '@postroom/embedded';
import pg from 'pg';
import type { Reply } from './api.ts';
import { createDatabase } from './database.ts';
import { NODE_FLAGS } from './node-flags.ts';
import type { PgBouncer } from './pgbouncer.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** A project in its own system, and an HTTP client for its gateway. */
export interface SystemApi {
  projectId: string;
  key: string;
  get: (path: string) => Promise<Reply>;
  post: (path: string, body?: unknown) => Promise<Reply>;
  patch: (path: string, body?: unknown) => Promise<Reply>;
  delete: (path: string) => Promise<Reply>;
}

/** A gateway and a worker as programs, with their own database and task queue, for tests that kill programs or inspect everything. */
export interface System {
  url: string;
  /** The inbox's API, when no other mail server was given. */
  inboxUrl: string;
  pool: pg.Pool;
  /** Where gateway and worker serve their metrics and health. */
  adminUrls: { gateway: string; worker: string };
  /** A new project that may send from example.com. */
  api: () => Promise<SystemApi>;
  /** Starts the worker unless it runs, with more settings than the other programs, if any are given. */
  startWorker: (more?: Record<string, string>) => Promise<void>;
  /** Starts the bounce server; @returns its SMTP port. */
  startBounces: () => Promise<number>;
  /** Starts the submission server, with a certificate that no one trusts; @returns its port. */
  startSubmission: () => Promise<number>;
  /** Starts one more of a program, on the same database unless the settings name another one. `kill` sends SIGKILL. */
  startAnother: (
    name: 'gateway' | 'worker',
    more?: Record<string, string>,
  ) => Promise<{ url: string; kill: () => Promise<void> }>;
  /** Sends SIGKILL. */
  killWorker: () => Promise<void>;
  /** Stops the programs and drops the database. */
  stop: () => Promise<void>;
}

/** Starts the gateway or the worker with an IPC channel; from the sources by default. */
export type StartProgram = (name: 'gateway' | 'worker', env: NodeJS.ProcessEnv) => ChildProcess;

/**
 * Starts a system that sends to `smtpUrl`, or to its own inbox, which simulates recipients. Its programs stop with
 * the test, even if that is killed.
 */
export async function startSystem({
  smtpUrl,
  databaseUrl,
  env = {},
  start = fromSources,
  pooler,
}: {
  smtpUrl?: string;
  /** A migrated database on another server; by default it gets one on that of the tests. */
  databaseUrl?: string;
  env?: Record<string, string>;
  start?: StartProgram;
  /** What the programs connect to the database through. */
  pooler?: Pick<PgBouncer, 'urlOf'>;
} = {}): Promise<System> {
  const database =
    databaseUrl === undefined
      ? await createDatabase('system')
      : { name: 'other', url: databaseUrl, drop: () => Promise.resolve() };
  const [freePort = 0, inboxSmtpPort = 0, inboxWebPort = 0, bouncePort = 0, submissionPort = 0, ...adminPorts] =
    await freePorts(7);
  const port = Number(env.GATEWAY_PORT ?? freePort);
  const environment = {
    ...process.env,
    NODE_ENV: 'test',
    LOG_LEVEL: 'error',
    DATABASE_URL: database.url,
    ...(pooler && { DATABASE_URL: pooler.urlOf(database.url), DATABASE_LISTEN_URL: database.url }),
    TEMPORAL_TASK_QUEUE: database.name,
    SMTP_URL: smtpUrl ?? `smtp://127.0.0.1:${inboxSmtpPort}`,
    GATEWAY_PORT: String(port),
    INBOX_SMTP_PORT: String(inboxSmtpPort),
    INBOX_WEB_PORT: String(inboxWebPort),
    BOUNCE_SMTP_PORT: String(bouncePort),
    SUBMISSION_PORT: String(submissionPort),
    RATE_LIMIT_PER_SECOND: '100000',
    ...env,
  };
  const pool = new pg.Pool({ connectionString: database.url, max: 4 });
  pool.on('error', () => {});
  let worker: ChildProcess | undefined;
  const others: ChildProcess[] = [];
  const [gatewayAdmin, workerAdmin] = adminPorts.map(String);
  const gateway = await ready('gateway', start('gateway', { ...environment, ADMIN_PORT: gatewayAdmin }));
  const inbox = smtpUrl === undefined ? await ready('inbox', fromSources('inbox', environment)) : undefined;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    inboxUrl: `http://127.0.0.1:${inboxWebPort}`,
    pool,
    adminUrls: { gateway: `http://127.0.0.1:${gatewayAdmin}`, worker: `http://127.0.0.1:${workerAdmin}` },
    api: () => newProject(pool, url),
    startWorker: async (more = {}) => {
      if (worker !== undefined && isRunning(worker)) return;
      worker = await ready('worker', start('worker', { ...environment, ...more, ADMIN_PORT: workerAdmin }));
    },
    startBounces: async () => {
      others.push(await ready('bounces', fromSources('bounces', environment)));
      return bouncePort;
    },
    startSubmission: async () => {
      const certificate = temporaryCertificate();
      others.push(await ready('submission', fromSources('submission', { ...environment, ...certificate.env })));
      certificate.remove();
      return submissionPort;
    },
    startAnother: async (name, more = {}) => {
      const [ownPort, adminPort] = (await freePorts(2)).map(String);
      const ports = { GATEWAY_PORT: ownPort, ADMIN_PORT: adminPort };
      const child = await ready(name, start(name, { ...environment, ...more, ...ports }));
      others.push(child);
      return { url: `http://127.0.0.1:${ownPort}`, kill: () => endProgram(child, 'SIGKILL') };
    },
    killWorker: async () => {
      await endProgram(worker, 'SIGKILL');
    },
    stop: async () => {
      await Promise.all([gateway, worker, inbox, ...others].map((program) => endProgram(program, 'SIGTERM')));
      await pool.end();
      await database.drop();
    },
  };
}

/** The files of a self-signed certificate, and the settings that name them. */
function temporaryCertificate(): { env: Record<string, string>; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-test-'));
  const [SUBMISSION_TLS_CERT, SUBMISSION_TLS_KEY] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const { cert, key } = selfSigned();
  writeFileSync(SUBMISSION_TLS_CERT, cert);
  writeFileSync(SUBMISSION_TLS_KEY, key);
  return { env: { SUBMISSION_TLS_CERT, SUBMISSION_TLS_KEY }, remove: () => rmSync(folder, { recursive: true }) };
}

/** Starts a program from the sources, with an IPC channel. */
export function fromSources(name: string, env: NodeJS.ProcessEnv): ChildProcess {
  const program = join(ROOT, 'apps', name, 'src/main.ts');
  return spawn(process.execPath, [...NODE_FLAGS, program], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** A program reports over its IPC channel that it is ready, and stops when the channel closes. */
export async function ready(name: string, child: ChildProcess): Promise<ChildProcess> {
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code} before it was ready.`)));
  });
  return child;
}

const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

export async function endProgram(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || !isRunning(child)) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  await gone;
}

/** A new project that may send from example.com, and a client for the gateway at `url`. */
export async function newProject(pool: pg.Pool, url: string): Promise<SystemApi> {
  const projectId = newId('prj');
  const key = generateKey();
  const keyId = newId('key');
  const hash = createHash('sha256').update(key).digest('hex');
  await pool.query('INSERT INTO projects (id, name) VALUES ($1, $1)', [projectId]);
  await pool.query(`INSERT INTO api_keys (id, name, hash, last4, scope) VALUES ($1, 'test', $2, $3, 'full')`, [
    keyId,
    hash,
    key.slice(-4),
  ]);
  await pool.query('INSERT INTO api_key_projects (key_id, project_id) VALUES ($1, $2)', [keyId, projectId]);
  await pool.query(
    `INSERT INTO domains (id, project_id, domain, verified_for_sending, verification, dkim, mail_from, dmarc, updated_at)
     VALUES ($1, $2, 'example.com', true, 'verified', 'verified', 'verified', 'verified', now())`,
    [newId('dom'), projectId],
  );
  const send = async (method: string, path: string, body?: unknown): Promise<Reply> => {
    const headers = {
      Authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    };
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  return {
    projectId,
    key,
    get: (path) => send('GET', path),
    post: (path, body) => send('POST', path, body),
    patch: (path, body) => send('PATCH', path, body),
    delete: (path) => send('DELETE', path),
  };
}

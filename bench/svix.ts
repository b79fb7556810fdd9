/**
 * Svix's open-source server as the peer in bench/webhooks.ts, with the same PostgreSQL and receiver. Build it from its repository.
 * Its queue is in memory, or in a Redis that syncs an append-only file each second, as Svix recommends.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '@postroom/embedded';
import pg from 'pg';
import { Agent } from 'undici';

/** Concurrent requests to its API. */
const AT_ONCE = 50;
const READY_MS = 30_000;

/** Settings of its server besides those that the benchmark needs; its defaults otherwise. */
export type Settings = Record<string, string>;

export interface Svix {
  version: string;
  queue: string;
  /** Creates an application with these endpoints, and returns its id. */
  createApplication: (urls: readonly string[]) => Promise<string>;
  /** Submits a message for each body to each application through its API. */
  send: (applications: readonly string[], bodies: Iterable<() => unknown>) => Promise<void>;
  stop: () => Promise<void>;
}

/** Creates its database at `postgresUrl`, starts its API and worker in one process, and waits until it responds. */
export async function startSvix(options: {
  program: string;
  redis: string | undefined;
  settings: Settings;
  postgresUrl: string;
  folder: string;
}): Promise<Svix> {
  const folder = join(options.folder, 'svix');
  mkdirSync(folder);
  const [port = 0, redisPort = 0] = await freePorts(2);
  const log = openSync(join(folder, 'svix.log'), 'a');
  const children: ChildProcess[] = [];
  if (options.redis !== undefined) {
    const settings = [
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
      '--save',
      '',
      '--appendonly',
      'yes',
      '--appendfsync',
      'everysec',
    ];
    children.push(spawn(options.redis, ['--port', `${redisPort}`, ...settings], { stdio: ['ignore', log, log] }));
  }
  const env = {
    PATH: process.env.PATH,
    SVIX_LISTEN_ADDRESS: `127.0.0.1:${port}`,
    SVIX_DB_DSN: await createDatabase(options.postgresUrl),
    SVIX_QUEUE_TYPE: options.redis === undefined ? 'memory' : 'redis',
    ...(options.redis === undefined ? {} : { SVIX_REDIS_DSN: `redis://127.0.0.1:${redisPort}` }),
    SVIX_CACHE_TYPE: 'memory',
    SVIX_JWT_SECRET: randomBytes(32).toString('base64'),
    SVIX_WHITELIST_SUBNETS: '[127.0.0.1/32]',
    SVIX_LOG_LEVEL: 'info',
    RUST_LOG: 'svix_server=warn,tower_http=warn',
    ...options.settings,
  };
  const tool = (...args: string[]) => execFileSync(options.program, args, { env, cwd: folder, encoding: 'utf8' });
  const version = tool('--version').trim();
  await sleep(1_000); // Redis is ready by then
  tool('migrate');
  const token = /: (\S+)/.exec(tool('jwt', 'generate'))?.[1] ?? '';
  children.push(spawn(options.program, [], { env, cwd: folder, stdio: ['ignore', log, log] }));
  const agent = new Agent({ connections: AT_ONCE });
  const origin = `http://127.0.0.1:${port}`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const ask = async (path: string, body: unknown): Promise<{ id: string }> => {
    const response = await agent.request({ origin, path, method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`Svix returned ${response.statusCode} to POST ${path}: ${text}`);
    return JSON.parse(text) as { id: string };
  };
  await untilReady(`${origin}/api/v1/health/`);
  await ask('/api/v1/event-type/', { name: 'email.delivered', description: 'A message arrived.' });
  return {
    version,
    queue: [
      options.redis === undefined ? 'memory' : 'Redis',
      ...Object.entries(options.settings).map((pair) => pair.join('=')),
    ].join(', '),
    createApplication: async (urls) => {
      const { id } = await ask('/api/v1/app/', { name: 'bench' });
      for (const url of urls) await ask(`/api/v1/app/${id}/endpoint/`, { url });
      return id;
    },
    send: async (applications, bodies) => {
      const left = messages(applications, bodies);
      const sendNext = async () => {
        for (const { application, payload } of left)
          await ask(`/api/v1/app/${application}/msg/`, { eventType: 'email.delivered', payload });
      };
      await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
    },
    stop: async () => {
      await agent.close();
      for (const child of children.toReversed()) {
        const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
        child.kill('SIGTERM');
        await Promise.race([gone, sleep(5_000).then(() => child.kill('SIGKILL'))]);
      }
    },
  };
}

function* messages(applications: readonly string[], bodies: Iterable<() => unknown>) {
  for (const body of bodies) for (const application of applications) yield { application, payload: body() };
}

async function createDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE DATABASE svix');
  await client.end();
  return Object.assign(new URL(url), { pathname: '/svix' }).href;
}

async function untilReady(url: string): Promise<void> {
  for (const deadline = Date.now() + READY_MS; ; await sleep(100)) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok === true) return;
    if (Date.now() > deadline) throw new Error('The Svix server did not start.');
  }
}

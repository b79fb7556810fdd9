import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePorts } from '@postroom/embedded';
import pg from 'pg';

/** An unprivileged user, `nobody` on most systems: PgBouncer refuses to run as root. */
const NOBODY = 65_534;
const START_TIMEOUT_MS = 10_000;

/** The PgBouncer of this machine; undefined if it is not installed. Debian keeps it where only root looks. */
export function findPgBouncer(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => spawnSync(path, ['--version']).status === 0);
}

export interface PgBouncer {
  /** The URL of a database of the server, through PgBouncer. */
  urlOf: (databaseUrl: string) => string;
  /** Runs a command of its console, such as `PAUSE`. */
  command: (text: string) => Promise<void>;
  /** Sends SIGKILL. */
  kill: () => Promise<void>;
  /** Starts it on the same port after `kill`. */
  restart: () => Promise<void>;
  stop: () => Promise<void>;
}

/** Starts PgBouncer in transaction mode in front of the server of `databaseUrl`, with at most `connections` per database. */
export async function startPgBouncer(program: string, databaseUrl: string, connections: number): Promise<PgBouncer> {
  const { hostname, port, username, password } = new URL(databaseUrl);
  const [listenPort = 0] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), 'postroom-pgbouncer-'));
  chmodSync(folder, 0o755); // for the unprivileged user
  const file = (name: string, lines: readonly string[]) => {
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
    return join(folder, name);
  };
  const users = file('users.txt', [`"${username}" "${decodeURIComponent(password)}"`]);
  const settings = file('pgbouncer.ini', [
    '[databases]',
    `* = host=${hostname} port=${port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${users}`,
    `admin_users = ${username}`,
    'pool_mode = transaction',
    `default_pool_size = ${connections}`,
    'max_client_conn = 500',
  ]);
  const start = async () => {
    const child = spawn(program, ['-q', settings], {
      stdio: 'ignore',
      ...(process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
    });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const kill = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    const until = Date.now() + START_TIMEOUT_MS;
    while (!(await accepts(listenPort)))
      if (Date.now() > until || child.exitCode !== null) {
        await kill();
        throw new Error('PgBouncer did not start.');
      }
    return kill;
  };
  const urlOf = (url: string) => Object.assign(new URL(url), { host: `127.0.0.1:${listenPort}` }).href;
  let kill = await start();
  return {
    urlOf,
    command: async (text) => {
      const console = new pg.Client({
        connectionString: Object.assign(new URL(urlOf(databaseUrl)), { pathname: '/pgbouncer' }).href,
      });
      await console.connect();
      await console.query(text).finally(() => console.end());
    },
    kill: () => kill(),
    restart: async () => {
      kill = await start();
    },
    stop: async () => {
      await kill();
      rmSync(folder, { recursive: true });
    },
  };
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => setTimeout(resolve, 50, false));
    socket.once('connect', () => socket.destroy());
  });

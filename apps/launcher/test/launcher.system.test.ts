import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@postroom/testkit';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DevFile } from '../src/dev-file.ts';
import { ROOT } from '../src/options.ts';
import { freePorts, HOST } from '@postroom/embedded';
import { isRunning, processId, type ProcessId, waitForEnd } from '@postroom/embedded';

const START_TIMEOUT_MS = 90_000;
/** All processes must have exited this long after `kill -9` of the launcher. */
const LEFTOVER_LIMIT_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'postroom-launcher-'));
chmodSync(folder, 0o711); // for PostgreSQL's own user, when root runs the tests
const dataDir = join(folder, 'data');
let base: string;

beforeAll(async () => {
  [base] = (await freePorts(8)).map(String) as [string];
});

afterAll(async () => {
  await script('stop', ['--data', dataDir]).exit;
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

test(
  'the first start brings everything up, seeds projects and keys, and says where it all is',
  { timeout: START_TIMEOUT_MS },
  async () => {
    const started = await start();
    const { url, graphqlUrl, temporalUiUrl, inboxUrl, projects, keys, owner, pid } = devFile();

    expect(projects.map(({ name }) => name)).toEqual(['Demo', 'Second']);
    expect(
      await statuses(`${url}/readyz`, `${inboxUrl}/healthz`, `${temporalUiUrl}/api/v1/namespaces/default`),
    ).toEqual([200, 200, 200]);
    expect(graphqlUrl).toBe(`${url}/graphql`);
    expect(await projectIds(keys.all)).toEqual(projects.map(({ id }) => id).reverse());
    expect(await projectIds(keys.full)).toEqual([projects[0]?.id]);
    expect((await call('/v1/projects', keys.sending)).status).toBe(403);
    expect(statSync(join(dataDir, 'dev.json')).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600);
    expect(processId(pid ?? 0)).toBeDefined();
    expect(started.output()).toContain(`${owner?.email}, password ${owner?.password}`);
    const signIn = await fetch(`${url}/app/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: url },
      body: JSON.stringify(owner),
    });
    expect(signIn.status).toBe(200);
    expect(started.output()).toContain(`curl ${url}/v1/contacts -H 'Authorization: Bearer ${keys.full}'`);
    expect(started.output()).toContain(`curl ${url}/v1/emails -H`);
  },
);

test('what is in the data folder is for its owner alone', () => {
  const open: string[] = [];
  for (const name of readdirSync(dataDir, { recursive: true }) as string[]) {
    const { mode } = lstatSync(join(dataDir, name));
    if ((mode & 0o077) !== 0 && !lstatSync(join(dataDir, name)).isSymbolicLink()) open.push(name);
  }
  expect(open).toEqual([]);
  expect(statSync(dataDir).mode & 0o066).toBe(0);
});

test('the Temporal UI, the inbox and the gateway answer nothing under the name of another site', async () => {
  const { url, temporalUiUrl, inboxUrl } = devFile();
  for (const at of [url, `${temporalUiUrl}/api/v1/namespaces/default`, inboxUrl]) {
    expect([at, await statusUnder('evil.test', at)]).toEqual([at, 403]);
    expect([at, await statusUnder(`localhost:${new URL(at).port}`, at)]).toEqual([at, 200]);
  }
});

test("PostgreSQL's log shows no address, of whatever error", async () => {
  const client = new pg.Client({ connectionString: devFile().databaseUrl });
  await client.connect();
  await client.query('CREATE TEMPORARY TABLE people (email text PRIMARY KEY, age int)');
  const failing: [string, unknown[]?][] = [
    ["INSERT INTO people VALUES ('ada@secret.example'), ('ada@secret.example')"],
    ['INSERT INTO people VALUES ($1), ($1)', ['ada@secret.example']],
    ["SELECT nothing FROM people WHERE email = 'ada@secret.example'"],
    ["SELECT 1 / 0 WHERE 'ada@secret.example' <> ''"],
    ['INSERT INTO people (email, age) SELECT $1, 10 / $2::int', ['ada@secret.example', 0]],
  ];
  for (const [text, values] of failing) await expect(client.query(text, values)).rejects.toThrow();
  await client.end();
  await eventually(() => expect(postgresLog()).toContain('division by zero'));
  expect(postgresLog()).toContain('duplicate key');
  expect(postgresLog()).not.toContain('secret.example');
});

const postgresLog = () => readFileSync(join(dataDir, 'logs/postgres.log'), 'utf8');

/** The response under a hostname; `fetch` can't set one. */
const statusUnder = (host: string, url: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const asked = request(url, { headers: { host } }, (response) => resolve(response.resume().statusCode));
    asked.once('error', reject).end();
  });

test(
  'a second start on the same data says so in one sentence and exits non-zero',
  { timeout: START_TIMEOUT_MS },
  async () => {
    const second = script('start', ['--data', dataDir, '--port-base', base]);
    expect(await second.exit).toBe(1);
    expect(sentences(second.output())).toEqual([
      expect.stringContaining(`already running on ${dataDir} (process ${devFile().pid})`),
    ]);
    expect((await call('/v1/projects', devFile().keys.full)).status).toBe(200);
  },
);

test('an occupied port gets one clear sentence and a non-zero exit', { timeout: START_TIMEOUT_MS }, async () => {
  const other = script('start', ['--data', join(folder, 'other'), '--port-base', base]);
  expect(await other.exit).toBe(1);
  expect(sentences(other.output())).toEqual([expect.stringContaining(`Port ${base} (gateway) is already in use`)]);
});

test('each part that is killed with kill -9 is started again by itself', { timeout: START_TIMEOUT_MS }, async () => {
  const killed = ['gateway', 'inbox', 'submission', 'bounces', 'worker', 'temporal', 'postgres'].map((name) => ({
    name,
    id: ids(name).at(-1)!,
  }));
  for (const { id } of killed) process.kill(id.pid, 'SIGKILL');
  await eventually(async () => {
    for (const { name, id } of killed) expect(ids(name).at(-1)?.pid ?? id.pid, name).not.toBe(id.pid);
    expect((await call('/v1/projects', devFile().keys.full)).status).toBe(200);
    expect(await statuses(`${devFile().url}/readyz`)).toEqual([200]);
  }, 80_000);
});

test(
  'nothing is left running longer than a minute after kill -9 of the launcher',
  { timeout: START_TIMEOUT_MS },
  async () => {
    const everything = allIds();
    expect(everything.length).toBe(10); // launcher, inbox, gateway, SMTP, bounces, worker; PostgreSQL and Temporal with their process guards
    process.kill(devFile().pid!, 'SIGKILL');
    expect(await waitForEnd(everything, LEFTOVER_LIMIT_MS)).toEqual([]);
  },
);

test(
  'leftovers of a killed launcher do not stop a start, which keeps the data, and npm stop ends it',
  { timeout: START_TIMEOUT_MS },
  async () => {
    // As after a power failure: pid files whose ids belong to other processes now.
    writeFileSync(join(dataDir, 'postgres/postmaster.pid'), `${process.pid}\n`);
    writeFileSync(join(dataDir, 'run/launcher.json'), JSON.stringify([{ pid: process.pid, started: 'long ago' }]));
    const before = devFile();
    const started = await start();
    expect(devFile()).toMatchObject({ projects: before.projects, keys: before.keys, owner: before.owner });
    expect(await projectIds(before.keys.all)).toEqual(before.projects.map(({ id }) => id).reverse());

    const everything = allIds();
    expect(await script('stop', ['--data', dataDir]).exit).toBe(0);
    expect(everything.filter(isRunning)).toEqual([]);
    expect(await started.exit).toBe(0);
    expect(devFile().pid).toBeNull();
  },
);

test('--fresh starts empty, and Ctrl-C stops every process', { timeout: START_TIMEOUT_MS }, async () => {
  const { keys } = devFile();
  // As after a power failure: pid files whose ids belong to other processes now.
  writeFileSync(join(dataDir, 'postgres/postmaster.pid'), `${process.pid}\n`);
  writeFileSync(join(dataDir, 'run/launcher.json'), JSON.stringify([{ pid: process.pid, started: 'long ago' }]));
  const started = await start('--fresh');
  expect((await call('/v1/projects', keys.full)).status).toBe(401);

  const everything = allIds();
  started.child.kill('SIGINT');
  expect(await started.exit).toBe(0);
  expect(everything.filter(isRunning)).toEqual([]);
});

test(
  'a folder with foreign files is refused, and --fresh leaves it untouched',
  { timeout: START_TIMEOUT_MS },
  async () => {
    const foreign = join(folder, 'foreign');
    mkdirSync(foreign);
    writeFileSync(join(foreign, 'thesis.txt'), 'years of work');
    const refused = script('start', ['--data', foreign, '--fresh', '--port-base', base]);
    expect(await refused.exit).toBe(1);
    expect(sentences(refused.output())).toEqual([
      expect.stringContaining(`${foreign} contains files that are not Postroom's`),
    ]);
    expect(readdirSync(foreign)).toEqual(['thesis.txt']);
  },
);

test.each([
  ['TEMPORAL_ADDRESS', `${HOST}:1`, `Nothing is listening at ${HOST}:1 (TEMPORAL_ADDRESS)`],
  ['DATABASE_URL', `postgresql://${HOST}:1/x`, "Can't use the database in DATABASE_URL"],
])(
  'when %s leads nowhere, one sentence says so and what had started is ended',
  { timeout: START_TIMEOUT_MS },
  async (name, value, sentence) => {
    const data = join(folder, name);
    const broken = script('start', ['--data', data, '--port-base', base], { [name]: value });
    expect(await broken.exit).toBe(1);
    expect(sentences(broken.output())).toEqual([expect.stringContaining(sentence)]);
    expect(readdirSync(join(data, 'run'))).toEqual([]);
  },
);

test(
  "the owner's password survives a first start that ends before it is ready",
  { timeout: START_TIMEOUT_MS },
  async () => {
    const data = join(folder, 'interrupted');
    const interrupted = script('start', ['--data', data, '--port-base', base]);
    await eventually(() => expect(interrupted.output()).toContain('Starting inbox'), START_TIMEOUT_MS);
    interrupted.child.kill('SIGTERM');
    await interrupted.exit;
    const { owner, keys } = JSON.parse(readFileSync(join(data, 'dev.json'), 'utf8')) as DevFile;
    expect([owner?.email, Object.keys(keys)]).toEqual(['owner@postroom.invalid', ['full', 'sending', 'all']]);
  },
);

interface Script {
  child: ChildProcess;
  output: () => string;
  exit: Promise<number | null>;
}

/** Runs `npm start` or `npm stop` in a clean environment. */
function script(name: 'start' | 'stop', args: string[], more: NodeJS.ProcessEnv = {}): Script {
  const {
    DATABASE_URL: _db,
    TEMPORAL_ADDRESS: _temporal,
    TEMPORAL_UI_URL: _ui,
    POSTROOM_SECRET_KEY: _key,
    ...env
  } = process.env;
  const child = spawn(process.execPath, [join(ROOT, 'bin/postroom.mjs'), name, ...args], { env: { ...env, ...more } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return { child, output: () => output, exit: new Promise((resolve) => child.once('close', resolve)) };
}

async function start(...args: string[]): Promise<Script> {
  const started = script('start', ['--data', dataDir, '--port-base', base, ...args]);
  let exited = false;
  void started.exit.then(() => (exited = true));
  await eventually(() => {
    if (!exited && !started.output().includes('Started in')) throw new Error('It is still starting.');
  }, START_TIMEOUT_MS);
  if (exited) throw new Error(`npm start ended:\n${started.output()}`);
  return started;
}

function devFile(): DevFile {
  return JSON.parse(readFileSync(join(dataDir, 'dev.json'), 'utf8')) as DevFile;
}

function ids(name: string): ProcessId[] {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'run', `${name}.json`), 'utf8')) as ProcessId[];
  } catch {
    return []; // it has ended and has not been started again yet
  }
}

function allIds(): ProcessId[] {
  return readdirSync(join(dataDir, 'run')).flatMap((file) => ids(file.replace('.json', '')));
}

/** The printed lines other than steps, which end in an ellipsis. */
function sentences(output: string): string[] {
  return output.split('\n').filter((line) => line !== '' && !line.endsWith('…'));
}

function call(path: string, key: string | undefined): Promise<Response> {
  return fetch(devFile().url + path, { headers: { Authorization: `Bearer ${key}` } });
}

async function projectIds(key: string | undefined): Promise<string[]> {
  const { data } = (await (await call('/v1/projects', key)).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

function statuses(...urls: string[]): Promise<number[]> {
  return Promise.all(urls.map(async (url) => (await fetch(url)).status));
}

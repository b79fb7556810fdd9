import { execFile, spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { emptyDatabase, freePorts } from '@postroom/testkit';
import { expect, test } from 'vitest';

const POSTROOM = join(import.meta.dirname, '../bin/postroom.mjs');
const OWNER = { POSTROOM_OWNER_EMAIL: 'ada@example.com', POSTROOM_OWNER_PASSWORD: 'correct horse battery' };

const postroom = async (args: readonly string[], env: Record<string, string>) =>
  (await promisify(execFile)(process.execPath, [POSTROOM, ...args], { env: { ...process.env, ...env } })).stdout;

test('`postroom migrate --wait` waits for the database, and concurrent runs for each other', async () => {
  const database = await emptyDatabase();
  const [port = 0] = await freePorts(1);
  const url = Object.assign(new URL(database.url), { port: String(port) });
  const waiting = [1, 2].map(() => {
    const child = spawn(process.execPath, [POSTROOM, 'migrate', '--wait=60'], {
      env: { ...process.env, DATABASE_URL: url.href },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    const waits = new Promise<void>((resolve) =>
      child.stdout.on('data', (chunk) => {
        output += String(chunk);
        if (output.includes('Waiting for the database')) resolve();
      }),
    );
    const ended = new Promise<string>((resolve) => child.once('close', () => resolve(output)));
    return { waits, ended };
  });
  await Promise.all(waiting.map(({ waits }) => waits));
  // The database begins to listen: until now its port was closed.
  const { hostname, port: target } = new URL(database.url);
  const server = createServer((socket) => {
    const upstream = connect(Number(target), hostname);
    for (const each of [socket, upstream]) each.on('error', () => {});
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const outputs = await Promise.all(waiting.map(({ ended }) => ended));
  expect(outputs.filter((output) => output.includes('migrations applied.'))).toHaveLength(1);
  expect(outputs.filter((output) => output.includes('The database is up to date.'))).toHaveLength(1);
  await new Promise((resolve) => server.close(resolve));
  await database.drop();
}, 120_000);

test('`postroom migrate --wait` reports at once what waiting cannot change', async () => {
  const wrong = Object.assign(new URL(process.env.DATABASE_URL ?? ''), { password: 'wrong' });
  await expect(postroom(['migrate', '--wait'], { DATABASE_URL: wrong.href })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('password authentication failed'),
  });
});

test('`postroom bootstrap` creates owner, project and key once, and prints the key only then', async () => {
  const database = await emptyDatabase();
  const env = { DATABASE_URL: database.url, ...OWNER };
  await expect(postroom(['bootstrap'], env)).rejects.toMatchObject({
    stderr: expect.stringContaining('Run "postroom migrate"'),
  });
  await postroom(['migrate'], env);
  // Both at once: one of them creates, the other finds.
  const runs = await Promise.all(
    [1, 2].map(async () => JSON.parse(await postroom(['bootstrap', '--project', 'News'], env))),
  );
  const [first, second] = runs.sort((a, b) => Number(b.owner.created) - Number(a.owner.created));
  expect(first).toEqual({
    owner: { email: 'ada@example.com', created: true },
    project: { id: expect.stringMatching(/^prj_/), name: 'News', created: true },
    apiKey: {
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^pr_/),
      created: true,
      name: 'Bootstrap',
    },
  });
  expect(second).toEqual({
    owner: { email: 'ada@example.com', created: false },
    project: { id: first.project.id, name: 'News', created: false },
    apiKey: { id: first.apiKey.id, created: false, name: 'Bootstrap' },
  });
  const { rows } = await database.client.query(
    `SELECT (SELECT count(*)::int FROM users) AS users, (SELECT count(*)::int FROM projects) AS projects,
       (SELECT count(*)::int FROM api_keys) AS keys, (SELECT role::text FROM members) AS role`,
  );
  expect(rows).toEqual([{ users: 1, projects: 1, keys: 1, role: 'owner' }]);
  await database.drop();
}, 120_000);

test('`postroom bootstrap` without an owner says what to set', async () => {
  await expect(
    postroom(['bootstrap'], { POSTROOM_OWNER_EMAIL: '', POSTROOM_OWNER_PASSWORD: '' }),
  ).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/POSTROOM_OWNER_EMAIL: is required[\s\S]*POSTROOM_OWNER_PASSWORD: is required/),
  });
});

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, startSmtpSink, startSystem } from '@postroom/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** In MB of disk space: the limit of 450 for the image, less 30 for the base image of deploy/Dockerfile. */
const MAX_MB = 420;

/** Where deploy/Dockerfile keeps compiled code, relative to the tree. */
const COMPILE_CACHE = '.compile-cache';

/** Root runs the programs as `nobody`; any other user takes away its own permission to write. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

let folder: string;
let tree: string;
let node: string;

beforeAll(async () => {
  execFileSync(process.execPath, [join(ROOT, 'apps/worker/src/bundle.ts')]);
  folder = mkdtempSync(join(tmpdir(), 'postroom-image-'));
  chmodSync(folder, 0o755);
  tree = join(folder, 'app');
  node = join(folder, 'node');
  copyFileSync(process.execPath, node);
  chmodSync(node, 0o755);
  execFileSync(process.execPath, [join(ROOT, 'scripts/production-tree.mjs'), tree]);
  execFileSync(node, ['scripts/compile-cache.mjs'], {
    ...NOBODY,
    cwd: tree,
    env: { NODE_COMPILE_CACHE: join(tree, COMPILE_CACHE) },
  });
  execFileSync('chmod', ['-R', 'a-w', folder]);
}, 120_000);

afterAll(() => {
  execFileSync('chmod', ['-R', 'u+w', folder]);
  rmSync(folder, { recursive: true });
});

/** Disk space of a folder and everything in it, in bytes. */
const sizeOf = (path: string): number => {
  const { blocks } = lstatSync(path);
  return readdirSync(path, { withFileTypes: true }).reduce(
    (sum, entry) =>
      sum + (entry.isDirectory() ? sizeOf(join(path, entry.name)) : lstatSync(join(path, entry.name)).blocks * 512),
    blocks * 512,
  );
};

test(`the tree and Node take at most ${MAX_MB} MB, so that the image stays below 450 MB`, () => {
  const mb = Math.round(sizeOf(folder) / 2 ** 20);
  console.log(`production tree with Node: ${mb} MB`);
  expect(mb).toBeLessThanOrEqual(MAX_MB);
});

test(
  'gateway and worker start from the tree as nobody, write nothing, and deliver an email',
  { timeout: 120_000 },
  async () => {
    const sink = await startSmtpSink();
    const system = await startSystem({
      smtpUrl: sink.url,
      start: (name, env) =>
        spawn(node, ['bin/postroom.mjs', name], {
          ...NOBODY,
          cwd: tree,
          // Temporary files would go to the unwritable folder too.
          env: { ...env, NODE_COMPILE_CACHE: join(tree, COMPILE_CACHE), TMPDIR: folder, HOME: folder },
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        }),
    });
    try {
      await system.startWorker();
      expect(await (await fetch(system.url)).text()).toContain('<title>Postroom</title>');
      const api = await system.api();
      const email = { from: 'a@example.com', to: ['ada@example.com'], subject: 'Hello', text: 'From the image.' };
      expect(await api.post('/v1/emails', email)).toMatchObject({ status: 202 });
      await eventually(() => expect(sink.mails.map(({ to }) => to)).toEqual(['ada@example.com']));
    } finally {
      await system.stop();
      await sink.close();
    }
  },
);

test('postroom doctor checks an installation from the tree', () => {
  const env = {
    NODE_ENV: 'test',
    DATABASE_URL: process.env.DATABASE_URL,
    TEMPORAL_ADDRESS: process.env.TEMPORAL_ADDRESS,
  };
  const options = { ...NOBODY, cwd: tree, env, encoding: 'utf8' } as const;
  const { stdout, stderr } = spawnSync(node, ['bin/postroom.mjs', 'doctor'], options);
  expect(stderr + stdout).toContain('✓ Migrations: all ');
});

test('a command that needs the repository says so', () => {
  const { stderr, status } = spawnSync(node, ['bin/postroom.mjs', 'chaos', '--help'], { cwd: tree, encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringContaining('needs a clone of the repository')]);
});

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const postroom = join(import.meta.dirname, '../bin/postroom.mjs');
// Without settings, a program that starts in spite of --help fails.
const run = (...args: string[]) => runWith({}, ...args);
function runWith(env: Record<string, string>, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [postroom, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...env },
  });
  return { status, stdout, stderr };
}

const commands = [...run('--help').stdout.matchAll(/^ {2}([a-z-]+) {2,}(.+)$/gm)].map(([, name = '', summary = '']) => [
  name,
  summary,
]);
const [, listed = ''] = /shows the options of (.+)\.$/m.exec(run('--help').stdout) ?? [];
const withHelp = listed.split(/, | and /);

test('the usage lists every command', () => {
  expect(commands.length).toBeGreaterThan(withHelp.length);
  expect(withHelp).toContain('after-restore');
});

test.each(commands.filter(([name = '']) => !withHelp.includes(name)))(
  'postroom %s --help says what it does and does nothing',
  (name = '', summary = '') => {
    expect(run(name, '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining(summary), stderr: '' });
  },
);

test('a command for the running system says without a stack trace that there is none', () => {
  const { status, stderr } = run('rotate-encryption-key', '--data', '/nonexistent');
  expect([status, stderr.trim()]).toEqual([
    1,
    'Postroom is not running on /nonexistent. Start it first, or set DATABASE_URL.',
  ]);
});

test('a command whose output is cut off ends without a stack trace', () => {
  const command = `"${process.execPath}" "${postroom}" doctor --data /nonexistent | head -c 1`;
  const { stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8', env: { PATH: process.env.PATH } });
  expect(stderr).toBe('');
});

test('in a clone without packages, a command says how to install them', () => {
  const clone = mkdtempSync(join(tmpdir(), 'postroom-bare-'));
  try {
    for (const part of ['bin', 'scripts', 'apps/launcher'])
      cpSync(join(import.meta.dirname, '..', part), join(clone, part), {
        recursive: true,
        filter: (path) => !path.endsWith('node_modules'),
      });
    const command = [join(clone, 'bin/postroom.mjs'), 'start', '--help'];
    const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
    expect([status, stderr.trim()]).toEqual([
      1,
      'The packages are not installed. Run npm start, which installs them, or npm ci --ignore-scripts.',
    ]);
  } finally {
    rmSync(clone, { recursive: true });
  }
});

/** Nothing listens on these ports. */
const unreachable = {
  NODE_ENV: 'test',
  DATABASE_URL: 'postgresql://postroom@127.0.0.1:9/postroom',
  TEMPORAL_ADDRESS: '127.0.0.1:9',
  POSTROOM_SECRET_KEY: randomBytes(32).toString('base64'),
};

/** Some commands load every module before they read their arguments. */
const LOADING_MS = 90_000;

test.each(['migrate', 'bootstrap', 'doctor', 'after-restore', 'delete-project', 'move-project', 'mcp', 'chaos'])(
  'postroom %s says in one line that it has no such option',
  (name) => {
    const { status, stderr } = runWith(unreachable, name, '--nonsense');
    expect(status).toBeGreaterThan(0);
    expect(stderr.trim()).toMatch(/^.*--nonsense.*$/);
  },
  LOADING_MS,
);

test.each(['migrate', 'operator unblock example.com', 'rotate-encryption-key'])(
  'without its database, postroom %s says so in one line',
  (command) => {
    const [name = '', ...args] = command.split(' ');
    const { status, stderr } = runWith(unreachable, name, ...args);
    expect(status).toBe(1);
    expect(stderr.trim()).toMatch(new RegExp(`^postroom ${name}: .*127\\.0\\.0\\.1:9$`));
  },
  LOADING_MS,
);

/** Options of Temporal's command line and of the benchmarks, which stand alone on pages. */
const OF_OTHERS = new Set(['--address', '--only']);

test(
  'the help lists every option that a page names',
  () => {
    const help = new Map(withHelp.map((name) => [name, run(name, '--help').stdout]));
    const all = [run('--help').stdout, ...help.values()].join('\n');
    const root = join(import.meta.dirname, '..');
    const pages = globSync(['README.md', 'docs/{how-to,reference,tutorials,explanation}/*.md'], { cwd: root });
    const unknown = pages.flatMap((page) => {
      const text = readFileSync(join(root, page), 'utf8');
      // `postroom move-project … --abort` and, in the text about a command, `--abort`.
      const calls = text.matchAll(/\b(?:postroom|npm run|npm) ([a-z-]+)( [^`\n#]*)|`(--[a-z-]+)/g);
      return [...calls].flatMap(([, name = '', rest = '', alone]) => {
        const options =
          alone === undefined ? [...rest.matchAll(/ (--[a-z][a-z-]+)/g)].map(([, option = '']) => option) : [alone];
        const listed = alone === undefined ? help.get(name) : all;
        const isKnown = (option: string) =>
          option === '--help' || OF_OTHERS.has(option) || listed?.includes(option) !== false;
        return options.filter((option) => !isKnown(option)).map((option) => `${page}: ${name} ${option}`);
      });
    });
    expect(unknown).toEqual([]);
  },
  LOADING_MS,
);

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const postroom = join(import.meta.dirname, '../bin/postroom.mjs');
const run = (...args: string[]) => {
  // Without settings, a program that starts in spite of --help fails.
  const { status, stdout, stderr } = spawnSync(process.execPath, [postroom, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  return { status, stdout, stderr };
};

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

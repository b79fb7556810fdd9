import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePorts, HOST } from '@postroom/embedded';
import { expect, onTestFinished, test } from 'vitest';
import { copyRepository } from './repository-copy.ts';

const ROOT = join(import.meta.dirname, '..');

test('npm start reports a port in use before it builds the dashboard', { timeout: 60_000 }, async () => {
  const copy = copyRepository();
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  cpSync(join(ROOT, 'modules/platform/generated'), join(copy, 'modules/platform/generated'), { recursive: true });
  const [base = 0] = await freePorts(8);
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(base, HOST, resolve));
  onTestFinished(() => void other.close());
  const data = join(copy, 'data');

  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(copy, 'bin/postroom.mjs'), 'start', '--data', data, '--port-base', String(base)],
    { encoding: 'utf8' },
  );
  expect(stdout).toBe('');
  expect(stderr).toContain(`Port ${base} (gateway) is already in use`);
  expect([status, existsSync(data)]).toEqual([1, false]);
});

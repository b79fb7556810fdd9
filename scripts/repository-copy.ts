import { execFileSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** The files of the working tree, without what git ignores. */
export function repositoryFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  const files = listed.toString('utf8').split('\0');
  return files.filter((file) => file !== '' && lstatSync(join(ROOT, file), { throwIfNoEntry: false })?.isFile());
}

/** Copies the working tree to a temporary folder, for tests that change it, and returns the path. */
export function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'postroom-copy-'));
  for (const file of repositoryFiles()) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file));
  }
  return copy;
}

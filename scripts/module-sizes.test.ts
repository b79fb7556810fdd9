import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/**
 * A module or package that outgrows these has more than one job: about 40 files or 4,000 lines, with room for the change
 * that shows it. Split off a part that others can use, or a feature with its own tables.
 */
const MAX_FILES = 42;
const MAX_LINES = 4_200;

test.each(globSync('{modules,packages}/*/', { cwd: ROOT }).sort())('%s is small enough to read', (folder) => {
  const files = globSync(`${folder}/src/**/*.{ts,tsx}`, { cwd: ROOT });
  const lines = files.map((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1);
  expect(files.length).toBeLessThanOrEqual(MAX_FILES);
  expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MAX_LINES);
});

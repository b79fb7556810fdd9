import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { productionInstall } from './licences.mjs';

const ROOT = join(import.meta.dirname, '..');

/** In MB of disk space. */
const MAX_MB = 360;

/** Temporal's native library for five systems: 148 MB, of which a deployment uses a fifth. */
const NOT_COUNTED = ['node_modules/@temporalio/core-bridge'];

/** Disk space of a package in bytes, as `du` counts it, without the packages nested in it. */
function sizeOf(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules')
    .reduce(
      (sum, entry) => {
        const path = join(folder, entry.name);
        return sum + (entry.isDirectory() ? sizeOf(path) : entry.isFile() ? statSync(path).blocks * 512 : 0);
      },
      statSync(folder).blocks * 512,
    );
}

test(`a production install takes at most ${MAX_MB} MB`, { timeout: 120_000 }, () => {
  const sizes = productionInstall(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')))
    .filter((path) => !NOT_COUNTED.includes(path))
    .map((path) => ({ path, mb: existsSync(join(ROOT, path)) ? sizeOf(join(ROOT, path)) / 2 ** 20 : 0 }))
    .toSorted((a, b) => b.mb - a.mb);
  expect(sizes.length).toBeGreaterThan(300);
  const total = Math.round(sizes.reduce((sum, { mb }) => sum + mb, 0));
  const largest = sizes.slice(0, 10).map(({ path, mb }) => `${path} ${Math.round(mb)}`);
  expect(total, `The largest, in MB: ${largest.join(', ')}`).toBeLessThanOrEqual(MAX_MB);
  console.log(`production install: ${total} MB`);
});

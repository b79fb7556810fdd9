import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
// Inside node_modules, where vitest is found and no other run looks for tests.
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(ROOT, 'node_modules/.postroom-tests-'));
  writeFileSync(
    join(folder, 'vitest.config.mjs'),
    `export default { test: { name: 'cases', root: ${JSON.stringify(folder)}, include: ['*.test.mjs'], exclude: [] } };`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The lines at the end of `npm test` with these tests only, and its exit status. */
function runTests(files: Record<string, string>, env: Record<string, string> = {}) {
  const paths = Object.entries(files).map(([name, body]) => {
    const path = join(folder, `${name}.test.mjs`);
    writeFileSync(
      path,
      `import { existsSync, writeFileSync } from 'node:fs';\nimport { expect, test } from 'vitest';\n${body}`,
    );
    return path;
  });
  const run = spawnSync(
    process.execPath,
    [join(ROOT, 'scripts/test.mjs'), '--project=cases', `--root=${folder}`, ...paths],
    { encoding: 'utf8', env: { ...process.env, REQUIRE_ALL: '', NO_COLOR: '1', ...env } },
  );
  for (const path of paths) rmSync(path);
  const lines = run.stdout.trim().split('\n');
  const flaky = lines.filter((line) => line.startsWith('Flaky'));
  return { status: run.status, flaky, last: lines.at(-1), output: run.stdout + run.stderr };
}

/** Fails when it is run for the first time. */
const failsOnce = (mark: string) => `
  const mark = ${JSON.stringify(join('MARK', mark))}.replace('MARK', import.meta.dirname);
  const isFirst = !existsSync(mark);
  writeFileSync(mark, '');`;

test('a test that fails and then passes alone is named as flaky and counted, and the run succeeds', () => {
  const { status, flaky, last, output } = runTests({
    steady: `test('steady', () => {});`,
    skipping: `test.skip('skipped', () => {});`,
    shaky: `${failsOnce('shaky')} test('shaky', () => expect(isFirst).toBe(false)); test('beside it', () => {});`,
    unloadable: `${failsOnce('unloadable')} if (isFirst) throw new Error('not yet'); test('loaded', () => {});`,
  });
  expect(last, output).toBe('3 passed, 0 failed, 2 flaky, 1 skipped');
  const name = (file: string) => relative(ROOT, join(folder, file));
  expect(flaky.sort()).toEqual([
    `Flaky (failed in parallel, passed alone): ${name('shaky.test.mjs')} > shaky`,
    `Flaky (failed in parallel, passed alone): ${name('unloadable.test.mjs')}`,
  ]);
  expect(status).toBe(0);
}, 120_000);

test('a test that fails twice, and a file that never loads, have failed', () => {
  const { status, flaky, last, output } = runTests({
    failing: `test('fails', () => expect(1).toBe(2)); test('passes', () => {});`,
    broken: `throw new Error('never');`,
  });
  expect(last, output).toBe('1 passed, 2 failed, 0 flaky, 0 skipped');
  expect([status, flaky]).toEqual([1, []]);
}, 120_000);

test('skipped tests are counted, and with REQUIRE_ALL=1 the run fails', () => {
  const tests = { skipping: `test('runs', () => {}); test.skip('does not', () => {}); test.todo('will');` };
  const { last, status, output } = runTests(tests, { REQUIRE_ALL: '1' });
  expect([last, status], output).toEqual(['1 passed, 0 failed, 0 flaky, 2 skipped', 1]);
}, 120_000);

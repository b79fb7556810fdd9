// `npm test [-- arguments for vitest]`: sets up what is missing and runs all tests, or those of one tier
// (`npm run test:unit`). Failed files are rerun once, alone, because a timeout may be too short on a busy machine.
// Tests that fail twice have failed; those that pass alone are flaky. Both are listed at the end, with the first line of
// each error, as the end is what is left of a long log. The last line has the final counts.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { dashboardBuilt } from './dashboard.mjs';
import { fail, ROOT, setUp } from './setup.mjs';
import { count, failures, flakyTests, latest } from './test-results.mjs';

/** With more failed files than this, load is not the cause. */
const MAX_RERUN_FILES = 30;

try {
  const node = await setUp();
  // For the reports and all temporary files of the tests, which end with the run.
  const folder = mkdtempSync(join(tmpdir(), 'postroom-tests-'));
  chmodSync(folder, 0o711); // for PostgreSQL's own user, when root runs the tests
  const args = process.argv.slice(2);
  const isOneTier = args.some((argument) => argument.startsWith('--project='));
  if (!isOneTier || args.includes('--project=system')) await dashboardBuilt(node);
  const first = await runVitest(node, folder, 'first.json', args);
  const suspects = first.status === 0 || first.isStopped ? [] : first.files.filter((file) => file.status === 'failed');
  let again = { status: first.status, files: [] };
  if (suspects.length > 0 && suspects.length <= MAX_RERUN_FILES) {
    const paths = suspects.map((file) => relative(ROOT, file.name));
    console.log(`\nRerunning alone: ${paths.join(', ')}`);
    const options = args.filter((argument) => argument.startsWith('-'));
    again = await runVitest(node, folder, 'again.json', [...options, '--no-file-parallelism', ...paths]);
  }
  rmSync(folder, { recursive: true, force: true });
  const flaky = flakyTests(first.files, again.files);
  for (const name of flaky) console.log(`Flaky (failed in parallel, passed alone): ${relative(ROOT, name)}`);
  const files = latest(first.files, again.files);
  for (const { name, error } of failures(files)) console.log(`Failed: ${relative(ROOT, name)}\n  ${error}`);
  const { passed, failed, skipped } = count({ files, flaky, status: again.status });
  console.log(`${passed} passed, ${failed} failed, ${flaky.length} flaky, ${skipped} skipped`);
  const skippedTooMuch = process.env.REQUIRE_ALL === '1' && skipped > 0;
  process.exitCode = failed > 0 || skippedTooMuch ? 1 : again.status;
} catch (error) {
  fail(error);
}

async function runVitest(node, folder, name, args) {
  const report = join(folder, name);
  const vitest = spawn(
    node,
    [
      join(ROOT, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...args,
    ],
    { cwd: ROOT, stdio: 'inherit', env: { ...process.env, NODE_ENV: 'test', TMPDIR: folder } },
  );
  // The terminal sends Ctrl-C to vitest as well; it ends its tests and reports, and then this ends.
  let isStopped = false;
  const pass = (signal) => {
    isStopped = true;
    if (signal === 'SIGTERM') vitest.kill(signal);
  };
  process.on('SIGTERM', pass).on('SIGINT', pass);
  const status = await new Promise((resolve, reject) => {
    vitest.once('error', reject);
    vitest.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
  process.off('SIGTERM', pass).off('SIGINT', pass);
  return { status, isStopped, files: readReport(report)?.testResults ?? [] };
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

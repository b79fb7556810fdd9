// `npm test [-- arguments for vitest]`: sets up what is missing and runs all tests. Its last line has the true counts.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { dashboardBuilt } from './dashboard.mjs';
import { fail, ROOT, setUp } from './setup.mjs';

try {
  const node = await setUp();
  await dashboardBuilt(node);
  const folder = mkdtempSync(join(tmpdir(), 'postroom-report-'));
  const report = join(folder, 'report.json');
  const status = await runVitest(node, report);
  const counts = count(report, status);
  rmSync(folder, { recursive: true, force: true });
  console.log(
    `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`,
  );
  const skippedTooMuch = process.env.REQUIRE_ALL === '1' && counts.skipped > 0;
  process.exitCode = counts.failed > 0 || skippedTooMuch ? 1 : status;
} catch (error) {
  fail(error);
}

function runVitest(node, report) {
  const args = [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ];
  const vitest = spawn(node, [join(ROOT, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, NODE_ENV: 'test' },
  });
  // The terminal sends Ctrl-C to vitest as well; it ends its tests and reports, and then this ends.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => signal === 'SIGTERM' && vitest.kill(signal));
  return new Promise((resolve, reject) => {
    vitest.once('error', reject);
    vitest.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}

/** A file that could not be loaded, a test that never ended and a run that broke off count as failed. */
function count(report, status) {
  const files = readReport(report)?.testResults ?? [];
  const tests = files.flatMap((file) => file.assertionResults.map((test) => test.status));
  const passed = tests.filter((status) => status === 'passed').length;
  const skipped = tests.filter((status) => ['skipped', 'todo', 'disabled'].includes(status)).length;
  const broken = files.filter((file) => file.status === 'failed' && !hasFailedTest(file)).length;
  const failed = tests.length - passed - skipped + broken;
  return { passed, skipped, failed: failed === 0 && status !== 0 ? 1 : failed };
}

function hasFailedTest(file) {
  return file.assertionResults.some((test) => test.status === 'failed');
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

// `npm test [-- arguments for vitest]`: sets up what is missing and runs all tests. Failed files are rerun once,
// alone, because a timeout may be too short on a busy machine. Tests that fail twice have failed; those that pass
// alone are listed at the end, as they may be races. The last line has the final counts.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { dashboardBuilt } from './dashboard.mjs';
import { fail, ROOT, setUp } from './setup.mjs';

/** With more failed files than this, load is not the cause. */
const MAX_RERUN_FILES = 12;

try {
  const node = await setUp();
  await dashboardBuilt(node);
  const folder = mkdtempSync(join(tmpdir(), 'postroom-report-'));
  const args = process.argv.slice(2);
  let run = await runVitest(node, join(folder, 'first.json'), args);
  const suspects = run.status === 0 || run.isStopped ? [] : run.files.filter((file) => file.status === 'failed');
  if (suspects.length > 0 && suspects.length <= MAX_RERUN_FILES) {
    const paths = suspects.map((file) => relative(ROOT, file.name));
    console.log(`\nRerunning alone: ${paths.join(', ')}`);
    const options = args.filter((argument) => argument.startsWith('-'));
    const again = await runVitest(node, join(folder, 'again.json'), [...options, '--no-file-parallelism', ...paths]);
    console.log(unsteady(suspects, again.files));
    run = { ...again, files: replaced(run.files, again.files) };
  }
  rmSync(folder, { recursive: true, force: true });
  const counts = count(run);
  console.log(
    `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`,
  );
  const skippedTooMuch = process.env.REQUIRE_ALL === '1' && counts.skipped > 0;
  process.exitCode = counts.failed > 0 || skippedTooMuch ? 1 : run.status;
} catch (error) {
  fail(error);
}

async function runVitest(node, report, args) {
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
    { cwd: ROOT, stdio: 'inherit', env: { ...process.env, NODE_ENV: 'test' } },
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

function replaced(files, again) {
  const byName = new Map(again.map((file) => [file.name, file]));
  return files.map((file) => byName.get(file.name) ?? file);
}

/** The tests that failed beside others and passed alone, a line each. */
function unsteady(before, after) {
  const passed = new Set(after.flatMap((file) => namesOf(file, 'passed')));
  const names = before.flatMap((file) => namesOf(file, 'failed')).filter((name) => passed.has(name));
  return names.map((name) => `Failed in parallel, passed alone: ${name}`).join('\n');
}

function namesOf(file, status) {
  const tests = file.assertionResults.filter((test) => test.status === status);
  return tests.map((test) => `${relative(ROOT, file.name)} > ${test.fullName}`);
}

/** A file that could not be loaded, a test that never ended and a run that broke off count as failed. */
function count({ files, status }) {
  const tests = files.flatMap((file) => file.assertionResults.map((test) => test.status));
  const passed = tests.filter((status) => status === 'passed').length;
  const skipped = tests.filter((status) => ['skipped', 'todo', 'disabled'].includes(status)).length;
  const broken = files.filter((file) => file.status === 'failed' && namesOf(file, 'failed').length === 0).length;
  const failed = tests.length - passed - skipped + broken;
  return { passed, skipped, failed: failed === 0 && status !== 0 ? 1 : failed };
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

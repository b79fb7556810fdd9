// Outcomes of tests, from the JSON reports of vitest: of all files, and then of the failed files alone.

/** The reports of the files as they stand after the rerun. */
export function latest(files, again) {
  const rerun = new Map(again.map((file) => [file.name, file]));
  return files.map((file) => rerun.get(file.name) ?? file);
}

/** Names of the tests that failed and then passed alone, and of files that could not be loaded and then could. */
export function flakyTests(files, again) {
  const rerun = new Map(again.map((file) => [file.name, file]));
  return files.flatMap((before) => {
    const after = rerun.get(before.name);
    if (after === undefined) return [];
    if (isBroken(before)) return after.status === 'passed' ? [before.name] : [];
    const failed = new Set(namesOf(before, 'failed'));
    return namesOf(after, 'passed').filter((name) => failed.has(name));
  });
}

/** The failed tests, and files that failed although none of their tests did, each with the first line of its error. */
export function failures(files) {
  const firstLine = (message = '') => message.split('\n', 1)[0];
  return files.flatMap((file) => {
    if (isBroken(file)) return [{ name: file.name, error: firstLine(file.message) }];
    const failed = file.assertionResults.filter((test) => test.status === 'failed');
    return failed.map((test) => ({
      name: `${file.name} > ${test.fullName}`,
      error: firstLine(test.failureMessages[0]),
    }));
  });
}

/**
 * The final counts; a flaky test is not among the passed ones. A file that could not be loaded, a test that never
 * ended and a run that broke off, as its exit `status` shows, count as failed.
 */
export function count({ files, flaky, status }) {
  const states = files.flatMap((file) => file.assertionResults.map((test) => test.status));
  const skipped = states.filter((state) => ['skipped', 'todo', 'disabled'].includes(state)).length;
  const done = states.filter((state) => state === 'passed').length;
  const failed = states.length - done - skipped + files.filter(isBroken).length;
  const flakyInFiles = flaky.filter((name) => !files.some((file) => file.name === name)).length;
  return { passed: done - flakyInFiles, failed: failed === 0 && status !== 0 ? 1 : failed, skipped };
}

/** Whether a file failed although none of its tests did: it could not be loaded, or a hook failed. */
function isBroken(file) {
  return file.status === 'failed' && namesOf(file, 'failed').length === 0;
}

function namesOf(file, status) {
  const tests = file.assertionResults.filter((test) => test.status === status);
  return tests.map((test) => `${file.name} > ${test.fullName}`);
}

// `npm start`: sets up what is missing, then runs the launcher on Node 24 and stays until it has ended.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fail, ROOT, setUp } from './setup.mjs';

/** How often it looks whether npm, which started it, is still there. */
const PARENT_CHECK_MS = 2000;

try {
  runLauncher(await setUp());
} catch (error) {
  fail(error);
}

function runLauncher(node) {
  const launcher = spawn(node, [join(ROOT, 'apps/launcher/src/main.ts'), ...process.argv.slice(2)], {
    // A group of its own, so that Ctrl-C reaches the launcher once, from here, and not every program at the same time.
    // The channel tells it when this process has ended, whatever ended it.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => launcher.kill(signal));
  stopWithNpm(launcher);
  launcher.once('error', fail);
  launcher.once('exit', (code, signal) => {
    if (signal === 'SIGKILL') console.error('The launcher was killed; what it started is ending.');
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
  });
}

/** A killed npm can't pass anything on, but then this process gets another parent. */
function stopWithNpm(launcher) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) launcher.kill('SIGTERM');
  }, PARENT_CHECK_MS).unref();
}

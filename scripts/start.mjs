// `postroom start`: prepares what is missing, runs the launcher on Node 24 and exits when it does.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { dashboardBuilt } from './dashboard.mjs';
import { fail, ROOT, setUp } from './setup.mjs';

/** Interval at which to check that npm, our parent, is still running. */
const PARENT_CHECK_MS = 5000;

export async function start(args) {
  const node = await setUp();
  // The build takes a minute, so what would keep the launcher from starting is reported before it.
  await dashboardBuilt(node, () => check(node, args));
  runLauncher(node, args);
}

function check(node, args) {
  const { status } = spawnSync(node, [join(ROOT, 'apps/launcher/src/check.ts'), ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function runLauncher(node, args) {
  const launcher = spawn(node, [join(ROOT, 'apps/launcher/src/main.ts'), ...args], {
    // Its own process group, so that Ctrl-C reaches only the launcher, from here. The IPC channel tells it when
    // this process exits.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => launcher.kill(signal));
  stopWithNpm(launcher);
  launcher.once('error', fail);
  launcher.once('exit', (code, signal) => {
    if (signal === 'SIGKILL') console.error('The launcher was killed; the programs it started are stopping.');
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
  });
}

/** A killed npm can't forward a signal, but this process, or the shell between the two, is then re-parented. */
function stopWithNpm(launcher) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const shell = isShell(process.ppid) ? process.ppid : undefined;
  const parent = () => (shell === undefined ? process.ppid : parentOf(shell));
  const npm = parent();
  setInterval(() => {
    if (parent() !== npm) launcher.kill('SIGTERM');
  }, PARENT_CHECK_MS).unref();
}

function isShell(pid) {
  return /(^|\/|-)(ba|da|z|k)?sh$/.test(ps(pid, 'comm'));
}

function parentOf(pid) {
  return Number(ps(pid, 'ppid'));
}

/** On Linux /proc has the parent pid, which saves spawning a process every few seconds. */
function ps(pid, field) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    if (field === 'comm') return stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
  } catch {
    return spawnSync('ps', ['-p', String(pid), '-o', `${field}=`], { encoding: 'utf8' }).stdout?.trim() ?? '';
  }
}

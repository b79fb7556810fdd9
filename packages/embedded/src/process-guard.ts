// Runs an external program (PostgreSQL or Temporal) and stops it when our parent exits, even by `kill -9`, because
// that closes the IPC channel. Its only argument is the command to run, as JSON.
import { spawn } from 'node:child_process';
import { openSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import type { GuardedProgram } from './programs.ts';

const kept = JSON.parse(process.argv[2] ?? '') as GuardedProgram;
const log = openSync(kept.logFile, 'a');
const child = spawn(kept.command, kept.args, {
  cwd: kept.folder,
  env: { ...process.env, ...kept.env },
  ...kept.user,
  stdio: ['ignore', log, log],
});

let stopping = false;
function stop(): void {
  if (stopping) return;
  stopping = true;
  child.kill(kept.stopSignal);
  setTimeout(() => child.kill('SIGKILL'), kept.stopTimeoutMs).unref();
}

child.once('spawn', () => process.send?.({ keeps: child.pid }, undefined, {}, () => {}));
child.once('error', (error) => {
  process.stderr.write(`${kept.command} failed to start: ${error.message}\n`);
  process.exitCode = 127;
  process.disconnect?.();
});
child.once('exit', (code, signal) => {
  if (kept.removeAfter !== undefined) rmSync(kept.removeAfter, { recursive: true, force: true });
  process.exit(code ?? 128 + constants.signals[signal as NodeJS.Signals]);
});
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
process.on('disconnect', stop);

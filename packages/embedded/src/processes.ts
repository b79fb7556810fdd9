import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** Identifies a process across time: a pid alone may be reused. */
export interface ProcessId {
  pid: number;
  /** Start time, as reported by the system. */
  started: string;
}

/** The process that currently has this pid; `undefined` if none. */
export function processId(pid: number): ProcessId | undefined {
  const started = process.platform === 'linux' ? startedOnLinux(pid) : startedByPs(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isRunning({ pid, started }: ProcessId): boolean {
  return processId(pid)?.started === started;
}

/** Waits up to `timeoutMs` until all have exited; returns those still running. */
export async function waitForEnd(processes: readonly ProcessId[], timeoutMs: number): Promise<ProcessId[]> {
  const deadline = Date.now() + timeoutMs;
  let running = processes.filter(isRunning);
  while (running.length > 0 && Date.now() < deadline) {
    await sleep(50);
    running = running.filter(isRunning);
  }
  return running;
}

/** Sends a signal. Ignores processes that have already exited. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The command line of a process; empty if it has exited. */
export function commandLine(pid: number): string {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).stdout ?? '';
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function startedOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may contain spaces.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : fields[18];
  } catch {
    return undefined;
  }
}

function startedByPs(pid: number): string | undefined {
  const { stdout } = spawnSync('ps', ['-p', String(pid), '-o', 'stat=,lstart='], { encoding: 'utf8' });
  const [, state, started] = /^\s*(\S+)\s+(.+?)\s*$/.exec(stdout ?? '') ?? [];
  return state === undefined || state.startsWith('Z') ? undefined : started;
}

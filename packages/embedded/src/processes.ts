import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process as it can be found again: systems give a pid to another process once its owner has ended. */
export interface ProcessId {
  pid: number;
  /** When it started, in the system's own words. */
  started: string;
}

/** The process that has this pid now; `undefined` when it has ended. */
export function processId(pid: number): ProcessId | undefined {
  const started = process.platform === 'linux' ? startedOnLinux(pid) : startedByPs(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isRunning({ pid, started }: ProcessId): boolean {
  return processId(pid)?.started === started;
}

/** Waits until all have ended, `timeoutMs` at most; returns those that have not. */
export async function waitForEnd(processes: readonly ProcessId[], timeoutMs: number): Promise<ProcessId[]> {
  const deadline = Date.now() + timeoutMs;
  let running = processes.filter(isRunning);
  while (running.length > 0 && Date.now() < deadline) {
    await sleep(50);
    running = running.filter(isRunning);
  }
  return running;
}

/** Sends a signal; a process that has ended meanwhile is what the sender wanted. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** With what a process was started; empty when it has ended. */
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
    // The second field is the program's name in brackets, and may hold spaces; the others follow it.
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

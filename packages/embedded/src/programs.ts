import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from './errors.ts';
import { lastLines, logSize } from './logs.ts';
import { processId, type ProcessId, signal, waitForEnd } from './processes.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Readiness poll interval, in milliseconds. */
const PROBE_MS = 50;
/** Grace period beyond the program's own drain limit before it is killed. */
const STOP_GRACE_MS = 2000;

/** One of the programs that make up a running Postroom. */
export interface Program {
  /** Its display name. */
  title: string;
  /** Log file; the program appends to it. */
  logFile: string;
  /** Holds its process ids while it runs, so that a later start finds leftovers of a killed launcher. */
  runFile?: string;
  /** Runs before each start. */
  prepare?: () => Promise<void>;
  /** Spawns the Node process: the program itself or its process guard. The IPC channel tells it when we exit. */
  start: () => ChildProcess;
  /** Polled until true. @throws StartError if it can never become true. */
  isReady: (child: ChildProcess) => Promise<boolean>;
  startTimeoutMs: number;
  stopTimeoutMs: number;
}

/** An external program, run under the process guard. */
export interface GuardedProgram {
  command: string;
  args: string[];
  folder: string;
  env: Record<string, string>;
  user?: { uid: number; gid: number };
  logFile: string;
  stopSignal: NodeJS.Signals;
  stopTimeoutMs: number;
  /** A folder to remove after the program has exited. */
  removeAfter?: string;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Running {
  /** Of the Node process: the program itself or its process guard. */
  pid: number;
  exited: Promise<Exit>;
  /** Stops the program, kills it after a timeout, and waits until it has exited. */
  stop: () => Promise<void>;
}

/** How a program is started: once (`run`), or restarted whenever it exits (`supervise`). */
export type Start = (program: Program) => Promise<{ stop: () => Promise<void> }>;

/**
 * Starts a program and waits until it is ready.
 * @throws StartError with its last error if it exits first or times out.
 */
export async function run(program: Program, aborted?: AbortSignal): Promise<Running> {
  await program.prepare?.();
  aborted?.throwIfAborted();
  const offset = logSize(program.logFile);
  const child = program.start();
  const running = follow(program, child);
  try {
    await untilReady(program, child, running, offset, aborted);
    return running;
  } catch (error) {
    await running.stop();
    throw error;
  }
}

/**
 * Node's compile cache, which includes our type-stripped TypeScript. It halves startup time and avoids loading the
 * 20 MB type stripper. Node writes it on exit.
 */
export const COMPILED = { NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/postroom/compiled') };

/** Starts one of our own programs, which reports readiness with an IPC message. */
export function startNode(
  entry: string,
  args: string[],
  logFile: string,
  env: NodeJS.ProcessEnv,
  flags: readonly string[] = [],
): ChildProcess {
  const log = openSync(logFile, 'a');
  // Its own process group: a terminal's Ctrl-C must not reach it before the launcher stops it.
  const options = {
    cwd: ROOT,
    env: { ...COMPILED, ...env },
    detached: true,
    stdio: ['ignore', log, log, 'ipc'] as ['ignore', number, number, 'ipc'],
  };
  const child = spawn(process.execPath, [...flags, entry, ...args], options);
  closeSync(log);
  return child;
}

export function startGuarded(kept: GuardedProgram): ChildProcess {
  return startNode(join(import.meta.dirname, 'process-guard.ts'), [JSON.stringify(kept)], kept.logFile, process.env);
}

/** Describes an exit, to follow the program's name. */
export function exitText({ code, signal: by }: Exit): string {
  const name = by ?? Object.entries(constants.signals).find(([, number]) => code === 128 + number)?.[0];
  return name === undefined ? `exited with status ${code}` : `was terminated by ${name}`;
}

function follow(program: Program, child: ChildProcess): Running {
  const processes = [identify(child.pid)];
  const remember = () => {
    const known = processes.filter((id) => id !== undefined);
    if (program.runFile !== undefined) writeFileSync(program.runFile, JSON.stringify(known));
    return known;
  };
  remember();
  child.on('message', (message: { keeps?: number }) => {
    if (message.keeps === undefined) return;
    processes.push(identify(message.keeps));
    remember();
  });
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', () => resolve({ code: 127, signal: null }));
    child.once('exit', async (code, by) => {
      await endKept(remember());
      if (program.runFile !== undefined) rmSync(program.runFile, { force: true });
      resolve({ code, signal: by });
    });
  });
  return { pid: child.pid ?? 0, exited, stop: () => stop(program, child, exited) };
}

function identify(pid: number | undefined): ProcessId | undefined {
  return pid === undefined ? undefined : processId(pid);
}

/** A killed process guard leaves its program running, and two must never run on the same data. */
async function endKept([, kept]: ProcessId[]): Promise<void> {
  if (kept === undefined) return;
  const left = await waitForEnd([kept], 0);
  for (const { pid } of left) signal(pid, 'SIGKILL');
  await waitForEnd(left, STOP_GRACE_MS);
}

async function stop(program: Program, child: ChildProcess, exited: Promise<Exit>): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), program.stopTimeoutMs + STOP_GRACE_MS);
  await exited;
  clearTimeout(timer);
}

async function untilReady(
  program: Program,
  child: ChildProcess,
  running: Running,
  offset: number,
  aborted?: AbortSignal,
) {
  let exit: Exit | undefined;
  void running.exited.then((value) => (exit = value));
  const deadline = Date.now() + program.startTimeoutMs;
  while (!(await program.isReady(child))) {
    aborted?.throwIfAborted();
    if (exit !== undefined) throw notStarted(program, exitText(exit), offset);
    if (Date.now() > deadline)
      throw notStarted(program, `was not ready after ${program.startTimeoutMs / 1000} s`, offset);
    await sleep(PROBE_MS);
  }
}

function notStarted({ title, logFile }: Program, what: string, offset: number): StartError {
  const words = lastLines(logFile, offset);
  return new StartError(
    `${title} could not start: it ${what}${words === undefined ? '' : `, last error "${words}"`}. See ${logFile}.`,
  );
}

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from './errors.ts';
import { lastLines, logSize } from './logs.ts';
import { processId, type ProcessId, signal, waitForEnd } from './processes.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** How often a program that is starting is asked whether it is ready. */
const PROBE_MS = 50;
/** Time beyond its own bound that a program gets to end before it is killed. */
const STOP_GRACE_MS = 2000;

/** One of the programs that make up a running Postroom. */
export interface Program {
  /** What people call it. */
  title: string;
  /** It appends what it has to say. */
  logFile: string;
  /** Its process ids are kept here while it runs, so that a later start finds what a killed launcher left. */
  runFile?: string;
  /** Done before each start. */
  prepare?: () => Promise<void>;
  /** Starts the Node process that is it, or keeps it. The channel to it tells it when this process has ended. */
  start: () => ChildProcess;
  /** Asked again and again until it is true. @throws StartError when it never will be. */
  isReady: (child: ChildProcess) => Promise<boolean>;
  startTimeoutMs: number;
  stopTimeoutMs: number;
}

/** A program that is not ours and runs under the keeper. */
export interface GuardedProgram {
  command: string;
  args: string[];
  folder: string;
  env: Record<string, string>;
  user?: { uid: number; gid: number };
  logFile: string;
  stopSignal: NodeJS.Signals;
  stopTimeoutMs: number;
  /** A folder to remove once it has ended. */
  removeAfter?: string;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Running {
  /** Of the Node process that is it, or keeps it. */
  pid: number;
  exited: Promise<Exit>;
  /** Ends it, by force when it takes too long, and waits until it has ended. */
  stop: () => Promise<void>;
}

/** How a program is started: once (`run`), or again whenever it ends (`supervise`). */
export type Start = (program: Program) => Promise<{ stop: () => Promise<void> }>;

/**
 * Starts a program and waits until it does its work.
 * @throws StartError with what it said last when it ends before that, or takes too long.
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
 * Where Node keeps what it has compiled, our TypeScript without its types too: a program that finds it there starts in half
 * the time, and does not load the compiler that takes types off, which is 20 MB. Node writes it when a program ends.
 */
export const COMPILED = { NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/postroom/compiled') };

/** Starts one of our own programs, which says by message when it is ready. */
export function startNode(
  entry: string,
  args: string[],
  logFile: string,
  env: NodeJS.ProcessEnv,
  flags: readonly string[] = [],
): ChildProcess {
  const log = openSync(logFile, 'a');
  // A group of its own: Ctrl-C in a terminal must not reach it before it is its turn to end.
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

/** What an end looked like, to say after the program's name. */
export function exitText({ code, signal: by }: Exit): string {
  const name = by ?? Object.entries(constants.signals).find(([, number]) => code === 128 + number)?.[0];
  return name === undefined ? `ended with status ${code}` : `was ended by ${name}`;
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

/** A keeper that was killed leaves its program behind, and two must never run on the same data. */
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
    `${title} could not start: it ${what}${words === undefined ? '' : ` and said "${words}"`}. More is in ${logFile}.`,
  );
}

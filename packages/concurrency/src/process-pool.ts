import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { DomainError } from '@postroom/errors';
import type { Message, Reply, Task } from './process-pool.child.ts';

/** A module's function with plain-data arguments and result, whose CPU time and memory untrusted input controls. */
export interface IsolatedFunction {
  /** As returned by `import.meta.resolve`. */
  module: string;
  name: string;
  /** CPU time limit in milliseconds; a call beyond it is terminated with its process. */
  timeLimitMs: number;
}

/** A failed call: it timed out, ran out of memory or threw. Retrying it with the same arguments does not help. */
export class IsolatedCallError extends Error {
  override readonly name = 'IsolatedCallError';
  /** Whether it was terminated by its time limit. */
  readonly isTimeout: boolean;

  constructor(message: string, { isTimeout = false } = {}) {
    super(message);
    this.isTimeout = isTimeout;
  }
}

/** Maximum processes. They start on demand and exit when idle. */
const MAX_PROCESSES = Math.max(3, Math.min(6, availableParallelism() - 1));
/** Maximum processes per caller; the rest stay available to others. */
const MAX_PROCESSES_PER_CALLER = MAX_PROCESSES - 1;
const MAX_QUEUED_PER_CALLER = 2_000;
const IDLE_MS = 30_000;
/** CPU time in which a process must have loaded a module, in milliseconds. The time limit of a call begins afterwards. */
const LOAD_MS = 60_000;
/** V8 ends the process of a call that needs more. Of a thread it would end the whole program, if it can't raise the limit far enough. */
const MAX_HEAP_MB = 512;
/** Wall-clock limit as a multiple of the CPU limit, for busy machines. */
const MAX_STRETCH = 5;

const ENTRY = new URL('process-pool.child.ts', import.meta.url);
/** A small young generation saves 40 MB in a process that compiles MJML. Debugging flags of this process are not passed on. */
const FLAGS = [`--max-old-space-size=${MAX_HEAP_MB}`, '--max-semi-space-size=8'];

/**
 * Runs a function in a pool of processes, so that its cost delays no request and no mail, and running out of memory ends no other
 * work. `caller` identifies the requester, such as a project; callers take turns, and none gets every process.
 * @throws IsolatedCallError as above; DomainError `rate_limited` if the caller has thousands of calls queued; Error if the process
 * could not be started or was killed.
 */
export function runIsolated<Args extends unknown[], Result>(
  { module, name, timeLimitMs }: IsolatedFunction,
  caller: string,
  ...args: Args
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const queue = queues.get(caller) ?? [];
    if (queue.length >= MAX_QUEUED_PER_CALLER)
      return reject(new DomainError('rate_limited', 'Too much content is waiting to be processed; try again later.'));
    queue.push({ caller, module, name, args, timeLimitMs, resolve: resolve as (value: unknown) => void, reject });
    queues.set(caller, queue);
    startNext();
  });
}

interface Call extends Task {
  caller: string;
  timeLimitMs: number;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** Queued calls by caller, least recently served first. */
const queues = new Map<string, Call[]>();
/** Processes in use by caller. */
const running = new Map<string, number>();
const idle: PoolProcess[] = [];
let processes = 0;

function startNext(): void {
  while (idle.length > 0 || processes < MAX_PROCESSES) {
    const call = nextCall();
    if (call === undefined) return;
    running.set(call.caller, (running.get(call.caller) ?? 0) + 1);
    try {
      (idle.pop() ?? new PoolProcess()).run(call);
    } catch (error) {
      recordEnd(call);
      call.reject(error as Error);
    }
  }
}

function nextCall(): Call | undefined {
  for (const [caller, queue] of queues) {
    if ((running.get(caller) ?? 0) >= MAX_PROCESSES_PER_CALLER) continue;
    const call = queue.shift();
    queues.delete(caller);
    if (queue.length > 0) queues.set(caller, queue);
    if (call !== undefined) return call;
  }
  return undefined;
}

function recordEnd({ caller }: Call): void {
  const left = (running.get(caller) ?? 1) - 1;
  if (left === 0) running.delete(caller);
  else running.set(caller, left);
}

class PoolProcess {
  readonly #child: ChildProcess;
  readonly #loaded = new Set<string>();
  #call: Call | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The process's CPU time before the call, in milliseconds. */
  #usedBefore = 0;

  constructor() {
    this.#child = fork(ENTRY, [], {
      serialization: 'advanced',
      execArgv: FLAGS,
      // Its own process group: a terminal's Ctrl-C must not reach it while this process drains.
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // No secrets.
      env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    });
    processes++;
    this.#child.on('message', (message: Message) => this.#receive(message));
    this.#child.on('error', (error) => this.#end(error));
    this.#child.on('exit', (code, signal) => this.#end(exitError(code, signal)));
  }

  run(call: Call): void {
    clearTimeout(this.#timer);
    this.#child.ref();
    this.#child.channel?.ref();
    this.#call = call;
    const { module, name, args, timeLimitMs } = call;
    this.#limit(call, this.#loaded.has(module) ? timeLimitMs : LOAD_MS);
    // Otherwise it could not be started or has just been killed, which an event reports.
    if (this.#child.connected) this.#child.send({ module, name, args } satisfies Task);
  }

  /** Ends the process once the call has used `limitMs` of CPU time. */
  #limit(call: Call, limitMs: number): void {
    clearTimeout(this.#timer);
    const startedAt = performance.now();
    const check = () => {
      const leftMs = limitMs - (usedMs(this.#child.pid) - this.#usedBefore);
      if (leftMs > 0 && performance.now() - startedAt < limitMs * MAX_STRETCH)
        this.#timer = setTimeout(check, Math.max(leftMs, 50));
      else this.#end(new IsolatedCallError(`It took more than ${limitMs / 1000} seconds.`, { isTimeout: true }));
    };
    this.#timer = setTimeout(check, limitMs);
  }

  #receive(message: Message): void {
    if (!('loaded' in message)) return this.#take(message);
    this.#loaded.add(message.loaded);
    this.#usedBefore = message.usedMs;
    if (this.#call !== undefined) this.#limit(this.#call, this.#call.timeLimitMs);
  }

  #take(reply: Reply): void {
    const call = this.#call;
    if (call === undefined) return;
    this.#call = undefined;
    this.#usedBefore = reply.usedMs;
    recordEnd(call);
    this.#rest();
    if ('error' in reply) call.reject(new IsolatedCallError(reply.error));
    else call.resolve(reply.value);
    startNext();
  }

  /** Keeps an idle process for a while without keeping ours alive. */
  #rest(): void {
    clearTimeout(this.#timer);
    this.#child.unref();
    this.#child.channel?.unref();
    this.#timer = setTimeout(() => this.#end(new Error('It was idle.')), IDLE_MS).unref();
    idle.push(this);
  }

  #end(error: Error): void {
    clearTimeout(this.#timer);
    this.#child.removeAllListeners();
    this.#child.on('error', () => {});
    processes--;
    const at = idle.indexOf(this);
    if (at !== -1) idle.splice(at, 1);
    const call = this.#call;
    // One that exits by itself saves the code that it has compiled.
    if (call === undefined) return this.#child.disconnect();
    this.#child.kill('SIGKILL');
    this.#call = undefined;
    recordEnd(call);
    call.reject(error);
    startNext();
  }
}

/** How V8 ends a process whose memory is exhausted. */
const OUT_OF_MEMORY = ['SIGABRT', 'SIGTRAP', 'SIGILL'];
/** How others end a process, which is not the fault of its call. */
const KILLED = ['SIGKILL', 'SIGTERM'];

function exitError(code: number | null, signal: string | null): Error {
  const how = signal ?? `status ${code}`;
  if (KILLED.includes(how)) return new Error(`A process of the pool was ended by ${how}.`);
  if (OUT_OF_MEMORY.includes(how)) return new IsolatedCallError(`It took more than ${MAX_HEAP_MB} MB of memory.`);
  return new IsolatedCallError(`It ended its process with ${how}.`);
}

/** A process's CPU time in milliseconds, which Linux reports in hundredths of a second. Elsewhere only the wall-clock limit holds. */
function usedMs(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14);
    return (Number(user) + Number(system)) * 10;
  } catch {
    return 0;
  }
}

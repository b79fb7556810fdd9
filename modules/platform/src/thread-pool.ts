import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { DomainError } from './errors.ts';
import type { ThreadReply, ThreadTask } from './thread-pool.thread.ts';

/** A function of a module whose arguments and result are plain data. It costs the CPU as much as outsiders make it. */
export interface ThreadFunction {
  /** As `import.meta.resolve` gives it. */
  module: string;
  name: string;
  /** A call that takes more CPU time is ended together with its thread, in milliseconds. */
  timeLimitMs: number;
}

/** Why a call came to nothing: it took too long, or threw. Calling again with the same arguments does not help. */
export class ThreadError extends Error {
  override readonly name = 'ThreadError';
  /** Whether it was ended because of its time limit. */
  readonly isTimeout: boolean;

  constructor(message: string, { isTimeout = false } = {}) {
    super(message);
    this.isTimeout = isTimeout;
  }
}

/** Threads at most. They are started when they are needed, and end when nothing needed them for a while. */
const MAX_THREADS = Math.max(3, Math.min(6, availableParallelism() - 1));
/** A caller uses so many of them at once at most, however much it asks for: the others are for the other callers. */
const MAX_THREADS_PER_CALLER = MAX_THREADS - 1;
const MAX_QUEUED_PER_CALLER = 2_000;
const IDLE_MS = 30_000;
/** A thread that has not loaded a module yet may take so much longer, in milliseconds. */
const LOAD_MS = 60_000;
const MAX_HEAP_MB = 512;
/** On a busy machine a call may take so many times its limit until it has had the CPU for so long. */
const MAX_STRETCH = 5;

/**
 * Lets a function run on a thread of its own process's pool, so that what it costs delays no request and no mail. `caller` is
 * whoever asked for it, such as a project: callers take turns, and none has all threads.
 * @throws ThreadError as above; DomainError `rate_limited` when the caller has thousands of calls waiting.
 */
export function onThread<Args extends unknown[], Result>(
  { module, name, timeLimitMs }: ThreadFunction,
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

interface Call extends ThreadTask {
  caller: string;
  timeLimitMs: number;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** What waits, by caller; who had a turn last comes last. */
const queues = new Map<string, Call[]>();
/** How many threads each caller has. */
const running = new Map<string, number>();
const idle: Thread[] = [];
let threads = 0;

function startNext(): void {
  while (idle.length > 0 || threads < MAX_THREADS) {
    const call = nextCall();
    if (call === undefined) return;
    running.set(call.caller, (running.get(call.caller) ?? 0) + 1);
    (idle.pop() ?? new Thread()).run(call);
  }
}

function nextCall(): Call | undefined {
  for (const [caller, queue] of queues) {
    if ((running.get(caller) ?? 0) >= MAX_THREADS_PER_CALLER) continue;
    const call = queue.shift();
    queues.delete(caller);
    if (queue.length > 0) queues.set(caller, queue);
    if (call !== undefined) return call;
  }
  return undefined;
}

function ended({ caller }: Call): void {
  const left = (running.get(caller) ?? 1) - 1;
  if (left === 0) running.delete(caller);
  else running.set(caller, left);
}

class Thread {
  readonly #worker: Worker;
  readonly #loaded = new Set<string>();
  #call: Call | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** CPU time that the thread had used before the call, in milliseconds. */
  #usedBefore = 0;

  constructor() {
    threads++;
    this.#worker = new Worker(new URL('thread-pool.thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      execArgv: [],
    });
    this.#worker.on('message', (reply: ThreadReply) => this.#take(reply));
    this.#worker.on('error', (error) => this.#end(new ThreadError(error.message)));
    this.#worker.on('exit', () => this.#end(new ThreadError('The thread ended.')));
  }

  run(call: Call): void {
    clearTimeout(this.#timer);
    this.#worker.ref();
    this.#call = call;
    const { module, name, args, timeLimitMs } = call;
    const limitMs = timeLimitMs + (this.#loaded.has(module) ? 0 : LOAD_MS);
    const startedAt = performance.now();
    const check = async () => {
      const { user, system } = await this.#worker.cpuUsage().catch(() => ({ user: Infinity, system: 0 }));
      if (this.#call !== call) return;
      const leftMs = limitMs - ((user + system) / 1_000 - this.#usedBefore);
      if (leftMs > 0 && performance.now() - startedAt < limitMs * MAX_STRETCH)
        this.#timer = setTimeout(() => void check(), Math.max(leftMs, 50));
      else this.#end(new ThreadError(`It took more than ${timeLimitMs / 1000} seconds.`, { isTimeout: true }));
    };
    this.#timer = setTimeout(() => void check(), limitMs);
    this.#worker.postMessage({ module, name, args } satisfies ThreadTask);
  }

  #take(reply: ThreadReply): void {
    const call = this.#call;
    if (call === undefined) return;
    this.#call = undefined;
    this.#loaded.add(call.module);
    this.#usedBefore = reply.usedMs;
    ended(call);
    this.#rest();
    if ('error' in reply) call.reject(new ThreadError(reply.error));
    else call.resolve(reply.value);
    startNext();
  }

  /** Waits for the next call, for a while; meanwhile it keeps no process alive. */
  #rest(): void {
    clearTimeout(this.#timer);
    this.#worker.unref();
    this.#timer = setTimeout(() => this.#end(new ThreadError('It was idle.')), IDLE_MS).unref();
    idle.push(this);
  }

  #end(error: ThreadError): void {
    clearTimeout(this.#timer);
    this.#worker.removeAllListeners();
    this.#worker.on('error', () => {});
    void this.#worker.terminate();
    threads--;
    const at = idle.indexOf(this);
    if (at !== -1) idle.splice(at, 1);
    const call = this.#call;
    if (call === undefined) return;
    this.#call = undefined;
    ended(call);
    call.reject(error);
    startNext();
  }
}

import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { DomainError } from '@postroom/errors';
import type { ThreadMessage, ThreadReply, ThreadTask } from './thread-pool.thread.ts';

/** A module's function with plain-data arguments and result, whose CPU cost untrusted input controls. */
export interface ThreadFunction {
  /** As returned by `import.meta.resolve`. */
  module: string;
  name: string;
  /** CPU time limit in milliseconds; a call beyond it is terminated with its thread. */
  timeLimitMs: number;
}

/** A failed call: it timed out or threw. Retrying it with the same arguments does not help. */
export class ThreadError extends Error {
  override readonly name = 'ThreadError';
  /** Whether it was terminated by its time limit. */
  readonly isTimeout: boolean;

  constructor(message: string, { isTimeout = false } = {}) {
    super(message);
    this.isTimeout = isTimeout;
  }
}

/** Maximum threads. They start on demand and exit when idle. */
const MAX_THREADS = Math.max(3, Math.min(6, availableParallelism() - 1));
/** Maximum threads per caller; the rest stay available to others. */
const MAX_THREADS_PER_CALLER = MAX_THREADS - 1;
const MAX_QUEUED_PER_CALLER = 2_000;
const IDLE_MS = 30_000;
/** CPU time in which a thread must have loaded a module, in milliseconds. The time limit of a call begins afterwards. */
const LOAD_MS = 60_000;
/** Beyond it a thread ends with its call. A call that needs far more at once ends the process, so functions must bound what they allocate. */
const MAX_HEAP_MB = 512;
/** Wall-clock limit as a multiple of the CPU limit, for busy machines. */
const MAX_STRETCH = 5;

/**
 * Runs a function on a thread pool, so that its cost delays no request and no mail. `caller` identifies the
 * requester, such as a project; callers take turns, and none gets every thread.
 * @throws ThreadError as above; DomainError `rate_limited` if the caller has thousands of calls queued.
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

/** Queued calls by caller, least recently served first. */
const queues = new Map<string, Call[]>();
/** Threads in use by caller. */
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

function recordEnd({ caller }: Call): void {
  const left = (running.get(caller) ?? 1) - 1;
  if (left === 0) running.delete(caller);
  else running.set(caller, left);
}

class Thread {
  readonly #worker: Worker;
  readonly #loaded = new Set<string>();
  #call: Call | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The thread's CPU time before the call, in milliseconds. */
  #usedBefore = 0;

  constructor() {
    threads++;
    this.#worker = new Worker(new URL('thread-pool.thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      execArgv: [],
    });
    this.#worker.on('message', (message: ThreadMessage) => this.#receive(message));
    this.#worker.on('error', (error) => this.#end(new ThreadError(error.message)));
    this.#worker.on('exit', () => this.#end(new ThreadError('The thread ended.')));
  }

  run(call: Call): void {
    clearTimeout(this.#timer);
    this.#worker.ref();
    this.#call = call;
    const { module, name, args, timeLimitMs } = call;
    this.#limit(call, this.#loaded.has(module) ? timeLimitMs : LOAD_MS);
    this.#worker.postMessage({ module, name, args } satisfies ThreadTask);
  }

  /** Ends the thread once the call has used `limitMs` of CPU time. */
  #limit(call: Call, limitMs: number): void {
    clearTimeout(this.#timer);
    const startedAt = performance.now();
    const check = async () => {
      const { user, system } = await this.#worker.cpuUsage().catch(() => ({ user: Infinity, system: 0 }));
      if (this.#call !== call || this.#timer !== timer) return;
      const leftMs = limitMs - ((user + system) / 1_000 - this.#usedBefore);
      if (leftMs > 0 && performance.now() - startedAt < limitMs * MAX_STRETCH)
        timer = this.#timer = setTimeout(() => void check(), Math.max(leftMs, 50));
      else this.#end(new ThreadError(`It took more than ${limitMs / 1000} seconds.`, { isTimeout: true }));
    };
    let timer = (this.#timer = setTimeout(() => void check(), limitMs));
  }

  #receive(message: ThreadMessage): void {
    if (!('loaded' in message)) return this.#take(message);
    this.#loaded.add(message.loaded);
    this.#usedBefore = message.usedMs;
    if (this.#call !== undefined) this.#limit(this.#call, this.#call.timeLimitMs);
  }

  #take(reply: ThreadReply): void {
    const call = this.#call;
    if (call === undefined) return;
    this.#call = undefined;
    this.#usedBefore = reply.usedMs;
    recordEnd(call);
    this.#rest();
    if ('error' in reply) call.reject(new ThreadError(reply.error));
    else call.resolve(reply.value);
    startNext();
  }

  /** Keeps an idle thread for a while without keeping the process alive. */
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
    recordEnd(call);
    call.reject(error);
    startNext();
  }
}

import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './options.ts';
import { COMPILED, type Start, startNode } from '@postroom/embedded';

/** The worker bundles workflows at startup, which is slow on a small machine. */
const START_TIMEOUT_MS = 120_000;
/** Our programs bound their own drain (`DRAIN_MS` of @postroom/platform); this allows slightly more. */
const STOP_TIMEOUT_MS = 28_000;

export interface App {
  title: string;
  /** Its folder in apps/. */
  name: 'gateway' | 'inbox' | 'bounces' | 'submission' | 'worker';
  env: NodeJS.ProcessEnv;
  logFile: string;
  runFile?: string;
  /** Readiness URL; returns 200 once the program can do all its work. */
  readyUrl?: string;
}

/**
 * Limits memory per process: a young generation of a few MB instead of 64, twice because workflows have their own
 * heap; an old generation of 512 MB at most; two V8 worker threads; two glibc arenas, with freed memory returned to
 * the system. docs/performance.md lists the savings.
 */
export const SMALL_MEMORY = {
  flags: ['--max-semi-space-size=8', '--no-parallel-scavenge', '--max-old-space-size=512', '--v8-pool-size=2'],
  env: { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072', ...COMPILED },
} as const;

/** Our programs report readiness with an IPC message. */
const ready = new WeakSet<ChildProcess>();

/**
 * Starts one of the programs in apps/.
 * @throws StartError if it does not start.
 */
export async function startApp(start: Start, { title, name, env, logFile, runFile, readyUrl }: App) {
  return start({
    title,
    logFile,
    runFile,
    start: () => {
      const small = name === 'worker' ? SMALL_MEMORY : { flags: [], env: {} };
      const entry = join(ROOT, 'apps', name, 'src/main.ts');
      const child = startNode(entry, [], logFile, { ...small.env, ...env }, small.flags);
      child.on('message', (message: { ready?: boolean }) => message.ready === true && ready.add(child));
      return child;
    },
    isReady: async (child) => ready.has(child) && (readyUrl === undefined || (await answersOk(readyUrl))),
    startTimeoutMs: START_TIMEOUT_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS,
  });
}

async function answersOk(url: string): Promise<boolean> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(5000) });
    await reply.arrayBuffer();
    return reply.ok;
  } catch {
    return false;
  }
}

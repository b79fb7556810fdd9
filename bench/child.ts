import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** A program that reports over IPC that it is ready, and exits with this process. */
export interface Child {
  process: ChildProcess;
  pid: number;
  /** Its ready message. */
  ready: unknown;
  /** Sends a request that it answers with one message; one request at a time. */
  ask: <Reply>(request: unknown) => Promise<Reply>;
  /** Sends a message without a reply. */
  tell: (word: unknown) => void;
  stop: (signal?: NodeJS.Signals) => Promise<void>;
}

/** Starts a program of this folder or another, and waits until it is ready. */
export async function startChild(
  path: string,
  env: NodeJS.ProcessEnv = process.env,
  execArgv: readonly string[] = [],
): Promise<Child> {
  const child = spawn(process.execPath, [...execArgv, join(import.meta.dirname, path)], {
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ready = await new Promise<unknown>((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`${path} ended with ${code} before it was ready.`)));
  });
  return {
    process: child,
    pid: child.pid ?? 0,
    ready,
    ask: <Reply>(request: unknown) =>
      new Promise<Reply>((resolve, reject) => {
        const gone = () => reject(new Error(`${path} has ended.`));
        child.once('exit', gone);
        child.once('message', (reply) => {
          child.off('exit', gone);
          resolve(reply as Reply);
        });
        child.send(request as object);
      }),
    tell: (word) => void child.send(word as object),
    stop: async (signal = 'SIGTERM') => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill(signal);
      await gone;
    },
  };
}

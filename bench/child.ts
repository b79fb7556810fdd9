import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** A program of this folder, or of another one, that says over its channel that it is ready and ends with this process. */
export interface Child {
  process: ChildProcess;
  pid: number;
  /** What it said when it was ready. */
  ready: unknown;
  /** Asks it something that it answers with one message; one question at a time. */
  ask: <Answer>(question: unknown) => Promise<Answer>;
  /** Tells it something. */
  tell: (word: unknown) => void;
  stop: (signal?: NodeJS.Signals) => Promise<void>;
}

/** Starts a program and waits until it is ready. */
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
    ask: <Answer>(question: unknown) =>
      new Promise<Answer>((resolve, reject) => {
        const gone = () => reject(new Error(`${path} has ended.`));
        child.once('exit', gone);
        child.once('message', (answer) => {
          child.off('exit', gone);
          resolve(answer as Answer);
        });
        child.send(question as object);
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

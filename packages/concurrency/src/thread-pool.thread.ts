// A pool thread: calls module functions, one after another.
import { parentPort } from 'node:worker_threads';

export interface ThreadTask {
  module: string;
  name: string;
  args: unknown[];
}

/** The result of a call, and the thread's total CPU time in milliseconds. */
export type ThreadReply = ({ value: unknown } | { error: string }) & { usedMs: number };

parentPort?.on('message', (task: ThreadTask) => {
  void run(task).then((result) => {
    const { user, system } = process.threadCpuUsage();
    parentPort?.postMessage({ ...result, usedMs: (user + system) / 1_000 } satisfies ThreadReply);
  });
});

async function run({ module, name, args }: ThreadTask): Promise<{ value: unknown } | { error: string }> {
  try {
    const functions = (await import(module)) as Record<string, (...given: unknown[]) => unknown>;
    return { value: await functions[name]?.(...args) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

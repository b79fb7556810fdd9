// A pool thread: calls module functions, one after another.
import { parentPort } from 'node:worker_threads';

export interface ThreadTask {
  module: string;
  name: string;
  args: unknown[];
}

/** The result of a call, and the thread's total CPU time in milliseconds. */
export type ThreadReply = ({ value: unknown } | { error: string }) & { usedMs: number };

/** What a thread sends: that it has loaded a module, with its total CPU time in milliseconds, or the result of a call. */
export type ThreadMessage = { loaded: string; usedMs: number } | ThreadReply;

const loaded = new Set<string>();

parentPort?.on('message', (task: ThreadTask) => {
  void run(task).then((result) => send({ ...result, usedMs: usedMs() }));
});

async function run({ module, name, args }: ThreadTask): Promise<{ value: unknown } | { error: string }> {
  try {
    const functions = (await import(module)) as Record<string, (...given: unknown[]) => unknown>;
    if (!loaded.has(module)) {
      loaded.add(module);
      send({ loaded: module, usedMs: usedMs() });
    }
    return { value: await functions[name]?.(...args) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

const send = (message: ThreadMessage) => parentPort?.postMessage(message);

function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

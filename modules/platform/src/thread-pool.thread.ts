// What a thread of the pool does: it calls functions of modules, one after another.
import { parentPort } from 'node:worker_threads';

export interface ThreadTask {
  module: string;
  name: string;
  args: unknown[];
}

export type ThreadReply = { value: unknown } | { error: string };

parentPort?.on('message', (task: ThreadTask) => {
  void run(task).then((reply) => parentPort?.postMessage(reply));
});

async function run({ module, name, args }: ThreadTask): Promise<ThreadReply> {
  try {
    const functions = (await import(module)) as Record<string, (...given: unknown[]) => unknown>;
    return { value: await functions[name]?.(...args) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

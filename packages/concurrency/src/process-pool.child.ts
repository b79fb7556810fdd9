// A process of the pool: calls module functions, one after another, until its parent ends.
import { writeFileSync } from 'node:fs';

export interface Task {
  module: string;
  name: string;
  args: unknown[];
}

/** The result of a call, and the process's total CPU time in milliseconds. */
export type Reply = ({ value: unknown } | { error: string }) & { usedMs: number };

/** What a process sends: that it has loaded a module, with its total CPU time in milliseconds, or the result of a call. */
export type Message = { loaded: string; usedMs: number } | Reply;

const loaded = new Set<string>();

// systemd sends it to all processes of a service at once, and the parent needs this one while it drains.
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit());
process.on('message', (task: Task) => void run(task).then((result) => send({ ...result, usedMs: usedMs() })));
endFirst();

async function run({ module, name, args }: Task): Promise<{ value: unknown } | { error: string }> {
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

const send = (message: Message) => process.send?.(message);

function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** When memory runs out, Linux ends this process rather than its parent. */
function endFirst(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Other systems have no such file.
  }
}

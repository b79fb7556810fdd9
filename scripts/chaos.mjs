// `npm run chaos`: sets up what is missing, then kills what runs, on Node 24, and ends as it does.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fail, ROOT, setUp } from './setup.mjs';

try {
  const node = await setUp();
  // The channel tells it when this process has ended, whatever ended it.
  const chaos = spawn(node, [join(ROOT, 'scripts/chaos/main.ts'), ...process.argv.slice(2)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  // Ctrl-C reaches it from the terminal, as part of the same group; it ends what it started, and then this ends.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => chaos.kill(signal));
  chaos.once('error', fail);
  chaos.once('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
} catch (error) {
  fail(error);
}

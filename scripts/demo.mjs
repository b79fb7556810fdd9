// `npm run demo`: sets up what is missing, then runs the demo on Node 24 and ends as it does.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fail, ROOT, setUp } from './setup.mjs';

try {
  const node = await setUp();
  // The channel tells the demo when this process has ended, whatever ended it.
  const demo = spawn(node, [join(ROOT, 'scripts/demo/main.ts'), ...process.argv.slice(2)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  // Ctrl-C reaches the demo from the terminal, as part of the same group; it ends what it started, and then this ends.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => demo.kill(signal));
  demo.once('error', fail);
  demo.once('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
} catch (error) {
  fail(error);
}

// `npm stop`: ends the Postroom that runs on a data folder, and waits until it has.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fail, modernNode, ROOT } from './setup.mjs';

try {
  const stop = spawn(modernNode(), [join(ROOT, 'apps/launcher/src/stop.ts'), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  stop.once('error', fail);
  stop.once('exit', (code) => process.exit(code ?? 1));
} catch (error) {
  fail(error);
}

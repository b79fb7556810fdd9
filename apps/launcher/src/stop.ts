import { endLeftovers, runningLauncher } from './data-folder.ts';
import { StartError } from '@postroom/embedded';
import { parseOptions } from './options.ts';
import { signal, waitForEnd } from '@postroom/embedded';

/** Every part has its own bound; together they can't take longer than this. */
const STOP_TIMEOUT_MS = 120_000;

try {
  await stop(parseOptions(process.argv.slice(2)).dataDir);
} catch (error) {
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
}

/** Ends the Postroom that runs on a data folder, and waits until nothing of it is left. */
async function stop(dataDir: string): Promise<void> {
  const launcher = runningLauncher(dataDir);
  if (launcher === undefined) {
    await endLeftovers(dataDir, console.log);
    console.log(`No Postroom runs on ${dataDir}.`);
    return;
  }
  signal(launcher.pid, 'SIGTERM');
  const [stubborn] = await waitForEnd([launcher], STOP_TIMEOUT_MS);
  if (stubborn !== undefined)
    throw new StartError(`Postroom (process ${launcher.pid}) has not ended yet; kill -9 it if it never does.`);
  await endLeftovers(dataDir, console.log);
  console.log('Postroom has ended.');
}

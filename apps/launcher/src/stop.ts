import { endLeftovers, runningLauncher } from './data-folder.ts';
import { StartError } from '@postroom/embedded';
import { parseOptions } from './options.ts';
import { signal, waitForEnd } from '@postroom/embedded';

/** Upper bound for a full shutdown; every component has its own limit. */
const STOP_TIMEOUT_MS = 120_000;

try {
  await stop(parseOptions(process.argv.slice(2)).dataDir);
} catch (error) {
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
}

/** Stops the Postroom running on a data folder and waits until every process has exited. */
async function stop(dataDir: string): Promise<void> {
  const launcher = runningLauncher(dataDir);
  if (launcher === undefined) {
    await endLeftovers(dataDir, console.log);
    console.log(`Postroom is not running on ${dataDir}.`);
    return;
  }
  signal(launcher.pid, 'SIGTERM');
  const [stubborn] = await waitForEnd([launcher], STOP_TIMEOUT_MS);
  if (stubborn !== undefined)
    throw new StartError(`Postroom (process ${launcher.pid}) has not stopped yet. If it never does, use kill -9.`);
  await endLeftovers(dataDir, console.log);
  console.log('Postroom has stopped.');
}

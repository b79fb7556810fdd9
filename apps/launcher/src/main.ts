import { closeDataFolder, openDataFolder } from './data-folder.ts';
import { forgetProcess } from './dev-file.ts';
import { StartError } from '@postroom/embedded';
import { launch } from './launch.ts';
import { HELP, type Options, parseOptions } from './options.ts';
import { summary } from './summary.ts';

/** Two Ctrl-C within this interval count as one: npm repeats the signal that the terminal already sent. */
const SAME_CTRL_C_MS = 500;

// The reader of our output may exit before shutdown finishes.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(HELP);
  else await start(options);
} catch (error) {
  console.error(error instanceof StartError ? `\n${error.message}` : error);
  process.exit(1);
}

/** Starts everything, and stops it on Ctrl-C, SIGTERM or the end of the parent process. */
async function start(options: Options): Promise<void> {
  const begun = Date.now();
  await openDataFolder(options.dataDir, options.fresh, say);
  await using started = new AsyncDisposableStack();
  started.defer(() => closeDataFolder(options.dataDir));
  started.defer(() => forgetProcess(options.dataDir));
  const giveUp = new AbortController();
  const asked = whenAskedToStop();
  void asked.then(() => giveUp.abort(new StartError('Stopped.')));
  const devFile = await launch(options, say, started, giveUp);
  console.log(summary(devFile, options.dataDir));
  say(`Started in ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  process.send?.({ ready: true });
  await asked;
  say('Stopping …');
  await started.disposeAsync();
  say('Stopped.');
  process.exit(0);
}

/** Resolves on the first stop request. A second one exits at once, which also ends everything this process started. */
function whenAskedToStop(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const stop = () => {
      if (first !== undefined && Date.now() - first > SAME_CTRL_C_MS) process.exit(130);
      first ??= Date.now();
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
    process.on('disconnect', stop);
  });
}

function say(line: string): void {
  console.log(line);
}

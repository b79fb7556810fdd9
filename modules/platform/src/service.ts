import { closeDatabase } from './db.ts';
import { logger } from './logger.ts';

/** A running part of a program: what ends it lets the work in hand finish. */
export interface Service {
  stop: () => Promise<void>;
}

/** How long a program may take to finish what it has in hand. A mail server or a webhook receiver may take ten seconds. */
const DRAIN_MS = 25_000;

/**
 * Runs a program until SIGTERM, SIGINT or the end of the process that started it, then drains and exits. A start that
 * fails ends it with status 1 and a sentence.
 */
export async function runService(name: string, start: () => Promise<Service>): Promise<void> {
  const log = logger.child({ service: name });
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'a promise was rejected and nobody was there to hear it');
    process.exit(1);
  });
  // Started by the launcher, a program must not outlive it, even when the launcher is killed. While it starts, it may be
  // waiting for a part that has ended with the launcher, and nothing is in hand yet.
  let launcherEnded = (): void => process.exit(1);
  if (process.send !== undefined) {
    if (!process.connected) launcherEnded();
    process.on('disconnect', () => launcherEnded());
  }
  let service: Service;
  try {
    service = await start();
  } catch (error) {
    log.fatal({ err: error }, `${name} could not start: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  }
  let stopping = false;
  const stop = async (why: string) => {
    if (stopping) return;
    stopping = true;
    log.info(`${why}: finishing what is in hand`);
    setTimeout(() => {
      log.error(`what was in hand did not finish in ${DRAIN_MS} ms`);
      process.exit(1);
    }, DRAIN_MS).unref();
    await service.stop();
    await closeDatabase();
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  launcherEnded = () => void stop('the launcher has ended');
  process.send?.({ ready: true });
  log.info('ready');
}

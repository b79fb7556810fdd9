import { closeDatabase } from './db.ts';
import { logger } from './logger.ts';

/** A running component. Stopping it drains work in flight. */
export interface Service {
  stop: () => Promise<void>;
}

/** Drain timeout. A mail server or webhook receiver may take ten seconds. */
const DRAIN_MS = 25_000;

/**
 * Runs a program until SIGTERM, SIGINT or the exit of its parent, then drains and exits. If it fails to start, logs
 * the error and exits with status 1.
 */
export async function runService(name: string, start: () => Promise<Service>): Promise<void> {
  const log = logger.child({ service: name });
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'unhandled promise rejection');
    process.exit(1);
  });
  // A program must not outlive the launcher, even if that is killed. During startup there is nothing to drain, and
  // it may be waiting for a component that stopped with the launcher.
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
    log.info(`${why}: draining`);
    setTimeout(() => {
      log.error(`drain timed out after ${DRAIN_MS} ms`);
      process.exit(1);
    }, DRAIN_MS).unref();
    await service.stop();
    await closeDatabase();
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  launcherEnded = () => void stop('the launcher exited');
  process.send?.({ ready: true });
  log.info('ready');
}

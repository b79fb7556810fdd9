import { startAdminServer } from '@postroom/observability';
import { config } from '@postroom/settings/config';
import { closeDatabase, pool } from './db.ts';
import { createReadiness, type HealthCheck, type Readiness } from '@postroom/observability';
import { identity, logger, measureProcess, renderMetrics, startDraining, startTracing } from '@postroom/observability';
import { sleep } from '@postroom/concurrency';

/** A running component. Stopping it drains work in flight. */
export interface Service {
  stop: () => Promise<void>;
  /** Resolves when it can't go on: the program then drains and exits with status 1, so that it is restarted. */
  failed?: Promise<unknown>;
  /** What it needs besides the database, for `/readyz`. */
  checks?: readonly HealthCheck[];
  /** Metrics that it collects outside this process's registry, in Prometheus' text format. */
  metrics?: readonly (() => Promise<string>)[];
  /**
   * Whether clients connect to it, so that it goes on serving for `DRAIN_SECONDS` after SIGTERM: load balancers need that
   * long to notice that it is no longer ready.
   */
  servesClients?: boolean;
}

/** Drain timeout after the wait for load balancers. A mail server or webhook receiver may take ten seconds. */
const DRAIN_MS = 25_000;

/** Why the database accepts no changes, such as that another one has taken over from it; undefined if it does. */
export async function databaseProblem(): Promise<string | undefined> {
  const { rows } = await pool.query<{ problem: string | null }>('SELECT database_problem() AS problem');
  return rows[0]?.problem ?? undefined;
}

const checkDatabase = async (): Promise<void> => {
  const problem = await databaseProblem();
  if (problem !== undefined) throw new Error(problem);
};
const DATABASE: HealthCheck = { name: 'database', check: checkDatabase };

/**
 * Runs a program until SIGTERM, SIGINT or the exit of its parent, then drains and exits. If it fails to start, logs
 * the error and exits with status 1. Answers on `ADMIN_PORT` from the beginning.
 */
export async function runService(name: string, start: () => Promise<Service>): Promise<void> {
  identity.service = name;
  const log = logger;
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
  let admin: Admin;
  let stopTracing: () => Promise<void>;
  try {
    admin = await startAdmin();
    stopTracing = await startTracing();
    service = await start();
  } catch (error) {
    log.fatal({ err: error }, `${name} could not start: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  }
  admin.started(service);
  let stopping = false;
  const stop = async (why: string, waitMs: number, status = 0) => {
    if (stopping) return;
    stopping = true;
    log.info({ waitMs }, `${why}: draining`);
    setTimeout(() => {
      log.error(`drain timed out after ${waitMs + DRAIN_MS} ms`);
      process.exit(1);
    }, waitMs + DRAIN_MS).unref();
    startDraining();
    await sleep(waitMs);
    await service.stop();
    await stopTracing();
    await admin.stop();
    await closeDatabase();
    process.exit(status);
  };
  const lameDuckMs = service.servesClients === true ? config.DRAIN_SECONDS * 1000 : 0;
  process.on('SIGTERM', () => void stop('SIGTERM', lameDuckMs));
  process.on('SIGINT', () => void stop('SIGINT', 0));
  launcherEnded = () => void stop('the launcher exited', 0);
  void service.failed?.then((error) => {
    log.fatal({ err: error }, `${name} failed`);
    return stop('failed', 0, 1);
  });
  process.send?.({ ready: true });
  log.info('ready');
}

interface Admin {
  /** From now on, readiness depends on the service's checks. */
  started: (service: Service) => void;
  stop: () => Promise<void>;
}

const STARTING: Readiness = { ready: false, checks: { lifecycle: 'starting' } };

async function startAdmin(): Promise<Admin> {
  if (config.ADMIN_PORT === undefined) return { started: () => {}, stop: () => Promise.resolve() };
  measureProcess({
    program: identity.service,
    version: identity.version,
    build: identity.build,
    node: process.version,
  });
  let readiness = () => Promise.resolve(STARTING);
  let sources: Service['metrics'] = [];
  const { stop } = await startAdminServer({
    host: config.ADMIN_HOST,
    port: config.ADMIN_PORT,
    readiness: () => readiness(),
    metrics: () => renderMetrics(sources),
    metricsToken: config.METRICS_TOKEN,
  });
  return {
    started: ({ checks = [], metrics }) => {
      readiness = createReadiness([DATABASE, ...checks]);
      sources = metrics;
    },
    stop,
  };
}

// The system under test of the benchmarks that send mail: PostgreSQL (fsync on), Temporal, a gateway, a worker with the settings of
// `npm start`, and a mail server that discards everything. All of it is removed afterwards.
import { randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, run, startPostgres, startTemporal, temporalBinary } from '@postroom/embedded';
import { SMALL_MEMORY } from '@postroom/launcher';
import { migrate } from '@postroom/migrations';
import { startChild } from './child.ts';
import { type Listmonk, startListmonk } from './listmonk.ts';
import { startCounting } from './statements.ts';

const LIMIT_MS = 20 * 60_000;

/** The command-line options that all of them share. */
export interface SendingOptions {
  /** Connections to the mail server. */
  connections: string;
  /** Workers; 1 by default. */
  workers?: string;
  /** Whether each worker gets one core, one after the other. */
  pin?: boolean;
  /** Whether PostgreSQL records the time of each statement. */
  statements: boolean;
  /** The folder for CPU profiles. */
  profile?: string | undefined;
  /** The listmonk binary, and its sources. */
  listmonk?: string | undefined;
  'listmonk-dir'?: string | undefined;
}

/**
 * Starts everything and sets the environment; import modules that read it afterwards. Programs in `profiled` write a CPU
 * profile. `env` takes precedence over the settings here.
 */
export async function startSending(
  values: SendingOptions,
  profiled: readonly ('gateway' | 'worker')[],
  env: Record<string, string> = {},
) {
  setTimeout(() => {
    console.error('The benchmark took longer than twenty minutes.');
    process.exit(1);
  }, LIMIT_MS).unref();

  const folder = mkdtempSync(join(tmpdir(), 'postroom-bench-'));
  chmodSync(folder, 0o711); // for PostgreSQL's own user, when root runs this
  const [postgresPort = 0, temporalPort = 0, uiPort = 0, metricsPort = 0, gatewayPort = 0, listmonkPort = 0] =
    await freePorts(6);
  const binary = await temporalBinary(undefined, console.log);
  const startDatabase = () =>
    startPostgres(run, { folder: join(folder, 'postgres'), port: postgresPort, logFile: join(folder, 'postgres.log') });
  const postgres = await startCounting(startDatabase, values.statements);
  const temporal = await startTemporal(run, {
    binary,
    port: temporalPort,
    uiPort,
    metricsPort,
    databaseFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
  });
  await migrate(postgres.url);
  const sink = await startChild('smtp-sink.ts');
  const smtpPort = (sink.ready as { port: number }).port;
  Object.assign(process.env, {
    NODE_ENV: 'production',
    LOG_LEVEL: 'error',
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    GATEWAY_PORT: String(gatewayPort),
    PUBLIC_URL: 'https://mail.example.com',
    SYSTEM_MAIL_FROM: 'postroom@example.com',
    SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    SMTP_CONNECTIONS: values.connections,
    WEBHOOKS_ALLOW_PRIVATE: '1',
    RATE_LIMIT_PER_SECOND: '100000',
    POSTROOM_SECRET_KEY: randomBytes(32).toString('base64'),
    ...env,
  });
  const { closeDatabase } = await import('@postroom/platform');
  const { createApiKey, createProject } = await import('@postroom/projects');

  const flags = (program: 'gateway' | 'worker') =>
    values.profile === undefined || !profiled.includes(program) ? [] : ['--cpu-prof', '--cpu-prof-dir', values.profile];
  const gateway = await startChild('../apps/gateway/src/main.ts', process.env, flags('gateway'));
  const startWorker = () =>
    startChild('../apps/worker/src/main.ts', { ...SMALL_MEMORY.env, ...process.env }, [
      ...SMALL_MEMORY.flags,
      ...flags('worker'),
    ]);
  const worker = await startWorker();
  const workers = [worker];
  while (workers.length < Number(values.workers ?? 1)) workers.push(await startWorker());
  if (values.pin)
    for (const [index, { pid }] of workers.entries())
      execFileSync('taskset', ['-a', '-p', '-c', String(index % availableParallelism()), String(pid)]);
  const { id: projectId } = await createProject('Bench');
  const { key } = await createApiKey({ name: 'bench', scope: 'full', projects: [projectId] });
  let listmonk: Listmonk | undefined;
  return {
    url: `http://127.0.0.1:${gatewayPort}`,
    /** Where Temporal serves its metrics. */
    temporalMetrics: `http://127.0.0.1:${metricsPort}/metrics`,
    projectId,
    key,
    sink,
    gateway,
    /** The first of the workers. */
    worker,
    workers,
    /** listmonk with the same mail server, if its binary was given. */
    startPeer: async (): Promise<Listmonk | undefined> => {
      const { listmonk: program, 'listmonk-dir': sources } = values;
      if (program === undefined || sources === undefined) return undefined;
      listmonk = await startListmonk({
        binary: program,
        sources,
        postgresUrl: postgres.url,
        port: listmonkPort,
        smtpPort,
        connections: Number(values.connections),
        logFile: join(folder, 'listmonk.log'),
      });
      return listmonk;
    },
    stop: async (): Promise<void> => {
      await listmonk?.stop();
      await Promise.all([...workers, gateway, sink].map((child) => child.stop()));
      await closeDatabase();
      await temporal.stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

import { join } from 'node:path';
import { migrate } from '@postroom/migrations';
import pg from 'pg';
import { type App, startApp } from './apps.ts';
import { logFile, runFile } from './data-folder.ts';
import { type DevFile, readDevFile, writeDevFile } from './dev-file.ts';
import { StartError } from '@postroom/embedded';
import { followLog, lastLines, logSize } from '@postroom/embedded';
import { type Options, type Ports, portsFrom } from './options.ts';
import { answers, checkPorts, HOST } from '@postroom/embedded';
import { ownDatabase, ownTemporal, wantedPorts } from './wanted-ports.ts';
import { startPostgres } from '@postroom/embedded';
import { type Start, startNode } from '@postroom/embedded';
import type { Seed } from './seed.ts';
import { appEnvironment, checkAppSettings, type Parts } from './settings.ts';
import { supervise } from './supervise.ts';
import { startTemporal } from '@postroom/embedded';
import { temporalBinary } from '@postroom/embedded';

/** Shared state of one startup. */
interface Launch {
  dataDir: string;
  ports: Ports;
  say: (line: string) => void;
  /** Started components, stopped in reverse order. */
  started: AsyncDisposableStack;
  /** Aborts components that are still starting. */
  giveUp: AbortController;
}

/**
 * Starts everything on an open data folder, each component after those it depends on.
 * @throws StartError with a message for the user. Components already started are in `started`; the caller stops
 * them.
 */
export async function launch(
  { dataDir, portBase }: Options,
  say: (line: string) => void,
  started: AsyncDisposableStack,
  giveUp: AbortController,
): Promise<DevFile> {
  const launching: Launch = { dataDir, ports: portsFrom(portBase), say, started, giveUp };
  await checkPorts(wantedPorts(launching.ports));
  const parts = await startParts(launching);
  const env = appEnvironment(parts, launching.ports, dataDir);
  checkAppSettings(env, ['gateway', 'worker', 'bounces', ...(takesSmtp(env) ? (['submission'] as const) : [])]);
  const migrated = await applyMigrations(parts.databaseUrl);
  if (migrated.length > 0) say(`Database: ${migrated.length} migration${migrated.length === 1 ? '' : 's'} applied`);
  const devFile = describe(parts, launching.ports, await runSeed(launching, env));
  // Written before anything else can fail: the database has only hashes of the keys and the owner's password.
  writeDevFile(dataDir, devFile);
  await startApps(launching, env);
  return devFile;
}

/** PostgreSQL and Temporal, either embedded or named by the environment. */
async function startParts(launching: Launch): Promise<Parts> {
  const { dataDir, say, giveUp } = launching;
  const binary = ownTemporal() === undefined ? await temporalBinary(dataDir, say, giveUp.signal) : '';
  say('Starting PostgreSQL and Temporal …');
  const [databaseUrl, temporal] = await together(launching, database(launching), temporalServer(launching, binary));
  return { databaseUrl, temporalAddress: temporal.address, temporalUiUrl: temporal.uiUrl };
}

async function database(launching: Launch): Promise<string> {
  const own = ownDatabase();
  if (own !== undefined) {
    await checkDatabase(own);
    return own;
  }
  const { dataDir, ports } = launching;
  const { url } = await startPostgres(supervised(launching), {
    folder: join(dataDir, 'postgres'),
    port: ports.postgres,
    logFile: logFile(dataDir, 'postgres'),
    runFile: runFile(dataDir, 'postgres'),
  });
  return url;
}

async function temporalServer(
  launching: Launch,
  binary: string,
): Promise<{ address: string; uiUrl: string | undefined }> {
  const own = ownTemporal();
  if (own !== undefined) {
    await checkTemporal(own);
    return { address: own, uiUrl: process.env.TEMPORAL_UI_URL };
  }
  const { dataDir, ports } = launching;
  return startTemporal(supervised(launching), {
    binary,
    port: ports.temporal,
    uiPort: ports.temporalUi,
    databaseFile: join(dataDir, 'temporal.db'),
    logFile: logFile(dataDir, 'temporal'),
    runFile: runFile(dataDir, 'temporal'),
  });
}

async function checkDatabase(url: string): Promise<void> {
  try {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
    await client.connect();
    await client.end();
  } catch (error) {
    throw new StartError(`Can't use the database in DATABASE_URL: ${(error as Error).message || String(error)}.`);
  }
}

async function checkTemporal(address: string): Promise<void> {
  const [, host, port] = /^(.+):(\d+)$/.exec(address) ?? [];
  if (host === undefined) throw new StartError(`TEMPORAL_ADDRESS must be host:port, not "${address}".`);
  if (!(await answers(Number(port), host, 10_000)))
    throw new StartError(`Nothing is listening at ${address} (TEMPORAL_ADDRESS).`);
}

async function applyMigrations(databaseUrl: string): Promise<string[]> {
  try {
    return await migrate(databaseUrl);
  } catch (error) {
    throw new StartError((error as Error).message);
  }
}

/** Seeds initial projects and keys. Production creates its own. */
async function runSeed({ dataDir }: Launch, env: NodeJS.ProcessEnv): Promise<Seed> {
  const { projects = [], keys = {}, owner = null } = readDevFile(dataDir) ?? {};
  if (env.NODE_ENV === 'production') return { projects, keys, owner };
  const log = logFile(dataDir, 'seed');
  const offset = logSize(log);
  const child = startNode(join(import.meta.dirname, 'seed.ts'), [], log, env);
  child.send({ projects, keys, owner });
  return new Promise((resolve, reject) => {
    child.once('message', (seed) => resolve(seed as Seed));
    child.once('exit', () =>
      reject(new StartError(`Could not create the initial projects and keys: ${lastLines(log, offset)}`)),
    );
  });
}

async function startApps(launching: Launch, env: NodeJS.ProcessEnv): Promise<void> {
  const { dataDir, ports, say } = launching;
  say('Starting inbox, gateway, SMTP submission, bounce processing and worker …');
  const start = async (name: App['name'], title: string, readyUrl?: string) => {
    const log = logFile(dataDir, name);
    const offset = logSize(log);
    await startApp(supervised(launching), {
      name,
      title,
      env,
      readyUrl,
      logFile: log,
      runFile: runFile(dataDir, name),
    });
    launching.started.defer(followLog(log, offset, (line) => say(`[${name}] ${line}`)));
  };
  await together(
    launching,
    start('inbox', 'The inbox', `http://${HOST}:${ports.inboxWeb}/healthz`),
    start('gateway', 'The gateway', `http://${HOST}:${ports.gateway}/readyz`),
    start('bounces', 'Bounce processing'),
    start('worker', 'The worker'),
    takesSmtp(env) ? start('submission', 'The SMTP server') : Promise.resolve(),
  );
}

/** In production the submission server requires a certificate that clients can verify. */
const takesSmtp = (env: NodeJS.ProcessEnv) => env.NODE_ENV !== 'production' || Boolean(env.SUBMISSION_TLS_CERT);

/** Starts a program and restarts it whenever it exits, until shutdown. */
function supervised({ say, started, giveUp }: Launch): Start {
  return async (program) => {
    const running = await supervise(program, say, giveUp.signal);
    started.defer(running.stop);
    return running;
  };
}

/** Waits for all. If one fails, aborts and awaits the others, so that nothing keeps starting in the background. */
async function together<T extends unknown[]>(
  { giveUp }: Launch,
  ...starting: { [K in keyof T]: Promise<T[K]> }
): Promise<T> {
  try {
    return (await Promise.all<unknown>(starting)) as T;
  } catch (error) {
    giveUp.abort(error);
    await Promise.allSettled<unknown>(starting);
    throw error;
  }
}

function describe(parts: Parts, ports: Ports, { projects, keys, owner }: Seed): DevFile {
  const url = `http://${HOST}:${ports.gateway}`;
  return {
    url,
    graphqlUrl: `${url}/graphql`,
    temporalUiUrl: parts.temporalUiUrl ?? null,
    inboxUrl: `http://${HOST}:${ports.inboxWeb}`,
    smtpPort: ports.inboxSmtp,
    submissionPort: takesSmtp(process.env) ? ports.submission : null,
    databaseUrl: parts.databaseUrl,
    projects,
    keys,
    owner,
    pid: process.pid,
  };
}

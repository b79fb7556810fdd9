import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, run, startPostgres, startTemporal, temporalBinary } from '@postroom/embedded';
import { migrate } from '@postroom/migrations';
import { execute, TEMPLATE } from './database.ts';
import { WORKER_DATABASE } from './worker-database.ts';

/**
 * One PostgreSQL and one Temporal for a whole test run, started as by `npm start` but without persistence. They
 * stop, and their folder is removed, even if the run is killed. Test workers start later and inherit the
 * environment. Each tier that needs them asks; the second one gets those of the first.
 */
export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.TEST_SERVICES === 'running') return undefined;
  process.env.TEST_SERVICES = 'running';
  const folder = mkdtempSync(join(tmpdir(), 'postroom-test-'));
  chmodSync(folder, 0o711); // for PostgreSQL's own user, when root runs the tests
  const binary = await temporalBinary(undefined, console.log);
  const [postgresPort = 0, port = 0, uiPort = 0] = await freePorts(3);
  const starting = [
    startPostgres(run, {
      folder: join(folder, 'postgres'),
      port: postgresPort,
      logFile: join(folder, 'postgres.log'),
      durable: false,
      removeAfter: folder,
    }),
    startTemporal(run, { binary, port, uiPort, logFile: join(folder, 'temporal.log') }),
  ] as const;
  const tearDown = async () => {
    await Promise.allSettled(starting.map(async (part) => (await part).stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [postgres, temporal] = await Promise.all(starting);
    await migrate(postgres.url);
    const { pathname } = new URL(postgres.url);
    const server = Object.assign(new URL(postgres.url), { pathname: '/postgres' });
    await execute(server.href, `CREATE DATABASE ${TEMPLATE} TEMPLATE "${pathname.slice(1)}"`);
    await execute(server.href, `CREATE DATABASE ${WORKER_DATABASE} TEMPLATE ${TEMPLATE}`);
    Object.assign(process.env, {
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_UI_URL: temporal.uiUrl,
      POSTROOM_SECRET_KEY: randomBytes(32).toString('base64'),
      RATE_LIMIT_PER_SECOND: '100000', // a fast machine asks more often than the default allows
      DNS_SERVERS: '127.0.0.1:9', // where nothing listens: no test asks the internet about made-up domains
      LOG_LEVEL: process.env.LOG_LEVEL ?? 'error',
    });
    return tearDown;
  } catch (error) {
    await tearDown();
    throw error;
  }
}

import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, run, startPostgres } from '@postroom/embedded';
import { migrate } from '@postroom/migrations';

interface BenchDatabase {
  url: string;
  /** A new folder for temporary files; it is removed when the server stops. */
  folder: string;
  /** The settings of a production program that uses the database. */
  env: Record<string, string>;
  stop: () => Promise<void>;
}

/** Starts a PostgreSQL for a benchmark, and migrates it. It stops with this process. */
export async function startDatabase(): Promise<BenchDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-bench-'));
  chmodSync(folder, 0o711); // for PostgreSQL's own user, when root runs this
  const [port = 0] = await freePorts(1);
  const { url, stop } = await startPostgres(run, {
    folder: join(folder, 'postgres'),
    port,
    logFile: join(folder, 'postgres.log'),
    removeAfter: folder,
  });
  await migrate(url);
  const POSTROOM_SECRET_KEY = randomBytes(32).toString('base64');
  return {
    url,
    folder,
    env: { NODE_ENV: 'production', LOG_LEVEL: 'error', DATABASE_URL: url, POSTROOM_SECRET_KEY },
    stop,
  };
}

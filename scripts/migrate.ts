// `postroom migrate`: applies pending schema and data migrations. Concurrent runs wait for each other, so every instance of a
// deployment may run it before it starts.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { countOf, runCommand } from '@postroom/errors';
import { migrate } from '@postroom/migrations';
import { checkSettings } from '@postroom/settings';

const HELP = `postroom migrate [--wait [SECONDS]]

Applies pending migrations to DATABASE_URL, or DATABASE_LISTEN_URL if that is set. It waits for a migration that is under way.

  --wait      also waits for the database to accept connections, up to 300 seconds
  --wait=N    up to N seconds
`;
const DEFAULT_WAIT_SECONDS = 300;
const RETRY_MS = 1_000;

await runCommand('postroom migrate', async () => {
  const wait = waitSeconds(process.argv.slice(2));
  if (wait === undefined) {
    process.stdout.write(HELP);
    return;
  }
  const { directDatabaseUrl: databaseUrl = '' } = checkSettings('migrate');
  if (wait > 0) await untilReachable(databaseUrl, wait);
  const applied = await migrate(databaseUrl);
  for (const name of applied) console.log(`applied ${name}`);
  console.log(
    applied.length === 0 ? 'The database is up to date.' : `${countOf(applied.length, 'migration')} applied.`,
  );
});

/** How long to wait for the database, in seconds; `undefined` for --help. @throws Error if the arguments are wrong. */
function waitSeconds(args: readonly string[]): number | undefined {
  // parseArgs has no option whose value is optional.
  const { values } = parseArgs({
    args: args.map((arg) => (arg === '--wait' ? `--wait=${DEFAULT_WAIT_SECONDS}` : arg)),
    options: { wait: { type: 'string', default: '0' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) return undefined;
  const seconds = Number(values.wait);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new Error(`--wait must be a number of seconds, not "${values.wait}".`);
}

/** @throws the last error, once the time is up or if waiting can't help. */
async function untilReachable(connectionString: string, seconds: number): Promise<void> {
  const until = Date.now() + seconds * 1000;
  for (let told = false; ; told = true) {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
    try {
      await client.connect();
      return;
    } catch (error) {
      if (Date.now() >= until || !isComing(error)) throw error;
      if (!told) console.log(`Waiting for the database: ${(error as Error).message || String(error)}`);
    } finally {
      await client.end().catch(() => undefined);
    }
    await sleep(RETRY_MS);
  }
}

/** Whether the server may accept connections later; a wrong password or TLS setting stays wrong. */
function isComing(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return !/self-signed|certificate|SSL/i.test(String(error));
  return error.code === '57P03' || error.code === '3D000' || error.code === '53300'; // starting up, no database yet, full
}

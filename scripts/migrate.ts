// `postroom migrate`: applies pending schema and data migrations to DATABASE_URL. Concurrent runs wait for each other, so every
// instance of a deployment may run it before it starts.
import { migrate } from '../modules/platform/src/migrate.ts';
import { checkSettings } from '../modules/platform/src/parse-config.ts';

const { directDatabaseUrl: databaseUrl = '' } = checkSettings('migrate');
try {
  const applied = await migrate(databaseUrl);
  for (const name of applied) console.log(`applied ${name}`);
  console.log(applied.length === 0 ? 'The database is up to date.' : `${applied.length} migrations applied.`);
} catch (error) {
  console.error(`The migration failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

// Brings the database of DATABASE_URL up to date: the migrations in SQL, then those of data (`npm run migrate`).
import { migrate } from '../modules/platform/src/migrate.ts';

const { DATABASE_URL: url } = process.env;
if (url === undefined) {
  console.error('DATABASE_URL must name the database.');
  process.exitCode = 1;
} else {
  const applied = await migrate(url);
  console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`);
}

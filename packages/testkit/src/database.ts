import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** The migrated database of the test run that others are copied from; nothing connects to it. */
export const TEMPLATE = 'postroom_template';

export interface TestDatabase {
  name: string;
  url: string;
  drop: () => Promise<void>;
}

/** A new database with every table, on the server of the tests. Copying one takes a fraction of the time of migrating it. */
export async function createDatabase(prefix: string): Promise<TestDatabase> {
  const name = `${prefix}_${randomBytes(8).toString('hex')}`;
  const url = new URL(process.env.DATABASE_URL ?? '');
  const server = url.href;
  url.pathname = `/${name}`;
  await execute(server, `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
  return { name, url: url.href, drop: () => execute(server, `DROP DATABASE ${name} WITH (FORCE)`) };
}

/** Runs one statement on a connection of its own. */
export async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

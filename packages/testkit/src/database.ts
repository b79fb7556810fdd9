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
export const createDatabase = (prefix: string): Promise<TestDatabase> => copyDatabase(prefix, TEMPLATE);

export interface EmptyDatabase extends TestDatabase {
  client: pg.Client;
}

/** A new database without tables, and a connection to it, on the server of the tests. */
export async function emptyDatabase(): Promise<EmptyDatabase> {
  const { name, url, drop } = await copyDatabase('empty', 'template1');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return { name, url, client, drop: () => client.end().then(drop) };
}

async function copyDatabase(prefix: string, template: string): Promise<TestDatabase> {
  const name = `${prefix}_${randomBytes(8).toString('hex')}`;
  const url = new URL(process.env.DATABASE_URL ?? '');
  const server = url.href;
  url.pathname = `/${name}`;
  await execute(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return { name, url: url.href, drop: async () => void (await execute(server, `DROP DATABASE ${name} WITH (FORCE)`)) };
}

/** Runs one statement on a separate connection. @returns its rows. */
export async function execute<Row extends pg.QueryResultRow>(
  url: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement, [...values])).rows;
  } finally {
    await client.end();
  }
}

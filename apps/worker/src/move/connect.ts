import { errorLine } from '@postroom/errors';
import { config } from '@postroom/platform';
import pg from 'pg';

/** Connects to the database of this cell. Not from the pool: it keeps a session, which a pooler in transaction mode would share. */
export const connectHere = (): Promise<pg.Client> =>
  connect(config.DATABASE_LISTEN_URL ?? config.DATABASE_URL, 'this cell');

/** @param cell whose database it is, for the error. @throws Error with a line for the terminal. */
export async function connect(connectionString: string | undefined, cell: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...(connectionString === undefined ? {} : { connectionString }),
    application_name: 'postroom command',
    keepAlive: true,
  });
  // The statement under way fails, which is enough.
  client.on('error', () => {});
  await client.connect().catch((error: unknown) => {
    throw new Error(`can't connect to the database of ${cell}: ${errorLine(error)}`);
  });
  return client;
}

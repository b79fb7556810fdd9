import pg from 'pg';

/** Starts PostgreSQL. To record statements it has to be started twice. */
export async function startCounting<Database extends { url: string; stop: () => Promise<unknown> }>(
  start: () => Promise<Database>,
  counts: boolean,
): Promise<Database> {
  const database = await start();
  if (!counts) return database;
  await countStatements(database.url);
  await database.stop();
  return start();
}

/** Makes PostgreSQL record its statements from its next start. */
async function countStatements(postgresUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(`ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`);
  await client.query('ALTER SYSTEM SET track_io_timing = on');
  await client.end();
}

/** Prints the statements that took PostgreSQL the longest. */
export async function showStatements(pool: pg.Pool): Promise<void> {
  await pool.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  const { rows } = await pool.query<{ calls: number; total: number; rows: number; wal: number; query: string }>(
    `SELECT calls::int, total_exec_time::float AS total, rows::int, wal_bytes::float AS wal, query FROM pg_stat_statements
     ORDER BY total_exec_time DESC LIMIT 12`,
  );
  for (const { calls, total, rows: touched, wal, query } of rows)
    console.log(
      `${(total / 1000).toFixed(2)} s, ${calls} calls, ${touched} rows, ${(wal / 1e6).toFixed(0)} MB of WAL: ${query.replaceAll(/\s+/g, ' ').slice(0, 110)}`,
    );
}

import type pg from 'pg';

/** Runs work in a transaction of this session. */
export async function transaction<Result>(
  client: pg.ClientBase,
  work: () => Promise<Result>,
  mode = '',
): Promise<Result> {
  await client.query(`BEGIN ${mode}`);
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

import type pg from 'pg';

/** Runs work in a transaction of this session. */
export async function transaction(client: pg.ClientBase, work: () => Promise<void>, mode = ''): Promise<void> {
  await client.query(`BEGIN ${mode}`);
  try {
    await work();
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

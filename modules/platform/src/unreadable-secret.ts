import { pool } from './db.ts';
import { secretColumns } from './secrets.ts';

/**
 * Returns why a stored secret can't be decrypted with the configured keys, if so. Checked at startup because a
 * wrong key otherwise shows only when a webhook or mail fails. Reads one secret per column; finding it may scan
 * rows without one.
 */
export async function unreadableSecret(): Promise<string | undefined> {
  for (const secret of secretColumns()) {
    const { table, column, key, envelopes = '%' } = secret;
    const keys = key.map((name) => `"${name}"`).join(', ');
    const { rows } = await pool.query<{ key: string[]; sealed: string }>(
      `SELECT ARRAY[${keys}] AS key, "${column}" AS sealed FROM "${table}" WHERE "${column}" LIKE $1 LIMIT 1`,
      [envelopes],
    );
    const [one] = rows;
    if (one === undefined) continue;
    try {
      await secret.decrypt(one.sealed, ...one.key);
    } catch (error) {
      return `${table}.${column}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return undefined;
}

// Re-encrypts every secret in the database with the current key and reports the rest: `npm run rotate-encryption-key`.
import { runCommand } from '@postroom/errors';
import type { SecretColumn } from '@postroom/platform';
import { checkSettings } from '@postroom/settings';

checkSettings('rotate-encryption-key');
const { closeDatabase, pool, secretColumns, secretKeysFor, useBackgroundTimeouts } = await import('@postroom/platform');
// These register the columns that hold secrets.
await Promise.all([import('./rest/idempotency.ts'), import('./schema.ts')]);

/** Rows per batch. After a crash, the next run encrypts the rest. */
const PORTION = 200;

/** The result for one column. */
interface RotatedSecrets {
  /** Such as `webhook_endpoints.secret`. */
  column: string;
  /** Secrets re-encrypted. */
  renewed: number;
  /** Secrets still under another key because they could not be decrypted. */
  left: number;
  /** The error of the first of them. */
  problem: string | undefined;
}

/**
 * Re-encrypts every stored secret that is not under the current key. Safe to kill at any moment, to repeat, and to
 * run while the system is in use: a secret modified meanwhile keeps its new value, already under the current key.
 */
async function rotateEncryptionKey(): Promise<RotatedSecrets[]> {
  const renewed: RotatedSecrets[] = [];
  for (const column of secretColumns()) renewed.push(await renewColumn(column));
  return renewed;
}

async function renewColumn(secret: SecretColumn): Promise<RotatedSecrets> {
  const { table, column } = secret;
  let [count, problem]: [number, string | undefined] = [0, undefined];
  for (
    let after: string[] | undefined, rows;
    (rows = await readOld(secret, after)).length > 0;
    after = rows.at(-1)?.key
  ) {
    const fresh: { key: string[]; old: string; renewed: string }[] = [];
    for (const { key, sealed } of rows) {
      try {
        const renewed = await secret.encrypt(await secret.decrypt(sealed, ...key), ...key);
        fresh.push({ key, old: sealed, renewed });
      } catch (error) {
        problem ??= error instanceof Error ? error.message : String(error);
      }
    }
    count += await write(secret, fresh);
  }
  const { rows } = await pool.query(`SELECT count(*)::int AS left FROM "${table}" WHERE ${isOld(secret)}`, [
    secret.current(),
  ]);
  return { column: `${table}.${column}`, renewed: count, left: rows[0].left, problem };
}

interface Sealed {
  /** Values of the columns that identify the row. */
  key: string[];
  sealed: string;
}

/** The next batch of secrets under another key, in key order. */
async function readOld(secret: SecretColumn, after: string[] | undefined): Promise<Sealed[]> {
  const place = secret.key.map((_, index) => `$${index + 2}`).join(', ');
  const later = after === undefined ? '' : `AND (${keyOf(secret)}) > (${place})`;
  const { rows } = await pool.query<Sealed>(
    `${select(secret)} WHERE ${isOld(secret)} ${later} ORDER BY ${keyOf(secret)} LIMIT ${PORTION}`,
    [secret.current(), ...(after ?? [])],
  );
  return rows;
}

const keyOf = ({ key }: SecretColumn) => key.map((name) => `"${name}"`).join(', ');
const select = (secret: SecretColumn) =>
  `SELECT ARRAY[${keyOf(secret)}] AS key, "${secret.column}" AS sealed FROM "${secret.table}"`;

/** Updates only rows unchanged since they were read, and locks them in key order, as whatever else locks several does. */
async function write(
  { table, column, key }: SecretColumn,
  fresh: readonly { key: string[]; old: string; renewed: string }[],
): Promise<number> {
  const names = [...key.map((_, index) => `key_${index}`), 'old', 'renewed'];
  const isSame = key.map((name, index) => `t."${name}" = fresh.key_${index}`).join(' AND ');
  const keys = key.map((name) => `t."${name}"`).join(', ');
  const { rowCount } = await pool.query(
    `WITH fresh AS MATERIALIZED (
       SELECT * FROM unnest(${names.map((_, index) => `$${index + 1}::text[]`).join(', ')}) AS fresh(${names.join(', ')})
     ), locked AS MATERIALIZED (
       SELECT fresh.* FROM "${table}" t JOIN fresh ON ${isSame} WHERE t."${column}" = fresh.old
       ORDER BY ${keys} FOR NO KEY UPDATE OF t
     )
     UPDATE "${table}" t SET "${column}" = fresh.renewed FROM locked fresh WHERE ${isSame} AND t."${column}" = fresh.old`,
    [
      ...key.map((_, index) => fresh.map((row) => row.key[index])),
      fresh.map(({ old }) => old),
      fresh.map((row) => row.renewed),
    ],
  );
  return rowCount ?? 0;
}

const isSealed = ({ column, envelopes = '%' }: SecretColumn) => `"${column}" LIKE '${envelopes}'`;
const isOld = (secret: SecretColumn) => `${isSealed(secret)} AND NOT starts_with("${secret.column}", $1)`;

await runCommand('postroom rotate-encryption-key', async () => {
  useBackgroundTimeouts();
  const [{ id }] = secretKeysFor('so there is nothing to encrypt with');
  const columns = await rotateEncryptionKey();
  for (const { column, renewed, left, problem } of columns) {
    console.log(`${column}: ${renewed} re-encrypted${left === 0 ? '' : `, ${left} left`}`);
    if (problem !== undefined) console.log(`  ${problem}`);
  }
  const left = columns.reduce((sum, column) => sum + column.left, 0);
  console.log(left === 0 ? `Every secret is under the key ${id}.` : `${left} are not under the key ${id}.`);
  process.exitCode = left === 0 ? 0 : 1;
});
await closeDatabase();

import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorLine } from '@postroom/errors';
import { config, pool } from '@postroom/platform';
import { AwsClient } from 'aws4fetch';
import { type BasicType, parquetWriteBuffer } from 'hyparquet-writer';
import type { Archive, Partition, PartitionedTable } from './partitions.ts';

/** Rows per file. A file is made in memory: events and attempts have 0.5 to 5 KB each. */
const ROWS = 20_000;
const PUT_TIMEOUT_MS = 60_000;

/** Stores a file under its name. A name that is there already is replaced. */
export type Store = (name: string, content: Uint8Array<ArrayBuffer>) => Promise<void>;

interface Target {
  /** `s3://bucket/prefix`, or `file:///folder`. */
  url: string;
  /** An S3-compatible server, which is asked for `/bucket/key`; Amazon S3 by default. */
  endpoint?: string | undefined;
  region: string;
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
}

/** The archive of ARCHIVE_URL; `undefined` if it is not set. */
export const configuredArchive = (): Archive | undefined =>
  config.ARCHIVE_URL === undefined ? undefined : archiveTo(configuredTarget(config.ARCHIVE_URL));

const configuredTarget = (url: string): Target => ({
  url,
  endpoint: config.ARCHIVE_S3_ENDPOINT,
  region: config.ARCHIVE_S3_REGION,
  accessKeyId: config.ARCHIVE_S3_ACCESS_KEY_ID,
  secretAccessKey: config.ARCHIVE_S3_SECRET_ACCESS_KEY,
});

/** Stores files below `url`, `s3://bucket/prefix` or `file:///folder`, with the configured access. */
export const storeAt = (url: string): Store => storeOf(configuredTarget(url));

const storeOf = (target: Target): Store => (target.url.startsWith('file:') ? inFolder(target.url) : inBucket(target));

/**
 * Writes all rows of a partition as Parquet: `events/events_20261123/00001.parquet` and so on, in the order of the column
 * partitioned by. Repeating it after a failure replaces the files. If fewer are needed then, because rows were deleted, the others are replaced
 * by files without rows: the access key may only put objects.
 */
export function archiveTo(target: Target, rowsPerFile = ROWS): Archive {
  const store = storeOf(target);
  return async (table, partition, onBatch = () => {}) => {
    const columns = await columnsOf(partition);
    const key = await keyOf(table);
    const filesBefore = await readFileCount(partition);
    for (let number = 1, after: unknown = ''; ; number++) {
      const rows = await readRows(partition, columns, { key, after, limit: rowsPerFile });
      if (rows.length === 0 && number > filesBefore) return;
      if (number > filesBefore) await writeFileCount(partition, number);
      const name = `${table.name}/${partition.name}/${String(number).padStart(5, '0')}.parquet`;
      await store(name, toParquet(columns, rows));
      onBatch();
      after = rows.at(-1)?.[columns.findIndex((column) => column.name === key)] ?? after;
    }
  };
}

/** The number of files of an archive is a comment on the partition, which is dropped with it. */
const FILES = 'archive files: ';

async function readFileCount({ name }: Partition): Promise<number> {
  const { rows } = await pool.query<{ comment: string | null }>(
    "SELECT obj_description($1::regclass, 'pg_class') AS comment",
    [name],
  );
  const comment = rows[0]?.comment ?? '';
  return comment.startsWith(FILES) ? Number(comment.slice(FILES.length)) : 0;
}

/** Before the file is written, so that no file is unknown. */
const writeFileCount = ({ name }: Partition, count: number) =>
  pool.query(`COMMENT ON TABLE "${name}" IS '${FILES}${count}'`);

export interface Column {
  name: string;
  /** PostgreSQL's name of its type. */
  type: string;
}

/** Other types are stored as text, as PostgreSQL prints them; so is JSON. */
const PARQUET_TYPES: Record<string, BasicType> = {
  timestamptz: 'TIMESTAMP',
  int4: 'INT32',
  int8: 'INT64',
  float8: 'DOUBLE',
  bool: 'BOOLEAN',
};

async function columnsOf({ name }: Partition): Promise<Column[]> {
  const { rows } = await pool.query<Column>(
    `SELECT a.attname AS name, t.typname AS type FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
     WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    [name],
  );
  return rows;
}

async function keyOf({ name }: PartitionedTable): Promise<string> {
  const { rows } = await pool.query<{ key: string }>('SELECT partition_key($1) AS key', [name]);
  return rows[0]?.key ?? '';
}

/** Rows after a key, as arrays. Those with the last key are complete, so the next page begins after it. */
async function readRows(
  { name }: Partition,
  columns: readonly Column[],
  { key, after, limit }: { key: string; after: unknown; limit: number },
): Promise<unknown[][]> {
  const list = columns.map((column) => (column.type in PARQUET_TYPES ? `"${column.name}"` : `"${column.name}"::text`));
  const { rows } = await pool.query<unknown[]>({
    rowMode: 'array',
    text: `SELECT ${list.join(', ')} FROM "${name}" WHERE "${key}" > $1 ORDER BY "${key}" FETCH FIRST ${limit} ROWS WITH TIES`,
    values: [after],
  });
  return rows;
}

/** A Parquet file of rows, whose values are in the order of the columns. */
export function toParquet(columns: readonly Column[], rows: readonly unknown[][]): Uint8Array<ArrayBuffer> {
  const columnData = columns.map(({ name, type }, index) => {
    const data = rows.map((row) => {
      const value = row[index];
      return type === 'int8' && value !== null ? BigInt(value as string) : value;
    });
    return { name, data, type: PARQUET_TYPES[type] ?? ('STRING' as const), nullable: true };
  });
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

/** A file appears under its name when it is complete. */
const inFolder =
  (url: string): Store =>
  async (name, content) => {
    const path = join(fileURLToPath(url), name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.part`, content, { flush: true });
    await rename(`${path}.part`, path);
  };

/** In a bucket of an S3-compatible server, addressed by its path, which all of them understand. */
function inBucket({ url, endpoint, region, accessKeyId = '', secretAccessKey = '' }: Target): Store {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 3 });
  const { hostname: bucket, pathname } = new URL(url);
  const base = `${(endpoint ?? `https://s3.${region}.amazonaws.com`).replace(/\/$/, '')}/${bucket}${pathname.replace(/\/$/, '')}`;
  return async (name, content) => {
    const put = { method: 'PUT', body: content, signal: AbortSignal.timeout(PUT_TIMEOUT_MS) };
    const reply = await client.fetch(`${base}/${name}`, put).catch((error: unknown) => {
      throw new Error(`Could not put ${name} to ${new URL(base).host}: ${errorLine(error)}`, { cause: error });
    });
    if (!reply.ok)
      throw new Error(`The archive replied ${reply.status} to ${name}: ${(await reply.text()).slice(0, 500)}`);
  };
}

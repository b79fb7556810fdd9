import { createHash, createHmac } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { pool } from '@postroom/platform';
import { runExclusively } from '@postroom/testkit';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { archiveTo } from '../src/index.ts';

runExclusively('archive');

const TABLE = { name: 'sample_archive', prefix: 'dlv' } as const;
const PARTITION = { name: 'sample_archive_20261123', from: 'dlv_0', to: 'dlv_9' };
const REGION = 'eu-central-1';
const KEY = 'AKIATEST';
const SECRET = 'a secret/with+signs';

/** Five rows, of which two have the same key, with everything that is hard to store. */
beforeAll(async () => {
  await pool.query(`
    DROP TABLE IF EXISTS sample_archive;
    CREATE TABLE sample_archive (key text, number int, big bigint, state delivery_state, at timestamptz(3), flag boolean, data json, note text)
      PARTITION BY RANGE (key);
    CREATE TABLE sample_archive_20261123 PARTITION OF sample_archive FOR VALUES FROM ('dlv_0') TO ('dlv_9');
    INSERT INTO sample_archive VALUES
      ('dlv_1', 1, 9007199254740993, 'queued', '2026-11-23 00:00:00.123+00', true, '{"b": 1, "a": "ü"}', E'Grüße\\n"😀"'),
      ('dlv_2', 1, -1, 'failed', '1999-12-31 23:59:59.999+00', false, 'null', ''),
      ('dlv_2', 2, NULL, NULL, NULL, NULL, NULL, NULL),
      ('dlv_3', 1, 0, 'queued', '2026-11-23 12:00:00+00', true, '[]', 'x'),
      ('dlv_4', 1, 0, 'queued', '2026-11-23 12:00:00+00', true, '[]', 'x')`);
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'archive-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** What DuckDB reads from the archive of the partition. */
async function readBack(folder: string) {
  const connection = await (await DuckDBInstance.create()).connect();
  const files = join(folder, 'sample_archive/sample_archive_20261123/*.parquet');
  const reader = await connection.runAndReadAll(
    `SELECT key, number, big::varchar AS big, state, epoch_ms("at")::bigint::varchar AS "at", flag, data, note, parse_filename(filename) AS file
     FROM read_parquet('${files}', filename = true) ORDER BY key, number`,
  );
  connection.closeSync();
  return reader.getRowObjects();
}

function expectAll(rows: Record<string, unknown>[]) {
  expect(rows).toHaveLength(5);
  expect(rows[0]).toMatchObject({
    key: 'dlv_1',
    number: 1,
    big: '9007199254740993',
    state: 'queued',
    at: String(Date.parse('2026-11-23T00:00:00.123Z')),
    flag: true,
    data: '{"b": 1, "a": "ü"}',
    note: 'Grüße\n"😀"',
  });
  expect(rows[1]).toMatchObject({
    at: String(Date.parse('1999-12-31T23:59:59.999Z')),
    flag: false,
    data: 'null',
    note: '',
  });
  expect(rows[2]).toMatchObject({
    key: 'dlv_2',
    number: 2,
    big: null,
    state: null,
    at: null,
    flag: null,
    data: null,
    note: null,
  });
}

test('a partition is archived as Parquet files that DuckDB reads, and archiving it again replaces them', async () => {
  const folder = await newFolder();
  const archive = archiveTo({ url: pathToFileURL(folder).href, region: REGION }, 2);
  let batches = 0;
  for (let run = 0; run < 2; run++) await archive(TABLE, PARTITION, () => batches++);
  expect(batches, 'heartbeats, one for each file').toBe(4);
  const rows = await readBack(folder);
  expectAll(rows);
  expect(rows.map(({ file }) => file)).toEqual(
    ['00001', '00001', '00001', '00002', '00002'].map((name) => `${name}.parquet`),
  );
});

test('the queries in docs/how-to/archive.md read archived events', async () => {
  await pool.query(`
    DROP TABLE IF EXISTS sample_events;
    CREATE TABLE sample_events (LIKE events INCLUDING DEFAULTS);
    INSERT INTO sample_events (id, project_id, type, data)
      VALUES ('evt_1', 'prj_1', 'email.bounced', '{"email": "ada@example.com"}'), ('evt_2', 'prj_1', 'email.sent', '{}')`);
  const folder = await newFolder();
  await archiveTo({ url: pathToFileURL(folder).href, region: REGION })(
    { name: 'events', prefix: 'evt' },
    { name: 'sample_events', from: 'evt_0', to: 'evt_9' },
  );
  await rename(join(folder, 'events/sample_events'), join(folder, 'events/events_20261123'));
  const page = await readFile(join(import.meta.dirname, '../../../docs/how-to/archive.md'), 'utf8');
  const [, sql = ''] = /```sql\n([^`]+)```/.exec(page) ?? [];
  const queries = sql.replaceAll('s3://backups/postroom', folder).split(';\n');
  const connection = await (await DuckDBInstance.create()).connect();
  const run = async (query = '') => (await connection.runAndReadAll(query)).getRows();
  expect(new Map((await run(queries[0])) as [string, bigint][])).toEqual(
    new Map([
      ['email.bounced', 1n],
      ['email.sent', 1n],
    ]),
  );
  expect(await run(queries[1])).toEqual([['ada@example.com']]);
  connection.closeSync();
});

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** Whether a request carries the signature that Amazon S3 requires, version 4. */
function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const [, date = '', names = '', signature = ''] =
    new RegExp(
      `^AWS4-HMAC-SHA256 Credential=${KEY}/(\\d{8})/${REGION}/s3/aws4_request, SignedHeaders=([^,]+), Signature=(\\w+)$`,
    ).exec(request.headers.authorization ?? '') ?? [];
  const hash = String(request.headers['x-amz-content-sha256']);
  if (hash !== 'UNSIGNED-PAYLOAD' && hash !== sha256(body)) return false;
  const headers = names.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`);
  const canonical = [request.method, request.url, '', headers.join(''), names, hash].join('\n');
  const key = [date, REGION, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${SECRET}`);
  const text = [
    'AWS4-HMAC-SHA256',
    request.headers['x-amz-date'],
    `${date}/${REGION}/s3/aws4_request`,
    sha256(canonical),
  ].join('\n');
  return hmac(key, text).toString('hex') === signature;
}

/** A server that stores what is put into it with the right signature. */
async function startS3(folder: string) {
  const server = createServer((request, response) => {
    void buffer(request).then(async (body) => {
      if (request.method !== 'PUT' || !isSigned(request, body))
        return response.writeHead(403).end('SignatureDoesNotMatch');
      const path = join(folder, request.url ?? '');
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, body);
      return response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a partition is archived in a bucket of an S3-compatible server; a refusal is an error', async () => {
  const folder = await newFolder();
  const target = { url: 's3://backups/postroom', endpoint: await startS3(folder), region: REGION, accessKeyId: KEY };
  await archiveTo({ ...target, secretAccessKey: SECRET }, 2)(TABLE, PARTITION);
  expectAll(await readBack(join(folder, 'backups/postroom')));
  await expect(archiveTo({ ...target, secretAccessKey: 'another' })(TABLE, PARTITION)).rejects.toThrow(
    'The archive replied 403 to sample_archive/sample_archive_20261123/00001.parquet: SignatureDoesNotMatch',
  );
});

test('a file that is no longer needed after a failed attempt is left without rows', async () => {
  await pool.query(`
    DROP TABLE IF EXISTS sample_failing;
    CREATE TABLE sample_failing (key text, number int) PARTITION BY RANGE (key);
    CREATE TABLE sample_failing_20261123 PARTITION OF sample_failing FOR VALUES FROM ('dlv_0') TO ('dlv_9');
    INSERT INTO sample_failing VALUES ('dlv_1', 1), ('dlv_2', 2), ('dlv_3', 3)`);
  const folder = await newFolder();
  const archive = archiveTo({ url: pathToFileURL(folder).href, region: REGION }, 1);
  const table = { name: 'sample_failing', prefix: 'dlv' } as const;
  const partition = { ...PARTITION, name: 'sample_failing_20261123' };
  let files = 0;
  const stopped = archive(table, partition, () => {
    if (++files === 2) throw new Error('The worker is stopping.');
  });
  await expect(stopped).rejects.toThrow('The worker is stopping.');
  await pool.query("DELETE FROM sample_failing WHERE key <> 'dlv_3'");
  for (let run = 0; run < 2; run++) await archive(table, partition);
  const connection = await (await DuckDBInstance.create()).connect();
  const read = `SELECT key, number FROM read_parquet('${join(folder, 'sample_failing/*/*.parquet')}')`;
  expect((await connection.runAndReadAll(read)).getRows()).toEqual([['dlv_3', 3]]);
  connection.closeSync();
  expect((await readdir(join(folder, 'sample_failing/sample_failing_20261123'))).toSorted()).toEqual([
    '00001.parquet',
    '00002.parquet',
  ]);
});

test('an archive that does not respond is named in the error, with the reason', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise((resolve) => server.close(resolve));
  const target = { url: 's3://backups/postroom', region: REGION, accessKeyId: KEY, secretAccessKey: SECRET };
  await expect(archiveTo({ ...target, endpoint: `http://${host}` })(TABLE, PARTITION)).rejects.toThrow(
    `Could not put sample_archive/sample_archive_20261123/00001.parquet to ${host}: connect ECONNREFUSED ${host}`,
  );
});

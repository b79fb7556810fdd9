/**
 * Compares an import's rows per second with a bare COPY of the same file in the same run, into two tables: one with a key and a
 * unique address, and one with the columns and indexes of contacts. Every import also validates and coerces values, finds
 * duplicates and records a `contact.created` for each contact. Run: npm run bench -- import [rows] [runs]. It starts a PostgreSQL
 * with fsync on, and a process with the worker's settings for the imports.
 */
import { execFileSync } from 'node:child_process';
import { SMALL_MEMORY } from '@postroom/launcher';
import pg from 'pg';
import { startChild } from './child.ts';
import { startDatabase } from './database.ts';
import type { Imported } from './import-worker.ts';
import { median } from './median.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const RUNS = Number(process.argv[3] ?? 3);

const database = await startDatabase();
Object.assign(process.env, database.env);
const { closeDatabase, newId, pool } = await import('@postroom/platform');
const { addPart, checkOptions, createImport, startImport } = await import('@postroom/imports');
const { createProject } = await import('@postroom/projects');
const worker = await startChild('import-worker.ts', { ...SMALL_MEMORY.env, ...process.env }, SMALL_MEMORY.flags);
let memory = 0;

const COLUMNS = 'email, name, city, plan, seats, signed_up';

/** COPY … FROM STDIN as a pg query: the bytes are sent when the server requests them. */
class CopyIn implements pg.Submittable {
  readonly done: Promise<void>;
  readonly #text: string;
  readonly #bytes: Buffer;
  #resolve = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(text: string, bytes: Buffer) {
    this.#text = text;
    this.#bytes = bytes;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  submit(connection: pg.Connection): void {
    (connection as unknown as { query: (text: string) => void }).query(this.#text);
  }

  handleCopyInResponse(connection: { sendCopyFromChunk: (chunk: Buffer) => void; endCopyFrom: () => void }): void {
    for (let at = 0; at < this.#bytes.length; at += 65_536) {
      connection.sendCopyFromChunk(this.#bytes.subarray(at, at + 65_536));
    }
    connection.endCopyFrom();
  }

  handleCommandComplete(): void {}
  handleReadyForQuery = () => this.#resolve();
  handleError = (error: Error) => this.#reject(error);
}

async function copy(table: string, bytes: Buffer): Promise<number> {
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL ?? '' });
  await client.connect();
  const started = performance.now();
  await client.query(new CopyIn(`COPY ${table} FROM STDIN (FORMAT csv, HEADER)`, bytes)).done;
  const ms = performance.now() - started;
  await client.end();
  return ms;
}

/** A bare COPY of the file into a table with its columns, a key and an address that is unique in a project. */
async function copyFile(file: Buffer): Promise<number> {
  await pool.query('DROP TABLE IF EXISTS bench_copy');
  await pool.query(`CREATE TABLE bench_copy (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), project_id text NOT NULL DEFAULT 'prj',
    email text NOT NULL, name text, city text, plan text, seats int, signed_up date)`);
  await pool.query('CREATE UNIQUE INDEX ON bench_copy (project_id, lower(email))');
  return copy(`bench_copy (${COLUMNS})`, file);
}

/** A bare COPY of the same contacts into a table with the columns and indexes of contacts. */
async function copyContacts(contacts: Buffer): Promise<number> {
  await pool.query('DROP TABLE IF EXISTS bench_contacts');
  await pool.query('CREATE TABLE bench_contacts (LIKE contacts INCLUDING ALL)');
  return copy('bench_contacts (id, project_id, email, email_key, name, source, custom_fields)', contacts);
}

/** The import of the file into a new project, from its stored parts to its last row. */
async function importFile(file: Buffer): Promise<number> {
  const { id: projectId } = await createProject('Bench: import');
  const { id } = await createImport(projectId, await checkOptions(projectId, { createFields: true }));
  for (let at = 0; at < file.length; at += 1_048_576) {
    await addPart(projectId, id, at / 1_048_576, file.subarray(at, at + 1_048_576));
  }
  await startImport(projectId, id);
  await pool.query('DELETE FROM outbox WHERE workflow_id = $1', [id]); // the benchmark runs it itself
  const { progress, ms, memory: used } = await worker.ask<Imported>(id);
  if (progress.status !== 'completed' || progress.created !== ROWS) throw new Error(JSON.stringify(progress));
  memory = Math.max(memory, used);
  await pool.query('DELETE FROM projects WHERE id = $1', [projectId]);
  await pool.query('VACUUM contacts, events');
  return ms;
}

function makeFile(): { file: Buffer; contacts: Buffer } {
  const script = new URL('../samples/make-contacts.mjs', import.meta.url).pathname;
  const text = execFileSync('node', [script, '--rows', String(ROWS)], { maxBuffer: 2 ** 30 }).toString();
  const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;
  const lines = text.split('\n').slice(1, -1);
  const contacts = lines.map((line) => {
    const [email = '', name, city, plan, seats, signedUp] = line.split(',');
    const fields = { city, plan, seats: Number(seats), signed_up: signedUp };
    const own = [newId('ctc'), 'prj', email, email.toLowerCase(), name || email, 'import', JSON.stringify(fields)];
    return own.map(quoted).join(',');
  });
  return { file: Buffer.from(text), contacts: Buffer.from(['id', ...contacts, ''].join('\n')) };
}

const rate = (ms: number) => Math.round((ROWS / ms) * 1000);

const { file, contacts } = makeFile();
console.log(`${ROWS} rows, ${(file.length / 1e6).toFixed(0)} MB, ${RUNS} runs in turn`);
const times = { file: [] as number[], contacts: [] as number[], import: [] as number[] };
for (let turn = 0; turn < RUNS; turn++) {
  times.file.push(await copyFile(file));
  times.import.push(await importFile(file));
  times.contacts.push(await copyContacts(contacts));
  const [a, b, c] = [times.file, times.import, times.contacts].map((each) => rate(each.at(-1) ?? 0));
  console.log(`  COPY ${a}/s, import ${b}/s, COPY into the columns and indexes of contacts ${c}/s`);
}
await pool.query('DROP TABLE bench_copy, bench_contacts');
const imported = rate(median(times.import));
const report = (what: string, ms: number[]) => {
  const bare = rate(median(ms));
  console.log(`${what.padEnd(56)} ${String(bare).padStart(8)}/s   import: ${(imported / bare).toFixed(2)} of it`);
};
console.log(`${'import'.padEnd(56)} ${String(imported).padStart(8)}/s`);
report('bare COPY, key and unique address', times.file);
report('bare COPY, columns and indexes of contacts', times.contacts);
console.log(`peak memory of the worker: ${memory} MB`);
await worker.stop();
await closeDatabase();
await database.stop();
process.exit(0);

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type Contact,
  type ContactFilter,
  contactsStatement,
  type CustomFieldValue,
  listCustomFields,
} from '@postroom/contacts';
import { config, FairSemaphore, pool, RateLimited, type StreamExchange } from '@postroom/platform';
import { csvLine, guard } from './csv/index.ts';
import { EXPORTED_FACTS } from './plan.ts';
import { spooled } from './spool.ts';

export interface ExportOptions extends ContactFilter {
  /** Exports values unchanged, even those that a spreadsheet would run as a formula. */
  raw?: boolean | null | undefined;
  /** Adds a byte order mark, which tells Excel that the file is UTF-8. */
  bom?: boolean | null | undefined;
}

/** How many contacts are fetched at a time. */
const FETCH = 1000;
/**
 * Limits how many exports read from the database at once, in total and per project; each uses a connection. Exports are
 * spooled to temporary files, so a slow client does not hold a connection.
 */
const reading = new FairSemaphore({ total: 4, perKey: 2 });
/** A download is aborted if its client reads nothing for this long, in milliseconds. */
const STALLED_MS = 60_000;
/** Maximum duration of a download, in milliseconds, so that a slow client can't keep it open. */
const DEADLINE_MS = 60 * 60_000;

/**
 * The lines of a CSV file with all contacts that pass every filter, newest first, from one snapshot. Formulas are
 * guarded with a `'`, which imports remove, unless `raw` is set.
 * @throws DomainError `not_found` for a group or segment that is not in the project.
 */
export async function* exportContacts(
  projectId: string,
  { raw, bom, ...filter }: ExportOptions,
): AsyncGenerator<string, void> {
  const { text, values } = await contactsStatement(projectId, filter);
  const keys = (await listCustomFields(projectId, { first: 1000 })).edges.map(({ node }) => node.key).reverse();
  const write = raw === true ? (value: string) => value : guard;
  yield `${bom === true ? '\uFEFF' : ''}${csvLine(['email', 'name', ...keys, ...EXPORTED_FACTS])}`;
  for await (const contacts of read<Contact>(text, values)) {
    yield contacts.map((contact) => csvLine(valuesOf(contact, keys, write))).join('');
  }
}

function valuesOf(contact: Contact, keys: readonly string[], write: (text: string) => string): string[] {
  const { id, email, name, hasName, customFields, source, suppressionStatus, createdAt, updatedAt } = contact;
  // A number is not a formula, whatever its sign.
  const own = (value: CustomFieldValue | undefined) =>
    typeof value === 'string' ? write(value) : value === undefined ? '' : String(value);
  return [
    write(email),
    hasName ? write(name) : '', // so that an import of the file leaves it without a name
    ...keys.map((key) => own(customFields[key])),
    id,
    source,
    suppressionStatus,
    createdAt.toISOString(),
    updatedAt.toISOString(),
  ];
}

async function* read<Row extends object>(text: string, values: unknown[]): AsyncGenerator<Row[], void> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => void (broken = error);
  client.on('error', onError);
  try {
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await client.query(`DECLARE exported NO SCROLL CURSOR FOR ${text}`, values);
    for (;;) {
      const { rows } = await client.query<Row>(`FETCH ${FETCH} FROM exported`);
      if (rows.length > 0) yield rows;
      if (rows.length < FETCH) return;
    }
  } finally {
    await client.query('ROLLBACK').catch(onError);
    client.off('error', onError);
    client.release(broken);
  }
}

/**
 * Streams an export, with back pressure.
 * @throws DomainError as `exportContacts`, and `rate_limited` when the caller or the project has too many downloads.
 */
export async function streamExport(exchange: StreamExchange): Promise<undefined> {
  const { projectId, options } = exchange;
  const name = `contacts-${new Date().toISOString().slice(0, 10)}.csv`;
  const contacts = exportContacts(projectId, options);
  await streamCsv(exchange, name, () => spooled(contacts, (write) => reading.run(projectId, write)));
}

/** A CSV file of the rows of a statement. */
export interface RowsFile<Row> {
  name: string;
  header: readonly string[];
  /** @throws DomainError for a request that cannot be answered. */
  statement: () => Promise<{ text: string; values: unknown[] }>;
  /** The values of a row, as text. Formulas are guarded with a `'`. */
  valuesOf: (row: Row) => readonly string[];
}

/**
 * Streams the rows of a statement as a CSV file, from one snapshot.
 * @throws DomainError as the statement, and `rate_limited` when the caller or the project has too many downloads.
 */
export async function streamRows<Row extends object>(
  exchange: StreamExchange,
  file: RowsFile<Row>,
): Promise<undefined> {
  const lines = rowLines(file);
  await streamCsv(exchange, file.name, () => spooled(lines, (write) => reading.run(exchange.projectId, write)));
}

async function* rowLines<Row extends object>({
  header,
  statement,
  valuesOf,
}: RowsFile<Row>): AsyncGenerator<string, void> {
  const { text, values } = await statement();
  yield csvLine([...header]);
  for await (const rows of read<Row>(text, values)) {
    yield rows.map((row) => csvLine(valuesOf(row).map(guard))).join('');
  }
}

/**
 * Streams a CSV file. Waits for its first lines, so that request errors are returned as errors.
 * @throws RateLimited when the caller or the project has too many downloads.
 */
export async function streamCsv(
  { request, response, caller, projectId }: StreamExchange,
  name: string,
  begin: () => AsyncGenerator<string | Buffer, void>,
): Promise<void> {
  const release = acquire([
    [caller.id, config.DOWNLOADS_PER_CALLER],
    [projectId, config.DOWNLOADS_PER_PROJECT],
  ]);
  try {
    const parts = begin();
    const first = await parts.next();
    response.writeHead(200, {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}"`,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    if (request.method === 'HEAD') {
      await parts.return();
      response.end();
      return;
    }
    response.setTimeout(STALLED_MS, () => response.destroy());
    await pipeline(Readable.from(following(first, parts)), response, { signal: AbortSignal.timeout(DEADLINE_MS) });
  } finally {
    release();
  }
}

/** Active downloads, by caller and by project. */
const active = new Map<string, number>();

function acquire(limits: readonly (readonly [id: string, limit: number])[]): () => void {
  for (const [id, limit] of limits) {
    if ((active.get(id) ?? 0) < limit) continue;
    const whose = id.startsWith('prj_') ? 'of this project' : 'of yours';
    throw new RateLimited(`${limit} downloads ${whose} are under way. Try again when one has ended.`, 10);
  }
  for (const [id] of limits) active.set(id, (active.get(id) ?? 0) + 1);
  return () => {
    for (const [id] of limits) {
      const left = (active.get(id) ?? 1) - 1;
      if (left === 0) active.delete(id);
      else active.set(id, left);
    }
  };
}

async function* following(
  first: IteratorResult<string | Buffer, void>,
  others: AsyncGenerator<string | Buffer, void>,
): AsyncGenerator<string | Buffer, void> {
  if (first.done !== true) yield first.value;
  yield* others;
}

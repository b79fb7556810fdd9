import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { csvLine, guard } from '@postroom/csv';
import { config, FairSemaphore, pool, RateLimited, type StreamExchange, type Tx } from '@postroom/platform';
import { spooled } from './spool.ts';

/** How many rows are fetched at a time. */
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
 * The rows of a statement, in batches, from one snapshot that holds a connection until the last.
 * @param check checks in that snapshot that the rows may be read.
 * @throws as `check`, before the first batch.
 */
export async function* readInBatches<Row extends object>(
  text: string,
  values: unknown[],
  check: (tx: Tx) => Promise<void> = () => Promise.resolve(),
): AsyncGenerator<Row[], void> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => void (broken = error);
  client.on('error', onError);
  try {
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await check(client);
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

/** A CSV file of the rows of a statement. */
interface RowsFile<Row> {
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
  await streamSpooled(exchange, file.name, rowLines(file));
}

/**
 * Streams a CSV file whose lines hold a connection to the database while they are read, by way of a temporary file.
 * @throws DomainError as the lines, and `rate_limited` when the caller or the project has too many downloads.
 */
export const streamSpooled = (
  exchange: StreamExchange,
  name: string,
  lines: AsyncIterable<string>,
): Promise<undefined> =>
  streamCsv(exchange, name, () => spooled(lines, (write) => reading.run(exchange.projectId, write)));

async function* rowLines<Row extends object>({
  header,
  statement,
  valuesOf,
}: RowsFile<Row>): AsyncGenerator<string, void> {
  const { text, values } = await statement();
  yield csvLine([...header]);
  for await (const rows of readInBatches<Row>(text, values)) {
    yield rows.map((row) => csvLine(valuesOf(row).map(guard))).join('');
  }
}

/** A byte order mark, without which Excel takes UTF-8 for the code page of Windows. */
const BOM = '\uFEFF';

/**
 * Streams a CSV file. Waits for its first lines, so that request errors are returned as errors. It begins with a byte order
 * mark if the option `bom` says so, by default for people: programs would read the mark as part of the first column's name.
 * @throws RateLimited when the caller or the project has too many downloads.
 */
export async function streamCsv(
  { request, response, caller, projectId, options }: StreamExchange,
  name: string,
  begin: () => AsyncGenerator<string | Buffer, void>,
): Promise<undefined> {
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
      return undefined;
    }
    response.setTimeout(STALLED_MS, () => response.destroy());
    const { bom } = options as { bom?: boolean | null };
    const start = (bom ?? caller.kind === 'person') ? [BOM] : [];
    await pipeline(Readable.from(joined(start, first, parts)), response, { signal: AbortSignal.timeout(DEADLINE_MS) });
    return undefined;
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

async function* joined(
  start: string[],
  first: IteratorResult<string | Buffer, void>,
  others: AsyncGenerator<string | Buffer, void>,
): AsyncGenerator<string | Buffer, void> {
  yield* start;
  if (first.done !== true) yield first.value;
  yield* others;
}

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
  /** Values as they are, also those that a spreadsheet would run as a formula. */
  raw?: boolean | null | undefined;
  /** A byte order mark, by which Excel knows that the file is in UTF-8. */
  bom?: boolean | null | undefined;
}

/** How many contacts are in memory at a time. */
const FETCH = 1000;
/**
 * Exports that are read from the database at once, each by a connection: of all projects, and of one. They are written to
 * temporary files, so that none waits for the client who downloads it.
 */
const reading = new FairSemaphore({ total: 4, perKey: 2 });
/** One whose client takes nothing for so long is ended, in milliseconds. */
const STALLED_MS = 60_000;
/** And whoever has not taken all of it after so long, however little at a time. */
const DEADLINE_MS = 60 * 60_000;

/**
 * The project's contacts that pass every filter given, as the lines of a CSV file, newest first and all of one moment. What a
 * spreadsheet would run is guarded by a `'`, which an import takes away again, unless `raw` is asked for.
 * @throws DomainError `not_found` for a group or segment that the project has not.
 */
export async function* exportContacts(
  projectId: string,
  { raw, bom, ...filter }: ExportOptions,
): AsyncGenerator<string, void> {
  const { text, values } = await contactsStatement(projectId, filter);
  const keys = (await listCustomFields(projectId, { first: 1000 })).edges.map(({ node }) => node.key).reverse();
  const write = raw === true ? (value: string) => value : guard;
  yield `${bom === true ? '\uFEFF' : ''}${csvLine(['email', 'name', ...keys, ...EXPORTED_FACTS])}`;
  for await (const contacts of read(text, values)) {
    yield contacts.map((contact) => csvLine(valuesOf(contact, keys, write))).join('');
  }
}

function valuesOf(contact: Contact, keys: readonly string[], write: (text: string) => string): string[] {
  const { id, email, name, customFields, source, suppressionStatus, createdAt, updatedAt } = contact;
  // A number is no formula, whatever its sign.
  const own = (value: CustomFieldValue | undefined) =>
    typeof value === 'string' ? write(value) : value === undefined ? '' : String(value);
  return [
    write(email),
    write(name),
    ...keys.map((key) => own(customFields[key])),
    id,
    source,
    suppressionStatus,
    createdAt.toISOString(),
    updatedAt.toISOString(),
  ];
}

async function* read(text: string, values: unknown[]): AsyncGenerator<Contact[], void> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => void (broken = error);
  client.on('error', onError);
  try {
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await client.query(`DECLARE exported NO SCROLL CURSOR FOR ${text}`, values);
    for (;;) {
      const { rows } = await client.query<Contact>(`FETCH ${FETCH} FROM exported`);
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
 * Answers with an export, as fast as its client takes it.
 * @throws DomainError as `exportContacts` does, and `rate_limited` while the caller or the project downloads too much.
 */
export async function answerExport(exchange: StreamExchange): Promise<undefined> {
  const { projectId, options } = exchange;
  const name = `contacts-${new Date().toISOString().slice(0, 10)}.csv`;
  const contacts = exportContacts(projectId, options);
  await answerCsv(exchange, name, () => spooled(contacts, (write) => reading.run(projectId, write)));
}

/**
 * Answers with a CSV file. Its first lines are waited for, so that what is wrong with the request is an error.
 * @throws RateLimited while the caller or the project downloads too much.
 */
export async function answerCsv(
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

/** Downloads under way, by caller and by project. */
const underWay = new Map<string, number>();

function acquire(limits: readonly (readonly [id: string, limit: number])[]): () => void {
  for (const [id, limit] of limits) {
    if ((underWay.get(id) ?? 0) < limit) continue;
    const whose = id.startsWith('prj_') ? 'of this project' : 'of yours';
    throw new RateLimited(`${limit} downloads ${whose} are under way. Try again when one has ended.`, 10);
  }
  for (const [id] of limits) underWay.set(id, (underWay.get(id) ?? 0) + 1);
  return () => {
    for (const [id] of limits) {
      const left = (underWay.get(id) ?? 1) - 1;
      if (left === 0) underWay.delete(id);
      else underWay.set(id, left);
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

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type Contact,
  type ContactFilter,
  contactsStatement,
  type CustomFieldValue,
  listCustomFields,
} from '@postroom/contacts';
import { DomainError, pool, type StreamExchange } from '@postroom/platform';
import { csvLine, guard } from './csv/index.ts';
import { EXPORTED_FACTS } from './plan.ts';

export interface ExportOptions extends ContactFilter {
  /** Values as they are, also those that a spreadsheet would run as a formula. */
  raw?: boolean | null | undefined;
  /** A byte order mark, by which Excel knows that the file is in UTF-8. */
  bom?: boolean | null | undefined;
}

/** How many contacts are in memory at a time. */
const FETCH = 1000;
/** Each export holds a connection and a snapshot of the database for as long as its reader takes. */
const MOST_AT_ONCE = 4;
/** One whose reader takes nothing for so long is ended, in milliseconds. */
const STALLED_MS = 60_000;

let underWay = 0;

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
    await client.query(`SET LOCAL idle_in_transaction_session_timeout = ${STALLED_MS}`);
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
 * Answers with an export, as fast as its reader takes it.
 * @throws DomainError as `exportContacts` does, and `rate_limited` while too many are under way.
 */
export async function answerExport({ projectId, options, request, response }: StreamExchange): Promise<undefined> {
  if (underWay >= MOST_AT_ONCE) {
    response.setHeader('Retry-After', 10);
    throw new DomainError('rate_limited', 'Too many exports are under way. Try again later.');
  }
  underWay++;
  try {
    const name = `contacts-${new Date().toISOString().slice(0, 10)}.csv`;
    await answerCsv(request, response, name, exportContacts(projectId, options));
  } finally {
    underWay--;
  }
}

/** Answers with a CSV file. Its first lines are waited for, so that what is wrong with the request is an error. */
export async function answerCsv(
  { method }: StreamExchange['request'],
  response: StreamExchange['response'],
  name: string,
  lines: AsyncGenerator<string, void>,
): Promise<void> {
  const first = await lines.next();
  response.writeHead(200, {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  if (method === 'HEAD') {
    await lines.return();
    response.end();
    return;
  }
  response.setTimeout(STALLED_MS, () => response.destroy());
  await pipeline(Readable.from(following(first, lines)), response);
}

async function* following(first: IteratorResult<string, void>, others: AsyncGenerator<string, void>) {
  if (first.done !== true) yield first.value;
  yield* others;
}

import {
  batchLoader,
  invalid,
  MAX_TOTAL,
  type Page,
  type PageArgs,
  pageOf,
  pageSize,
  pool,
  type StreamExchange,
} from '@postroom/platform';
import { csvLine, guard } from '@postroom/csv';
import { streamCsv } from '@postroom/downloads';
import { getImport } from './imports.ts';

/** A problem with a row of an import. */
export interface ImportError {
  line: number;
  field: string;
  message: string;
}

interface Place {
  line: number;
  field: string;
}

/**
 * The row errors of an import, in file order. Pages requested together are loaded in one statement.
 * @throws DomainError `validation_error` for an invalid cursor.
 */
export async function listErrors(
  request: object,
  importId: string,
  { first, after }: PageArgs,
): Promise<Page<ImportError>> {
  const size = pageSize(first);
  const { line, field } = after == null ? START : fromCursor(after);
  const key: PageKey = [importId, line, field, size + 1];
  const rows = (await loadPage(request, JSON.stringify(key))) ?? [];
  const edges = rows.map((node) => ({ cursor: toCursor(node), node }));
  const totalCount = async () => Math.min(MAX_TOTAL, (await loadCount(request, importId)) ?? 0);
  return pageOf(edges, { size, after, totalCount });
}

/** Counts the row errors of imports. */
const loadCount = batchLoader(async (_request: object, importIds) => {
  const { rows } = await pool.query<{ id: string; count: number }>(
    `SELECT i.id, e.count FROM unnest($1::text[]) AS i(id) CROSS JOIN LATERAL (
       SELECT count(*)::int AS count FROM (SELECT 1 FROM import_errors WHERE import_id = i.id LIMIT $2) AS counted
     ) AS e`,
    [importIds, MAX_TOTAL],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
});

/** The import, the position to start after, and the page size. */
type PageKey = [importId: string, line: number, field: string, limit: number];

const loadPage = batchLoader(async (_request: object, keys) => {
  const asked = keys.map((key) => JSON.parse(key) as PageKey);
  const { rows } = await pool.query<ImportError & { page: number }>(
    `SELECT page.number::int AS page, e.line, e.field, e.message
       FROM unnest($1::text[], $2::int[], $3::text[], $4::int[]) WITH ORDINALITY AS page(import_id, line, field, size, number)
      CROSS JOIN LATERAL (
        SELECT line, field, message FROM import_errors
         WHERE import_id = page.import_id AND (line, field) > (page.line, page.field) ORDER BY line, field LIMIT page.size
      ) AS e
      ORDER BY page.number, e.line, e.field`,
    [0, 1, 2, 3].map((part) => asked.map((key) => key[part])),
  );
  const pages = new Map<string, ImportError[]>(keys.map((key) => [key, []]));
  for (const { page, ...error } of rows) pages.get(keys[page - 1] ?? '')?.push(error);
  return pages;
});

const START: Place = { line: 0, field: '' };
const toCursor = ({ line, field }: Place) => Buffer.from(`${line}:${field}`).toString('base64url');

function fromCursor(cursor: string): Place {
  const [, line, field] = /^(\d{1,9}):(.*)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (line === undefined || field === undefined || field.includes('\0')) {
    throw invalid({ field: 'after', message: 'is not a cursor returned by this list' });
  }
  return { line: Number(line), field };
}

async function read(importId: string, after: Place, limit: number): Promise<ImportError[]> {
  const { rows } = await pool.query<ImportError>(
    `SELECT line, field, message FROM import_errors
      WHERE import_id = $1 AND (line, field) > ($2, $3) ORDER BY line, field LIMIT $4`,
    [importId, after.line, after.field, limit],
  );
  return rows;
}

const AT_ONCE = 5000;

async function* errorLines(projectId: string, id: string): AsyncGenerator<string, void> {
  await getImport(projectId, id);
  yield csvLine(['line', 'field', 'message']);
  for (let after = START; ;) {
    const errors = await read(id, after, AT_ONCE);
    const last = errors.at(-1);
    if (last === undefined) return;
    yield errors
      .map(({ line, field, message }) => csvLine([String(line), guard(inRestNames(field)), guard(message)]))
      .join('');
    after = last;
  }
}

/** `/v1` uses snake_case. */
const inRestNames = (field: string) => field.replace(/^customFields\./, 'custom_fields.');

/** Streams the row errors of an import as a CSV file. */
export async function streamErrors(exchange: StreamExchange): Promise<undefined> {
  const { id = '' } = exchange.params;
  await streamCsv(exchange, `${id}-errors.csv`, () => errorLines(exchange.projectId, id));
}

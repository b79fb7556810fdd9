import { invalid, type Page, type PageArgs, pageSize, pool, type StreamExchange } from '@postroom/platform';
import { csvLine } from './csv/index.ts';
import { answerCsv } from './export.ts';
import { getImport } from './imports.ts';

/** What is wrong with a row of an import. */
export interface ImportError {
  line: number;
  field: string;
  message: string;
}

interface Place {
  line: number;
  field: string;
}

/** What is wrong with the rows of an import, in the order of the file. */
export async function listErrors(importId: string, { first, after }: PageArgs): Promise<Page<ImportError>> {
  const size = pageSize(first);
  const rows = await read(importId, after == null ? START : fromCursor(after), size + 1);
  const edges = rows.slice(0, size).map((node) => ({ cursor: toCursor(node), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: rows.length > size,
      hasPreviousPage: after != null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

const START: Place = { line: 0, field: '' };
const toCursor = ({ line, field }: Place) => Buffer.from(`${line}:${field}`).toString('base64url');

function fromCursor(cursor: string): Place {
  const [, line, field] = /^(\d{1,9}):(.*)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (line === undefined || field === undefined || field.includes('\0')) {
    throw invalid({ field: 'after', message: 'is not a cursor that this list gave out' });
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
    yield errors.map(({ line, field, message }) => csvLine([String(line), inRestNames(field), message])).join('');
    after = last;
  }
}

/** `/v1` is in snake_case. */
const inRestNames = (field: string) => field.replace(/^customFields\./, 'custom_fields.');

/** Answers with what is wrong with the rows of an import, as a CSV file. */
export async function answerErrors({ projectId, params, request, response }: StreamExchange): Promise<undefined> {
  const { id = '' } = params;
  await answerCsv(request, response, `${id}-errors.csv`, errorLines(projectId, id));
}

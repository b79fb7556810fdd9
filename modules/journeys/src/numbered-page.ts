import { invalid, type Page, type PageArgs, pageOf, pageSize, toCursor } from '@postroom/platform';

/** How to read rows that are numbered within their parent, such as the steps of a run. */
interface NumberedRows<Row> {
  numberOf: (row: Row) => number;
  /** Rows with numbers below `before`, or all if null, the highest first. */
  read: (before: number | null, limit: number) => Promise<Row[]>;
  totalCount: () => Promise<number>;
}

/** A page of such rows. @throws DomainError `validation_error` for a page size out of range or an invalid cursor. */
export async function numberedPage<Row>(
  { first, after }: PageArgs,
  { numberOf, read, totalCount }: NumberedRows<Row>,
): Promise<Page<Row>> {
  const size = pageSize(first);
  const before = after == null ? null : Number(Buffer.from(after, 'base64url').toString('latin1'));
  if (before !== null && !(Number.isInteger(before) && before > 0 && before < 2 ** 31))
    throw invalid({ field: 'after', message: 'is not a cursor of this list' });
  const rows = await read(before, size + 1);
  return pageOf(
    rows.map((node) => ({ cursor: toCursor(String(numberOf(node))), node })),
    { size, after, totalCount },
  );
}

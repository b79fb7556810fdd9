import { limitText, readLimited } from '@postroom/concurrency';
import { buildSchema, graphqlSync } from 'graphql';
import { expect, test } from 'vitest';
import { newId } from '../src/ids.ts';
import { type Page, readPage, readRows, selectsBelow } from '../src/pages.ts';
import { JsonScalar, StringScalar } from '../src/scalars.ts';

interface Row {
  id: string;
  versions: { body: string }[];
}

/** A list of rows with a body of this many characters, and how it is read. */
function listOf(count: number, bodyLength: number) {
  const versions = [{ body: 'x'.repeat(bodyLength) }];
  const rows = Array.from({ length: count }, (): Row => ({ id: newId('tpl'), versions })).toReversed();
  let atOnce = 0;
  const page = (first: number, after?: string | null): Promise<Page<Row>> =>
    readPage(
      'tpl',
      { first, after },
      async ({ limit, before }) => {
        atOnce = Math.max(atOnce, limit);
        const from = before === undefined ? 0 : rows.findIndex(({ id }) => id === before) + 1;
        return readLimited(async () => rows.slice(from, from + limit));
      },
      async () => count,
    );
  return { rows, page, atOnce: () => atOnce };
}

test('a page of large rows ends early, and the next pages have the rest', async () => {
  const { rows, page, atOnce } = listOf(500, 100_000);
  const found: Row[] = [];
  let after: string | null | undefined;
  for (let pages = 1; ; pages++) {
    const { edges, pageInfo } = await page(1000, after);
    found.push(...edges.map(({ node }) => node));
    after = pageInfo.endCursor;
    if (!pageInfo.hasNextPage) break;
    expect(edges.length).toBeLessThanOrEqual(101);
    expect(pages).toBeLessThan(6);
  }
  expect(found).toEqual(rows);
  expect(atOnce()).toBeLessThanOrEqual(101);
});

test.each([1, 100, 101, 102, 202, 203, 299, 300, 301])(
  'a page of small rows has the %i that were asked for',
  async (first) => {
    const { rows, page } = listOf(300, 10);
    const { edges, pageInfo } = await page(first);
    expect(edges.map(({ node }) => node)).toEqual(rows.slice(0, first));
    expect(pageInfo.hasNextPage).toBe(first < 300);
  },
);

test('a request reads a few pages at once, and stops when they are large', async () => {
  const { page } = listOf(101, 100_000);
  const outcomes = await limitText(() => Promise.allSettled(Array.from({ length: 24 }, () => page(100))));
  const read = outcomes.filter(({ status }) => status === 'fulfilled');
  expect(read.length).toBeGreaterThanOrEqual(2);
  expect(read.length).toBeLessThanOrEqual(3);
  const failed = outcomes.find(({ status }) => status === 'rejected');
  expect(failed).toMatchObject({ reason: { code: 'payload_too_large' } });
});

test('an answer has a limited amount of text, however often a document asks for it', async () => {
  const text = 'x'.repeat(5_000_000);
  await limitText(async () => {
    for (let times = 0; times < 3; times++) expect(StringScalar.serialize(text)).toBe(text);
    expect(() => StringScalar.serialize(text)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
    expect(() => JsonScalar.serialize({ texts: [text] })).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }),
    );
    expect(StringScalar.serialize('short')).toBe('short');
  });
});

test('rows with long texts are read ten at a time', async () => {
  const taken: number[] = [];
  const table = {
    findMany: async ({ take }: { take: number }) => {
      taken.push(take);
      return Array.from({ length: take }, () => ({ id: newId('tpl') }));
    },
    count: async () => 100,
    fields: { id: {}, html: {} },
  };
  await readRows(table, 'tpl', { first: 25 }, {}, { select: { id: true, body: true } });
  await readRows(table, 'tpl', { first: 25 }, {});
  await readRows(table, 'tpl', { first: 25 }, {}, { select: { id: true } });
  expect(taken).toEqual([10, 10, 6, 10, 10, 6, 26]);
});

test('a field is found in nested selections and fragments, below the field being resolved only', () => {
  const schema = buildSchema(
    'type Row { id: ID rows: [Row] tags: [String] } type Query { tags: [String] rows: [Row] }',
  );
  const found: boolean[] = [];
  const rows = (_args: unknown, _context: unknown, info: Parameters<typeof selectsBelow>[0]) => {
    found.push(selectsBelow(info, 'tags'));
    return [];
  };
  for (const source of [
    '{ rows { rows { tags } } }',
    '{ rows { ... on Row { tags } } }',
    '{ rows { ...inner } } fragment inner on Row { rows { tags } }',
    '{ tags rows { id } }',
    // As many paths as 2 to the power of 60.
    `{ rows { ...f0 } } ${Array.from({ length: 60 }, (_, n) => `fragment f${n} on Row { ...f${n + 1} ...f${n + 1} }`).join(' ')}
     fragment f60 on Row { id }`,
  ])
    graphqlSync({ schema, source, rootValue: { rows } });
  expect(found).toEqual([true, true, true, false, false]);
});

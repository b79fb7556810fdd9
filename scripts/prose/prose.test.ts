import { expect, test } from 'vitest';
import { problemsIn } from './main.ts';

test('docs, comments, UI texts, errors, test titles and schema comments are checked, each with its line', async () => {
  const found = async (file: string, source: string) =>
    (await problemsIn(file, source)).map((problem) => problem.replace(/: .*\(/, ' (').replace(')', ''));
  expect(await found('docs/page.md', '# Title\n\nIt is read anew.\n')).toEqual(['docs/page.md:3 (prh']);
  expect(await found('src/a.ts', 'const a = 1;\n\n/**\n * Counts it.\n * It is read anew.\n */\n')).toEqual([
    'src/a.ts:5 (prh',
  ]);
  expect(await found('src/a.ts', "\nthrow new Error('Ask somebody else.');")).toEqual(['src/a.ts:2 (prh']);
  expect(await found('src/a.ts', 'log(`${n} rows are read anew`);')).toEqual(['src/a.ts:1 (prh']);
  expect(await found('src/a.tsx', 'const a = (\n  <p title="Read anew it">\n    Shown beside it\n  </p>\n);')).toEqual([
    'src/a.tsx:2 (prh',
    'src/a.tsx:3 (prh',
  ]);
  expect(await found('a/test/a.test.ts', "test('it is read anew', () => f('it is read anew'));")).toEqual([
    'a/test/a.test.ts:1 (prh',
  ]);
  expect(await found('schema.prisma', 'model A {\n  /// Stored for the\n  /// somebody.\n  id String\n}')).toEqual([
    'schema.prisma:3 (prh',
  ]);
});

test('code, SQL, GraphQL and text in backticks are not prose', async () => {
  const source =
    "// Calls `anew`.\nf('SELECT anew FROM beside WHERE x');\nconst q = graphql(`query A { anew beside }`);\nf('anew');";
  expect(await problemsIn('src/a.ts', source)).toEqual([]);
});

test('spelling, standard capitalization, repeated words and long sentences are checked', async () => {
  for (const [text, rule] of [
    ['It was recieved twice.', 'common-misspellings'],
    ['Open the dashboard in a web site of Postgresql.', 'terminology'],
    ['It starts the the worker.', 'write-good'],
    [`The page shows ${'every contact, '.repeat(20)}and more.`, 'sentence-length'],
  ])
    expect((await problemsIn('page.md', `${text}\n`)).join()).toContain(`(${rule})`);
});

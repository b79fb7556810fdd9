import { charactersScanned } from '@postroom/testkit/local';
import { expect, test } from 'vitest';
import { readCsv, UnusableFile } from './csv.ts';
import { fieldsOf, nameColumns } from './columns.ts';

const read = (text: string) => readCsv(Buffer.from(text));
const emails = (text: string) => read(text).rows.map((row) => row.email);
const lines = (text: string) => read(text).rows.map((row) => row.line);
const problems = (text: string) => read(text).problems.map(({ line, message }) => `${line}: ${message}`);

test.each([
  ['UTF-8', 'utf-8', Buffer.from('email,name\nzoe@example.com,Zoé ☕\n')],
  ['UTF-8 with a byte order mark', 'utf-8', Buffer.from('\uFEFFemail,name\nzoe@example.com,Zoé ☕\n')],
  [
    'UTF-16, little-endian, with its mark',
    'utf-16le',
    Buffer.from('\uFEFFemail\tname\nzoe@example.com\tZoé ☕\n', 'utf16le'),
  ],
  ['UTF-16, little-endian, without one', 'utf-16le', Buffer.from('email,name\nzoe@example.com,Zoé ☕\n', 'utf16le')],
  ['UTF-16, big-endian', 'utf-16be', Buffer.from('\uFEFFemail,name\nzoe@example.com,Zoé ☕\n', 'utf16le').swap16()],
])('%s is recognized', (_name, encoding, bytes) => {
  const file = readCsv(bytes);
  expect(file.encoding).toBe(encoding);
  expect(file.rows.map((row) => row.values)).toEqual([['zoe@example.com', 'Zoé ☕']]);
});

test('Windows-1252 is recognized, its quotes and euro sign included', () => {
  const bytes = Buffer.concat([
    Buffer.from('email,name\nzoe@example.com,Zo'),
    Buffer.from([0xe9, 0x20, 0x93, 0x80, 0x94]),
  ]);
  expect(readCsv(bytes)).toMatchObject({
    encoding: 'windows-1252',
    rows: [{ values: ['zoe@example.com', 'Zoé “€”'] }],
  });
});

test('an invalid byte in a UTF-8 file rejects its row and leaves the others intact', () => {
  const text = Buffer.from('email,name\na@example.com,Zoé Åström\nb@example.com,X\nc@example.com,Łukasz Żuk\n');
  const bytes = Buffer.from(text.toString('latin1').replace('X', '\xe9'), 'latin1');
  const file = readCsv(bytes);
  expect(file.rows.map((row) => row.values[1])).toEqual(['Zoé Åström', 'Łukasz Żuk']);
  expect(file.problems).toEqual([{ line: 3, message: 'some bytes are not valid in the encoding of the file' }]);
});

test.each([[','], [';'], ['\t'], ['|']])('the separator %j is recognized', (separator) => {
  expect(read(['email,"Name, title";"x"', 'a@example.com'].join('\n')).delimiter).toBe(',');
  expect(
    read(['email', 'city', 'plan'].join(separator) + '\n' + ['a@example.com', 'Bonn', 'free'].join(separator)),
  ).toMatchObject({
    delimiter: separator,
    rows: [{ values: ['a@example.com', 'Bonn', 'free'] }],
  });
});

test('separators inside quoted names of columns do not mislead', () => {
  expect(read('"a,b,c,d";email\nx;a@example.com\n')).toMatchObject({
    delimiter: ';',
    header: ['a,b,c,d', 'email'],
    emailColumn: 1,
  });
});

test("Excel's first line sep=; names the separator and counts as a line", () => {
  const file = read('sep=;\r\nemail;a,b,c\r\na@example.com;1\r\nbad;2\r\n');
  expect(file).toMatchObject({ delimiter: ';', rows: [{ line: 3 }], problems: [{ line: 4 }] });
});

test('a file without a header row is read from its first line', () => {
  expect(read('Ada;ada@example.com\nBob;bob@example.com\n')).toMatchObject({
    emailColumn: 1,
    rows: [{ line: 1 }, { line: 2 }],
  });
});

test('the address column is found by its values when its name does not help', () => {
  expect(read('Имя;Почта\nАнна;anna@example.com\nБорис;none\n')).toMatchObject({
    emailColumn: 1,
    rows: [{ email: 'anna@example.com' }],
  });
});

test('a file without addresses is rejected with a sentence', () => {
  expect(() => read('name,city\nAda,Bonn\n')).toThrow(
    new UnusableFile('No column is named email or contains addresses. Columns found: name, city.'),
  );
  expect(() => read('')).toThrow(UnusableFile);
});

test('lines are counted right after quoted line breaks of every kind and after blank lines', () => {
  const text =
    'email,note\r\na@example.com,"one\r\ntwo\nthree\rfour"\r\n\r\n   \r\nb@example.com,"x"\nc@example.com,y\rbad,z\r\n';
  expect(lines(text)).toEqual([2, 8, 9]);
  expect(problems(text)).toEqual(['10: "bad" is not an email address']);
});

test('quotes and separators inside quotes are part of the value', () => {
  expect(
    read(
      'email,name\na@example.com,"Smith, Ann ""Bee"""\nb@example.com,Bob "B" Lee\nc@example.com,"Cy" Young\n',
    ).rows.map((row) => row.values[1]),
  ).toEqual(['Smith, Ann "Bee"', 'Bob "B" Lee', '"Cy" Young']);
});

test('each kind of bad row is reported with its line', () => {
  const text = [
    'email,name,city',
    'ann@example.com,Ann,Bonn',
    ',Nobody,Bonn',
    'bob at example.com,Bob,Bonn',
    'bob@example..com,Bob,Bonn',
    'b..ob@example.com,Bob,Bonn',
    'bob@localhost,Bob,Bonn',
    'cy@example.com,Cy',
    'cy@example.com,Cy,Bonn,more',
    '" ANN@Example.COM\u00A0",Ann again,Bonn',
    'dee@example.com,"Dee\0",Bonn',
    'eve@example.com,Eve,Bonn',
  ].join('\n');
  expect(emails(text)).toEqual(['ann@example.com', 'eve@example.com']);
  expect(problems(text)).toEqual([
    '3: the address is missing',
    '4: "bob at example.com" is not an email address',
    '5: "bob@example..com" is not an email address',
    '6: "b..ob@example.com" is not an email address',
    '7: "bob@localhost" is not an email address',
    '8: 2 columns instead of 3',
    '9: 4 columns instead of 3',
    '10: "ANN@Example.COM" is already on line 2',
    '11: a value contains a NUL character',
  ]);
});

test('a bad row does not make a later good one a duplicate', () => {
  expect(lines('email,name\na@example.com\nA@example.com,Ann\n')).toEqual([3]);
});

test('addresses lose surrounding space and invisible characters', () => {
  expect(emails('email\n  a@example.com \n\u200Bb@example.com\uFEFF\n')).toEqual(['a@example.com', 'b@example.com']);
});

test('international addresses are valid', () => {
  expect(emails('email\njosé@bücher.example\n用户@例子.test\n')).toEqual(['josé@bücher.example', '用户@例子.test']);
});

test.each([
  ['up to the next quote', 'email,name\n"ann@example.com,Ann\nbob@example.com,"Bob"\ncy@example.com,Cy\n', [3, 4]],
  ['to the end of the file', 'email,name\nann@example.com,"Ann\nbad\nbob@example.com,Bob\ncy@example.com,Cy\n', [4, 5]],
])('an unclosed quote that swallows rows %s rejects only its own row', (_name, text, good) => {
  expect(lines(text)).toEqual(good);
  expect(problems(text)).toEqual(['2: a quote is opened but never closed']);
});

test('a multi-line row with the wrong number of columns is one problem', () => {
  expect(problems('email,name,city\n"ann@example.com","Ann\nLee\nBonn"\nbob@example.com,Bob,Bonn\n')).toEqual([
    '2: 2 columns instead of 3',
  ]);
});

test('columns become fields of the type of their values', () => {
  const row = (n: number) =>
    `p${n}@example.com,P,${n},0${1000 + n},2024-02-${10 + (n % 10)},${n % 2 ? 'yes' : 'No'},${['a', 'b'][n % 2]},t${n},`;
  const text = [
    'email,name,Seats,Código postal,since,vip,Plan!,Город,void',
    ...Array.from({ length: 40 }, (_, n) => row(n)),
  ].join('\n');
  expect(fieldsOf(read(text))).toEqual([
    { column: 2, key: 'seats', label: 'Seats', type: 'number' },
    { column: 3, key: 'codigo_postal', label: 'Código postal', type: 'text' },
    { column: 4, key: 'since', label: 'Since', type: 'date' },
    { column: 5, key: 'vip', label: 'Vip', type: 'boolean' },
    { column: 6, key: 'plan', label: 'Plan!', type: 'select', options: ['a', 'b'] },
    { column: 7, key: 'column_8', label: 'Город', type: 'text' },
  ]);
});

test('a column is a number even if a few of its values are not', () => {
  const text = [
    'email,seats',
    ...Array.from({ length: 40 }, (_, n) => `p${n}@example.com,${n === 7 ? 'many' : n}`),
  ].join('\n');
  expect(fieldsOf(read(text))).toMatchObject([{ key: 'seats', type: 'number' }]);
});

test('columns of the same name get distinct keys, and none takes the name of a placeholder', () => {
  expect(fieldsOf(read('email,id,Name ID\na@example.com,x,y\n')).map((field) => field.key)).toEqual([
    'csv_id',
    'name_id',
  ]);
  expect(fieldsOf(read('email,tag,tag\na@example.com,x,y\n')).map((field) => field.key)).toEqual(['tag', 'tag_3']);
});

test('three times the rows take at most four times the work, even if every fiftieth has a stray quote', () => {
  const workFor = (count: number) => {
    const rows = Array.from({ length: count }, (_, n) => `${n % 50 === 49 ? '"' : ''}p${n}@example.com,x`);
    const text = ['email,name', ...rows].join('\n');
    expect(read(text).problems).toHaveLength(count / 50);
    expect(read(text).rows).toHaveLength(count - count / 50);
    return charactersScanned(() => read(text));
  };
  expect(workFor(30_000)).toBeLessThan(4 * workFor(10_000));
});

test('a name is one column, or a first and a last name that are fields as well', () => {
  const keys = (text: string) => fieldsOf(read(text)).map((field) => field.key);
  expect(nameColumns(read('Email,Full Name\na@example.com,Ann Lee\n'))).toEqual([1]);
  const parts = 'email,last_name,First Name\na@example.com,Lee,Ann\n';
  expect(nameColumns(read(parts))).toEqual([2, 1]);
  expect(keys(parts)).toEqual(['last_name', 'first_name']);
  expect(keys('email,name\na@example.com,Ann\n')).toEqual([]);
});

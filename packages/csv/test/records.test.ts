import { charactersScanned } from '@postroom/testkit/local';
import { expect, test } from 'vitest';
import { isAddress } from '../src/address.ts';
import { type CsvRecord, MAX_RECORD_LENGTH, RecordReader } from '../src/records.ts';

/** The records of a text that arrives in parts of `size` characters; rows have `columns` values and an address. */
function read(text: string, { size = Infinity, separator = ',', columns = 0 } = {}): CsvRecord[] {
  const reader = new RecordReader(separator);
  if (columns > 0) reader.expectRows((values) => values.length === columns && values.some(isAddress));
  const records: CsvRecord[] = [];
  for (let at = 0; at < text.length; at += size) records.push(...reader.push(text.slice(at, at + size)));
  return [...records, ...reader.end()];
}

const values = (text: string, options = {}) => read(text, options).map((record) => record.values ?? record.problem);
const lines = (text: string, options = {}) => read(text, options).map(({ line }) => line);

const ODD = [
  'email,note\r\n"a@example.com","one\r\ntwo\n""three"""\r\n\r\n  \rb@example.com,"x" \nc@example.com, "y, z"\r',
  'd@example.com,Bob "B" Lee\n"Cy" Young,e@example.com\n"Smith, "Bob" Jones",f@example.com\r\n',
  '"never,closed\ng@example.com,good\n"h@example.com","",\n"","i@example.com"\n',
  'j@example.com,"to the end\nk@example.com,good\nl@example.com,"last',
].join('');

test('the result does not depend on how the file is split into parts', () => {
  const whole = read(ODD, { columns: 2 });
  expect(whole.map(({ line, ...record }) => [line, record.problem ?? record.values])).toEqual([
    [1, ['email', 'note']],
    [2, ['a@example.com', 'one\r\ntwo\n"three"']],
    [7, ['b@example.com', 'x']],
    [8, ['c@example.com', 'y, z']],
    [9, ['d@example.com', 'Bob "B" Lee']],
    [10, ['"Cy" Young', 'e@example.com']],
    [11, ['Smith, "Bob" Jones', 'f@example.com']],
    [12, 'a quote is opened but never closed'],
    [13, ['g@example.com', 'good']],
    [14, ['h@example.com', '', '']],
    [15, ['', 'i@example.com']],
    [16, 'a quote is opened but never closed'],
    [17, ['k@example.com', 'good']],
    [18, 'a quote is opened but never closed'],
  ]);
  for (const size of [1, 2, 3, 5, 7, 11, 64]) expect(read(ODD, { size, columns: 2 })).toEqual(whole);
});

test('every value may be quoted, quotes inside are doubled, and outside space is ignored', () => {
  expect(values('"a","b ""c""","d,e"\n "f" ,"g" , "h"\n')).toEqual([
    ['a', 'b "c"', 'd,e'],
    ['f', 'g', 'h'],
  ]);
});

test('a quote that opens nothing is an ordinary character', () => {
  expect(values('Bob "B" Lee,x\n"Cy" Young,y\n5" pipe,z\n')).toEqual([
    ['Bob "B" Lee', 'x'],
    ['"Cy" Young', 'y'],
    ['5" pipe', 'z'],
  ]);
});

test('quotes that should have been doubled are read as intended', () => {
  expect(values('"Smith, "Bob" Jones",x\n')).toEqual([['Smith, "Bob" Jones', 'x']]);
});

test('line numbers count every kind of line break, including blank lines and breaks inside quotes', () => {
  expect(lines('a,b\r\nc,"1\n2\r3\r\n4"\rd,e\n\n \n,\nf,g')).toEqual([1, 2, 6, 10]);
});

test('a file may end with a line break, without one, or in the middle of a value', () => {
  expect(values('a,b\nc,d\n')).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  expect(values('a,b\nc,d')).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  expect(values('a,b\r\nc,"d"')).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  expect(values('a,b\nc,"d')).toEqual([['a', 'b'], 'a quote is opened but never closed']);
  expect(values('')).toEqual([]);
});

test('with other separators, commas are ordinary characters', () => {
  expect(values('a;"b;c";d,e\n', { separator: ';' })).toEqual([['a', 'b;c', 'd,e']]);
  expect(values('a\t"b\tc"\td\n', { separator: '\t' })).toEqual([['a', 'b\tc', 'd']]);
});

test('an endless line or an unclosed quote uses no more memory than its limit', () => {
  const long = 'x'.repeat(MAX_RECORD_LENGTH * 3);
  const records = read(`a@example.com,1\n${long}\nb@example.com,2\n`, { size: 1000, columns: 2 });
  expect(records).toEqual([
    { line: 1, values: ['a@example.com', '1'] },
    { line: 2, problem: 'is longer than 100000 characters' },
    { line: 3, values: ['b@example.com', '2'] },
  ]);
  const open = `a@example.com,1\n"${'x\n'.repeat(MAX_RECORD_LENGTH)}b@example.com,2\n`;
  const [first, ...others] = read(open, { size: 1000, columns: 2 });
  expect(first).toEqual({ line: 1, values: ['a@example.com', '1'] });
  expect(others[0]).toEqual({ line: 2, problem: 'a quote is opened but never closed' });
  expect(others.at(-1)).toEqual({ line: MAX_RECORD_LENGTH + 2, values: ['b@example.com', '2'] });
});

test('quoted text is scanned only a few times, however long the file is', () => {
  const rows = 20_000;
  const text = Array.from({ length: rows }, (_, n) => `"p${n}@example.com","Ann ""${n}"" Lee","Bonn"`).join('\r\n');
  const looked = charactersScanned(() => {
    expect(read(text, { size: 65_536, columns: 3 })).toHaveLength(rows);
  });
  expect(looked).toBeGreaterThan(text.length);
  expect(looked).toBeLessThan(5 * text.length);
});

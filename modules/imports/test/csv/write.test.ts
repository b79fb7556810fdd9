import { expect, test } from 'vitest';
import { RecordReader } from '../../src/csv/records.ts';
import { csvLine, guard, unguard } from '../../src/csv/write.ts';

test.each([
  '=1+1',
  '+49 30 1234',
  '-5',
  '@SUM(A1)',
  '\tx',
  '\rx',
  '\nx',
  '＝1+1',
  '＋1',
  '－1',
  '＠SUM(A1)',
  "'＝1",
  "'=1",
  "''+x",
])('what a spreadsheet would run is guarded, and comes back as it was: %j', (text) => {
  expect(guard(text)).toBe(`'${text}`);
  expect(unguard(guard(text))).toBe(text);
});

test.each(['', 'Ann', "O'Brien", "'quoted'", ' =x', 'a=b', '5', "'"])('what is no formula stays: %j', (text) => {
  expect(guard(text)).toBe(text);
  expect(unguard(text)).toBe(text);
});

test('what is written is read back as it was', () => {
  const values = ['a,b', 'say "hi"', 'two\r\nlines', '', ' space ', 'tab\there', 'Zoé'];
  const reader = new RecordReader(',');
  expect([...reader.push(csvLine(values)), ...reader.end()]).toEqual([{ line: 1, values }]);
});

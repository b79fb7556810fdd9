import { expect, test } from 'vitest';
import { RecordReader } from '../src/records.ts';
import { csvLine, guard, unguard } from '../src/write.ts';

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
  '﹦1',
  '﹢1',
  '﹣1',
  '﹫SUM(A1)',
  "'＝1",
  "'=1",
  "''+x",
])('formulas are guarded, and restored when read: %j', (text) => {
  expect(guard(text)).toBe(`'${text}`);
  expect(unguard(guard(text))).toBe(text);
});

test.each(['', 'Ann', "O'Brien", "'quoted'", ' =x', 'a=b', '5', "'"])(
  'text that is not a formula is unchanged: %j',
  (text) => {
    expect(guard(text)).toBe(text);
    expect(unguard(text)).toBe(text);
  },
);

test('written text is read back unchanged', () => {
  const values = ['a,b', 'say "hi"', 'two\r\nlines', '', ' space ', 'tab\there', 'Zoé'];
  const reader = new RecordReader(',');
  expect([...reader.push(csvLine(values)), ...reader.end()]).toEqual([{ line: 1, values }]);
});

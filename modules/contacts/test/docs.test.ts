import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COERCIONS } from '@postroom/custom-fields';
import { SEGMENT_FIELDS, type ValueKind } from '@postroom/segment-filters';

const page = (name: string) => readFile(join(import.meta.dirname, '../../../docs/reference', name), 'utf8');

const table = (rows: string[][]) => rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');

test('the documentation contains the coercion table', async () => {
  const rows = Object.entries(COERCIONS).flatMap(([type, rules]) =>
    rules.map(({ given, takes, stores, example }) => [
      type,
      given,
      takes,
      stores,
      `\`${JSON.stringify(example.given)}\` → ${example.stored === null ? 'none' : `\`${JSON.stringify(example.stored)}\``}`,
    ]),
  );
  expect(await page('custom-fields.md')).toContain(table(rows));
});

const VALUES: Record<ValueKind, string> = {
  none: 'no value',
  text: 'a text',
  number: 'a number',
  day: 'a date',
  time: 'a date and time, or a date',
  days: 'a number of days',
  choice: 'one of them',
  choices: 'a list of them',
  group: 'a group id',
  groups: 'a list of group ids',
  journey: 'a journey id',
  journeys: 'a list of journey ids',
  own: 'a value as the field takes it',
  ownList: 'a list of such values',
};

test('the documentation lists every field and operator of segments', async () => {
  const rows = Object.entries(SEGMENT_FIELDS).flatMap(([field, { operators, choices }]) => {
    const byValue = Map.groupBy(
      Object.entries(operators),
      ([, { takes, types }]) => `${types?.join(', ') ?? ''}|${VALUES[takes]}`,
    );
    const name = field === 'customFields' ? 'customFields.&lt;key&gt;' : field;
    return [...byValue].map(([key, entries]) => {
      const [types = '', value = ''] = key.split('|');
      const of = types === '' ? '' : ` (${types})`;
      return [
        `${name}${of}`,
        entries.map(([op]) => `\`${op}\``).join(' '),
        `${value}${choices ? `: ${choices.join(', ')}` : ''}`,
      ];
    });
  });
  expect(await page('segments.md')).toContain(table(rows));
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { type Document, typesOf } from '../scripts/types-of.ts';
import { OPERATIONS } from '../src/types.ts';

const SOURCE = join(import.meta.dirname, '../src');
const read = (file: string) => readFileSync(join(SOURCE, file), 'utf8');

test('the types match the served document (otherwise: npm run generate -w sdk/typescript)', async () => {
  const { url } = await testApi();
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as Document;
  expect(read('types.ts')).toBe(typesOf(document));
});

test('every operation of the API has a method', () => {
  const code = readdirSync(SOURCE)
    .filter((file) => file !== 'types.ts')
    .map(read)
    .join('\n');
  expect(Object.keys(OPERATIONS).filter((id) => !new RegExp(`(data|done|listOf|call)\\('${id}'`).test(code))).toEqual(
    [],
  );
});

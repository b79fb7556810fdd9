import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readTrustedDocuments } from '../src/limits.ts';

test('an unreadable file of trusted documents is an error that names the setting', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-documents-'));
  const file = join(folder, 'documents.json');
  writeFileSync(file, '{"abc": "{ projects { id } }"}');
  expect(readTrustedDocuments(file).get('abc')).toBe('{ projects { id } }');
  writeFileSync(file, 'not JSON');
  expect(() => readTrustedDocuments(file)).toThrow(`GRAPHQL_TRUSTED_DOCUMENTS: ${file} can't be read: `);
  rmSync(folder, { recursive: true });
  expect(() => readTrustedDocuments(file)).toThrow(`GRAPHQL_TRUSTED_DOCUMENTS: ${file} can't be read: ENOENT`);
});

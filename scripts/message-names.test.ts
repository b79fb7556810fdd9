import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, isInputObjectType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { proseOf } from './prose/extract.ts';

const ROOT = join(import.meta.dirname, '..');

/** Descriptions of `/v1` itself, and tools on top of it. */
const OF_REST = /^apps\/(mcp|gateway\/src\/(rest|openapi))\/|\/rest\.ts$/;

/** The `/v1` names of arguments and input fields that have another name in GraphQL. */
function restNames(): string[] {
  const types = buildSchema(readFileSync(join(ROOT, 'schema.graphql'), 'utf8')).getTypeMap();
  const names = Object.values(types).flatMap((type) => {
    if (isInputObjectType(type)) return Object.keys(type.getFields());
    if (!isObjectType(type)) return [];
    return Object.values(type.getFields()).flatMap(({ args }) => args.map((argument) => argument.name));
  });
  return names.map((name) => name.replaceAll(/[A-Z]/g, '_$&').toLowerCase()).filter((name) => name.includes('_'));
}

/** What `proseOf` does not know as SQL: parts of statements. */
const SQL = /[=$]|::|^\(|\bcoalesce\(|\bIS NULL\b| AND /;

test('messages name fields as GraphQL does; the REST facade converts them', () => {
  const name = new RegExp(`\\b(${restNames().join('|')})\\b`);
  const hits: string[] = [];
  for (const file of globSync('{apps,modules,packages}/*/src/**/*.ts', { cwd: ROOT })) {
    if (OF_REST.test(file)) continue;
    for (const { line, text, isComment } of proseOf(file, readFileSync(join(ROOT, file), 'utf8'))) {
      const found = name.exec(text.replaceAll(/`[^`]*`|\{\{.*?\}\}/g, ''))?.[0];
      if (isComment !== true && !SQL.test(text) && found !== undefined) hits.push(`${file}:${line}: ${found}`);
    }
  }
  expect(hits).toEqual([]);
});

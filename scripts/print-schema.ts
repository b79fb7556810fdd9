// Writes schema.graphql, or with --check fails if the file in the repository is outdated.
import { readFile, writeFile } from 'node:fs/promises';
import { printSchema } from 'graphql';
import { schema } from '../apps/gateway/src/schema.ts';

const file = new URL('../schema.graphql', import.meta.url);
const text = `# Printed by npm run generate from the modules' types; do not edit by hand.\n\n${printSchema(schema)}\n`;
const current = await readFile(file, 'utf8').catch(() => '');

if (process.argv.includes('--check') && current !== text) {
  console.error('schema.graphql is not current: run npm run generate and commit it.');
  process.exit(1);
}
if (current !== text) await writeFile(file, text);
process.exit(0);

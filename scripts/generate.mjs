// `npm run generate`: the database client from the modules' tables, then schema.graphql from their types.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fail, generateClient, ROOT, setUp, step } from './setup.mjs';

const PRINT_SCHEMA = join(ROOT, 'scripts/print-schema.ts');

try {
  const node = await setUp();
  await generateClient(node);
  if (existsSync(PRINT_SCHEMA)) await step('Printing schema.graphql', node, [PRINT_SCHEMA]);
} catch (error) {
  fail(error);
}

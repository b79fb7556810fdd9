// `npm run generate`: the database client from the modules' tables, and schema.graphql from their types. From that, the
// types of the dashboard's documents. The types of the TypeScript client come from the OpenAPI document, the page of
// settings from their schema, the sizes in production.md from measured costs, and the page of licences from package-lock.json. With --client only the database client. Turbo's tasks run the same programs, package
// by package.
import { join } from 'node:path';
import { writeLicences } from './licences.mjs';
import { fail, generateClient, ROOT, setUp, step } from './setup.mjs';

const PRINT_SCHEMA = join(ROOT, 'scripts/print-schema.ts');
const GENERATE_DOCUMENTS = join(ROOT, 'scripts/generate-documents.ts');
const SETTINGS_PAGE = join(ROOT, 'scripts/settings/main.ts');
const SIZES = join(ROOT, 'scripts/capacity/page.ts');
const GENERATE_CLIENT = join(ROOT, 'sdk/typescript/scripts/generate.ts');

try {
  const node = await setUp();
  await generateClient(node);
  if (!process.argv.includes('--client')) {
    await step('Printing schema.graphql', node, [PRINT_SCHEMA]);
    await step('Typing the documents of the dashboard', node, [GENERATE_DOCUMENTS]);
    await step('Typing the TypeScript client', node, [GENERATE_CLIENT]);
    await step('Listing the settings', node, [SETTINGS_PAGE]);
    await step('Predicting the sizes of installations', node, [SIZES]);
    writeLicences();
  }
} catch (error) {
  fail(error);
}

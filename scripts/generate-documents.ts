// Types the dashboard's GraphQL documents from schema.graphql.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import { preset } from '@graphql-codegen/client-preset';
import { buildSchema, Kind, parse, type DocumentNode } from 'graphql';

const root = join(import.meta.dirname, '..');
const sources = join(root, 'apps/dashboard/src');
const output = join(sources, 'generated');

const schemaText = await readFile(join(root, 'schema.graphql'), 'utf8');
const files = (await readdir(sources, { recursive: true })).filter(
  (file) => /\.tsx?$/.test(file) && !file.startsWith('generated'),
);
const documents = (await Promise.all(files.map(documentsOf))).flat();

const sections = await preset.buildGeneratesSection({
  baseOutputDir: `${output}/`,
  schema: parse(schemaText),
  schemaAst: buildSchema(schemaText),
  documents,
  config: {
    documentMode: 'string',
    strictScalars: true,
    useTypeImports: true,
    enumsAsTypes: true,
    scalars: { DateTime: 'string', JSON: 'unknown', EmailAddress: 'string', AddressList: 'string | string[]' },
  },
  presetConfig: { fragmentMasking: false },
  pluginMap: {},
  plugins: [],
  pluginContext: {},
});

await mkdir(output, { recursive: true });
const types = sections.find(({ filename }) => filename.endsWith('/graphql.ts'));
if (types === undefined) throw new Error('The generator no longer writes graphql.ts.');
await writeFile(join(output, 'graphql.ts'), await codegen({ ...types, documents: types.documents ?? documents }));
await writeFile(join(output, 'gql.ts'), documentTypes());

/** The texts between graphql(` and `), which also select the types in the code. */
async function documentsOf(file: string) {
  const text = await readFile(join(sources, file), 'utf8');
  return [...text.matchAll(/\bgraphql\(\s*`([^`]+)`/g)].map(([, source = '']) => ({
    location: join(sources, file),
    document: parse(source),
    rawSDL: source,
  }));
}

/**
 * A function that returns its argument, typed by it. The generator's own function looks the text up in a table of all documents,
 * which would bundle every page's documents into each page.
 */
function documentTypes(): string {
  const entries = documents.map(({ document, rawSDL }) => {
    const name = operationName(document);
    return `  ${JSON.stringify(rawSDL)}: TypedDocumentNode<types.${name}, types.${name}Variables>;`;
  });
  return [
    '/* Made by npm run generate. */',
    "import type { TypedDocumentNode } from '@urql/core';",
    "import type * as types from './graphql.ts';",
    '',
    'interface Documents {',
    ...entries,
    '}',
    '',
    '/** A document with the types of its result and variables. */',
    'export function graphql<Source extends keyof Documents>(source: Source): Documents[Source] {',
    '  return source as unknown as Documents[Source];',
    '}',
    '',
  ].join('\n');
}

/** The type names of the generator: `MeQuery`, `RevokeApiKeyMutation`. */
function operationName({ definitions }: DocumentNode): string {
  const operation = definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const name = operation?.name?.value;
  if (operation === undefined || name === undefined) throw new Error('Every document must have one named operation.');
  return `${name}${operation.operation.charAt(0).toUpperCase()}${operation.operation.slice(1)}`;
}

// Writes src/types.ts from the OpenAPI document: `npm run generate -w sdk/typescript`.
import { writeFileSync } from 'node:fs';
import { schema } from '../../../apps/gateway/src/schema.ts';
import { routes, streams } from '../../../apps/gateway/src/routes.ts';
import { openApiDocument } from '../../../apps/gateway/src/openapi/document.ts';
import { typesOf } from './types-of.ts';

writeFileSync(new URL('../src/types.ts', import.meta.url), typesOf(openApiDocument(schema, routes, streams)));
process.exit(0);

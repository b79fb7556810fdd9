import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Route, StreamRoute } from '@postroom/platform';
import type { GraphQLSchema } from 'graphql';
import { serveFile, type StaticFile, staticFile } from '../static.ts';
import { openApiDocument } from './document.ts';

/** Serves `/v1/openapi.json` without a key; the document is generated on first use. */
export function createOpenApi(schema: GraphQLSchema, routes: readonly Route[], streams: readonly StreamRoute[]) {
  let file: StaticFile | undefined;
  return (request: IncomingMessage, response: ServerResponse): void => {
    file ??= staticFile('application/json; charset=utf-8', JSON.stringify(openApiDocument(schema, routes, streams)));
    serveFile(request, response, file, { 'Access-Control-Allow-Origin': '*' });
  };
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Caller, type FieldProblem, logger, type Reply, type StreamRoute } from '@postroom/platform';
import { getNamedType, type GraphQLInputFieldMap, type GraphQLSchema, isInputObjectType } from 'graphql';
import { claim, runOnce, type StoredAnswer, toStored } from './idempotency.ts';
import { fieldReaders, objectReader, throwProblems } from './input.ts';
import { renameFieldsInError } from './names.ts';
import { queryObjectReader, queryOf } from './request.ts';

/** A streaming route with the readers of its options. */
export interface PreparedStream {
  route: StreamRoute;
  answer: (arrival: StreamArrival) => Promise<StoredAnswer | undefined>;
}

interface StreamArrival {
  caller: Caller;
  requestId: string;
  params: Record<string, string>;
  request: IncomingMessage;
  response: ServerResponse;
  /** The value of `Idempotency-Key`. */
  key: string | undefined;
}

/** The members of the input type that defines a route's options. */
export function optionsOf(schema: GraphQLSchema, { path, options }: StreamRoute): GraphQLInputFieldMap {
  if (options === undefined) return {};
  const type = schema.getType(options);
  if (!isInputObjectType(type)) throw new Error(`${path}: ${options} is not an input type.`);
  return type.getFields();
}

export function prepareStream(schema: GraphQLSchema, route: StreamRoute): PreparedStream {
  const fields = optionsOf(schema, route);
  const readQuery = queryObjectReader(fields);
  const readObject = objectReader(fieldReaders(fields));
  const readOptions = (value: unknown) => {
    const problems: FieldProblem[] = [];
    const options = readObject(value, '', problems);
    throwProblems(problems);
    return withInstants(fields, options as Record<string, unknown>);
  };
  return {
    route,
    answer: async (arrival) => {
      const { caller, params, request, response, requestId } = arrival;
      const { projectId } = caller;
      const once = (fingerprint: Buffer, work: () => Promise<Reply>) => workOnce(arrival, fingerprint, work);
      try {
        const options = withInstants(fields, readQuery(queryOf(request)));
        const reply = await route.answer({ caller, projectId, params, options, readOptions, request, response, once });
        return reply && toStored(reply);
      } catch (error) {
        if (!response.headersSent) throw renameFieldsInError(error);
        // The response has started, so it can only be aborted.
        logger.warn({ err: error, requestId }, 'streaming response failed');
        response.destroy();
        return undefined;
      }
    },
  };
}

/** GraphQL does not process these options, so instants are parsed here. */
function withInstants(fields: GraphQLInputFieldMap, options: Record<string, unknown>): Record<string, unknown> {
  const read = Object.entries(options).map(([name, value]) => {
    const isInstant = fields[name] !== undefined && getNamedType(fields[name].type).name === 'DateTime';
    return [name, isInstant && typeof value === 'string' ? new Date(value) : value];
  });
  return Object.fromEntries(read);
}

async function workOnce(
  { caller, request, response, requestId, key }: StreamArrival,
  fingerprint: Buffer,
  work: () => Promise<Reply>,
): Promise<Reply> {
  if (key === undefined) return work();
  const asked = { method: request.method ?? 'POST', path: request.url ?? '', body: fingerprint };
  const run = async () => {
    try {
      return toStored(await work());
    } catch (error) {
      throw renameFieldsInError(error);
    }
  };
  const { status, body } = await runOnce(response, await claim(response, caller.projectId, key, asked), requestId, run);
  return { status, body: JSON.parse(body) as unknown };
}

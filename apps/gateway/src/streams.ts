import { STATUS_BY_CODE } from '@postroom/platform';
import { type ExecutionArgs, type ExecutionResult, getOperationAST, GraphQLError } from 'graphql';
import { createHandler } from 'graphql-sse/lib/use/fetch';
import type { Plugin } from 'graphql-yoga';

const ENDPOINT = '/graphql/stream';

type Refusal = [body: string, init: { status: number; statusText: string; headers: Record<string, string> }];

/**
 * Serves `/graphql/stream` by the protocol of graphql-sse, in both of its modes. Nothing that goes wrong there may go
 * unheard, since that would end the process: before it runs it is an answer with its status, afterwards the stream's last
 * result.
 * @param toError what callers are shown of an error.
 */
export function useStreams(toError: (error: unknown) => Error): Plugin<object, object> {
  const contexts = new WeakMap<Request, object>();
  let handle: ReturnType<typeof createHandler>;
  return {
    onYogaInit({ yoga }) {
      handle = createHandler(
        {
          onSubscribe: async ({ raw: request }, params) => {
            const { parse, validate, schema, contextFactory, execute, subscribe } = yoga.getEnveloped({
              ...contexts.get(request),
              request,
              params,
            });
            try {
              const document = parse(params.query);
              const errors = validate(schema, document);
              if (errors.length > 0) return refusal(errors);
              const args: ExecutionArgs = {
                schema,
                document,
                contextValue: await contextFactory(),
                variableValues: params.variables ?? null,
                operationName: params.operationName ?? null,
              };
              const isLive = getOperationAST(document, params.operationName)?.operation === 'subscription';
              const result: unknown = await (isLive ? subscribe : execute)(args);
              return isStream(result) ? answeringErrors(result, toError) : withData(result as ExecutionResult);
            } catch (error) {
              return refusal([toError(error)]);
            }
          },
        },
        yoga.fetchAPI,
      );
    },
    async onRequest({ request, url, endResponse, serverContext }) {
      if (url.pathname !== ENDPOINT) return;
      contexts.set(request, serverContext);
      endResponse(await handle(request));
    },
  };
}

function isStream(result: unknown): result is AsyncIterable<ExecutionResult> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}

/** The handler knows a result by its `data`, which a refused subscription has not. */
const withData = (result: ExecutionResult): ExecutionResult => ({ data: null, ...result });

/** The refusal of what has not begun to run. */
function refusal(errors: readonly Error[]): Refusal {
  const code = errors[0] instanceof GraphQLError ? errors[0].extensions.code : undefined;
  const status = code === undefined ? 400 : STATUS_BY_CODE[code as keyof typeof STATUS_BY_CODE];
  return [
    JSON.stringify({ errors }),
    { status, statusText: '', headers: { 'Content-Type': 'application/json; charset=utf-8' } },
  ];
}

/** Not a generator: one that waits can not be ended from outside, and readers leave when they like. */
function answeringErrors(
  stream: AsyncIterable<ExecutionResult>,
  toError: (error: unknown) => Error,
): AsyncIterableIterator<ExecutionResult> {
  const results = stream[Symbol.asyncIterator]();
  let failed = false;
  return {
    next: async () => {
      if (failed) return { value: undefined, done: true };
      try {
        return await results.next();
      } catch (error) {
        failed = true;
        return { value: { data: null, errors: [toError(error) as GraphQLError] }, done: false };
      }
    },
    return: async () => (await results.return?.()) ?? { value: undefined, done: true },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

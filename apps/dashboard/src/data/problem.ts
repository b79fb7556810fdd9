import type { CombinedError, Operation } from '@urql/core';

/** A user-facing error, with field errors for forms. */
export interface Problem {
  /** The server's error code (`not_found`, `conflict` …), or `unreachable`. */
  code: string;
  message: string;
  fields: Record<string, string>;
  /** What the server said about each field, by its path. */
  details?: { field: string; message: string }[];
  /** The request ID, for support. */
  requestId?: string;
}

/** A request without a response for this long is reported as a problem, with a retry. In ms. */
export const RESPONSE_TIMEOUT_MS = 8_000;

export const NOT_RESPONDING: Problem = {
  code: 'unreachable',
  message: 'The server is not responding. It may be busy or restarting.',
  fields: {},
};

/** Of a mutation, which may still succeed: repeating it by itself could do it twice. */
export const NOT_SAVED_YET: Problem = {
  code: 'unreachable',
  message: 'The server is not responding. This page is still waiting for it; your change may not be saved.',
  fields: {},
};

/** Of a mutation that never reached the server, or whose response was lost. */
const MAY_BE_DONE: Problem = {
  code: 'unreachable',
  message: "Can't reach the server. It may have made the change, so check before you repeat it.",
  fields: {},
};

/** Whether the record no longer exists or access was revoked. */
export const isGone = (problem: Problem | undefined) => problem?.code === 'not_found' || problem?.code === 'forbidden';

/** Of a query whose response was lost. */
export const UNREACHABLE: Problem = {
  code: 'unreachable',
  message: "Can't reach the server. Check your connection.",
  fields: {},
};

/** Of a request without a session. The server's message is for callers with an API key. */
const SIGNED_OUT = 'You are signed out. Sign in again, then repeat this.';

/** The problem of an operation; undefined if it succeeded. Server messages are user-facing; other errors get a generic message. */
export function problemOf({
  error,
  operation,
}: {
  error?: CombinedError | undefined;
  operation: Pick<Operation, 'kind'>;
}): Problem | undefined {
  if (error === undefined) return undefined;
  if (error.networkError !== undefined) return operation.kind === 'mutation' ? MAY_BE_DONE : UNREACHABLE;
  const requestId = requestIdOf(error);
  const [first] = error.graphQLErrors;
  const { code, details } = (first?.extensions ?? {}) as {
    code?: string;
    details?: { field: string; message: string }[];
  };
  return {
    code: code ?? 'internal_error',
    message: code === 'unauthorized' ? SIGNED_OUT : (first?.message ?? 'Something went wrong on our end.'),
    fields: Object.fromEntries((details ?? []).map(fieldProblem)),
    ...(details === undefined ? {} : { details }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

function requestIdOf({ response }: CombinedError): string | undefined {
  return response instanceof Response ? (response.headers.get('x-request-id') ?? undefined) : undefined;
}

/** The server names fields by path, forms by the last segment. A field with several entries says which one is wrong. */
function fieldProblem({ field, message }: { field: string; message: string }): [field: string, message: string] {
  const path = field.split('.');
  const last = path.at(-1) ?? field;
  const list = path.at(-2);
  if (list === undefined || !/^\d+$/.test(last)) return [last, capital(message)];
  return [list, `Entry ${Number(last) + 1}: ${message}`];
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

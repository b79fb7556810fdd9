import type { CombinedError } from '@urql/core';

/** What went wrong, in words for the person; and by field, for forms. */
export interface Problem {
  /** The server's code (`not_found`, `conflict` …), or `unreachable`. */
  code: string;
  message: string;
  fields: Record<string, string>;
  /** What to quote when asking for help. */
  requestId?: string;
}

/** Reads a failed operation. The server's messages are written for people; anything else gets ours. */
export function problemOf(error: CombinedError): Problem {
  const requestId = requestIdOf(error);
  if (error.networkError !== undefined) {
    return { code: 'unreachable', message: "Can't reach the server. Check your connection.", fields: {} };
  }
  const [first] = error.graphQLErrors;
  const { code, details } = (first?.extensions ?? {}) as {
    code?: string;
    details?: { field: string; message: string }[];
  };
  return {
    code: code ?? 'internal_error',
    message: first?.message ?? 'Something went wrong on our end.',
    fields: Object.fromEntries((details ?? []).map(({ field, message }) => [lastName(field), capital(message)])),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

function requestIdOf({ response }: CombinedError): string | undefined {
  return response instanceof Response ? (response.headers.get('x-request-id') ?? undefined) : undefined;
}

/** The rules name a field by its path, forms by its last part. */
const lastName = (field: string) => field.split('.').at(-1) ?? field;

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

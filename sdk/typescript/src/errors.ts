/** A problem with one field of a request, with a path such as `contacts.3.email`. */
export interface FieldProblem {
  field: string;
  message: string;
  /** The specific cause: for `idempotency_conflict`, `in_flight`, `different_request` or `outcome_unknown`. */
  reason?: string | undefined;
}

/** The API's error codes, and those of network failures. */
export type ErrorCode =
  | 'unauthorized'
  | 'insufficient_scope'
  | 'forbidden'
  | 'validation_error'
  | 'not_found'
  | 'conflict'
  | 'idempotency_conflict'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'method_not_allowed'
  | 'rate_limited'
  | 'internal_error'
  /** No response: every attempt to connect failed. */
  | 'network_error'
  /** No response in time. */
  | 'timeout'
  /** A response that is not from the API, for example from a proxy. */
  | 'unexpected_answer';

interface ErrorMembers {
  code: ErrorCode;
  message: string;
  status?: number | undefined;
  requestId?: string | undefined;
  details?: readonly FieldProblem[] | undefined;
  cause?: unknown;
}

/** Thrown for every failed request. */
export class PostroomError extends Error {
  override readonly name = 'PostroomError';
  readonly code: ErrorCode;
  /** The HTTP status; `undefined` if there was no response. */
  readonly status: number | undefined;
  /** Quote it in support requests. */
  readonly requestId: string | undefined;
  /** The problems by field; empty when the error is not about fields. */
  readonly details: readonly FieldProblem[];

  constructor({ code, message, status, requestId, details = [], cause }: ErrorMembers) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.details = details;
  }
}

interface ErrorBody {
  error?: { code?: ErrorCode; message?: string; request_id?: string; details?: FieldProblem[] };
}

/** Converts an error response to a PostroomError. */
export function errorOf(response: Response, text: string): PostroomError {
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const { error } = parsed(text);
  if (error?.code === undefined || error.message === undefined) {
    const target = response.headers.get('location');
    const message =
      target === null
        ? `Received status ${response.status} with a body that is not from Postroom.`
        : `Redirected to ${target}. Check the baseUrl, such as whether it must begin with https://.`;
    return new PostroomError({ code: 'unexpected_answer', status: response.status, message, requestId });
  }
  const { code, message, request_id: id = requestId, details } = error;
  return new PostroomError({ code, message, status: response.status, requestId: id, details });
}

function parsed(text: string): ErrorBody {
  try {
    return (JSON.parse(text) ?? {}) as ErrorBody;
  } catch {
    return {};
  }
}

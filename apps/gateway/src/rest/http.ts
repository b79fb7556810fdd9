import type { ServerResponse } from 'node:http';
import { ClientGone, DomainError, logger, RetryLater, STATUS_BY_CODE, databaseAnswerOf } from '@postroom/platform';

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  answerText(response, status, JSON.stringify(body));
}

/** Sends a JSON text as the response. */
export function answerText(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) return;
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

/**
 * The `/v1` error body (design: Errors). Errors other than DomainError are logged in full and returned as
 * `internal_error`.
 */
export function errorResponse(error: unknown, requestId: string | undefined) {
  const known = error instanceof DomainError ? error : databaseAnswerOf(error);
  if (error instanceof ClientGone) logger.debug({ requestId }, 'client disconnected before sending the whole request');
  else if (known === undefined) logger.error({ err: error, requestId }, 'request failed');
  else if (known !== error && known instanceof RetryLater)
    logger.warn({ err: error, requestId }, 'database too busy or unreachable');
  const code = known?.code ?? 'internal_error';
  return {
    status: STATUS_BY_CODE[code],
    body: {
      error: {
        code,
        message: known?.message ?? 'Internal server error. Quote the request id in support requests.',
        request_id: requestId,
        details: known?.details ?? [],
      },
    },
  };
}

/** The headers of an error: `Retry-After`, and how to authenticate (RFC 9110, 15.5.2). */
export const headersOf = (error: DomainError): Record<string, string> => ({
  ...(error instanceof RetryLater && { 'Retry-After': String(error.retryAfterSeconds) }),
  ...(error.code === 'unauthorized' && { 'WWW-Authenticate': 'Bearer' }),
});

/** Sets `headersOf` an error. */
export function setErrorHeaders(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return;
  const known = error instanceof DomainError ? error : databaseAnswerOf(error);
  if (known !== undefined) response.setHeaders(new Map(Object.entries(headersOf(known))));
}

/** Responds with an error, whose `request_id` is that of the response's header. */
export function answerError(response: ServerResponse, error: unknown): void {
  setErrorHeaders(response, error);
  const requestId = response.getHeader('X-Request-Id')?.toString();
  const { status, body } = errorResponse(error, requestId);
  answerJson(response, status, body);
}

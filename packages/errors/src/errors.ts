import { PROJECT_MOVING, QUERY_CANCELED, READ_ONLY, SUPERSEDED, UNIQUE_VIOLATION } from './retry.ts';

/** Prisma's code for a row that is required but does not exist. */
const ROW_NOT_FOUND = 'P2025';
/** The HTTP status of each error code, shared by REST and GraphQL (spec: Errors). */
export const STATUS_BY_CODE = {
  validation_error: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  idempotency_conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  timeout: 503,
} as const;

export type ErrorCode = keyof typeof STATUS_BY_CODE;

/** A problem with one input field. `field` is a path such as `customFields.age` or `contacts.3.email`. */
export interface FieldProblem {
  field: string;
  message: string;
  /** A machine-readable reason, for error codes with several causes. */
  reason?: string;
}

/** The only error that rules throw. Its message is shown to the caller. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly details: readonly FieldProblem[];

  constructor(code: ErrorCode, message: string, details: readonly FieldProblem[] = []) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** An error with the seconds after which the same request may succeed. */
export class RetryLater extends DomainError {
  readonly retryAfterSeconds: number;

  constructor(code: 'rate_limited' | 'timeout', message: string, retryAfterSeconds: number) {
    super(code, message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const MOVING_RETRY_SECONDS = 5;

/** `timeout`: the project is being moved to another cell, and is there, or here again, in a moment. Or it is being deleted. */
export const projectMoving = (): RetryLater =>
  new RetryLater('timeout', 'This project is being moved or deleted. Try again in a moment.', MOVING_RETRY_SECONDS);

/** `rate_limited`: the caller sent too many requests. */
export class RateLimited extends RetryLater {
  constructor(message: string, retryAfterSeconds: number) {
    super('rate_limited', message, retryAfterSeconds);
  }
}

/** A `validation_error` about fields. The message repeats the first problem, for clients that ignore the details. */
export function invalid(...details: [FieldProblem, ...FieldProblem[]]): DomainError {
  const [first] = details;
  return new DomainError('validation_error', `${first.field}: ${first.message}`, details);
}

/** @throws DomainError `validation_error` with every problem, if there are any. */
export function assertValid(problems: readonly FieldProblem[]): void {
  const [first, ...others] = problems;
  if (first !== undefined) throw invalid(first, ...others);
}

/** `not_found`, with the same message for a missing row and another project's. */
export function notFound(what: string): DomainError {
  return new DomainError('not_found', `No such ${what} in this project.`);
}

/** `validation_error` for an update without any field. */
export const emptyUpdate = (): DomainError =>
  new DomainError('validation_error', 'Provide at least one field to update.');

/** `conflict` for an edit of `what` that was modified since its author loaded it. */
export function versionConflict(what: string, field: 'version' | 'updatedAt' = 'version'): DomainError {
  const message = `This ${what} was modified since you loaded it.`;
  return new DomainError('conflict', message, [{ field, message: 'is out of date' }]);
}

/** @throws DomainError `versionConflict` if the caller names a version, and it is not the newest. */
export function checkVersion(what: string, given: number | null | undefined, newest: number): void {
  if (given != null && given !== newest) throw versionConflict(what);
}

/** Whether an error is PostgreSQL's unique violation, thrown by Prisma or by pg. */
export function isUniqueViolation(error: unknown): boolean {
  const codes = codesOf(error);
  return codes.includes('P2002') || codes.includes(UNIQUE_VIOLATION);
}

/**
 * PostgreSQL's codes after which the same request may succeed: no connection, rolled back in favor of another transaction, no
 * resources, a file that can't be read or written, a lock that is not available, a server that shuts down or starts.
 */
const TRANSIENT = /^(08|40|53|58)...$|^55P03$|^57P0.$/;
/** Prisma's: unreachable, no connection in time, a transaction that did not start or end in time, a write conflict. */
const PRISMA_TRANSIENT = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037']);
/** Messages of pg, which have no code. */
const NO_CONNECTION = /^(timeout exceeded when trying to connect|Connection terminated)/;
/**
 * Error codes of the operating system that pg passes on: the server could not be reached, or the connection broke. Clients of other
 * servers wrap such errors, so these are about PostgreSQL.
 */
const UNREACHABLE = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);
const BUSY_RETRY_SECONDS = 2;
const FAILOVER_RETRY_SECONDS = 5;

/**
 * The answer to the caller for an error of the database that is not a fault to investigate. It is `timeout` for a statement that took
 * too long, and for a database that is too busy, unreachable, or not the primary; `not_found` for a row that was deleted while the request read it.
 */
export function databaseAnswerOf(error: unknown): DomainError | undefined {
  const codes = codesOf(error);
  if (codes.includes(QUERY_CANCELED))
    return new DomainError('timeout', 'The request took too long in the database. Ask for less, or try again later.');
  if (codes.includes(PROJECT_MOVING)) return projectMoving();
  if (codes.includes(SUPERSEDED) || codes.includes(READ_ONLY))
    return new RetryLater(
      'timeout',
      'Nothing was changed: the database of this server is not the primary. Try again in a moment.',
      FAILOVER_RETRY_SECONDS,
    );
  if (codes.includes(ROW_NOT_FOUND)) return new DomainError('not_found', 'Deleted while the request was running.');
  const isTransient =
    codes.some(
      (code) =>
        typeof code === 'string' && (TRANSIENT.test(code) || PRISMA_TRANSIENT.has(code) || UNREACHABLE.has(code)),
    ) ||
    isConnectionRefused(error) ||
    (error instanceof Error && NO_CONNECTION.test(error.message));
  return isTransient
    ? new RetryLater('timeout', 'The database is too busy or unreachable. Try again in a moment.', BUSY_RETRY_SECONDS)
    : undefined;
}

/**
 * Whether PostgreSQL ended the connection with the error, or refused it. With a full disk it refuses some with the code of an
 * internal error.
 */
export function isConnectionRefused(error: unknown): boolean {
  const fatal = ['FATAL', 'PANIC'];
  return causesOf(error).some(({ severity }) => fatal.includes(severity ?? ''));
}

/**
 * Codes of PostgreSQL, Prisma and the operating system for a connection that broke. Not P2028, for a transaction that did not start or was
 * rolled back, and not 57P01: when an administrator ends a connection, PostgreSQL replies with it to a statement that it did not carry out.
 */
const BROKEN = /^(08...|57P02|P1017|P1008|ECONNRESET|EPIPE|ETIMEDOUT)$/;
/** The same, as a message of pg without a code. */
const BROKEN_CONNECTION = /^Connection terminated/;

/** Whether a connection to PostgreSQL broke while it was in use, so that its last statement, such as COMMIT, may have been executed. */
export const mayHaveCommitted = (error: unknown): boolean =>
  codesOf(error).some((code) => typeof code === 'string' && BROKEN.test(code)) ||
  (error instanceof Error && BROKEN_CONNECTION.test(error.message));

/** The error code from Prisma or pg. */
const codesOf = (error: unknown): unknown[] => [
  (error as { code?: unknown } | null)?.code,
  ...causesOf(error).map(({ originalCode }) => originalCode),
];

interface Cause {
  originalCode?: unknown;
  severity?: string;
}

/** An error of pg, or one of Prisma and what it says of that of pg. */
function causesOf(error: unknown): Cause[] {
  if (typeof error !== 'object' || error === null) return [];
  const { meta, cause } = error as { meta?: { driverAdapterError?: { cause?: Cause } }; cause?: Cause };
  return [error as Cause, meta?.driverAdapterError?.cause ?? {}, cause ?? {}];
}

/** `conflict` for a value of `field` that another row has. */
const taken = (field: string, message: string): DomainError =>
  new DomainError('conflict', message, [{ field, message: 'is already in use' }]);

/** For `.catch()` on a write: turns a unique violation into `conflict`. The database's constraint decides races. */
export function conflictIfTaken(field: string, message: string): (error: unknown) => never {
  return (error) => {
    throw isUniqueViolation(error) ? taken(field, message) : error;
  };
}

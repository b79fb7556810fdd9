export {
  assertValid,
  conflictIfTaken,
  DomainError,
  type ErrorCode,
  type FieldProblem,
  invalid,
  isUniqueViolation,
  notFound,
  RateLimited,
  STATUS_BY_CODE,
  timeoutOf,
  versionConflict,
} from './errors.ts';
export {
  DEADLOCK,
  exponentialDelays,
  LOCK_NOT_AVAILABLE,
  QUERY_CANCELED,
  retry,
  retryOn,
  SERIALIZATION_FAILURE,
  UNIQUE_VIOLATION,
} from './retry.ts';

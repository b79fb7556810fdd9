export {
  assertValid,
  checkVersion,
  conflictIfTaken,
  DomainError,
  emptyUpdate,
  type ErrorCode,
  type FieldProblem,
  invalid,
  isUniqueViolation,
  notFound,
  projectMoving,
  RateLimited,
  RetryLater,
  STATUS_BY_CODE,
  databaseAnswerOf,
  mayHaveCommitted,
  versionConflict,
} from './errors.ts';
export { isOutage } from './outages.ts';
export { cleanLine, cleanText } from './clean-text.ts';
export { type ConnectionCause, connectionFailure } from './connection-errors.ts';
export { errorLine, runCommand } from './command.ts';
export { DATE_TIME_PROBLEM, isoString, parseDateTime } from './date-times.ts';
export { isTimeZone, localInstant, zoneOffset } from './time-zones.ts';
export { addressesProblem, checkJsonObject, jsonProblem, MAX_NUMBER, numberProblem } from './json-problems.ts';
export { countOf } from './plural.ts';
export {
  CHECK_VIOLATION,
  DEADLOCK,
  exponentialDelays,
  hasCode,
  LOCK_NOT_AVAILABLE,
  PROJECT_MOVING,
  QUERY_CANCELED,
  READ_ONLY,
  retry,
  retryOn,
  SERIALIZATION_FAILURE,
  SUPERSEDED,
  UNDEFINED_TABLE,
  UNIQUE_VIOLATION,
} from './retry.ts';
export {
  checkDisplayName,
  displayNameProblem,
  displayNameProblems,
  MAX_EVENT_NAME_LENGTH,
  MAX_NAME_LENGTH,
  normalizeText,
  oneLineProblem,
  oneLineProblems,
  textProblem,
  withoutReordering,
} from './text-problems.ts';

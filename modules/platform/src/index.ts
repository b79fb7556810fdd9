export {
  CHECK_VIOLATION,
  DEADLOCK,
  checkVersion,
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
  assertValid,
  cleanLine,
  cleanText,
  connectionFailure,
  conflictIfTaken,
  countOf,
  DomainError,
  emptyUpdate,
  type ErrorCode,
  type FieldProblem,
  invalid,
  isOutage,
  isUniqueViolation,
  notFound,
  projectMoving,
  RateLimited,
  RetryLater,
  versionConflict,
  STATUS_BY_CODE,
  databaseAnswerOf,
  mayHaveCommitted,
  checkDisplayName,
  displayNameProblem,
  displayNameProblems,
  normalizeText,
  oneLineProblem,
  DATE_TIME_PROBLEM,
  isTimeZone,
  localInstant,
  zoneOffset,
  parseDateTime,
  oneLineProblems,
  textProblem,
  withoutReordering,
  checkJsonObject,
  jsonProblem,
  MAX_NUMBER,
  numberProblem,
} from '@postroom/errors';
export { audit, type AuditEntry, deleteOldAuditEntries } from './audit.ts';
export { type AuditChange, type AuditedRow, changesBetween, columnsOf, pick } from './audit-changes.ts';
export { batchLoader, batchLoaders, cachedAggregate } from '@postroom/concurrency';
export { buildSchema, builder, type InputFields } from './builder.ts';
export {
  authenticated,
  type Caller,
  callerProject,
  type Context,
  type KeyScope,
  type Permission,
  refusal,
} from './caller.ts';
export { type Certificate, readCertificate, selfSigned } from '@postroom/network';
export { anonymizedNetwork, clientAddress } from '@postroom/network';
export { config } from '@postroom/settings/config';
export { type AddressScope, type Config, parseConfig } from '@postroom/settings';
export { inPages, isDatabaseBusy, isShared, paceBulkWork } from './bulk-pace.ts';
export { createPool, useBackgroundTimeouts } from './connection-pool.ts';
export { runBulkStep, runCostly } from './costly.ts';
export {
  closeDatabase,
  db,
  deleteInBatches,
  type RetentionOptions,
  inTransaction,
  checkLimit,
  lockUntilCommit,
  NOW,
  pool,
  type Prisma,
  queryPatiently,
  sql,
} from './db.ts';
export { observeTransactions, type TransactionObserver, type Tx } from './transaction-observer.ts';
export {
  emailDomain,
  emailKey,
  emailKeyParts,
  emailProblem,
  emailSpellings,
  normalizeDomain,
  normalizeEmail,
  senderProblem,
  unicodeDomain,
} from '@postroom/email-address';
export { messageKeySql, storedEmailKey } from './message-key.ts';
export type { EventType } from './event-type.ts';
export { deleteEventsWhere, messagesOfEvents, type NewEvent, record, recordSelected, recordTraced } from './events.ts';
export {
  type DataSubject,
  type ErasedRows,
  type Erasure,
  type PersonData,
  PRIVACY_STAGES,
  type PrivacyPart,
  type PrivacyStage,
} from './data-subject.ts';
export type { HealthCheck } from '@postroom/observability';
export { isHost, isOwnHost } from '@postroom/network/host-check';
export { FairSemaphore, type FairSemaphoreOptions } from '@postroom/concurrency';
export { FairShare, lengthOf, limitText, readLimited, tooMuchText } from '@postroom/concurrency';
export { Notifier, sleep, Stopwatch, subscription } from '@postroom/concurrency';
export { createHttpServer } from '@postroom/observability';
export {
  ClientGone,
  compressionProblem,
  MAX_JSON_VALUES,
  mediaTypeOf,
  parseJsonBody,
  readBody,
} from '@postroom/network/request-body';
export {
  answerOnce,
  claimIdempotencyKey,
  CONFLICT_REASONS,
  deleteIdempotencyKeys,
  idempotencyConflict,
  type KeyClaim,
  type OpenClaim,
  readIdempotencyKey,
  releaseIdempotencyKey,
  settleClaims,
  settledClaim,
  type SettledClaim,
  settleIdempotencyKey,
  takeOverIdempotencyKey,
} from './idempotency-keys.ts';
export {
  defineIdPrefix,
  ID_PREFIXES,
  type IdPrefix,
  idsCreatedFrom,
  idsCreatedUntil,
  idsFrom,
  isId,
  newId,
  newIdAt,
  timeOfId,
} from './ids.ts';
export { databaseNow, databaseTime } from '@postroom/clock';
export * from './json-schema.ts';
export * from './limits.ts';
export { listen } from './listen.ts';
export { notifySoon } from './notify-soon.ts';
export { announce, type Change, subscribe, watchUntilFinal } from './subscription.ts';
export { drainSignal, isDraining } from '@postroom/observability';
export { logger } from '@postroom/observability';
export { type LogContext, withLogContext } from '@postroom/observability';
export { parseNetworks } from '@postroom/settings';
export {
  type AuditedMutation,
  audits,
  managersOnly,
  removalMutation,
  replacesMutation,
  useInstead,
} from './mutations.ts';
export { auditedRows, Node, registerAudited, registerNode } from './nodes.ts';
export { SEARCH_ATTRIBUTES, type SearchAttribute, type WorkflowLabels } from '@postroom/temporal';
export { signalWorkflow, startWorkflow, type WorkflowStart } from './outbox.ts';
export { stopAfterRepeatedErrors } from '@postroom/temporal/repeated-errors';
export * from './pages.ts';
export * from './rest.ts';
export { unreadableSecret } from './unreadable-secret.ts';
export { safeRedirect } from '@postroom/network/safe-redirect';
export {
  ifReadable,
  registerSecretColumn,
  requireReadable,
  type Sealing,
  type SecretColumn,
  SEALED,
  secretColumn,
  secretColumns,
  secretKeysFor,
} from './secrets.ts';
export type { ScheduledWorkflow } from '@postroom/temporal';
export { SECRET_KEY_SETTINGS, type SecretKey } from '@postroom/settings';
export { identity } from '@postroom/observability';
export { databaseProblem, runService, type Service } from './service.ts';
export {
  guardedFetch,
  guardedLookup,
  hostOf,
  hostProblem,
  isAllowedAddress,
  newUrlProblem,
  type Resolve,
  resolveBySystem,
  urlProblem,
} from '@postroom/network';
export { ROLE_OF, taskQueueOf, WORK_KINDS, type WorkerRole, type WorkKind, webhooksQueue } from '@postroom/temporal';
export { workflowUrl } from '@postroom/temporal';
export { coalesceReads, coalesce, coalesceByProject } from '@postroom/concurrency';
export { IsolatedCallError, type IsolatedFunction, runIsolated } from '@postroom/concurrency';
export { cipherKeysFor, macFor } from './link-mac.ts';
export { assertNoTransaction } from '@postroom/network';
export { deleteIdleRates, REQUESTS, SharedRate, type SharedRateOptions } from './shared-rate.ts';
export { deleteIdleSlots, endLeases, SharedSlots, type SharedSlotsOptions } from './shared-slots.ts';
export { TokenBucket } from '@postroom/concurrency';
export { currentTraceparent, inSpan, type SpanContext, type SpanOptions } from '@postroom/observability';

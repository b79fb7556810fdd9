export * from './local.ts';
export { type Api, type Reply, testApi } from './api.ts';
export { addCampaign, addGroup } from './campaign.ts';
export { type BreakableProxy, startBreakableProxy } from './breakable-proxy.ts';
export { type BreakingServer, SESSION_BREAKS, type SessionBreak, startBreakingServer } from './breaking-server.ts';
export {
  type DatabaseFault,
  type DatabaseProxy,
  DELAY_MS,
  type ProxiedStatement,
  startDatabaseProxy,
} from './database-proxy.ts';
export { createDatabase, type EmptyDatabase, emptyDatabase } from './database.ts';
export { findBrowser } from './find-browser.ts';
export { interleave } from './interleave.ts';
export { killableWorker, type KillableWorker } from './killable-worker.ts';
export { mailSystem, OWNER } from './mail-system.ts';
export { observeStatements } from './observe-statements.ts';
export { type MailFaults, mailFaults, rejectOrDefer } from './mail-faults.ts';
export { findPgBouncer, type PgBouncer, startPgBouncer } from './pgbouncer.ts';
export { runExclusively } from './run-exclusively.ts';
export { temporalClient } from './temporal-client.ts';
export { startTestWorker } from './worker.ts';
export { postAuth, type SignedIn, signedIn, signIn, TEST_PASSWORD } from './user.ts';
export type { Role } from '@postroom/auth';
export { takeSystemMail, type SystemMail } from './system-mail.ts';
export {
  endProgram,
  fromSources,
  newProject,
  ready,
  type StartProgram,
  startSystem,
  type System,
  type SystemApi,
} from './system.ts';
export { freePorts } from '@postroom/embedded';
export { type SingleSignOn, startSingleSignOn } from './single-sign-on.ts';
export { startApiKeyProxy, startMutualTlsProxy, type TlsProxy } from './temporal-tls-proxy.ts';

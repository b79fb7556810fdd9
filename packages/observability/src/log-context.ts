import { AsyncLocalStorage } from 'node:async_hooks';

/** What log lines name besides their message: ids, never addresses. */
export interface LogContext {
  requestId?: string;
  workflowId?: string;
  activity?: string;
  messageId?: string;
  deliveryId?: string;
}

const storage = new AsyncLocalStorage<LogContext>();

/** Runs `work`; every line logged in it, at any depth, carries these ids besides those around it. */
export const withLogContext = <T>(ids: LogContext, work: () => T): T =>
  storage.run({ ...storage.getStore(), ...ids }, work);

/** The ids of the current work. */
export const logContext = (): LogContext => storage.getStore() ?? {};

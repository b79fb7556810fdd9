import type { LogEntry, LogLevel } from '@temporalio/worker';

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** A line of our log. */
export interface Line {
  level: Level;
  fields: { err?: unknown; workflowId?: string; temporal: object };
}

/** A warning of the SDK about every worker that runs only activities, which ours do on purpose. */
const ACTIVITIES_ONLY = 'No workflows registered, not polling for workflow tasks';
/** Where the native core logs each retry of each request and poller: hundreds of lines a minute while Temporal is down. */
const RETRIES = 'temporalio_client::retry';
/** One retry in this time is worth a warning, in milliseconds. */
const RETRIES_INTERVAL_MS = 30_000;
const LEVELS: Record<LogLevel, Level> = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' };

/**
 * Returns a function that turns entries of Temporal's SDK into lines of our log.
 * @param now in milliseconds.
 */
export function temporalLog(now: () => number): (entry: Pick<LogEntry, 'level' | 'message' | 'meta'>) => Line {
  let retriesLoggedAt = -Infinity;
  const levelOf = (level: LogLevel, message: string, target: unknown): Level => {
    if (message === ACTIVITIES_ONLY) return 'debug';
    if (target !== RETRIES) return LEVELS[level];
    if (now() - retriesLoggedAt < RETRIES_INTERVAL_MS) return 'debug';
    retriesLoggedAt = now();
    return 'warn';
  };
  return ({ level, message, meta }) => {
    const { error, workflowId, ...temporal } = meta ?? {};
    return {
      level: levelOf(level, message, temporal.target),
      fields: {
        ...(error === undefined ? {} : { err: error }),
        ...(typeof workflowId === 'string' ? { workflowId } : {}),
        temporal,
      },
    };
  };
}

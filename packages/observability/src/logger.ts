import { pino } from 'pino';
import { config } from '@postroom/settings/config';
import { logContext } from './log-context.ts';
import { identity } from './identity.ts';

/** PostgreSQL's error details contain rows and parameters: addresses and mail contents. Message and code suffice. */
function withoutRows(error: unknown): object {
  // Temporal's native core logs its errors as text.
  if (typeof error !== 'object' || error === null) return { message: String(error) };
  const {
    detail: _,
    where: __,
    internalQuery: ___,
    ...shown
  } = pino.stdSerializers.err(error as Error) as Record<string, unknown>;
  return shown;
}

/**
 * Structured logs, one JSON object per line on standard output: which program and instance, the ids of the work in
 * progress, and the message. They must not contain secrets or addresses.
 */
export const logger = pino({
  level: config.LOG_LEVEL,
  base: undefined,
  mixin: () => ({ service: identity.service, instance: identity.instance, ...logContext() }),
  timestamp: pino.stdTimeFunctions.isoTime,
  serializers: { err: withoutRows },
  redact: ['authorization', '*.authorization', 'password', '*.password'],
});

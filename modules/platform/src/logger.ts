import { pino } from 'pino';
import { config } from './config.ts';

/** What PostgreSQL adds to an error shows rows and parameters: addresses, and what mails say. Its message and code say enough. */
function withoutRows(error: Error): object {
  const {
    detail: _,
    where: __,
    internalQuery: ___,
    ...shown
  } = pino.stdSerializers.err(error) as Record<string, unknown>;
  return shown;
}

/** Structured logs, one JSON object a line on standard output. Secrets and addresses do not belong in them. */
export const logger = pino({
  level: config.LOG_LEVEL,
  base: undefined,
  timestamp: pino.stdTimeFunctions.isoTime,
  serializers: { err: withoutRows },
  redact: ['authorization', '*.authorization', 'password', '*.password'],
});

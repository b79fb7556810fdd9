import { pino } from 'pino';
import { config } from './config.ts';

/** Structured logs, one JSON object a line on standard output. Secrets and addresses do not belong in them. */
export const logger = pino({
  level: config.LOG_LEVEL,
  base: undefined,
  timestamp: pino.stdTimeFunctions.isoTime,
  redact: ['authorization', '*.authorization', 'password', '*.password'],
});

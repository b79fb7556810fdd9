import pg from 'pg';
import { config } from './config.ts';
import { logger } from './logger.ts';

/** The one NOTIFY channel; its payload says what changed, such as `outbox`, `deliveries` or `campaign cmp_…`. */
export const CHANNEL = 'postroom';

const handlers = new Set<(payload: string) => void>();
let connection: Promise<void> | undefined;
let client: pg.Client | undefined;

/**
 * Calls `handler` with every payload that a committed transaction sent on the channel; returns what stops it. What is
 * sent while the connection is down is not repeated, so `handler` gets an empty payload after each (re)connect and
 * callers look at the tables again.
 */
export async function listen(handler: (payload: string) => void): Promise<() => Promise<void>> {
  handlers.add(handler);
  connection ??= connect();
  await connection;
  return async () => {
    handlers.delete(handler);
    if (handlers.size > 0) return;
    connection = undefined;
    const closing = client;
    client = undefined;
    await closing?.end().catch(() => {});
  };
}

async function connect(): Promise<void> {
  const next = new pg.Client({ connectionString: config.DATABASE_URL ?? '', keepAlive: true });
  next.on('notification', ({ payload = '' }) => emit(payload));
  const reconnect = once((error?: Error) => {
    if (client !== next || handlers.size === 0) return;
    logger.warn({ err: error }, 'the connection that listens for changes broke; connecting again');
    connection = retry();
  });
  next.on('error', reconnect);
  next.on('end', () => reconnect());
  client = next;
  await next.connect();
  await next.query(`LISTEN ${CHANNEL}`);
}

async function retry(): Promise<void> {
  for (let waitMs = 100; handlers.size > 0; waitMs = Math.min(waitMs * 2, 5_000)) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    try {
      await connect();
      emit('');
      return;
    } catch (error) {
      logger.warn({ err: error }, 'the database is not reachable yet');
    }
  }
}

function emit(payload: string): void {
  for (const handler of handlers) handler(payload);
}

function once<Args extends unknown[]>(call: (...args: Args) => void): (...args: Args) => void {
  let called = false;
  return (...args) => {
    if (called) return;
    called = true;
    call(...args);
  };
}

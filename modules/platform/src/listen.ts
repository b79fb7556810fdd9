import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { config } from '@postroom/settings/config';
import { KEEP_ALIVE_MS } from './connection-settings.ts';
import { logger } from '@postroom/observability';
import { applicationName } from '@postroom/settings';
import { exponentialDelays, retry } from '@postroom/errors';

/**
 * The only NOTIFY channel. A payload begins with its topic: a word such as `outbox`, or a word and an id such as
 * `campaign cmp_…` or `attempted prj_…`.
 */
export const CHANNEL = 'postroom';

/** The first delay before a lost connection is replaced, in milliseconds. It doubles with each failure. */
const RECONNECT_DELAY_MS = 100;
const MAX_RECONNECT_DELAY_MS = 5_000;

type Handler = (payload: string) => void;

/** Handlers by topic, so that a notification costs only those that subscribed to it. */
const handlers = new Map<string, Set<Handler>>();
let connection: Promise<void> | undefined;
let client: pg.Client | undefined;
/** Generation counter, incremented when the last handler unsubscribes. A connection attempt of an older generation gives up. */
let era = 0;

/**
 * Calls `handler` with every committed payload of a topic; returns the unsubscribe function. The topic is a
 * payload's first word, or its first two. Notifications sent while disconnected are lost, so `handler` gets an
 * empty payload after each reconnect and callers must re-read the tables.
 * @throws Error if the initial connection fails.
 */
export async function listen(topic: string, handler: Handler): Promise<() => Promise<void>> {
  const ofTopic = handlers.get(topic) ?? new Set();
  handlers.set(topic, ofTopic.add(handler));
  const leave = async () => {
    ofTopic.delete(handler);
    if (ofTopic.size === 0 && handlers.get(topic) === ofTopic) handlers.delete(topic);
    if (handlers.size > 0) return;
    era++;
    connection = undefined;
    const closing = client;
    client = undefined;
    await closing?.end().catch(() => {});
  };
  connection ??= connect(era);
  try {
    await connection;
  } catch (error) {
    await leave();
    throw error;
  }
  return leave;
}

/** Keeps at most one connection. A failed attempt is closed here; only an established connection reconnects when lost. */
async function connect(since: number): Promise<void> {
  const next = new pg.Client({
    connectionString: config.directDatabaseUrl ?? '',
    application_name: applicationName(),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
  });
  let isBroken = false;
  const broke = (error?: Error) => {
    isBroken = true;
    if (client !== next) return;
    client = undefined;
    logger.warn({ err: error }, 'LISTEN connection lost; reconnecting');
    connection = reconnect(since);
  };
  next.on('notification', ({ payload = '' }) => emit(payload));
  next.on('error', broke);
  next.on('end', () => broke());
  try {
    await next.connect();
    await next.query(`LISTEN ${CHANNEL}`);
    if (isBroken) throw new Error('The LISTEN connection was lost during setup.');
  } catch (error) {
    await next.end().catch(() => {});
    throw error;
  }
  if (since === era) client = next;
  else await next.end().catch(() => {});
}

async function reconnect(since: number): Promise<void> {
  await sleep(RECONNECT_DELAY_MS);
  await retry(async () => (since === era ? connect(since) : undefined), {
    delaysMs: exponentialDelays(RECONNECT_DELAY_MS * 2, MAX_RECONNECT_DELAY_MS),
    onFailure: (error) => logger.warn({ err: error }, 'database not reachable; will retry'),
  });
  emit('');
}

function emit(payload: string): void {
  if (payload === '') {
    for (const ofTopic of handlers.values()) for (const handler of ofTopic) handler('');
    return;
  }
  const [word = '', id] = payload.split(' ', 2);
  for (const handler of handlers.get(word) ?? []) handler(payload);
  if (id === undefined) return;
  for (const handler of handlers.get(`${word} ${id}`) ?? []) handler(payload);
}

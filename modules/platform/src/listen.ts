import pg from 'pg';
import { config } from './config.ts';
import { logger } from './logger.ts';

/**
 * The one NOTIFY channel. A payload begins with its topic: one word, such as `outbox`, or a word and an id, such as
 * `campaign cmp_…` or `attempted prj_…`.
 */
export const CHANNEL = 'postroom';

type Handler = (payload: string) => void;

/** By topic, so that a notification costs only those who wait for it, however many others listen. */
const handlers = new Map<string, Set<Handler>>();
let connection: Promise<void> | undefined;
let client: pg.Client | undefined;
/** Counts how often the last handler left: whoever connects for handlers that have gone gives up. */
let era = 0;

/**
 * Calls `handler` with every payload that a committed transaction sent about the topic; returns what stops it. The topic is
 * a payload's first word, or its first two. What is sent while the connection is down is not repeated, so `handler` gets an
 * empty payload after each reconnect and callers look at the tables again.
 * @throws Error when the database can't be reached at first.
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

/** One connection at a time: one that could not be made is ended here, and only one that was made is made again when it breaks. */
async function connect(since: number): Promise<void> {
  const next = new pg.Client({
    connectionString: config.DATABASE_URL ?? '',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
  });
  let isBroken = false;
  const broke = (error?: Error) => {
    isBroken = true;
    if (client !== next) return;
    client = undefined;
    logger.warn({ err: error }, 'the connection that listens for changes broke; connecting again');
    connection = retry(since);
  };
  next.on('notification', ({ payload = '' }) => emit(payload));
  next.on('error', broke);
  next.on('end', () => broke());
  try {
    await next.connect();
    await next.query(`LISTEN ${CHANNEL}`);
    if (isBroken) throw new Error('The connection that listens for changes broke as it was made.');
  } catch (error) {
    await next.end().catch(() => {});
    throw error;
  }
  if (since === era) client = next;
  else await next.end().catch(() => {});
}

async function retry(since: number): Promise<void> {
  for (let waitMs = 100; since === era; waitMs = Math.min(waitMs * 2, 5_000)) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    try {
      if (since === era) await connect(since);
      emit('');
      return;
    } catch (error) {
      logger.warn({ err: error }, 'the database is not reachable yet');
    }
  }
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

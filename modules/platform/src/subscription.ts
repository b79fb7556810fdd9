import { Notifier, sleep, subscription } from '@postroom/concurrency';
import { sql } from './db.ts';
import type { Tx } from './transaction-observer.ts';
import { CHANNEL, listen } from './listen.ts';

/** A burst keeps this many of its latest payloads. */
const MAX_PAYLOADS = 100;

/** What has happened to a topic since the previous change. */
export interface Change {
  /** Payloads since the previous change, oldest first; only the latest 100 of a burst. */
  payloads: readonly string[];
  /** Whether notifications may have been missed: true for the first change, and after the database was unreachable. */
  mayHaveMissed: boolean;
}

export interface SubscribeOptions {
  /** Minimum time between changes, in milliseconds. Notifications within it are coalesced. */
  minIntervalMs?: number;
  /** Yields a change without a notification after this time, in milliseconds. */
  pollMs?: number;
}

/**
 * Yields once when it listens to its topics, and then after each notification, until `signal` is aborted. Notifications
 * that arrive while a change is being processed are coalesced into the next one, so none is lost and a burst costs a
 * slow reader one read. Yields after each reconnect to the database too: readers re-read what they show.
 */
export async function* subscribe(
  topics: string | readonly string[],
  signal: AbortSignal,
  { minIntervalMs = 0, pollMs }: SubscribeOptions = {},
): AsyncGenerator<Change, void> {
  const notifier = new Notifier();
  let payloads: string[] = [];
  let mayHaveMissed = true;
  const hear = (payload: string) => {
    if (payload === '') mayHaveMissed = true;
    else payloads.push(payload);
    if (payloads.length > MAX_PAYLOADS) payloads.shift();
    notifier.notify();
  };
  const leave: (() => Promise<void>)[] = [];
  try {
    for (const topic of [topics].flat()) leave.push(await listen(topic, hear));
    while (!signal.aborted) {
      const change = { payloads, mayHaveMissed };
      payloads = [];
      mayHaveMissed = false;
      yield change;
      if (minIntervalMs > 0) await sleep(minIntervalMs, signal);
      await notifier.wait({ timeoutMs: pollMs, signal });
    }
  } finally {
    for (const stopListening of leave) await stopListening();
  }
}

/** Notifies the subscribers of a topic when the transaction commits. */
export async function announce(tx: Tx, topic: string): Promise<void> {
  await sql(tx, 'SELECT pg_notify($1, $2)::text', [CHANNEL, topic]);
}

/** A row now, then whenever its topic is announced, at most once in `minIntervalMs`, until it is final. */
export function watchUntilFinal<Row>(
  topic: string,
  { read, isFinal, minIntervalMs }: { read: () => Promise<Row>; isFinal: (row: Row) => boolean; minIntervalMs: number },
): AsyncIterableIterator<Row> {
  return subscription(async function* (signal) {
    for await (const _ of subscribe(topic, signal, { minIntervalMs })) {
      const row = await read();
      yield row;
      if (isFinal(row)) return;
    }
  });
}

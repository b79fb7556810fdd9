import { Gauge } from 'prom-client';
import { pool } from './db.ts';
import { logger } from '@postroom/observability';
import { metricsErrors } from '@postroom/observability';

/** What a module measures in the database: the work that waits there, and what needs a person's attention. */
export interface QueueReading {
  /** Rows whose work could be done now. Counted up to `MAX_DUE`, so that a backlog costs no more to read. */
  due?: number;
  /** How long the oldest of them has been due, in seconds. */
  ageSeconds?: number;
  /** Rows that workflows are working on, apart from those that wait in a workflow. */
  inFlight?: number;
  /** Messages whose outcome is unknown. */
  unknown?: number;
  /** Schedules whose time passed more than a minute ago. */
  overdue?: number;
  /** 1 if no mail is sent until an operator releases it, else 0. */
  held?: 0 | 1;
}

/** A kind of work as `/metrics` reports it. */
export interface Queue {
  /** The label `kind`. */
  kind: string;
  read: () => Promise<QueueReading>;
}

/** Queues are counted up to this many rows. */
export const MAX_DUE = 100_000;

/** Readings are reused for this long, in milliseconds: shorter than scrape intervals, so each scrape gets its own. */
const CACHE_MS = 5_000;
/** How long a scrape waits for the database, in milliseconds. Prometheus gives up after ten seconds by default. */
const TIMEOUT_MS = 3_000;

/** Adds the gauges of queues to `/metrics`. Every process that calls this reports the same database: alert on the maximum. */
export function measureQueues(queues: readonly Queue[]): void {
  const readAll = cacheBriefly(() => Promise.all([outbox, ...queues].map((queue) => readInTime(queue))));
  const gauge = (name: string, help: string, field: keyof QueueReading) =>
    new Gauge({
      name,
      help,
      labelNames: ['kind'],
      async collect() {
        this.reset();
        for (const [kind, reading] of await readAll()) {
          const value = reading[field];
          if (value !== undefined) this.set({ kind }, value);
        }
      },
    });
  gauge('postroom_due', `Rows whose work is due and not assigned yet, counted up to ${MAX_DUE}.`, 'due');
  gauge('postroom_due_age_seconds', 'How long the oldest of them has been due; 0 without any.', 'ageSeconds');
  gauge('postroom_in_flight', 'Rows that workflows are working on, without those that wait there.', 'inFlight');
  gauge('postroom_unknown_messages', 'Messages whose outcome is unknown and waits for a person.', 'unknown');
  gauge('postroom_overdue_schedules', 'Schedules whose time passed more than a minute ago.', 'overdue');
  gauge('postroom_sending_held', 'Whether sending is held until an operator releases it: 1 or 0.', 'held');
}

async function readInTime({ kind, read }: Queue): Promise<[string, QueueReading]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no reading within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  try {
    return [kind, await Promise.race([read(), late])];
  } catch (error) {
    metricsErrors.inc({ kind });
    logger.warn({ err: error, kind }, 'queue not measured');
    return [kind, {}];
  } finally {
    clearTimeout(timer);
  }
}

function cacheBriefly<T>(read: () => Promise<T>): () => Promise<T> {
  let readAt = -Infinity;
  let latest: Promise<T> | undefined;
  return () => {
    if (latest !== undefined && performance.now() - readAt < CACHE_MS) return latest;
    readAt = performance.now();
    latest = read();
    return latest;
  };
}

/** Workflow starts and signals that Temporal has not accepted yet. */
const outbox: Queue = {
  kind: 'outbox',
  read: async () => {
    const { rows } = await pool.query<{ due: number; age: number }>(
      `SELECT count(*)::int AS due, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float AS age
       FROM (SELECT created_at FROM outbox ORDER BY id LIMIT ${MAX_DUE}) AS rows`,
    );
    return { due: rows[0]?.due ?? 0, ageSeconds: rows[0]?.age ?? 0 };
  },
};

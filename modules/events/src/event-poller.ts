import { databaseNow, idsFrom, logger, Notifier, pool } from '@postroom/platform';
import { type SnapshotCursor, cursorFrom } from '@postroom/snapshot-cursor';
import { MAX_COMMIT_DELAY_MS, POLL_INTERVAL_MS } from './policy.ts';

/** A subscription to new events of one project. */
export interface EventPoll {
  /** Resolves when there may be events since the last wait began, or when `signal` aborts; the first time at once. */
  waitForEvents: (signal: AbortSignal) => Promise<void>;
  stop: () => void;
}

const subscribers = new Map<string, Set<Notifier>>();
/** Projects covered by the last poll, and its snapshot. Later subscribers are woken by the next poll in any case. */
let polledProjects: ReadonlySet<string> = new Set();
let cursor: SnapshotCursor = { before: 0n, running: [] };
let polledAt = 0;
let isPolling = false;

/**
 * Subscribes to events of a project. All subscribers in a process share one query, five times a second and only while
 * there are any. NOTIFY would be faster, but PostgreSQL serializes the commits of transactions that notify, which
 * would slow down every write of a contact (docs/decisions/event-stream.md).
 */
export function pollEvents(projectId: string): EventPoll {
  const subscriber = new Notifier();
  const projectSubscribers = subscribers.get(projectId) ?? new Set();
  subscribers.set(projectId, projectSubscribers.add(subscriber));
  subscriber.notify();
  if (!isPolling) void pollWhileSubscribed();
  return {
    waitForEvents: (signal) => subscriber.wait({ signal }),
    stop: () => {
      projectSubscribers.delete(subscriber);
      if (projectSubscribers.size === 0) subscribers.delete(projectId);
    },
  };
}

async function pollWhileSubscribed(): Promise<void> {
  isPolling = true;
  polledProjects = new Set();
  while (subscribers.size > 0) {
    await poll();
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
  isPolling = false;
}

export const POLL_FOR_EVENTS = `
  SELECT pg_current_snapshot()::text AS snapshot, ARRAY(
    SELECT id FROM unnest($1::text[]) AS subscribed(id)
    WHERE EXISTS (SELECT FROM events WHERE project_id = subscribed.id AND xact >= $2 AND id >= $4)
       OR EXISTS (SELECT FROM events WHERE project_id = subscribed.id AND xact = ANY ($3::bigint[]) AND id >= $4)
  ) AS projects`;

async function poll(): Promise<void> {
  const projectIds = [...subscribers.keys()];
  const startedAt = databaseNow();
  try {
    const { rows } = await pool.query<{ snapshot: string; projects: string[] }>({
      name: 'poll-for-events',
      text: POLL_FOR_EVENTS,
      values: [projectIds, cursor.before, cursor.running, lowestUnseenId(polledAt)],
    });
    const [{ snapshot, projects } = { snapshot: '', projects: [] }] = rows;
    for (const projectId of projectIds)
      if (projects.includes(projectId) || !polledProjects.has(projectId))
        for (const subscriber of subscribers.get(projectId) ?? []) subscriber.notify();
    polledProjects = new Set(projectIds);
    cursor = cursorFrom(snapshot);
    polledAt = startedAt;
  } catch (error) {
    logger.warn({ err: error }, 'could not poll for events; will retry');
  }
}

/** The lowest id that an event committed after `time` can have, so that readers of the stream skip old partitions. */
export const lowestUnseenId = (time: number) => idsFrom('evt', new Date(Math.max(0, time - MAX_COMMIT_DELAY_MS)));

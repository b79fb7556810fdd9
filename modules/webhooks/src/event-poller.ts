import { logger, pool } from '@postroom/platform';
import { type SnapshotCursor, cursorFrom } from './snapshot-cursor.ts';

/** How often the tables are looked at for readers who wait, in milliseconds. */
const LOOK_EVERY_MS = 200;

/** Somebody who waits for events of a project. */
export interface EventPoll {
  /** Forgets the news so far; called before reading, so that what comes while reading counts. */
  clear: () => void;
  /** Waits until there may be events that were not there at `clear`, or until `left`. */
  news: (left: AbortSignal) => Promise<void>;
  stop: () => void;
}

interface Subscriber {
  isNews: boolean;
  wake: () => void;
}

const subscribers = new Map<string, Set<Subscriber>>();
/** The projects that the last look covered, and what it saw; who came later is woken by the next one in any case. */
let covered: ReadonlySet<string> = new Set();
let seen: SnapshotCursor = { before: 0n, running: [] };
let isLooking = false;

/**
 * Watches for events of a project. All readers of a process share one look at the tables, five times a second and only
 * while somebody reads. A NOTIFY for each event would be told sooner, but PostgreSQL lets transactions that notify commit
 * only one after the other, and every write of a contact would pay for it (docs/decisions/event-stream.md).
 */
export function pollEvents(projectId: string): EventPoll {
  const watcher: Subscriber = { isNews: true, wake: () => {} };
  const ofProject = subscribers.get(projectId) ?? new Set();
  subscribers.set(projectId, ofProject.add(watcher));
  if (!isLooking) void lookWhileWatched();
  return {
    clear: () => {
      watcher.isNews = false;
    },
    news: async (left) => {
      if (watcher.isNews || left.aborted) return;
      await new Promise<void>((resolve) => {
        const wake = () => {
          left.removeEventListener('abort', wake);
          resolve();
        };
        watcher.wake = wake;
        left.addEventListener('abort', wake);
      });
    },
    stop: () => {
      ofProject.delete(watcher);
      if (ofProject.size === 0) subscribers.delete(projectId);
    },
  };
}

async function lookWhileWatched(): Promise<void> {
  isLooking = true;
  covered = new Set();
  while (subscribers.size > 0) {
    await look();
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  isLooking = false;
}

const LOOK = `
  SELECT pg_current_snapshot()::text AS snapshot, ARRAY(
    SELECT id FROM unnest($1::text[]) AS watched(id)
    WHERE EXISTS (SELECT FROM events WHERE project_id = watched.id AND xact >= $2)
       OR EXISTS (SELECT FROM events WHERE project_id = watched.id AND xact = ANY ($3::bigint[]))
  ) AS projects`;

async function look(): Promise<void> {
  const asked = [...subscribers.keys()];
  try {
    const { rows } = await pool.query<{ snapshot: string; projects: string[] }>({
      name: 'look-for-events',
      text: LOOK,
      values: [asked, seen.before, seen.running],
    });
    const [{ snapshot, projects } = { snapshot: '', projects: [] }] = rows;
    for (const projectId of asked) if (projects.includes(projectId) || !covered.has(projectId)) wake(projectId);
    covered = new Set(asked);
    seen = cursorFrom(snapshot);
  } catch (error) {
    logger.warn({ err: error }, 'could not look for events just now');
  }
}

function wake(projectId: string): void {
  for (const watcher of subscribers.get(projectId) ?? []) {
    watcher.isNews = true;
    watcher.wake();
  }
}

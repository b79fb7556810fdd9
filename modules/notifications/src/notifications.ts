import {
  announce,
  countUpTo,
  db,
  inTransaction,
  type Page,
  type PageArgs,
  readRows,
  type RowsQuery,
  sql,
  subscribe,
  subscription,
} from '@postroom/platform';
import { type Notification, NOTIFICATION_ID, notificationsTopic } from './notify.ts';

/** Unread notifications are counted up to this number, which means "this many or more". */
export const MAX_UNREAD = 100;

/** Subscribers get the number of unread notifications at most at this interval, in milliseconds. */
const MIN_INTERVAL_MS = 1_000;

/** The notifications of a user in a project, newest first. */
export function listNotifications(
  projectId: string,
  userId: string,
  page: PageArgs,
  query: RowsQuery,
): Promise<Page<Notification>> {
  return readRows(db.notification, NOTIFICATION_ID, page, { projectId, recipients: { some: { userId } } }, query);
}

/** The number of a user's unread notifications in a project, up to `MAX_UNREAD`. */
export const countUnread = (projectId: string, userId: string): Promise<number> =>
  countUpTo(
    MAX_UNREAD,
    'SELECT FROM notification_recipients WHERE user_id = $1 AND project_id = $2 AND read_at IS NULL',
    [userId, projectId],
  );

/** Yields the number of a user's unread notifications now and after each change, until the subscriber leaves. */
export function watchUnread(projectId: string, userId: string): AsyncIterableIterator<number> {
  return subscription(async function* (signal) {
    for await (const _ of subscribe(notificationsTopic(projectId), signal, { minIntervalMs: MIN_INTERVAL_MS })) {
      yield await countUnread(projectId, userId);
    }
  });
}

/** Which notifications to mark as read; all if neither is given. */
export interface Marked {
  /** These. */
  ids?: readonly string[] | null | undefined;
  /** This one and all before it, so that one that has just arrived stays unread. */
  through?: string | null | undefined;
}

/**
 * Marks notifications of a user as read. Those read before keep their time, and ids that are not the user's are ignored.
 * @returns the ids of those that were unread.
 */
export async function markRead(projectId: string, userId: string, { ids, through }: Marked): Promise<string[]> {
  return inTransaction(async (tx) => {
    const marked = await sql<{ id: string }>(
      tx,
      `UPDATE notification_recipients SET read_at = now()
       WHERE user_id = $1 AND project_id = $2 AND read_at IS NULL
         AND ($3::text[] IS NULL OR notification_id = ANY ($3)) AND ($4::text IS NULL OR notification_id <= $4)
       RETURNING notification_id AS id`,
      [userId, projectId, ids ?? null, through ?? null],
    );
    if (marked.length > 0) await announce(tx, notificationsTopic(projectId));
    return marked.map(({ id }) => id);
  });
}

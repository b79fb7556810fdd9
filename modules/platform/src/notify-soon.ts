import { pool } from './db.ts';
import { CHANNEL } from './listen.ts';
import { logger } from '@postroom/observability';
import { TokenBucket } from '@postroom/concurrency';

/** At most 20 notifying transactions in any second, and five at once. */
const LIMIT = new TokenBucket({ ratePerSecond: 15, capacity: 5 });

/** Topics to notify. One that is announced again meanwhile is notified once. */
const pending = new Set<string>();
let isSending = false;

/**
 * Notifies the subscribers of a topic after a commit. PostgreSQL commits transactions that notify one after another, so hot statements don't
 * notify themselves. The notifications of this process go out in a separate transaction, at once if there were few in the last second,
 * otherwise together with later ones. If it fails, subscribers poll.
 */
export function notifySoon(topic: string): void {
  pending.add(topic);
  flush();
}

function flush(): void {
  if (isSending || pending.size === 0 || !LIMIT.take(flush)) return;
  isSending = true;
  const topics = [...pending];
  pending.clear();
  pool
    .query({
      name: 'notify-soon',
      text: 'SELECT pg_notify($1, topic)::text FROM unnest($2::text[]) AS topic',
      values: [CHANNEL, topics],
    })
    .catch((error: unknown) => logger.warn({ err: error }, 'subscribers not notified; they poll'))
    .finally(() => {
      isSending = false;
      flush();
    });
}

import { EventEmitter, once } from 'node:events';
import { CHANNEL, db, listen, notFound, type Prisma, sql, type Tx } from '@postroom/platform';

type Domain = Prisma.DomainModel;

/** Notifies a domain's subscribers when the transaction commits. */
export async function announceDomain(tx: Tx, id: string): Promise<void> {
  await sql(tx, 'SELECT pg_notify($1, $2)::text', [CHANNEL, `domain ${id}`]);
}

/**
 * Yields a domain now and after each check, until it is removed or the subscriber leaves.
 * @throws DomainError `not_found`.
 */
export function watchDomain(projectId: string, id: string): AsyncIterableIterator<Domain> {
  const controller = new AbortController();
  const states = follow(projectId, id, controller.signal);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => states.next(),
    // A suspended generator would not notice that the subscriber has left.
    return: (value) => {
      controller.abort();
      return states.return(value);
    },
  };
}

async function* follow(projectId: string, id: string, signal: AbortSignal): AsyncGenerator<Domain> {
  const notifier = new EventEmitter();
  let hasChanged = true;
  const notify = () => notifier.emit('change');
  signal.addEventListener('abort', notify);
  const stopListening = await listen(`domain ${id}`, () => {
    hasChanged = true;
    notify();
  });
  try {
    for (let isFirst = true; ; isFirst = false) {
      if (!hasChanged && !signal.aborted) await once(notifier, 'change');
      if (signal.aborted) return;
      hasChanged = false;
      const domain = await db.domain.findFirst({ where: { id, projectId } });
      if (domain === null && isFirst) throw notFound('domain');
      if (domain === null) return;
      yield domain;
    }
  } finally {
    await stopListening();
  }
}

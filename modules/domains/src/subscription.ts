import { EventEmitter, once } from 'node:events';
import { CHANNEL, db, listen, notFound, type Prisma, sql, type Tx } from '@postroom/platform';

type Domain = Prisma.DomainModel;

/** Tells those who watch a domain, once the transaction commits. */
export async function announceDomain(tx: Tx, id: string): Promise<void> {
  await sql(tx, 'SELECT pg_notify($1, $2)::text', [CHANNEL, `domain ${id}`]);
}

/**
 * A domain as it is now, then each time it has been looked up, until it is removed or nobody watches.
 * @throws DomainError `not_found`.
 */
export function watchDomain(projectId: string, id: string): AsyncIterableIterator<Domain> {
  const watching = new AbortController();
  const states = follow(projectId, id, watching.signal);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => states.next(),
    // A generator that waits would hear only afterwards that nobody watches any more.
    return: (value) => {
      watching.abort();
      return states.return(value);
    },
  };
}

async function* follow(projectId: string, id: string, watching: AbortSignal): AsyncGenerator<Domain> {
  const bell = new EventEmitter();
  let isNews = true;
  const ring = () => bell.emit('ring');
  watching.addEventListener('abort', ring);
  const stopListening = await listen(`domain ${id}`, () => {
    isNews = true;
    ring();
  });
  try {
    for (let isFirst = true; ; isFirst = false) {
      if (!isNews && !watching.aborted) await once(bell, 'ring');
      if (watching.aborted) return;
      isNews = false;
      const domain = await db.domain.findFirst({ where: { id, projectId } });
      if (domain === null && isFirst) throw notFound('domain');
      if (domain === null) return;
      yield domain;
    }
  } finally {
    await stopListening();
  }
}

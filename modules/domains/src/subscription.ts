import { announce, db, notFound, type Prisma, subscribe, subscription, type Tx } from '@postroom/platform';

type Domain = Prisma.DomainModel;

/** Notifies a domain's subscribers when the transaction commits. */
export async function announceDomain(tx: Tx, id: string): Promise<void> {
  await announce(tx, `domain ${id}`);
}

/**
 * Yields a domain now and after each check, until it is removed or the subscriber leaves.
 * @throws DomainError `not_found`.
 */
export function watchDomain(projectId: string, id: string): AsyncIterableIterator<Domain> {
  return subscription(async function* (signal) {
    let isFirst = true;
    for await (const _ of subscribe(`domain ${id}`, signal)) {
      const domain = await db.domain.findFirst({ where: { id, projectId } });
      if (domain === null && isFirst) throw notFound('domain');
      if (domain === null) return;
      isFirst = false;
      yield domain;
    }
  });
}

/** How far messages of a scope may be claimed. */
export interface Reservation {
  /** `campaign cmp_…`, `queue prj_…` or `retries prj_…`. */
  scope: string;
  /** The last message id of a campaign, or the latest `not_before` of transactional messages. */
  position: string;
  /** Messages that are retried are claimed up to this time. ISO 8601, as `position` if that is a time. */
  until: string;
  /** Of the installation when it was made. */
  epoch: number;
  number: number;
}

/** A place outside of the database that remembers reservations, so that an older state of the database can be told. */
export interface Witness {
  /** For messages to the operator. */
  name: string;
  /**
   * Resolves once the reservations are stored durably, so that a process that begins a later epoch reads them.
   * @throws SupersededError
   */
  announce: (reservations: readonly Reservation[]) => Promise<void>;
  /** Refuses reservations of earlier epochs than that of `first` from now on; `read` returns all that were not refused. */
  beginEpoch: (first: Reservation) => Promise<void>;
  /** Costs little. @throws SupersededError if a later epoch has begun. */
  checkEpoch: (epoch: number) => Promise<void>;
  /** The last reservation of each scope. */
  read: () => Promise<Reservation[]>;
}

/** Reservations were refused, because another database has begun a later epoch. */
export class SupersededError extends Error {
  constructor(epoch: number) {
    super(`Another database has begun an epoch after ${epoch}.`);
  }
}

/** Whether `a` was made later. */
export const isLater = (a: Pick<Reservation, 'epoch' | 'number'>, b: Pick<Reservation, 'epoch' | 'number'>): boolean =>
  a.epoch > b.epoch || (a.epoch === b.epoch && a.number > b.number);

/** The last reservation of each scope. */
export function latestOf(reservations: Iterable<Reservation>): Reservation[] {
  const latest = new Map<string, Reservation>();
  for (const reservation of reservations) {
    const known = latest.get(reservation.scope);
    if (known === undefined || isLater(reservation, known)) latest.set(reservation.scope, reservation);
  }
  return [...latest.values()];
}

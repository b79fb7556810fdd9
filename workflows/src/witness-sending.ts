import type { Reservation } from '@postroom/ledger';
import { condition, continueAsNew, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';

/** How far messages may be claimed, by scope. Later ones replace earlier ones. */
const reserved = defineSignal<[Reservation[]]>('reserved');

/** Signals per run, which keeps its history short. */
const SIGNALS_PER_RUN = 200;
/** Scopes that are remembered, the newest first: an argument is limited to 2 MB. */
const MAX_SCOPES = 5_000;

/**
 * Remembers reservations outside of the database, for as long as the installation exists. It does nothing with them: after a
 * restore, its history is read (docs/decisions/restore.md).
 */
export async function witnessSending(known: Reservation[]): Promise<never> {
  const latest = new Map(known.map((reservation) => [reservation.scope, reservation]));
  let signals = 0;
  setHandler(reserved, (reservations) => {
    signals++;
    for (const reservation of reservations) {
      const before = latest.get(reservation.scope);
      if (before === undefined || isNewer(reservation, before)) latest.set(reservation.scope, reservation);
    }
  });
  await condition(() => signals >= SIGNALS_PER_RUN || workflowInfo().continueAsNewSuggested);
  const newestFirst = [...latest.values()].sort((a, b) => b.epoch - a.epoch || b.number - a.number);
  return continueAsNew<typeof witnessSending>(newestFirst.slice(0, MAX_SCOPES));
}

/** Signals of several workers may arrive in another order than they were numbered. */
const isNewer = (a: Reservation, b: Reservation) => a.epoch > b.epoch || (a.epoch === b.epoch && a.number > b.number);

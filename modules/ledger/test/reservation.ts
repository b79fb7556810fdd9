import type { Reservation } from '../src/witness.ts';

/** A reservation up to a position that its epoch and number name. */
export const reservation = (scope: string, epoch: number, number: number): Reservation => ({
  scope,
  position: `at ${epoch}.${number}`,
  until: '2026-01-01T00:00:00.000Z',
  epoch,
  number,
});

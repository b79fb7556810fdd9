import { countUpTo, deleteInBatches, sql, type Tx } from '@postroom/platform';

/** The most triggers that are kept for a paused journey; older ones are deleted. */
export const MAX_WAITING = 100_000;
/** How many days a trigger is kept for a paused journey. */
const WAITING_DAYS = 30;
const BATCH = 5_000;

/** Whether resuming a journey processes the triggers that arrived during the pause, or discards them. */
export type WaitingEvents = 'process' | 'discard';

/** The number of triggers that a journey has not processed, counted up to `MAX_WAITING`. */
export const countWaiting = (journeyId: string): Promise<number> =>
  countUpTo(MAX_WAITING, 'SELECT FROM journey_triggers WHERE journey_id = $1', [journeyId]);

/** Deletes the triggers that arrived while a journey was paused. */
export async function discardWaiting(tx: Tx, journeyId: string): Promise<void> {
  await sql(tx, 'DELETE FROM journey_triggers WHERE journey_id = $1', [journeyId]);
}

const DELETE = `
  DELETE FROM journey_triggers WHERE id IN (
    SELECT t.id FROM journeys j CROSS JOIN LATERAL (
      SELECT id FROM journey_triggers WHERE journey_id = j.id ORDER BY id DESC LIMIT 1 OFFSET $1) AS newest
    JOIN journey_triggers t ON t.journey_id = j.id AND t.id <= newest.id
    WHERE j.status = 'paused' LIMIT ${BATCH})`;
const DELETE_OLD = `
  DELETE FROM journey_triggers WHERE id IN (
    SELECT t.id FROM journeys j JOIN journey_triggers t ON t.journey_id = j.id AND t.created_at < $1
    WHERE j.status = 'paused' LIMIT ${BATCH})`;

/** Deletes the triggers of paused journeys that exceed their number or age. @returns how many. */
export async function deleteOldWaiting({
  onBatch,
  now,
  max = MAX_WAITING,
}: {
  onBatch: () => void;
  now: number;
  max?: number;
}): Promise<number> {
  const before = new Date(now - WAITING_DAYS * 86_400_000);
  const old = await deleteInBatches(DELETE_OLD, [before], { batch: BATCH, onBatch });
  return old + (await deleteInBatches(DELETE, [max], { batch: BATCH, onBatch }));
}

import { databaseNow, deleteInBatches } from '@postroom/platform';
import { messageRetentions } from '@postroom/ledger';
import { mergeCounts } from './passages.ts';
import { deleteOldWaiting } from './waiting-events.ts';

const BATCH = 5_000;
const DAY_MS = 86_400_000;

const DELETE_STEPS = `
  DELETE FROM enrollment_steps WHERE (enrollment_id, visit) IN (
    SELECT s.enrollment_id, s.visit FROM enrollments e JOIN enrollment_steps s ON s.enrollment_id = e.id
     WHERE e.project_id = $1 AND e.ended_at < $2 LIMIT ${BATCH})`;
const DELETE_RUNS = `
  DELETE FROM enrollments WHERE id IN (SELECT id FROM enrollments WHERE project_id = $1 AND ended_at < $2 LIMIT ${BATCH})`;

/**
 * Deletes runs that ended before their project's retention period of messages, and what paused journeys keep no longer; merges counts.
 * @returns the number of rows by kind.
 */
export async function deleteOld({
  onBatch,
  now = databaseNow(),
}: {
  onBatch: () => void;
  now?: number;
}): Promise<Record<string, number>> {
  let enrollments = 0;
  for (const { projectId, days } of await messageRetentions()) {
    const values = [projectId, new Date(now - days * DAY_MS)];
    await deleteInBatches(DELETE_STEPS, values, { batch: BATCH, onBatch });
    enrollments += await deleteInBatches(DELETE_RUNS, values, { batch: BATCH, onBatch });
  }
  await mergeCounts(onBatch);
  return { enrollments, journeyTriggers: await deleteOldWaiting({ onBatch, now }) };
}

import { type StepOf } from '@postroom/journey-definition';
import { pool } from '@postroom/platform';
import type { Run } from './transitions.ts';

type MessageCondition = NonNullable<StepOf<'condition'>['message']>;

/** The column of a message that says when it had the outcome. */
const COLUMNS: Record<MessageCondition['outcome'], string> = {
  sent: 'accepted_at',
  delivered: 'delivered_at',
  opened: 'opened_at',
  clicked: 'clicked_at',
  bounced: 'bounced_at',
  complained: 'complained_at',
  unsubscribed: 'unsubscribed_at',
};

/** The ids of the runs in which the last message of a step had an outcome. */
export async function outcomesOf(
  { stepId, outcome }: MessageCondition,
  runs: readonly Run[],
): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT last.enrollment_id AS id FROM (
       SELECT DISTINCT ON (enrollment_id) enrollment_id, message_id FROM enrollment_steps
       WHERE enrollment_id = ANY ($1) AND step_id = $2 AND message_id IS NOT NULL ORDER BY enrollment_id, visit DESC
     ) AS last JOIN messages m ON m.id = last.message_id WHERE m.${COLUMNS[outcome]} IS NOT NULL`,
    [runs.map(({ id }) => id), stepId],
  );
  return new Set(rows.map(({ id }) => id));
}

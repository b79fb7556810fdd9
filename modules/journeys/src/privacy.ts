import { type DataSubject, type ErasedRows, type Erasure, type PrivacyStage, sql, type Tx } from '@postroom/platform';
import { pageByOwner, redaction, redactionValues, type SearchedTable, searchedByPage } from '@postroom/redaction';

export const stage: PrivacyStage = 'references';

const TRIGGER = redaction({ key: 'text', properties: 'jsonb' });
const LISTENER = redaction({ key: 'text' });
const JOURNEY = redaction({ name: 'text', draft: 'jsonb', paused_reason: 'text' });
const VERSION = redaction({ definition: 'jsonb' });

/** Deletes the person's runs, and replaces their addresses in definitions and in what has not been processed. */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  const { projectId, contactId } = subject;
  const values = redactionValues(subject);
  const own = [projectId, contactId];
  await sql(
    tx,
    `DELETE FROM enrollment_steps s USING enrollments e WHERE e.project_id = $1 AND e.contact_id = $2 AND s.enrollment_id = e.id`,
    own,
  );
  await sql(tx, 'DELETE FROM enrollments WHERE project_id = $1 AND contact_id = $2', own);
  await sql(tx, 'DELETE FROM journey_triggers WHERE contact_id = $1', [contactId]);
  await sql(
    tx,
    'DELETE FROM journey_segment_members WHERE journey_id IN (SELECT id FROM journeys WHERE project_id = $1) AND contact_id = $2',
    own,
  );
  await sql(
    tx,
    `UPDATE journey_triggers SET ${TRIGGER.set} WHERE journey_id IN (SELECT id FROM journeys WHERE project_id = $1)
       AND ${TRIGGER.mentions}`,
    values,
  );
  // No event has this name any more.
  await sql(tx, `DELETE FROM journey_listeners WHERE project_id = $1 AND ${LISTENER.mentions}`, values.slice(0, 2));
  await sql(tx, `UPDATE journeys SET ${JOURNEY.set} WHERE project_id = $1 AND ${JOURNEY.mentions}`, values);
  await sql(
    tx,
    `UPDATE journey_versions SET ${VERSION.set} WHERE journey_id IN (SELECT id FROM journeys WHERE project_id = $1)
       AND ${VERSION.mentions}`,
    values,
  );
  return {};
}

const page = pageByOwner({ owners: 'journeys', owner: 'journey_id', table: 'enrollments', id: 'id' });

/** Runs of others. */
export const searched: readonly SearchedTable[] = [
  searchedByPage('enrollments', { properties: 'jsonb', waits_for: 'text' }, page),
  searchedByPage('enrollment_steps', { detail: 'text' }, page, 'enrollment_id'),
  searchedByPage('journey_calls', { url: 'text', host: 'text', error: 'text', body: 'jsonb' }, page, 'enrollment_id'),
];

const EXPORT = `
  SELECT coalesce(json_agg(json_build_object('id', e.id, 'journey', j.name, 'version', e.version, 'status', e.status,
      'stepId', e.step_id, 'properties', e.properties, 'enteredAt', e.entered_at, 'endedAt', e.ended_at, 'endReason', e.end_reason,
      'steps', (SELECT coalesce(json_agg(json_build_object('stepId', s.step_id, 'arrivedAt', s.arrived_at, 'leftAt', s.left_at,
          'outcome', s.outcome, 'messageId', s.message_id) ORDER BY s.visit), '[]')
        FROM enrollment_steps s WHERE s.enrollment_id = e.id),
      'calls', (SELECT coalesce(json_agg(json_build_object('stepId', c.step_id, 'url', c.url, 'status', c.status, 'body', c.body,
          'createdAt', c.created_at) ORDER BY c.visit), '[]')
        FROM journey_calls c WHERE c.enrollment_id = e.id)) ORDER BY e.id), '[]') AS runs
    FROM enrollments e JOIN journeys j ON j.id = e.journey_id WHERE e.project_id = $1 AND e.contact_id = $2`;

/** The person's runs through journeys. */
export async function exportSubject(tx: Tx, { projectId, contactId }: DataSubject): Promise<{ journeys: unknown }> {
  const [found] = await sql<{ runs: unknown }>(tx, EXPORT, [projectId, contactId]);
  return { journeys: found?.runs ?? [] };
}

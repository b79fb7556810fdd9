import { type DataSubject, type ErasedRows, type Erasure, type PrivacyStage, sql, type Tx } from '@postroom/platform';
import { ofCursor, redaction, redactionValues, type SearchedTable, searchedByProject } from '@postroom/redaction';

export const stage: PrivacyStage = 'contacts';

const NAME = redaction({ name: 'text' });
const DEFINITION = redaction({ description: 'text' });
const PROPERTY = redaction({ description: 'text', default_value: 'jsonb' });

/** The definitions of the project, for statements about their properties. */
const OF_PROJECT = 'definition_id IN (SELECT id FROM custom_event_definitions WHERE project_id = $1)';

/** The names of events that mention the person, which have a row per day. */
const NAMES = `SELECT DISTINCT name FROM custom_event_days WHERE project_id = $1 AND ${NAME.mentions}`;

/**
 * Deletes the person's events with their counts. Examples of values may be the person's, so all of them are cleared; they return with
 * the next events.
 */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  const { projectId, contactId } = subject;
  const values = redactionValues(subject);
  const own = [projectId, contactId];
  await sql(tx, 'DELETE FROM custom_events WHERE project_id = $1 AND contact_id = $2', own);
  await sql(tx, 'DELETE FROM custom_event_contact_days WHERE project_id = $1 AND contact_id = $2', own);
  // Rows of which it is the key are deleted, because two keys could become the same.
  const found = values.slice(0, 2);
  const names = await sql<{ name: string }>(tx, NAMES, found);
  await sql(tx, 'DELETE FROM custom_event_contact_days WHERE project_id = $1 AND name = ANY ($2)', [
    projectId,
    names.map(({ name }) => name),
  ]);
  await sql(tx, `DELETE FROM custom_event_days WHERE project_id = $1 AND ${NAME.mentions}`, found);
  await sql(tx, `DELETE FROM custom_event_definitions WHERE project_id = $1 AND ${NAME.mentions}`, found);
  await sql(tx, `DELETE FROM custom_event_properties WHERE ${OF_PROJECT} AND ${NAME.mentions}`, found);
  await sql(
    tx,
    `UPDATE custom_event_definitions SET ${DEFINITION.set} WHERE project_id = $1 AND ${DEFINITION.mentions}`,
    values,
  );
  await sql(
    tx,
    `UPDATE custom_event_properties SET ${PROPERTY.set} WHERE ${OF_PROJECT} AND ${PROPERTY.mentions}`,
    values,
  );
  await sql(tx, `UPDATE custom_event_properties SET example = NULL WHERE ${OF_PROJECT}`, [projectId]);
  return {};
}

const after = (cursor: string) => `(${ofCursor(cursor, 1, 'timestamptz', "'-infinity'")}, ${ofCursor(cursor, 2)})`;

/** Events of others, and the keys of all. */
export const searched: readonly SearchedTable[] = [
  {
    name: 'custom_events',
    table: 'custom_events',
    columns: { name: 'text', properties: 'jsonb' },
    page: `SELECT id, ARRAY[to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), id] AS after FROM custom_events
      WHERE project_id = $1 AND (occurred_at, id) > ${after('$2')} ORDER BY occurred_at, id LIMIT $3`,
    isOfPage: `t.project_id = $1 AND (t.occurred_at, t.id) > ${after('$3')} AND (t.occurred_at, t.id) <= ${after('$4')}
      AND t.id = ANY ($2)`,
  },
  { ...searchedByProject('custom_event_keys', { key: 'text' }, 'key'), deletedBy: 'contact_id' },
];

const EXPORT = `
  SELECT coalesce(json_agg(json_build_object('id', e.id, 'name', e.name, 'properties', e.properties, 'occurredAt', e.occurred_at,
      'receivedAt', e.received_at) ORDER BY e.occurred_at, e.id), '[]') AS events
    FROM custom_events e WHERE e.project_id = $1 AND e.contact_id = $2`;

/** The person's events. */
export async function exportSubject(tx: Tx, { projectId, contactId }: DataSubject): Promise<{ customEvents: unknown }> {
  const [found] = await sql<{ events: unknown }>(tx, EXPORT, [projectId, contactId]);
  return { customEvents: found?.events ?? [] };
}

import {
  type DataSubject,
  type ErasedRows,
  type Erasure,
  type PrivacyStage,
  redaction,
  redactionValues,
} from './data-subject.ts';
import { sql } from './db.ts';
import type { Tx } from './transaction-observer.ts';

export const stage: PrivacyStage = 'events';

/** Anonymizes the person's own events. There is no index on addresses, so it reads all events of the project. */
const ANONYMIZE_EVENTS = `
  UPDATE events SET data = (
    SELECT json_object_agg(d.key, CASE
        WHEN d.key = 'email' THEN to_json($4::text)
        WHEN d.key IN ('name', 'subject') AND json_typeof(d.value) = 'string' THEN '""'::json
        WHEN d.key IN ('metadata', 'properties') THEN '{}'::json
        WHEN d.key IN ('tags') THEN '[]'::json
        WHEN d.key IN ('user_agent', 'network', 'ip') THEN 'null'::json
        ELSE d.value END)
      FROM json_each(data) AS d)
  WHERE project_id = $1
    AND (lower(data->>'email') = ANY ($2) OR data->>'contact_id' = $3 OR data->>'message_id' = ANY ($5) AND data->>'email' = $4)
  RETURNING id`;

const EVENT = redaction({ data: 'json' });
const KEY = redaction({ key: 'text', body: 'text' });
const ENTRY = redaction({ details: 'jsonb', target_name: 'text', changes: 'jsonb' });

/** Anonymizes events, stored responses and audit entries. */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  const { projectId, spellings, contactId, alias, messageIds } = subject;
  const events = await sql(tx, ANONYMIZE_EVENTS, [projectId, spellings, contactId, alias, messageIds]);
  const values = redactionValues(subject);
  await sql(tx, `UPDATE events SET ${EVENT.set} WHERE project_id = $1 AND ${EVENT.mentions}`, values);
  await sql(tx, `UPDATE idempotency_keys SET ${KEY.set} WHERE project_id = $1 AND ${KEY.mentions}`, values);
  await sql(tx, `UPDATE audit_entries SET ${ENTRY.set} WHERE project_id = $1 AND ${ENTRY.mentions}`, values);
  // Changes of the contact itself hold its names and fields as well.
  await sql(
    tx,
    `UPDATE audit_entries SET target_name = NULL, changes = '[]' WHERE project_id = $1 AND target_id = $2`,
    [projectId, contactId],
  );
  return { events: events.length };
}

const EXPORT = `
  SELECT (SELECT coalesce(json_agg(json_build_object('id', e.id, 'type', e.type, 'at', e.created_at, 'data', e.data) ORDER BY e.id), '[]')
      FROM events e WHERE e.project_id = $1 AND (lower(e.data->>'email') = ANY ($2) OR e.data->>'contact_id' = $3)) AS events,
    (SELECT coalesce(json_agg(json_build_object('id', a.id, 'action', a.action, 'at', a.created_at, 'details', a.details, 'changes', a.changes) ORDER BY a.id), '[]')
      FROM audit_entries a WHERE a.project_id = $1 AND (a.target_id = $3
        OR EXISTS (SELECT FROM unnest($2::text[]) AS key WHERE position(key IN lower(concat_ws(' ', a.details, a.target_name, a.changes))) > 0))) AS audit`;

/** The events and audit entries that name the person. */
export async function exportSubject(
  tx: Tx,
  { projectId, spellings, contactId }: DataSubject,
): Promise<{ events: { id: string }[]; audit: unknown[] }> {
  const [found] = await sql<{ events: { id: string }[]; audit: unknown[] }>(tx, EXPORT, [
    projectId,
    spellings,
    contactId,
  ]);
  return found ?? { events: [], audit: [] };
}

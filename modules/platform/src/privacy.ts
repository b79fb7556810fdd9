import { type DataSubject, type ErasedRows, type Erasure, type PrivacyStage } from './data-subject.ts';
import { redactionValues, type SearchedTable, searchedByProject } from '@postroom/redaction';
import { sql } from './db.ts';
import type { Tx } from './transaction-observer.ts';

export const stage: PrivacyStage = 'events';

const EVENT = { data: 'json' } as const;
const ENTRY = { details: 'jsonb', target_name: 'text', changes: 'jsonb' } as const;

/**
 * The person's own events, by a contact and addresses. `events_person_idx` has a summary of every half megabyte; PostgreSQL thinks that it
 * finds much more than it does.
 */
const isOwn = (event: string, contact: string, addresses: string) =>
  `(${event}data->>'contact_id' = ${contact} OR lower(${event}data->>'email') = ANY (${addresses}))`;
const USE_INDEX = 'SET LOCAL enable_seqscan = off';
const USE_ANY_PLAN = 'SET LOCAL enable_seqscan = on';

const ANONYMIZE_EVENTS = `
  UPDATE events SET data = regexp_replace((
    SELECT json_object_agg(d.key, CASE
        WHEN d.key = 'email' THEN to_json($3::text)
        WHEN d.key IN ('name', 'subject') AND json_typeof(d.value) = 'string' THEN '""'::json
        WHEN d.key IN ('metadata', 'properties') THEN '{}'::json
        WHEN d.key IN ('tags') THEN '[]'::json
        WHEN d.key IN ('user_agent', 'network', 'ip') THEN 'null'::json
        ELSE d.value END)
      FROM json_each(data) AS d)::text, $2, $3, 'gi')::json
  WHERE project_id = $1 AND ${isOwn('', '$4', '$5')} RETURNING id`;

/** Anonymizes the person's events, and the audit entries about the contact. */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  const { projectId, spellings, contactId, alias } = subject;
  await sql(tx, USE_INDEX);
  // Those that this transaction recorded have the alias.
  const values = [...redactionValues(subject), contactId, [...spellings, alias]];
  const events = await sql(tx, ANONYMIZE_EVENTS, values);
  await sql(tx, USE_ANY_PLAN);
  // Changes of the contact itself hold its names and fields as well.
  await sql(
    tx,
    `UPDATE audit_entries SET target_name = NULL, changes = '[]' WHERE project_id = $1 AND target_id = $2`,
    [projectId, contactId],
  );
  return { events: events.length };
}

export const searched: readonly SearchedTable[] = [
  searchedByProject('events', EVENT),
  // A response may have some hundred kilobytes.
  { ...searchedByProject('idempotency_keys', { key: 'text', body: 'text' }, 'key'), pageSize: 500 },
  searchedByProject('audit_entries', ENTRY),
];

const EXPORT_EVENTS = `
  SELECT e.id, e.type, e.created_at AS at, e.data FROM events e WHERE e.project_id = $1 AND ${isOwn('e.', '$3', '$2')} ORDER BY e.id`;

const EXPORT_AUDIT = `
  SELECT a.id, a.action, a.created_at AS at, a.details, a.changes FROM audit_entries a WHERE a.project_id = $1 AND (a.target_id = $3
    OR EXISTS (SELECT FROM unnest($2::text[]) AS key WHERE position(key IN lower(concat_ws(' ', a.details, a.target_name, a.changes))) > 0))
  ORDER BY a.id`;

/** The person's events, and the audit entries that name them. */
export async function exportSubject(
  tx: Tx,
  { projectId, spellings, contactId }: DataSubject,
): Promise<{ events: { id: string }[]; audit: unknown[] }> {
  const values = [projectId, spellings, contactId];
  await sql(tx, USE_INDEX);
  const events = await sql<{ id: string }>(tx, EXPORT_EVENTS, values);
  await sql(tx, USE_ANY_PLAN);
  return { events, audit: await sql(tx, EXPORT_AUDIT, values) };
}

import { type Definition, scanKey } from '@postroom/journey-definition';
import { sql, type Tx } from '@postroom/platform';

interface Listener {
  kind: 'event' | 'group' | 'form';
  key: string;
}

/** The triggers that a version reacts to. Contacts enter only the newest version. */
function listenersOf({ entry, goal, steps }: Definition, isNewest: boolean): Listener[] {
  const listeners: Listener[] = [];
  const event = (key: string) => listeners.push({ kind: 'event', key });
  if (isNewest && entry.type === 'event') event(entry.event);
  if (isNewest && entry.type === 'group_joined') listeners.push({ kind: 'group', key: entry.groupId });
  if (isNewest && entry.type === 'form_confirmed') listeners.push({ kind: 'form', key: entry.formId });
  if (goal !== undefined) event(goal.event);
  for (const step of steps) if (step.type === 'wait_for_event') event(step.event);
  return listeners;
}

/** Makes a journey listen to the triggers of its newest version and of the versions that contacts are on. */
export async function writeListeners(tx: Tx, { id, projectId }: { id: string; projectId: string }): Promise<void> {
  const versions = await sql<{ definition: Definition; newest: boolean }>(
    tx,
    `SELECT v.definition, v.number = j.published_version AS newest FROM journey_versions v JOIN journeys j ON j.id = v.journey_id
     WHERE v.journey_id = $1 AND (v.number = j.published_version OR (
       SELECT sum(c.run_count) > 0 FROM journey_run_counts c WHERE c.journey_id = $1 AND c.version = v.number))`,
    [id],
  );
  const listeners = versions.flatMap(({ definition, newest }) => listenersOf(definition, newest));
  await sql(tx, 'DELETE FROM journey_listeners WHERE journey_id = $1', [id]);
  await sql(
    tx,
    `INSERT INTO journey_listeners (project_id, kind, key, journey_id)
     SELECT DISTINCT $1, n.kind, n.key, $2 FROM unnest($3::journey_trigger_kind[], $4::text[]) AS n(kind, key)`,
    [projectId, id, listeners.map(({ kind }) => kind), listeners.map(({ key }) => key)],
  );
}

/**
 * Plans the scan of a version that is being published. Contacts that are in the segment now, and dates that have passed, do not start the
 * journey. The scan of a version with the same entry continues.
 */
export async function planEntryScan(tx: Tx, journeyId: string, { entry }: Definition): Promise<void> {
  const key = scanKey(entry);
  const kept = await sql(tx, 'SELECT FROM journey_entry_scans WHERE journey_id = $1 AND key = $2', [
    journeyId,
    key ?? '',
  ]);
  if (kept.length > 0) return;
  await removeEntryScan(tx, journeyId);
  if (key === undefined) return;
  await sql(
    tx,
    'INSERT INTO journey_entry_scans (journey_id, key, due_at, scanned_at) VALUES ($1, $2, now(), CASE WHEN $3 THEN now() END)',
    [journeyId, key, entry.type === 'date'],
  );
}

export async function removeEntryScan(tx: Tx, journeyId: string): Promise<void> {
  await sql(tx, 'DELETE FROM journey_entry_scans WHERE journey_id = $1', [journeyId]);
  await sql(tx, 'DELETE FROM journey_segment_members WHERE journey_id = $1', [journeyId]);
}

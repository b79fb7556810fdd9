import { DomainError, sql, type Tx } from '@postroom/platform';
import { type Audience, audienceProblems } from './audience.ts';
import { groupsInFilter, type StoredConditions, storedConditions } from './stored-conditions.ts';

/** What decides an audience while it is written down in ranges; stored as JSON. */
export interface AudienceSnapshot {
  /** The conditions that the segments had at the first range, by segment id. */
  conditions: StoredConditions;
  /** The groups that it excludes or that the conditions name. Without one of them, more contacts might be selected. */
  requiredGroupIds: string[];
}

/**
 * The snapshot of an audience for its first range, or the `stored` one for a later range. Later edits of its segments have no effect. Deleted
 * groups that it includes select no more contacts.
 * @throws DomainError `validation_error` if something that it excludes was deleted, or a group that the conditions of its segments name
 * was deleted since the first range.
 */
export async function audienceSnapshot(
  tx: Tx,
  projectId: string,
  audience: Audience,
  stored: AudienceSnapshot | null,
): Promise<AudienceSnapshot> {
  if (stored !== null) return checkGroups(tx, projectId, stored);
  const gone = (await audienceProblems(tx, projectId, audience)).find(({ field }) => field.startsWith('excluded'));
  if (gone !== undefined)
    throw new DomainError('validation_error', `An excluded audience was deleted: ${gone.message}.`);
  const conditions = await storedConditions(projectId, [...audience.segmentIds, ...audience.excludedSegmentIds]);
  const named = Object.values(conditions).flatMap(groupsInFilter);
  return { conditions, requiredGroupIds: await existing(tx, projectId, [...audience.excludedGroupIds, ...named]) };
}

async function checkGroups(tx: Tx, projectId: string, snapshot: AudienceSnapshot): Promise<AudienceSnapshot> {
  const present = await existing(tx, projectId, snapshot.requiredGroupIds);
  const gone = snapshot.requiredGroupIds.find((id) => !present.includes(id));
  if (gone !== undefined)
    throw new DomainError(
      'validation_error',
      `A group was deleted that the audience excludes or that a segment of it names: ${gone}.`,
    );
  return snapshot;
}

async function existing(tx: Tx, projectId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await sql<{ id: string }>(tx, 'SELECT id FROM groups WHERE project_id = $1 AND id = ANY ($2)', [
    projectId,
    [...ids],
  ]);
  return rows.map(({ id }) => id);
}

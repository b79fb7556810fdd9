import { DomainError, type Tx } from '@postroom/platform';
import { type Audience, deletedParts } from './audience.ts';
import { type StoredConditions, storedConditions } from './stored-conditions.ts';

/** What decides an audience while it is written down in ranges; stored as JSON. */
export interface AudienceSnapshot {
  /** The conditions that the segments had at the first range, by segment id. */
  conditions: StoredConditions;
}

/** The snapshot of an audience for its first range, or the `stored` one for a later range. Later edits of its segments have no effect. */
export async function audienceSnapshot(
  projectId: string,
  audience: Audience,
  stored: AudienceSnapshot | null,
): Promise<AudienceSnapshot> {
  return (
    stored ?? {
      conditions: await storedConditions(projectId, [...audience.segmentIds, ...audience.excludedSegmentIds]),
    }
  );
}

/**
 * Checks that nothing was deleted without which an audience would have more contacts: what it excludes, and what its conditions name. Call
 * it after the audience was read, in the same transaction: what exists then existed during the read.
 * @throws DomainError `validation_error` that names what was deleted.
 */
export async function checkAudience(tx: Tx, projectId: string, audience: Audience): Promise<void> {
  const [gone] = await deletedParts(tx, projectId, audience);
  if (gone !== undefined)
    throw new DomainError('validation_error', `The audience can't be told: ${gone.field} ${gone.message}.`);
}

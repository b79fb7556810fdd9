import { type FilterOf, getSegment, type SegmentFilter } from '@postroom/contacts';
import type { Definition } from '@postroom/journey-definition';
import type { Side } from './totals.ts';

/** What decides which contacts enter in a backtest, and which way they take. */
export interface Conditions {
  /** The filters of segments, by id. */
  segments: ReadonlyMap<string, SegmentFilter>;
  /** All filters, those of segments too, by the field of the request. */
  filters: readonly FilterOf[];
}

/**
 * The conditions of definitions, and of the segment that enters at the beginning.
 * @throws DomainError `not_found` if a segment was deleted.
 */
export async function readConditions(
  projectId: string,
  segmentId: string | null,
  definitions: Partial<Record<Side, Definition>>,
): Promise<Conditions> {
  const filters: FilterOf[] = [];
  const uses = segmentId === null ? [] : [{ field: 'segmentId', id: segmentId }];
  for (const [side, { entry, steps }] of Object.entries(definitions)) {
    const at = `${side}.definition`;
    if (entry.filter !== undefined)
      filters.push({ field: `${at}.entry.filter`, filter: entry.filter as SegmentFilter });
    for (const [index, step] of steps.entries()) {
      if (step.type !== 'condition') continue;
      const ofStep = `${at}.steps.${index}`;
      if (step.filter !== undefined) filters.push({ field: `${ofStep}.filter`, filter: step.filter as SegmentFilter });
      if (step.segmentId !== undefined) uses.push({ field: `${ofStep}.segmentId`, id: step.segmentId });
    }
  }
  const read = async (id: string) => [id, (await getSegment(projectId, id)).filter] as const;
  const segments = new Map(await Promise.all([...new Set(uses.map(({ id }) => id))].map(read)));
  for (const { field, id } of uses) filters.push({ field, filter: segments.get(id) as SegmentFilter });
  return { segments, filters };
}

import { compileFilter, Parameters, type SegmentFilter } from '@postroom/contacts';
import type { Definition } from '@postroom/journey-definition';
import { pool, sql } from '@postroom/platform';
import type { Question } from './simulate.ts';

const DAY_MS = 86_400_000;

/** A question about a contact, and the callback for its answer. */
export interface PendingQuestion {
  contactId: string;
  question: Question;
  definition: Definition;
  tell: (passes: boolean) => void;
}

/**
 * Answers questions about contacts: those about the same filter and day in one statement. Custom fields and groups have today's
 * values; events, engagement and days are as of the day of the question.
 * @param segments the filters of segments by id.
 */
export async function answerQuestions(
  projectId: string,
  asked: readonly PendingQuestion[],
  segments: ReadonlyMap<string, SegmentFilter>,
): Promise<void> {
  const filterOf = ({ question: { step }, definition }: PendingQuestion): SegmentFilter => {
    if (step === undefined) return definition.entry.filter as SegmentFilter;
    const parts = [
      step.filter as SegmentFilter | undefined,
      step.segmentId === undefined ? undefined : segments.get(step.segmentId),
    ];
    return { and: parts.filter((part) => part !== undefined) };
  };
  const groups = Map.groupBy(asked, (each) => {
    const filter = filterOf(each);
    const day = dependsOnTime(filter) ? Math.floor(each.question.at / DAY_MS) : 'any';
    const fields = each.question.fields;
    return `${day} ${JSON.stringify(fields)} ${JSON.stringify(filter)}`;
  });
  for (const group of groups.values()) {
    const [first] = group as [PendingQuestion];
    // The latest time of the day's questions.
    const asOf = new Date(Math.max(...group.map(({ question: { at } }) => at)));
    const ids = [...new Set(group.map(({ contactId }) => contactId))];
    const passing = await contactsPassing(projectId, ids, filterOf(first), { asOf, fields: first.question.fields });
    for (const { contactId, tell } of group) tell(passing.has(contactId));
  }
}

async function contactsPassing(
  projectId: string,
  ids: readonly string[],
  filter: SegmentFilter,
  { asOf, fields }: { asOf: Date; fields: Record<string, unknown> },
): Promise<Set<string>> {
  const parameters = new Parameters({ fewContacts: true, asOf });
  const [project, list] = [parameters.add(projectId), parameters.add(ids)];
  // Values that steps have set replace the stored ones.
  const source =
    Object.keys(fields).length === 0
      ? 'contacts'
      : `(SELECT b.id, b.project_id, b.email, b.email_key, b.name, b.source, b.suppressed, b.created_at,
           jsonb_strip_nulls(b.custom_fields || ${parameters.add(JSON.stringify(fields))}::jsonb) AS custom_fields
         FROM contacts b WHERE b.project_id = ${project} AND b.id = ANY (${list}))`;
  const rows = await sql<{ id: string }>(
    pool,
    `SELECT c.id FROM ${source} c WHERE c.project_id = ${project} AND c.id = ANY (${list}) AND ${compileFilter(filter, parameters)}`,
    parameters.values,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Fields whose past values are not known. */
const TIMELESS = new Set(['email', 'name', 'source', 'suppressionStatus', 'group', 'journey', 'everInJourney']);

/** Whether the answer may differ between days. */
function dependsOnTime(filter: SegmentFilter): boolean {
  if ('and' in filter) return filter.and.some(dependsOnTime);
  if ('or' in filter) return filter.or.some(dependsOnTime);
  if ('not' in filter) return dependsOnTime(filter.not);
  return filter.field.startsWith('customFields.') ? /last|next/i.test(filter.op) : !TIMELESS.has(filter.field);
}

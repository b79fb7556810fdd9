import { compileFilter, deletedNames, Parameters } from '@postroom/contacts';
import { type FieldProblem, inTransaction, runCostly, sql, type Tx } from '@postroom/platform';
import type pg from 'pg';
import { EXISTING_GROUPS } from './sql.ts';
import { type StoredConditions, storedConditions } from './stored-conditions.ts';

/** The recipients of a campaign: the contacts in any of the groups and segments, and in none of the excluded ones. */
export interface Audience {
  groupIds: readonly string[];
  segmentIds: readonly string[];
  excludedGroupIds: readonly string[];
  excludedSegmentIds: readonly string[];
  /** The conditions that its segments had earlier, by segment id; those they have now by default. */
  conditions?: StoredConditions;
}

/** The size of an audience, and the contacts excluded from it by reason. */
export interface AudienceCount {
  contacts: number;
  recipients: number;
  excluded: { reason: string; contacts: number }[];
}

/**
 * Disables nested-loop joins for the rest of a transaction. Contacts are often mailed right after an import, before PostgreSQL
 * has statistics on them. It would then estimate the audience at one row and scan all of it per contact.
 */
export async function disableNestedLoops(client: pg.ClientBase): Promise<void> {
  await client.query('SET LOCAL enable_nestloop = off');
}

/** Runs one statement over an audience, without nested-loop joins. */
export function queryAudience<Row extends pg.QueryResultRow>(
  text: string,
  values: readonly unknown[],
): Promise<pg.QueryResult<Row>> {
  return inTransaction(async (client) => {
    await disableNestedLoops(client);
    return client.query<Row>(text, [...values]);
  });
}

/** SQL of whether the id of a contact is in the range that a statement is about. */
export type ContactRange = (contactId: string) => string;

/**
 * The SQL condition that selects an audience from contacts `c`; adds its values to `parameters`. A contact that opted out of a
 * group is not selected through that group. Deleted groups and segments select and exclude no contacts.
 * @param range the contacts to select from, all by default. Groups are restricted to it as well, since PostgreSQL derives no range of
 * their members from that of the contacts, and would read all of them.
 */
export async function audienceSql(
  projectId: string,
  audience: Audience,
  parameters: Parameters,
  range: ContactRange = () => 'true',
): Promise<string> {
  const stored = await conditionsOf(projectId, audience);
  const conditions = [range('c.id'), includedSql(audience, stored, parameters, range)];
  if (audience.excludedGroupIds.length > 0) {
    conditions.push(`NOT EXISTS (SELECT FROM group_members gm
      WHERE gm.contact_id = c.id AND gm.group_id = ANY (${parameters.add(audience.excludedGroupIds)}) AND ${range('gm.contact_id')})`);
  }
  for (const segmentId of audience.excludedSegmentIds)
    conditions.push(`(${segmentSql(stored[segmentId], parameters)}) IS NOT TRUE`);
  return `(${conditions.join(' AND ')})`;
}

/** The conditions of an audience's segments, by segment id. */
async function conditionsOf(
  projectId: string,
  { segmentIds, excludedSegmentIds, conditions }: Audience,
): Promise<StoredConditions> {
  return conditions ?? storedConditions(projectId, [...segmentIds, ...excludedSegmentIds]);
}

function includedSql(
  { groupIds, segmentIds }: Audience,
  stored: StoredConditions,
  parameters: Parameters,
  range: ContactRange = () => 'true',
): string {
  const conditions: string[] = [];
  if (groupIds.length > 0) {
    conditions.push(
      `c.id IN (SELECT gm.contact_id FROM group_members gm WHERE gm.group_id = ANY (${parameters.add(groupIds)}) AND ${range('gm.contact_id')}
        AND NOT EXISTS (SELECT FROM group_opt_outs o WHERE o.group_id = gm.group_id AND o.contact_id = gm.contact_id AND ${range('o.contact_id')}))`,
    );
  }
  for (const segmentId of segmentIds) conditions.push(`(${segmentSql(stored[segmentId], parameters)})`);
  return conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`;
}

/** The SQL condition of a segment. No contact meets that of a deleted one. */
const segmentSql = (filter: StoredConditions[string] | undefined, parameters: Parameters) =>
  filter === undefined ? 'false' : compileFilter(filter, parameters);

/** Whether the audience has any contacts now. */
export async function hasRecipients(projectId: string, audience: Audience): Promise<boolean> {
  const parameters = new Parameters();
  const project = parameters.add(projectId);
  const condition = await audienceSql(projectId, audience, parameters);
  const { rowCount } = await queryAudience(
    `SELECT FROM contacts c WHERE c.project_id = ${project} AND ${condition} LIMIT 1`,
    parameters.values,
  );
  return rowCount === 1;
}

/** Counts an audience as it is now. */
export function countAudience(projectId: string, audience: Audience): Promise<AudienceCount> {
  return runCostly(projectId, () => count(projectId, audience));
}

async function count(projectId: string, audience: Audience): Promise<AudienceCount> {
  const parameters = new Parameters();
  const project = parameters.add(projectId);
  const condition = await audienceSql(projectId, audience, parameters);
  const { rows } = await queryAudience<{ reason: string | null; contacts: number }>(
    `SELECT CASE WHEN c.suppressed THEN (SELECT min(s.reason)::text FROM suppressions s
        WHERE s.project_id = c.project_id AND s.email_key = c.email_key) END AS reason, count(*)::int AS contacts
     FROM contacts c WHERE c.project_id = ${project} AND ${condition} GROUP BY 1 ORDER BY 1`,
    parameters.values,
  );
  const selected = rows.reduce((sum, row) => sum + row.contacts, 0);
  const left = await countExcluded(projectId, audience, selected);
  const optedOut = await countOptedOut(projectId, audience);
  const excluded = [
    ...rows.flatMap(({ reason, contacts }) => (reason === null ? [] : [{ reason, contacts }])),
    ...(left === 0 ? [] : [{ reason: 'excluded', contacts: left }]),
    ...(optedOut === 0 ? [] : [{ reason: 'left_group', contacts: optedOut }]),
  ];
  const contacts = selected + left + optedOut;
  const excludedCount = excluded.reduce((sum, row) => sum + row.contacts, 0);
  return { contacts, recipients: contacts - excludedCount, excluded };
}

/** Counts contacts of an audience's groups and segments who are in an excluded one; `selected` are those who are not. */
async function countExcluded(projectId: string, audience: Audience, selected: number): Promise<number> {
  if (audience.excludedGroupIds.length + audience.excludedSegmentIds.length === 0) return 0;
  const parameters = new Parameters();
  const project = parameters.add(projectId);
  const condition = includedSql(audience, await conditionsOf(projectId, audience), parameters);
  const { rows } = await queryAudience<{ contacts: number }>(
    `SELECT count(*)::int AS contacts FROM contacts c WHERE c.project_id = ${project} AND ${condition}`,
    parameters.values,
  );
  // A contact may have joined an excluded group between the two counts.
  return Math.max(0, (rows[0]?.contacts ?? 0) - selected);
}

/** Counts members of the audience's groups who are excluded only because they opted out. */
async function countOptedOut(projectId: string, audience: Audience): Promise<number> {
  if (audience.groupIds.length === 0) return 0;
  const parameters = new Parameters();
  const project = parameters.add(projectId);
  const groups = parameters.add(audience.groupIds);
  const condition = includedSql(audience, await conditionsOf(projectId, audience), parameters);
  const { rows } = await queryAudience<{ contacts: number }>(
    `SELECT count(*)::int AS contacts FROM contacts c WHERE c.project_id = ${project}
       AND c.id IN (SELECT o.contact_id FROM group_opt_outs o JOIN group_members gm USING (group_id, contact_id)
         WHERE o.group_id = ANY (${groups})) AND NOT ${condition}`,
    parameters.values,
  );
  return rows[0]?.contacts ?? 0;
}

/** Problems with an audience: ids that are not groups or segments of the project. */
export async function audienceProblems(tx: Tx, projectId: string, audience: Audience): Promise<FieldProblem[]> {
  const { groupIds, segmentIds, excludedGroupIds, excludedSegmentIds } = audience;
  const rows = await sql<{ id: string }>(
    tx,
    `SELECT id FROM groups WHERE project_id = $1 AND id = ANY ($2)
     UNION ALL SELECT id FROM segments WHERE project_id = $1 AND id = ANY ($3)`,
    [projectId, [...groupIds, ...excludedGroupIds], [...segmentIds, ...excludedSegmentIds]],
  );
  const known = new Set(rows.map(({ id }) => id));
  const absent = (field: Exclude<keyof Audience, 'conditions'>, kind: string) =>
    audience[field].flatMap((id, index) =>
      known.has(id) ? [] : [{ field: `${field}.${index}`, message: `${id} is not a ${kind} of this project` }],
    );
  return [
    ...absent('groupIds', 'group'),
    ...absent('segmentIds', 'segment'),
    ...absent('excludedGroupIds', 'group'),
    ...absent('excludedSegmentIds', 'segment'),
  ];
}

/**
 * What was deleted without which an audience would have more contacts: groups and segments that it excludes, and groups and custom fields
 * that the conditions of its segments name.
 */
export async function deletedParts(tx: Tx, projectId: string, audience: Audience): Promise<FieldProblem[]> {
  const stored = await conditionsOf(projectId, audience);
  const rows = await sql<{ id: string }>(tx, EXISTING_GROUPS, [projectId, [...audience.excludedGroupIds]]);
  const present = new Set(rows.map(({ id }) => id));
  const problem = (field: string, message: string): FieldProblem => ({ field, message });
  return [
    ...audience.excludedGroupIds.flatMap((id, index) =>
      present.has(id) ? [] : problem(`excludedGroupIds.${index}`, `is the group ${id}, which was deleted`),
    ),
    ...audience.excludedSegmentIds.flatMap((id, index) =>
      stored[id] === undefined ? problem(`excludedSegmentIds.${index}`, `is the segment ${id}, which was deleted`) : [],
    ),
    ...(await deletedInConditions(tx, projectId, audience, stored)),
  ];
}

/** Why an audience can't be sent to: as `audienceProblems`, and what the conditions of its segments name but was deleted. */
export async function sendProblems(tx: Tx, projectId: string, audience: Audience): Promise<FieldProblem[]> {
  const stored = await conditionsOf(projectId, audience);
  return [
    ...(await audienceProblems(tx, projectId, audience)),
    ...(await deletedInConditions(tx, projectId, audience, stored)),
  ];
}

/** What the conditions of an audience's segments name but was deleted. */
function deletedInConditions(tx: Tx, projectId: string, audience: Audience, stored: StoredConditions) {
  const filtersOf = (field: 'segmentIds' | 'excludedSegmentIds') =>
    audience[field].flatMap((id, index) => {
      const filter = stored[id];
      return filter === undefined ? [] : [{ field: `${field}.${index}`, filter }];
    });
  return deletedNames(tx, projectId, [...filtersOf('segmentIds'), ...filtersOf('excludedSegmentIds')]);
}

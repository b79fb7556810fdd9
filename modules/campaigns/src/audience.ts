import { Parameters, segmentSql } from '@postroom/contacts';
import { DomainError, type FieldProblem, inTransaction, runCostly, sql, type Tx } from '@postroom/platform';
import type pg from 'pg';

/** Whom a campaign goes to: the contacts of groups and segments, each once. */
export interface Audience {
  groupIds: readonly string[];
  segmentIds: readonly string[];
}

/** How many contacts are in an audience, and why some of them get nothing. */
export interface AudienceCount {
  contacts: number;
  recipients: number;
  excluded: { reason: string; contacts: number }[];
}

/**
 * Makes the rest of a transaction join whole sets. Contacts are often mailed as soon as they have been imported, when
 * PostgreSQL has not counted them yet: it would take an audience for one person and look through all of it for each.
 */
export async function joinBySets(client: pg.ClientBase): Promise<void> {
  await client.query('SET LOCAL enable_nestloop = off');
}

/** Runs one statement over an audience, with plans for many. */
export function queryAudience<Row extends pg.QueryResultRow>(
  text: string,
  values: readonly unknown[],
): Promise<pg.QueryResult<Row>> {
  return inTransaction(async (client) => {
    await joinBySets(client);
    return client.query<Row>(text, [...values]);
  });
}

/**
 * The SQL condition on contacts `c` that an audience stands for, its values added to `parameters`. Who has left a group is
 * not in it by that group. A segment that is gone
 * holds nobody, as a group that is gone does.
 */
export async function audienceSql(
  projectId: string,
  { groupIds, segmentIds }: Audience,
  parameters: Parameters,
): Promise<string> {
  const conditions: string[] = [];
  if (groupIds.length > 0) {
    conditions.push(
      `c.id IN (SELECT gm.contact_id FROM group_members gm WHERE gm.group_id = ANY (${parameters.add(groupIds)})
        AND NOT EXISTS (SELECT FROM group_opt_outs o WHERE o.group_id = gm.group_id AND o.contact_id = gm.contact_id))`,
    );
  }
  for (const segmentId of segmentIds) {
    const condition = await segmentSql(projectId, segmentId, parameters).catch(nobodyIfGone);
    conditions.push(`(${condition})`);
  }
  return conditions.length === 0 ? 'false' : `(${conditions.join(' OR ')})`;
}

function nobodyIfGone(error: unknown): string {
  if (error instanceof DomainError && error.code === 'not_found') return 'false';
  throw error;
}

/** Whether anybody is in the audience now. */
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
  const left = await countLeft(projectId, audience);
  const excluded = [
    ...rows.flatMap(({ reason, contacts }) => (reason === null ? [] : [{ reason, contacts }])),
    ...(left === 0 ? [] : [{ reason: 'left_group', contacts: left }]),
  ];
  const contacts = rows.reduce((sum, row) => sum + row.contacts, left);
  const suppressed = excluded.reduce((sum, row) => sum + row.contacts, 0);
  return { contacts, recipients: contacts - suppressed, excluded };
}

/** Members of its groups who get nothing because they have left those groups. */
async function countLeft(projectId: string, audience: Audience): Promise<number> {
  if (audience.groupIds.length === 0) return 0;
  const parameters = new Parameters();
  const project = parameters.add(projectId);
  const groups = parameters.add(audience.groupIds);
  const condition = await audienceSql(projectId, audience, parameters);
  const { rows } = await queryAudience<{ contacts: number }>(
    `SELECT count(*)::int AS contacts FROM contacts c WHERE c.project_id = ${project}
       AND c.id IN (SELECT o.contact_id FROM group_opt_outs o JOIN group_members gm USING (group_id, contact_id)
         WHERE o.group_id = ANY (${groups})) AND NOT ${condition}`,
    parameters.values,
  );
  return rows[0]?.contacts ?? 0;
}

/** What is wrong with an audience: ids that name no group or segment of the project. */
export async function audienceProblems(
  tx: Tx,
  projectId: string,
  { groupIds, segmentIds }: Audience,
): Promise<FieldProblem[]> {
  const rows = await sql<{ id: string }>(
    tx,
    `SELECT id FROM groups WHERE project_id = $1 AND id = ANY ($2)
     UNION ALL SELECT id FROM segments WHERE project_id = $1 AND id = ANY ($3)`,
    [projectId, [...groupIds], [...segmentIds]],
  );
  const known = new Set(rows.map(({ id }) => id));
  const absent = (field: string, ids: readonly string[], kind: string) =>
    ids.flatMap((id, index) =>
      known.has(id) ? [] : [{ field: `${field}.${index}`, message: `${id} is not a ${kind} of this project` }],
    );
  return [...absent('groupIds', groupIds, 'group'), ...absent('segmentIds', segmentIds, 'segment')];
}

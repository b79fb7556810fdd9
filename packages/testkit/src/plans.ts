import pg from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';
import { observeStatements, type Statement } from './observe-statements.ts';

/** Statements that may wait for other transactions. */
const CHANGES_ROWS = /\b(UPDATE|DELETE FROM|FOR (KEY )?SHARE)\b/;

/**
 * Checks the statements that the tests of this file send: none that changes or locks rows may choose partitions while it runs, or compute the
 * value of a subquery again for each row. See "Statements that lock rows" in docs/decisions/partitions.md.
 * @returns those sent until now.
 */
export function checkPlans(): readonly Statement[] {
  const sent: Statement[] = [];
  let stopObserving = () => {};
  beforeAll(() => {
    stopObserving = observeStatements((statement) => sent.push(statement));
  });
  afterAll(async () => {
    stopObserving();
    const texts = new Set(sent.map(({ text }) => text));
    const changing = [...texts].filter((text) => CHANGES_ROWS.test(text) && !text.startsWith('EXPLAIN'));
    expect(changing).not.toEqual([]);
    expect(await findUnsafePlans(changing)).toEqual([]);
  }, 60_000);
  return sent;
}

/**
 * Those of some statements that change or lock rows and choose partitions while they run, if PostgreSQL joins by nested loops, or that compute
 * the value of a subquery again for each changed row. None before PostgreSQL 18: choosing partitions is safe there.
 */
export async function findUnsafePlans(texts: readonly string[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  const found: string[] = [];
  let plan = '';
  // PostgreSQL breaks the text into lines.
  client.on('notice', ({ detail = '' }) => (plan += detail.replaceAll(/\s+/g, ' ')));
  try {
    const { rows } = await client.query<{ safe: boolean }>(
      `SELECT current_setting('server_version_num')::int < 180000 AS safe`,
    );
    if (rows[0]?.safe === true) return [];
    await client.query(
      'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; SET client_min_messages = log; SET debug_pretty_print = off; SET debug_print_plan = on',
    );
    for (const text of texts) {
      plan = '';
      const { rows: explained } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`,
      );
      if (!plan.includes('{PLANNEDSTMT')) throw new Error('PostgreSQL printed no plan.');
      const root = explained[0]?.['QUERY PLAN'][0].Plan;
      if (prunesWhileChanging(plan) || (root !== undefined && computesValueBelowChange(root))) found.push(text);
    }
    return found;
  } finally {
    await client.end();
  }
}

/** A node of `EXPLAIN (FORMAT JSON)`. */
interface PlanNode {
  'Node Type': string;
  Operation?: string;
  'Parent Relationship'?: string;
  'Subplan Name'?: string;
  Plans?: PlanNode[];
}

/** Whether the value of an uncorrelated subquery is computed by the part of the plan below a node that locks, updates or deletes rows. */
function computesValueBelowChange(node: PlanNode, isBelow = false): boolean {
  const changes =
    node['Node Type'] === 'LockRows' || (node['Node Type'] === 'ModifyTable' && node.Operation !== 'Insert');
  return (node.Plans ?? []).some((child) => {
    if (child['Parent Relationship'] !== 'InitPlan') return computesValueBelowChange(child, isBelow || changes);
    const isWithQuery = child['Subplan Name']?.startsWith('CTE ') === true;
    return (isBelow && !isWithQuery) || computesValueBelowChange(child);
  });
}

/** Nodes that evaluate parts of the plan again when a row has changed: those that lock, update (2) or delete (4). */
const CHANGES = /\{LOCKROWS|\{MODIFYTABLE (?:(?!:operation).)*:operation [24]\b/;

/**
 * @param plan a `PlannedStmt` as PostgreSQL 18 prints it. When a row has changed, all subplans (WITH queries) are begun again, and the part of the
 * plan below the node.
 */
function prunesWhileChanging(plan: string): boolean {
  const [main = '', subplans = ''] = plan.split(' :subplans ');
  const prunesAtRunTime = [...plan.matchAll(/\{PARTITIONPRUNEINFO .*?(?=\{PARTITIONPRUNEINFO |$)/gs)].map(([info]) =>
    info.includes(':exec_pruning_steps ('),
  );
  const prunes = (part: string) =>
    [...part.matchAll(/:part_prune_index (\d+)/g)].some(([, index]) => prunesAtRunTime[Number(index)] === true);
  return (CHANGES.test(main) && (prunes(main) || prunes(subplans))) || (CHANGES.test(subplans) && prunes(subplans));
}

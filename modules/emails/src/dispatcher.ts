import { rowsById, valueById } from '@postroom/partitions/sql';
import { NOW, TokenBucket } from '@postroom/platform';
import { type DispatchSource, type EagerStart, type Round, startAll } from '@postroom/platform/dispatcher';
import type { Client } from '@temporalio/client';
import { isCampaignSending, leaseQueueDrain, listDrainingProjects } from './queue-drains.ts';
import { heldReason, ledgerPool, MAIL_POLICY } from '@postroom/ledger';
import { assignTo, UNASSIGN } from '@postroom/ledger/sql';
import { isHere } from '@postroom/projects/sql';
import { FIRST_ATTEMPT, SEPARATE } from './due.ts';

/**
 * Assigns due transactional messages to workflows, fairly across projects: `sendEmails` for individual messages or batches,
 * or `sendBurst`, the queue drain, which claims its own. Messages are assigned before their `sendEmails` workflow starts,
 * so the sweep can recover them after a crash in between (durable-work.ts).
 */
export const source: DispatchSource = {
  name: 'emails',
  role: 'mail',
  dispatch,
};

/** State kept between rounds. It affects only fairness and speed, never correctness. */
const state = {
  afterProject: '',
  individual: new TokenBucket({
    ratePerSecond: MAIL_POLICY.dispatch.individualPerSecond,
    capacity: MAIL_POLICY.dispatch.individualBurst,
  }),
};

async function dispatch(client: Client): Promise<Round> {
  if ((await heldReason()) !== undefined) return { more: false };
  const startedAt = performance.now();
  const drains = await listDrainingProjects();
  const { projects, last } = await readWaiting(state.afterProject);
  state.afterProject = last;
  const selected: string[] = [];
  const newDrains: EagerStart[] = [];
  const open = await openWorkflows();
  const full = [...open]
    .filter(([, count]) => count >= MAIL_POLICY.dispatch.maxOpenPerProject)
    .map(([projectId]) => projectId);
  for (const { project_id: projectId, waiting } of projects) {
    if (drains.has(projectId)) continue;
    const mayDrain = drains.size < MAIL_POLICY.dispatch.maxDrains;
    if (!full.includes(projectId) && (!mayDrain || (await mayStartIndividually(waiting)))) selected.push(projectId);
    else if (mayDrain) {
      const drain = await leaseQueueDrain(projectId);
      if (drain !== undefined) newDrains.push(drain);
      drains.add(projectId);
    }
  }
  const opened = [...open.values()].reduce((sum, count) => sum + count, 0);
  const starts = Math.min(MAIL_POLICY.dispatch.startsPerRound, MAIL_POLICY.dispatch.maxOpen - opened);
  const batches = selected.length > 0 || (await hasSeparatelyDue()) ? await assign(selected, starts, full) : [];
  const started = await startAll(client, [...newDrains, ...batches.map(startOf)], release);
  return {
    more: last !== '' || (batches.length === MAIL_POLICY.dispatch.startsPerRound && started > 0),
    resumeAt: drains.size > 0 ? startedAt + MAIL_POLICY.dispatch.roundMs : 0,
  };
}

/**
 * Takes tokens for one workflow per message. Each costs two round trips through Temporal, which are slow and expensive while
 * a campaign is sending.
 */
async function mayStartIndividually(waiting: number): Promise<boolean> {
  if (
    waiting > MAIL_POLICY.dispatch.maxIndividual ||
    waiting > state.individual.available() ||
    (await isCampaignSending())
  )
    return false;
  state.individual.spend(waiting);
  return true;
}

interface Waiting {
  project_id: string;
  /** Due messages on their first attempt, counted up to one more than may start individually. */
  waiting: number;
}

/**
 * Projects with queued mail after the id `$1`, in order, and how much of it is due. A loose index scan jumps from project to
 * project, so a million messages of one project cost no more than one.
 */
const READ_WAITING = `
  WITH RECURSIVE jump AS (
    (SELECT project_id, 1 AS number FROM messages WHERE ${FIRST_ATTEMPT} AND project_id > $1 ORDER BY project_id LIMIT 1)
    UNION ALL
    SELECT next.project_id, jump.number + 1
    FROM jump CROSS JOIN LATERAL (
      SELECT project_id FROM messages WHERE ${FIRST_ATTEMPT} AND project_id > jump.project_id ORDER BY project_id LIMIT 1
    ) AS next
    WHERE jump.number < ${MAIL_POLICY.dispatch.projectsPerRound}
  )
  SELECT jump.project_id, due.rows AS waiting
  FROM jump CROSS JOIN LATERAL (
    SELECT count(*)::int AS rows FROM (
      SELECT FROM messages WHERE ${FIRST_ATTEMPT} AND project_id = jump.project_id AND not_before <= ${NOW} AND ${isHere('jump.project_id')} LIMIT ${MAIL_POLICY.dispatch.maxIndividual + 1}
    ) AS part
  ) AS due
  ORDER BY jump.project_id`;

/** The next projects with due mail, and the cursor for the next round (`''` after the last project). */
async function readWaiting(after: string): Promise<{ projects: Waiting[]; last: string }> {
  const { rows } = await ledgerPool.query<Waiting>({ name: 'emails-waiting', text: READ_WAITING, values: [after] });
  return {
    projects: rows.filter(({ waiting }) => waiting > 0),
    last: rows.length === MAIL_POLICY.dispatch.projectsPerRound ? (rows.at(-1)?.project_id ?? '') : '',
  };
}

/** A workflow and the number of messages assigned to it. */
export interface Batch {
  workflow_id: string;
  project_id: string;
  messages: number;
  /** Of one of its messages. */
  traceparent?: string | null;
}

/** The number of open workflows by project. */
async function openWorkflows(): Promise<Map<string, number>> {
  const { rows } = await ledgerPool.query<{ project_id: string; open: number }>({
    name: 'emails-open',
    text: `SELECT project_id, count(DISTINCT workflow_id)::int AS open FROM messages WHERE workflow_id IS NOT NULL
      GROUP BY project_id`,
  });
  return new Map(rows.map(({ project_id: projectId, open }) => [projectId, open]));
}

/** A workflow of deferred mail waits until it is due. */
const DUE_SEPARATELY = `${SEPARATE} AND (deferred_at IS NOT NULL OR not_before <= ${NOW})`;

/** Checks first, because there is rarely any and `ASSIGN` is planned on each execution. */
async function hasSeparatelyDue(): Promise<boolean> {
  const { rows } = await ledgerPool.query<{ waits: boolean }>({
    name: 'emails-separately-due',
    text: `SELECT EXISTS (SELECT FROM messages WHERE ${DUE_SEPARATELY} AND ${isHere('messages.project_id')}) AS waits`,
  });
  return rows[0]?.waits ?? false;
}

/**
 * Assigns messages to new workflows, each named after its first message: mail of the given projects ($3), of mailbox
 * accounts, and mail deferred during a queue drain, whose workflow waits until it is due. Workflows are ranked round-robin,
 * so that each project gets one before any gets a second. A mailbox account has its own workflows, and few of them, because
 * its mail may wait hours for the account's cap and must not delay others. Separately due mail of projects at their workflow
 * limit ($4) is skipped. Due mail is a range of the partial index `(project_id, not_before)` per project.
 */
const ASSIGN = `
  WITH busy AS (
    SELECT mailbox_id FROM messages WHERE workflow_id IS NOT NULL AND mailbox_id IS NOT NULL AND campaign_id IS NULL
    GROUP BY mailbox_id HAVING count(DISTINCT workflow_id) >= ${MAIL_POLICY.dispatch.maxOpenPerMailbox}
  ), due AS (
    SELECT id, project_id, mailbox_id, not_before, false AS is_retry FROM unnest($3::text[]) AS selected(id_of_project)
    CROSS JOIN LATERAL (
      SELECT id, project_id, mailbox_id, not_before FROM messages
      WHERE ${FIRST_ATTEMPT} AND project_id = selected.id_of_project AND not_before <= ${NOW}
      ORDER BY not_before LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
    ) AS of_project
    UNION ALL
    SELECT * FROM (
      SELECT id, project_id, mailbox_id, not_before, deferred_at IS NOT NULL AS is_retry FROM messages
      WHERE ${DUE_SEPARATELY}
        AND (mailbox_id IS NULL OR mailbox_id NOT IN (SELECT mailbox_id FROM busy)) AND project_id <> ALL ($4::text[]) AND ${isHere('messages.project_id')}
      ORDER BY not_before LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
    ) AS separate
  ), numbered AS (
    SELECT id, project_id, mailbox_id, is_retry,
      row_number() OVER (PARTITION BY project_id, mailbox_id, is_retry ORDER BY not_before, id) - 1 AS number,
      count(*) OVER (PARTITION BY project_id, mailbox_id, is_retry) AS waiting FROM due
  ), grouped AS (
    SELECT id, project_id, mailbox_id, is_retry, number / CASE WHEN waiting <= ${MAIL_POLICY.dispatch.maxIndividual} THEN 1 ELSE ${MAIL_POLICY.dispatch.batchSize} END AS part
    FROM numbered
  ), ranked AS (
    SELECT id, first_value(id) OVER (PARTITION BY project_id, mailbox_id, is_retry, part ORDER BY id) AS workflow_id,
      dense_rank() OVER (ORDER BY part, project_id, mailbox_id, is_retry) AS rank FROM grouped
  ), ranked_by_id AS (
    ${rowsById('ranked')}
  ), assigned AS (
    ${assignTo(valueById('ranked_by_id', 'm.id')('workflow_id', 'text'))}
    WHERE m.id = ANY (ARRAY(SELECT id FROM ranked WHERE rank <= $2)) RETURNING m.workflow_id, m.project_id, m.traceparent
  ) SELECT workflow_id, min(project_id) AS project_id, count(*)::int AS messages, min(traceparent) AS traceparent FROM assigned GROUP BY workflow_id`;

async function assign(projects: readonly string[], starts: number, full: readonly string[]): Promise<Batch[]> {
  if (starts <= 0) return [];
  // Not a named statement, so that each execution is planned: a plan cached before a campaign's snapshot scanned the whole ledger.
  const { rows } = await ledgerPool.query<Batch>(ASSIGN, [
    starts * MAIL_POLICY.dispatch.batchSize,
    starts,
    projects,
    full,
  ]);
  return rows;
}

/** Releases messages whose workflow did not start, and the leases of queue drains. */
async function release(rejected: readonly EagerStart[]): Promise<void> {
  const workflowIds = rejected.map(({ workflowId }) => workflowId);
  await ledgerPool.query(`${UNASSIGN} WHERE workflow_id = ANY ($1) AND state = 'planned'`, [workflowIds]);
  await ledgerPool.query('DELETE FROM email_queue_drains WHERE workflow_id = ANY ($1)', [workflowIds]);
}

/** The workflow that sends assigned messages. */
export const startOf = ({
  workflow_id: workflowId,
  project_id: projectId,
  messages,
  traceparent = null,
}: Batch): EagerStart => ({
  workflowId,
  traceparent,
  type: 'sendEmails',
  args: [workflowId],
  summary: messages === 1 ? 'One transactional email' : `${messages} transactional emails`,
  searchAttributes: { projectId },
});

import { logger, newId, pool } from '@postroom/platform';
import { type RelaySource, startOnce } from '@postroom/platform/relay';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { cancelPlanned } from './emails.ts';
import { closeLost, newClaim } from './ledger.ts';

/** Messages that one workflow has in hand at most. */
const BATCH_SIZE = 100;
/** When no more than so many messages of a project wait, each gets a workflow of its own: one email, one workflow. */
const ALONE = 5;
/** Workflows started in one round, and open at most: a mail server that takes nothing must not fill Temporal. */
const STARTS_PER_ROUND = 20;
const MAX_OPEN = 200;
/** Open workflows that a mailbox account may have before more of its mail is taken up. */
const OPEN_PER_MAILBOX = 5;

const SWEEP_EVERY_MS = 30_000;
/** A workflow that should have a message in hand is looked for after so long. */
const SWEEP_AFTER = '1 minute';
const SWEPT_AT_ONCE = 50;

/**
 * Gives transactional messages that are due to `sendEmails` workflows, fairly across projects. They are marked before the
 * workflow starts, and it reads its messages by that mark: so a crash in between loses nothing, which the sweep finds.
 */
export const source: RelaySource = { name: 'emails', handOver };

let sweptAt = 0;

async function handOver(client: Client): Promise<{ handed: number; more: boolean }> {
  if (Date.now() - sweptAt > SWEEP_EVERY_MS) {
    sweptAt = Date.now();
    await sweep(client);
  }
  const open = await openWorkflows();
  const batches = await mark(Math.min(STARTS_PER_ROUND, MAX_OPEN - open));
  await startAll(client, batches);
  const handed = batches.reduce((sum, { messages }) => sum + messages, 0);
  return { handed, more: batches.length === STARTS_PER_ROUND };
}

interface Batch {
  workflow_id: string;
  project_id: string;
  messages: number;
}

async function openWorkflows(): Promise<number> {
  const { rows } = await pool.query<{ open: number }>(
    'SELECT count(DISTINCT workflow_id)::int AS open FROM messages WHERE workflow_id IS NOT NULL',
  );
  return rows[0]?.open ?? 0;
}

/**
 * Marks waiting messages as those of new workflows, whose ids are those of their first messages: in rounds, so that each
 * project has its turn before one has a second. Mail of a mailbox account is in workflows of its own, of which few are
 * open: it may wait for the account's cap for hours, and must hold up nobody else's.
 */
const MARK = `
  WITH busy AS (
    SELECT mailbox_id FROM messages WHERE workflow_id IS NOT NULL AND mailbox_id IS NOT NULL AND campaign_id IS NULL
    GROUP BY mailbox_id HAVING count(DISTINCT workflow_id) >= ${OPEN_PER_MAILBOX}
  ), due AS (
    SELECT id, project_id, mailbox_id, not_before FROM messages
    WHERE campaign_id IS NULL AND handed_at IS NULL AND not_before <= now()
      AND (mailbox_id IS NULL OR mailbox_id NOT IN (SELECT mailbox_id FROM busy))
    ORDER BY not_before LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
  ), numbered AS (
    SELECT id, project_id, mailbox_id, row_number() OVER (PARTITION BY project_id, mailbox_id ORDER BY not_before, id) - 1 AS number,
      count(*) OVER (PARTITION BY project_id, mailbox_id) AS waiting FROM due
  ), grouped AS (
    SELECT id, project_id, mailbox_id, number / CASE WHEN waiting <= ${ALONE} THEN 1 ELSE ${BATCH_SIZE} END AS part
    FROM numbered
  ), ranked AS (
    SELECT id, first_value(id) OVER (PARTITION BY project_id, mailbox_id, part ORDER BY id) AS workflow_id,
      dense_rank() OVER (ORDER BY part, project_id, mailbox_id) AS rank FROM grouped
  ), marked AS (
    UPDATE messages m SET handed_at = now(), workflow_id = r.workflow_id FROM ranked r
    WHERE m.id = r.id AND r.rank <= $2 RETURNING m.workflow_id, m.project_id
  ) SELECT workflow_id, min(project_id) AS project_id, count(*)::int AS messages FROM marked GROUP BY workflow_id`;

async function mark(starts: number): Promise<Batch[]> {
  if (starts <= 0) return [];
  const { rows } = await pool.query<Batch>({ name: 'emails-mark', text: MARK, values: [starts * BATCH_SIZE, starts] });
  return rows;
}

async function startAll(client: Client, batches: readonly Batch[]): Promise<void> {
  const results = await Promise.allSettled(batches.map((batch) => start(client, batch)));
  const refused = batches
    .filter((_, index) => results[index]?.status === 'rejected')
    .map(({ workflow_id }) => workflow_id);
  if (refused.length === 0) return;
  await pool.query(
    `UPDATE messages SET handed_at = NULL, workflow_id = NULL WHERE workflow_id = ANY ($1) AND state = 'planned' AND claim IS NULL`,
    [refused],
  );
  throw results.find((result) => result.status === 'rejected')?.reason;
}

function start(client: Client, { workflow_id: workflowId, project_id: projectId, messages }: Batch): Promise<void> {
  return startOnce(client, {
    workflowId,
    type: 'sendEmails',
    args: [workflowId],
    summary: messages === 1 ? 'One transactional email' : `${messages} transactional emails`,
    searchAttributes: { projectId },
  });
}

/**
 * Looks for messages whose workflow is gone, because a crash came between mark and start or Temporal lost its data, and
 * gives them to a new one. What somebody terminated is canceled: that was their word.
 */
export async function sweep(client: Client, after = SWEEP_AFTER): Promise<number> {
  const { rows } = await pool.query<Batch>(
    `SELECT workflow_id, min(project_id) AS project_id, count(*)::int AS messages FROM messages
     WHERE workflow_id IS NOT NULL AND handed_at < now() - $1::interval
     GROUP BY workflow_id ORDER BY min(handed_at) LIMIT ${SWEPT_AT_ONCE}`,
    [after],
  );
  let found = 0;
  for (const batch of rows) found += await look(client, batch);
  if (found > 0) logger.warn({ messages: found }, 'the workflows of some emails were gone');
  return found;
}

async function look(client: Client, batch: Batch): Promise<number> {
  const { workflow_id: workflowId, messages } = batch;
  const status = await statusOf(client, workflowId);
  if (status === 'RUNNING') {
    await hand(workflowId, workflowId);
    return 0;
  }
  if (status === 'TERMINATED' || status === 'CANCELLED') {
    await closeLost({ workflowId }, newClaim());
    await cancelPlanned('workflow_id = $1', workflowId, 'Its workflow was ended by an operator.');
    return messages;
  }
  // One that was never started keeps its id; one that has ended can't be started again under it.
  const next = status === undefined ? workflowId : newId('eml');
  await hand(workflowId, next);
  await start(client, { ...batch, workflow_id: next });
  return messages;
}

async function hand(from: string, to: string): Promise<void> {
  await pool.query('UPDATE messages SET handed_at = now(), workflow_id = $2 WHERE workflow_id = $1', [from, to]);
}

/** How a workflow stands; undefined when Temporal knows none of that id. */
async function statusOf(client: Client, workflowId: string): Promise<string | undefined> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

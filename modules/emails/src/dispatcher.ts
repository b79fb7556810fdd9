import { logger, newId } from '@postroom/platform';
import { type DispatchSource, startOnce } from '@postroom/platform/dispatcher';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { startQueueDrain, isCampaignSending, listDrainingProjects } from './queue-drains.ts';
import { cancelPlanned } from '@postroom/ledger';
import { markStaleClaimsUnknown, newClaim } from '@postroom/ledger';
import { ledgerPool } from '@postroom/ledger';

/** Messages that one workflow has in hand at most. */
const BATCH_SIZE = 100;
/** When no more than so many messages of a project wait, each may get a workflow of its own: one email, one workflow. */
const ALONE = 5;
/** Up to so many messages a second, and so many at once, get one; above that a project's mail goes in a burst. */
const ALONE_PER_SECOND = 5;
const ALONE_AT_ONCE = 10;
/** Bursts that are open at once. The mail of more projects goes in batches. */
const MAX_BURSTS = 40;
/** Workflows started in one round, and open at most: a mail server that takes nothing must not fill Temporal. */
const STARTS_PER_ROUND = 20;
const MAX_OPEN = 1_000;
/** And open of one project: each may hold a slot of a worker for as long as a mail server of that project takes. */
const OPEN_PER_PROJECT = 50;
/** Open workflows that a mailbox account may have before more of its mail is taken up. */
const OPEN_PER_MAILBOX = 5;
/** Projects looked at in one round; the next one goes on after the last of them. */
const PROJECTS_PER_ROUND = 100;
/** A burst takes its mail by itself: while there is one, a round is so many milliseconds after the last. */
const ROUND_MS = 50;

const SWEEP_EVERY_MS = 30_000;
/** A workflow that should have a message in hand is looked for after so long. */
const SWEEP_AFTER = '1 minute';
const SWEPT_AT_ONCE = 50;

/**
 * Gives transactional messages that are due to workflows, fairly across projects: `sendEmails` for one, or in a burst
 * `sendBurst`, which takes what comes by itself. Messages are marked before a `sendEmails` workflow starts, and it reads its
 * messages by that mark: so a crash in between loses nothing, which the sweep finds.
 */
export const source: DispatchSource = { name: 'emails', handOver };

/** What this relay remembers between rounds; nothing of it is needed to be right, only to be fair and quick. */
const memory = {
  sweptAt: 0,
  isSweeping: false,
  afterProject: '',
  alone: ALONE_AT_ONCE,
  countedAt: Date.now(),
  roundAt: 0,
  hasBursts: false,
};

async function handOver(client: Client): Promise<{ handed: number; more: boolean }> {
  sweepNowAndThen(client);
  await rest();
  const bursts = await listDrainingProjects();
  const { projects, last } = await readWaiting(memory.afterProject);
  memory.afterProject = last;
  const taken: string[] = [];
  const open = await openWorkflows();
  const full = [...open].filter(([, count]) => count >= OPEN_PER_PROJECT).map(([projectId]) => projectId);
  for (const { project_id: projectId, waiting } of projects) {
    if (bursts.has(projectId)) continue;
    if (!full.includes(projectId) && (await mayGoAlone(waiting))) taken.push(projectId);
    else if (bursts.size >= MAX_BURSTS) taken.push(projectId);
    else {
      await startQueueDrain(client, projectId);
      bursts.add(projectId);
    }
  }
  memory.hasBursts = bursts.size > 0;
  const opened = [...open.values()].reduce((sum, count) => sum + count, 0);
  const starts = Math.min(STARTS_PER_ROUND, MAX_OPEN - opened);
  const batches = taken.length > 0 || (await waitsApart()) ? await mark(taken, starts, full) : [];
  await startAll(client, batches);
  const handed = batches.reduce((sum, { messages }) => sum + messages, 0);
  return { handed, more: last !== '' || batches.length === STARTS_PER_ROUND };
}

/** Nobody waits for it: it asks Temporal about many workflows, which may all be of one project. */
function sweepNowAndThen(client: Client): void {
  if (memory.isSweeping || Date.now() - memory.sweptAt <= SWEEP_EVERY_MS) return;
  memory.sweptAt = Date.now();
  memory.isSweeping = true;
  reconcile(client)
    .catch((error: unknown) => logger.warn({ err: error }, 'could not look for emails without a workflow; will retry'))
    .finally(() => (memory.isSweeping = false));
}

async function rest(): Promise<void> {
  const waitMs = memory.hasBursts ? memory.roundAt + ROUND_MS - Date.now() : 0;
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  memory.roundAt = Date.now();
}

/**
 * Whether so many messages may have a workflow each. That takes two trips through Temporal, which are slow and dear while
 * the machine is busy with a campaign.
 */
async function mayGoAlone(waiting: number): Promise<boolean> {
  const now = Date.now();
  memory.alone = Math.min(ALONE_AT_ONCE, memory.alone + ((now - memory.countedAt) / 1000) * ALONE_PER_SECOND);
  memory.countedAt = now;
  if (waiting > ALONE || waiting > memory.alone || (await isCampaignSending())) return false;
  memory.alone -= waiting;
  return true;
}

interface Waiting {
  project_id: string;
  /** Messages that are due and go out for the first time, counted up to one more than go alone. */
  waiting: number;
}

const FIRST_TIME = 'campaign_id IS NULL AND dispatched_at IS NULL AND mailbox_id IS NULL AND deferred_at IS NULL';

/**
 * Projects whose mail is due, from the one after `after` on, and the last one looked at if there may be more (`''` when
 * not). It jumps from project to project in the index, so a million messages of one cost what one costs.
 */
const READ_WAITING = `
  WITH RECURSIVE jump AS (
    (SELECT project_id, 1 AS number FROM messages WHERE ${FIRST_TIME} AND project_id > $1 ORDER BY project_id LIMIT 1)
    UNION ALL
    SELECT next.project_id, jump.number + 1
    FROM jump CROSS JOIN LATERAL (
      SELECT project_id FROM messages WHERE ${FIRST_TIME} AND project_id > jump.project_id ORDER BY project_id LIMIT 1
    ) AS next
    WHERE jump.number < ${PROJECTS_PER_ROUND}
  )
  SELECT jump.project_id, due.rows AS waiting
  FROM jump CROSS JOIN LATERAL (
    SELECT count(*)::int AS rows FROM (
      SELECT FROM messages WHERE ${FIRST_TIME} AND project_id = jump.project_id AND not_before <= now() LIMIT ${ALONE + 1}
    ) AS part
  ) AS due
  ORDER BY jump.project_id`;

async function readWaiting(after: string): Promise<{ projects: Waiting[]; last: string }> {
  const { rows } = await ledgerPool.query<Waiting>({ name: 'emails-waiting', text: READ_WAITING, values: [after] });
  return {
    projects: rows.filter(({ waiting }) => waiting > 0),
    last: rows.length === PROJECTS_PER_ROUND ? (rows.at(-1)?.project_id ?? '') : '',
  };
}

interface Batch {
  workflow_id: string;
  project_id: string;
  messages: number;
}

/** How many workflows have mail in hand, by project. */
async function openWorkflows(): Promise<Map<string, number>> {
  const { rows } = await ledgerPool.query<{ project_id: string; open: number }>({
    name: 'emails-open',
    text: `SELECT project_id, count(DISTINCT workflow_id)::int AS open FROM messages WHERE workflow_id IS NOT NULL
      GROUP BY project_id`,
  });
  return new Map(rows.map(({ project_id: projectId, open }) => [projectId, open]));
}

/** Of mailbox accounts, and put off by a server in a burst: not counted with a project's mail that goes out for the first time. */
const DUE_APART = `campaign_id IS NULL AND dispatched_at IS NULL AND (mailbox_id IS NOT NULL OR deferred_at IS NOT NULL)
        AND (deferred_at IS NOT NULL OR not_before <= now())`;

/** Whether there are such: nearly always there are none, and marking them is planned anew each time. */
async function waitsApart(): Promise<boolean> {
  const { rows } = await ledgerPool.query<{ waits: boolean }>({
    name: 'emails-apart',
    text: `SELECT EXISTS (SELECT FROM messages WHERE ${DUE_APART}) AS waits`,
  });
  return rows[0]?.waits ?? false;
}

/**
 * Marks messages as those of new workflows, whose ids are those of their first messages: those of the given projects, those
 * of mailbox accounts, and those that a server put off in a burst, which have a workflow of their own until their time comes.
 * In rounds, so that each project has its turn before one has a second. Mail of a mailbox account is in workflows of its own, of
 * which few are open: it may wait for the account's cap for hours, and must hold up nobody else's. What waits apart of projects
 * that have as many workflows open as they may is left.
 */
const MARK = `
  WITH busy AS (
    SELECT mailbox_id FROM messages WHERE workflow_id IS NOT NULL AND mailbox_id IS NOT NULL AND campaign_id IS NULL
    GROUP BY mailbox_id HAVING count(DISTINCT workflow_id) >= ${OPEN_PER_MAILBOX}
  ), due AS (
    SELECT id, project_id, mailbox_id, not_before, false AS again FROM unnest($3::text[]) AS taken(id_of_project)
    CROSS JOIN LATERAL (
      SELECT id, project_id, mailbox_id, not_before FROM messages
      WHERE ${FIRST_TIME} AND project_id = taken.id_of_project AND not_before <= now()
      ORDER BY not_before LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
    ) AS of_project
    UNION ALL
    SELECT * FROM (
      SELECT id, project_id, mailbox_id, not_before, deferred_at IS NOT NULL AS again FROM messages
      WHERE ${DUE_APART}
        AND (mailbox_id IS NULL OR mailbox_id NOT IN (SELECT mailbox_id FROM busy)) AND project_id <> ALL ($4::text[])
      ORDER BY not_before LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
    ) AS apart
  ), numbered AS (
    SELECT id, project_id, mailbox_id, again,
      row_number() OVER (PARTITION BY project_id, mailbox_id, again ORDER BY not_before, id) - 1 AS number,
      count(*) OVER (PARTITION BY project_id, mailbox_id, again) AS waiting FROM due
  ), grouped AS (
    SELECT id, project_id, mailbox_id, again, number / CASE WHEN waiting <= ${ALONE} THEN 1 ELSE ${BATCH_SIZE} END AS part
    FROM numbered
  ), ranked AS (
    SELECT id, first_value(id) OVER (PARTITION BY project_id, mailbox_id, again, part ORDER BY id) AS workflow_id,
      dense_rank() OVER (ORDER BY part, project_id, mailbox_id, again) AS rank FROM grouped
  ), marked AS (
    UPDATE messages m SET dispatched_at = now(), workflow_id = r.workflow_id FROM ranked r
    WHERE m.id = r.id AND r.rank <= $2 RETURNING m.workflow_id, m.project_id
  ) SELECT workflow_id, min(project_id) AS project_id, count(*)::int AS messages FROM marked GROUP BY workflow_id`;

async function mark(projects: readonly string[], starts: number, full: readonly string[]): Promise<Batch[]> {
  if (starts <= 0) return [];
  // Without a name, so that it is planned anew: a plan from before a campaign's freeze read the whole ledger each time, for one
  // message.
  const { rows } = await ledgerPool.query<Batch>(MARK, [starts * BATCH_SIZE, starts, projects, full]);
  return rows;
}

async function startAll(client: Client, batches: readonly Batch[]): Promise<void> {
  const results = await Promise.allSettled(batches.map((batch) => start(client, batch)));
  const refused = batches
    .filter((_, index) => results[index]?.status === 'rejected')
    .map(({ workflow_id }) => workflow_id);
  if (refused.length === 0) return;
  await ledgerPool.query(
    `UPDATE messages SET dispatched_at = NULL, workflow_id = NULL WHERE workflow_id = ANY ($1) AND state = 'planned'`,
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
export async function reconcile(client: Client, after = SWEEP_AFTER): Promise<number> {
  const { rows } = await ledgerPool.query<Batch>(
    `SELECT workflow_id, min(project_id) AS project_id, count(*)::int AS messages FROM messages
     WHERE workflow_id IS NOT NULL AND dispatched_at < now() - $1::interval
     GROUP BY workflow_id ORDER BY min(dispatched_at) LIMIT ${SWEPT_AT_ONCE}`,
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
    await markStaleClaimsUnknown({ workflowId }, newClaim());
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
  await ledgerPool.query('UPDATE messages SET dispatched_at = now(), workflow_id = $2 WHERE workflow_id = $1', [
    from,
    to,
  ]);
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

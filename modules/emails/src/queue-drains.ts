import { newId } from '@postroom/platform';
import type { EagerStart } from '@postroom/platform/dispatcher';
import { ledgerPool, MAIL_POLICY } from '@postroom/ledger';

/** Projects with an active queue drain. */
export async function listDrainingProjects(): Promise<Set<string>> {
  const { rows } = await ledgerPool.query<{ project_id: string }>({
    name: 'emails-draining',
    text: 'SELECT project_id FROM email_queue_drains WHERE lease_expires_at > now()',
  });
  return new Set(rows.map(({ project_id: projectId }) => projectId));
}

/** Takes the lease of a project's queue drain. @returns its workflow; undefined if another dispatcher has just started one. */
export async function leaseQueueDrain(projectId: string): Promise<EagerStart | undefined> {
  const workflowId = newId('eml').replace('eml_', 'burst_');
  const { rowCount } = await ledgerPool.query(
    `INSERT INTO email_queue_drains AS b (project_id, workflow_id, lease_expires_at)
     SELECT id, $2, now() + interval '${MAIL_POLICY.drain.leaseMs} ms' FROM projects WHERE id = $1
     ON CONFLICT (project_id) DO UPDATE SET workflow_id = excluded.workflow_id, lease_expires_at = excluded.lease_expires_at WHERE b.lease_expires_at <= now()`,
    [projectId, workflowId],
  );
  if (rowCount === 0) return undefined;
  return {
    workflowId,
    type: 'sendBurst',
    args: [projectId, workflowId],
    summary: 'Transactional queue drain',
    details:
      'Sends the queued emails of a project while they arrive too fast for individual workflows. Deferred emails continue in their own workflows.',
    searchAttributes: { projectId },
  };
}

/**
 * Renews the lease, extended by `forMs` milliseconds.
 * @returns false if another drain has taken over.
 */
export async function renewDrainLease(projectId: string, workflowId: string, forMs = 0): Promise<boolean> {
  const { rowCount } = await ledgerPool.query({
    name: 'emails-renew-lease',
    text: `INSERT INTO email_queue_drains AS b (project_id, workflow_id, lease_expires_at)
      SELECT id, $2, now() + interval '${MAIL_POLICY.drain.leaseMs} ms' + $3::int * interval '1 ms' FROM projects WHERE id = $1
      ON CONFLICT (project_id) DO UPDATE SET workflow_id = excluded.workflow_id, lease_expires_at = excluded.lease_expires_at
      WHERE b.workflow_id = $2 OR b.lease_expires_at <= now()`,
    values: [projectId, workflowId, Math.ceil(forMs)],
  });
  return rowCount === 1;
}

/** Deletes the lease and wakes the dispatcher, which assigns the project's mail again. */
export async function endQueueDrain(projectId: string, workflowId: string): Promise<void> {
  await ledgerPool.query(
    `WITH ended AS (DELETE FROM email_queue_drains WHERE project_id = $1 AND workflow_id = $2)
     SELECT pg_notify('postroom', 'emails ' || $1)`,
    [projectId, workflowId],
  );
}

/** Whether any campaign is sending, so that the machine is likely busy. */
export async function isCampaignSending(): Promise<boolean> {
  const { rows } = await ledgerPool.query<{ sending: boolean }>({
    name: 'emails-campaigns',
    text: `SELECT EXISTS (SELECT FROM campaigns WHERE status = 'sending') AS sending`,
  });
  return rows[0]?.sending ?? false;
}

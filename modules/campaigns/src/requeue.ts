import { type ChangedPage, inLedgerTransaction, requeuePage, resolvePage } from '@postroom/ledger';
import { DomainError, inPages, invalid, signalWorkflow } from '@postroom/platform';
import type pg from 'pg';
import { type Campaign, getCampaign } from './campaigns.ts';
import { checkSender } from './sending.ts';
import { startSending, workflowIdOf } from './workflow.ts';

/** Message ids of a campaign; all that qualify if omitted. */
export type RecipientIds = readonly string[] | null | undefined;

/** Maximum number of ids per call. */
const MAX_IDS = 10_000;

const CAN_BE_RETRIED: ReadonlySet<Campaign['status']> = new Set(['sending', 'paused', 'completed']);

/**
 * Requeues failed messages of a campaign: all of them, or those named. Other ids are ignored. Addresses suppressed since then
 * are not mailed. A completed campaign returns to `sending` and completes again.
 * @returns the number of requeued messages.
 * @throws DomainError `not_found`; `validation_error` for too many ids; `forbidden` for a sender that may not send;
 * `conflict` for a campaign that has not been sent, was canceled, or whose recipients have been deleted.
 */
export function retryFailed(projectId: string, id: string, recipientIds?: RecipientIds): Promise<number> {
  return requeueMessages(projectId, id, 'failed', recipientIds);
}

/**
 * Requeues messages whose outcome is unknown. Some recipients may get the message twice, so the caller must set
 * `acceptDuplicates`.
 * @returns the number of requeued messages.
 * @throws DomainError as `retryFailed`, and `validation_error` without `acceptDuplicates`.
 */
export async function resendUnknown(
  projectId: string,
  id: string,
  { recipientIds, acceptDuplicates }: { recipientIds?: RecipientIds; acceptDuplicates: boolean },
): Promise<number> {
  await getCampaign(projectId, id);
  if (!acceptDuplicates) {
    const message = 'must be true: the server may have accepted these messages, so some recipients may get them twice';
    throw invalid({ field: 'acceptDuplicates', message });
  }
  return requeueMessages(projectId, id, 'unknown', recipientIds);
}

async function requeueMessages(
  projectId: string,
  id: string,
  state: 'failed' | 'unknown',
  recipientIds: RecipientIds,
): Promise<number> {
  const campaign = await getCampaign(projectId, id);
  checkIds(recipientIds);
  if (!CAN_BE_RETRIED.has(campaign.status)) throw notSent(campaign.status);
  if (campaign.recipientsDeletedAt !== null) throw recipientsDeleted();
  await checkSender(campaign);
  const count = await changeInPages(projectId, async (client, after) => {
    const page = await requeuePage(client, { campaignId: id, ids: recipientIds ?? null, after }, state);
    if (page.count > 0) await continueSending(client, id);
    return page;
  });
  // They may have been deleted since.
  if (count === 0 && (await getCampaign(projectId, id)).recipientsDeletedAt !== null) throw recipientsDeleted();
  return count;
}

/** Changes messages in transactions of a page each. Interrupted, it leaves the rest for another request. @returns how many were changed. */
async function changeInPages(
  projectId: string,
  change: (client: pg.ClientBase, after: string) => Promise<ChangedPage>,
): Promise<number> {
  let count = 0;
  await inPages(projectId, async (after) => {
    const page = await inLedgerTransaction((client) => change(client, after));
    count += page.count;
    return page.last;
  });
  return count;
}

function checkIds(recipientIds: RecipientIds): void {
  if (recipientIds != null && recipientIds.length > MAX_IDS)
    throw invalid({ field: 'recipientIds', message: `must be at most ${MAX_IDS} ids` });
}

const notSent = (status: string) =>
  new DomainError('conflict', `Only a sending, paused or completed campaign can be retried; this one is ${status}.`);

const recipientsDeleted = () =>
  new DomainError(
    'conflict',
    "The campaign's recipients are past the project's message retention period and have been deleted.",
  );

/** Signals a campaign's workflow to send requeued messages, or starts a new run if the campaign was completed. */
async function continueSending(client: pg.ClientBase, id: string): Promise<void> {
  const { rows } = await client.query<Pick<Campaign, 'projectId' | 'name' | 'run' | 'status' | 'recipientsDeletedAt'>>(
    `SELECT project_id AS "projectId", name, run, status, recipients_deleted_at AS "recipientsDeletedAt" FROM campaigns WHERE id = $1 FOR NO KEY UPDATE`,
    [id],
  );
  const [campaign] = rows;
  if (campaign === undefined || campaign.status === 'canceled') throw notSent(campaign?.status ?? 'deleted');
  if (campaign.recipientsDeletedAt !== null) throw recipientsDeleted();
  const { status, run } = campaign;
  if (status === 'completed') {
    await client.query(
      `UPDATE campaigns SET status = 'sending', run = run + 1, completed_at = NULL, updated_at = now() WHERE id = $1`,
      [id],
    );
    await startSending(client, { ...campaign, id, run: run + 1 });
  } else if (status === 'sending') {
    await signalWorkflow(client, { workflowId: workflowIdOf({ id, run }), signal: 'sendAgain' });
  }
  await client.query(`SELECT pg_notify('postroom', $1)`, [`campaign ${id}`]);
}

/**
 * Resolves messages whose outcome is unknown to the outcome the caller has found out, and emits `email.sent` or `email.failed`
 * for each. Nothing is sent.
 * @returns the number of resolved messages.
 * @throws DomainError `not_found`, `validation_error` for too many ids, `conflict` for a campaign that has not started, or if they have been
 * deleted.
 */
export async function resolveUnknownRecipients(
  projectId: string,
  id: string,
  { recipientIds, outcome }: { recipientIds?: RecipientIds; outcome: 'accepted' | 'failed' },
): Promise<number> {
  const { status, recipientsDeletedAt } = await getCampaign(projectId, id);
  checkIds(recipientIds);
  if (status === 'draft' || status === 'scheduled')
    throw new DomainError(
      'conflict',
      `Only a campaign that has started has outcomes to resolve; this one is ${status}.`,
    );
  if (recipientsDeletedAt !== null) throw recipientsDeleted();
  return changeInPages(projectId, async (client, after) => {
    const page = await resolvePage(client, { campaignId: id, ids: recipientIds ?? null, after }, outcome);
    if (page.count > 0) await client.query(`SELECT pg_notify('postroom', $1)`, [`campaign ${id}`]);
    return page;
  });
}

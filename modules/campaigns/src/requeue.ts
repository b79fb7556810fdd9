import { inLedgerTransaction, requeue, resolveUnknown } from '@postroom/ledger';
import { DomainError, invalid, signalWorkflow } from '@postroom/platform';
import type pg from 'pg';
import { type Campaign, getCampaign } from './campaigns.ts';
import { checkSender } from './sending.ts';
import { startSending, workflowIdOf } from './workflow.ts';

/** Message ids of a campaign; all that qualify when not given. */
export type RecipientIds = readonly string[] | null | undefined;

/** Ids that one call may name. */
const MAX_IDS = 10_000;

/**
 * Sends again to recipients of a campaign who were refused, all of them or those named; any other id is passed over. Whoever
 * has been suppressed since gets nothing. A campaign that was completed goes back to `sending` and completes again.
 * @returns how many there were.
 * @throws DomainError `not_found`; `validation_error` for too many ids; `forbidden` for a sender that may not send;
 * `conflict` for a campaign that has not been sent, was canceled, or whose recipients have been deleted.
 */
export function retryFailed(projectId: string, id: string, recipientIds?: RecipientIds): Promise<number> {
  return sendAgain(projectId, id, 'failed', recipientIds);
}

/**
 * Sends again to recipients of whom nobody knows whether they got it. Some may get it twice, so the caller has to say that
 * this is meant.
 * @returns how many there were.
 * @throws DomainError as `retryFailed`, and `validation_error` without `acceptDuplicates`.
 */
export async function resendUnknown(
  projectId: string,
  id: string,
  { recipientIds, acceptDuplicates }: { recipientIds?: RecipientIds; acceptDuplicates: boolean },
): Promise<number> {
  await getCampaign(projectId, id);
  if (!acceptDuplicates) {
    const message = 'must be true: the server may have taken these messages, so some recipients may get it twice';
    throw invalid({ field: 'acceptDuplicates', message });
  }
  return sendAgain(projectId, id, 'unknown', recipientIds);
}

async function sendAgain(
  projectId: string,
  id: string,
  state: 'failed' | 'unknown',
  recipientIds: RecipientIds,
): Promise<number> {
  const campaign = await getCampaign(projectId, id);
  checkIds(recipientIds);
  if (campaign.frozenAt === null || campaign.status === 'canceled') throw notSent(campaign.status);
  if (campaign.recipientsDeletedAt !== null) throw tooLate();
  await checkSender(campaign);
  return inLedgerTransaction(async (client) => {
    const count = await requeue(client, { campaignId: id, ids: recipientIds ?? null }, state);
    if (count > 0) await goOn(client, id);
    return count;
  });
}

function checkIds(recipientIds: RecipientIds): void {
  if (recipientIds != null && recipientIds.length > MAX_IDS)
    throw invalid({ field: 'recipientIds', message: `must be at most ${MAX_IDS}` });
}

const notSent = (status: string) =>
  new DomainError('conflict', `Only a campaign that is sending, paused or completed goes on; this one is ${status}.`);

const tooLate = () =>
  new DomainError('conflict', 'Its recipients are older than the project keeps messages, and have been deleted.');

/** Has a campaign look at its ledger again: wakes its workflow, or gives it another when it had been completed. */
async function goOn(client: pg.ClientBase, id: string): Promise<void> {
  const { rows } = await client.query<Pick<Campaign, 'projectId' | 'name' | 'run' | 'status' | 'recipientsDeletedAt'>>(
    `SELECT project_id AS "projectId", name, run, status, recipients_deleted_at AS "recipientsDeletedAt" FROM campaigns WHERE id = $1 FOR NO KEY UPDATE`,
    [id],
  );
  const [campaign] = rows;
  if (campaign === undefined || campaign.status === 'canceled') throw notSent(campaign?.status ?? 'deleted');
  if (campaign.recipientsDeletedAt !== null) throw tooLate();
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
 * Closes recipients of whom nobody knows whether they got it, as somebody says who has found out. `email.sent` or
 * `email.failed` is emitted for each. Nothing is sent.
 * @returns how many there were.
 * @throws DomainError `not_found`, `validation_error` for too many ids, `conflict` when they have been deleted.
 */
export async function resolveUnknownRecipients(
  projectId: string,
  id: string,
  { recipientIds, outcome }: { recipientIds?: RecipientIds; outcome: 'accepted' | 'failed' },
): Promise<number> {
  const { recipientsDeletedAt } = await getCampaign(projectId, id);
  checkIds(recipientIds);
  if (recipientsDeletedAt !== null) throw tooLate();
  return inLedgerTransaction(async (client) => {
    const count = await resolveUnknown(client, { campaignId: id, ids: recipientIds ?? null }, outcome);
    if (count > 0) await client.query(`SELECT pg_notify('postroom', $1)`, [`campaign ${id}`]);
    return count;
  });
}

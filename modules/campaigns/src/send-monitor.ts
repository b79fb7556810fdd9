import { MAIL_POLICY, type SendResult, type Settlement } from '@postroom/ledger';
import { notify } from '@postroom/notifications';
import { countOf, emailDomain, inTransaction, pool, record } from '@postroom/platform';
import type { Campaign } from './campaigns.ts';
import { campaignPaused } from './events.ts';
import { blockedNotice, pausedNotice } from './notices.ts';
import { DEFAULT_POLICY } from '@postroom/sending-policy';

/**
 * What a reason calls a field: `groupIds.0` is *groups*. People read one reason in mail, the dashboard, webhooks and `/v1`, and
 * only some of them know the names of an API.
 */
export const fieldInWords = (field: string): string =>
  field
    .replace(/\.\d+$/, '')
    .replace(/^html$/, 'content')
    .replace(/Id(?=s?$)/, '')
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/**
 * Pauses a campaign with a human-readable reason, records `campaign.paused` (spec: campaign.paused) and notifies the
 * project's owners and admins. No-op if it is not in status `from`, or not scheduled for `scheduledAt`. @returns whether it was paused.
 */
export async function autoPause(
  id: string,
  reason: string,
  {
    from = 'sending',
    scheduledAt,
    blocksSender = false,
  }: { from?: Campaign['status']; scheduledAt?: Date; blocksSender?: boolean } = {},
): Promise<boolean> {
  return inTransaction(async (client) => {
    const { rows } = await client.query<{ project_id: string; name: string }>(
      `UPDATE campaigns SET status = 'paused', pause_reason = $3, pause_blocks_sender = $4, updated_at = now()
       WHERE id = $1 AND status = $2::campaign_status AND ($5::timestamptz IS NULL OR scheduled_at = $5) RETURNING project_id, name`,
      [id, from, reason, blocksSender, scheduledAt ?? null],
    );
    const [campaign] = rows;
    if (campaign === undefined) return false;
    const { project_id: projectId, name } = campaign;
    await record(client, projectId, [campaignPaused({ id, name }, reason)]);
    await notify(client, projectId, pausedNotice({ id, name }, reason));
    await client.query(`SELECT pg_notify('postroom', $1)`, [`campaign ${id}`]);
    return true;
  });
}

/** Blocks campaigns from the domain of a completed campaign until a user acknowledges the reason, and notifies as `autoPause`. */
async function blockSender(id: string, reason: string): Promise<void> {
  await inTransaction(async (client) => {
    const { rows } = await client.query<{ project_id: string; name: string; from_email: string | null }>(
      `UPDATE campaigns SET pause_reason = $2, pause_blocks_sender = true, updated_at = now()
       WHERE id = $1 AND status = 'completed' AND NOT pause_blocks_sender RETURNING project_id, name, from_email`,
      [id, reason],
    );
    const [campaign] = rows;
    if (campaign === undefined) return;
    const { project_id: projectId, name, from_email: from } = campaign;
    await notify(client, projectId, blockedNotice({ id, name }, emailDomain(from ?? ''), reason));
    await client.query(`SELECT pg_notify('postroom', $1)`, [`campaign ${id}`]);
  });
}

interface OverThreshold {
  id: string;
  status: Campaign['status'];
  sent: number;
  bounced: number;
  complained: number;
  bounceLimit: number | null;
  isBouncing: boolean;
  complaintLimit: number | null;
}

/**
 * Campaigns that are sending or recently completed and have reached one of their project's limits since a user last resumed
 * or acknowledged them. It reads the counters of campaigns, never their messages.
 */
const OVER_THRESHOLD = `
  WITH monitored AS (
    SELECT c.id, c.status, c.accepted_count + c.failed_count - c.base_sent AS sent,
      c.bounced_count + c.failed_count - c.base_bounced AS bounced, c.complained_count - c.base_complained AS complained,
      CASE WHEN p.project_id IS NULL THEN ${DEFAULT_POLICY.bounceLimitPercent} ELSE p.bounce_limit_percent END AS bounce_limit,
      CASE WHEN p.project_id IS NULL THEN ${DEFAULT_POLICY.complaintLimitPercent} ELSE p.complaint_limit_percent END AS complaint_limit,
      coalesce(p.bounce_min_sent, ${DEFAULT_POLICY.bounceMinSent}) AS bounce_min_sent, coalesce(p.complaint_min_sent, ${DEFAULT_POLICY.complaintMinSent}) AS complaint_min_sent
    FROM campaigns c LEFT JOIN sending_policies p ON p.project_id = c.project_id
    WHERE ($1::text IS NULL OR c.id = $1) AND (c.status = 'sending'
      OR c.status = 'completed' AND NOT c.pause_blocks_sender AND c.completed_at > now() - interval '${MAIL_POLICY.campaign.reportingWindow}')
  ), classified AS (
    SELECT *, sent >= bounce_min_sent AND bounced * 100.0 >= bounce_limit * sent AS bouncing,
      sent >= complaint_min_sent AND complained * 100.0 >= complaint_limit * sent AS complaining
    FROM monitored
  )
  SELECT id, status::text, sent, bounced, complained, bounce_limit::float AS "bounceLimit", complaint_limit::float AS "complaintLimit",
    coalesce(bouncing, false) AS "isBouncing"
  FROM classified WHERE bouncing OR complaining`;

/**
 * Pauses campaigns whose bounce or complaint rate has reached their project's limit. Most bounces and complaints arrive late, so
 * a campaign that has already completed blocks its sender instead. The check reads counters, so its cost does not depend on the
 * number of recipients.
 * @param campaignId the campaign to check; null for all.
 */
export async function pauseOverThreshold(campaignId: string | null): Promise<void> {
  const { rows } = await pool.query<OverThreshold>({
    name: 'campaigns-over-threshold',
    text: OVER_THRESHOLD,
    values: [campaignId],
  });
  for (const campaign of rows) {
    const reason = reasonOf(campaign);
    if (campaign.status === 'sending') await autoPause(campaign.id, reason, { blocksSender: true });
    else await blockSender(campaign.id, reason);
  }
}

function reasonOf({ sent, bounced, complained, isBouncing, bounceLimit, complaintLimit }: OverThreshold): string {
  const [count, what, limit] = isBouncing
    ? [bounced, 'bounced or were rejected', bounceLimit]
    : [complained, 'were marked as spam', complaintLimit];
  const [of, all] = [count, sent].map((messages) => messages.toLocaleString('en'));
  return `${of} of ${all} messages ${what} (${percent(count / sent)}; the limit is ${limit}%).`;
}

const percent = (share: number) =>
  share.toLocaleString('en', { style: 'percent', maximumFractionDigits: share < 0.01 ? 2 : 1 });

/** Monitors outcomes during a send run and pauses the campaign when it reaches one of its project's limits. */
export class SendMonitor {
  readonly #id: string;
  readonly #limit: number | null;
  readonly #before: number;
  #refusals: number;
  /** The same, with outcomes that are not recorded yet. */
  #unrecordedRefusals: number;
  #checkedAt = performance.now();

  constructor(id: string, refusalsBefore: number, limit: number | null) {
    this.#id = id;
    this.#before = refusalsBefore;
    this.#refusals = refusalsBefore;
    this.#unrecordedRefusals = refusalsBefore;
    this.#limit = limit;
  }

  /** Counts an outcome before it is recorded. @returns whether the limit of rejections in a row is reached, so that nothing more may be sent. */
  isOver({ outcome }: SendResult): boolean {
    if (outcome.kind === 'accepted') this.#unrecordedRefusals = 0;
    else if (outcome.kind === 'refused' && outcome.verdict !== 'configuration') this.#unrecordedRefusals++;
    return this.#limit !== null && this.#unrecordedRefusals >= this.#limit;
  }

  /** Counts outcomes that have just been recorded; pauses the campaign if a limit is reached. */
  async note(settlements: readonly Settlement[]): Promise<void> {
    for (const { state, answer } of settlements) {
      if (state === 'accepted') this.#refusals = 0;
      else if (state === 'failed') this.#refusals++;
      if (this.#limit !== null && this.#refusals >= this.#limit) return this.#pause(answer ?? '');
    }
    if (performance.now() - this.#checkedAt < MAIL_POLICY.campaign.sendingMonitorIntervalMs) return;
    this.#checkedAt = performance.now();
    await pauseOverThreshold(this.#id);
  }

  async #pause(answer: string): Promise<void> {
    const reason = `Mail servers rejected ${countOf(this.#refusals, 'message')} in a row. The last reply was: ${answer}`;
    await autoPause(this.#id, reason, { blocksSender: true });
  }

  /** Saves the rejection streak for the next run. */
  async close(): Promise<void> {
    if (this.#refusals === this.#before) return;
    await pool.query('UPDATE campaigns SET refusals_in_row = $2 WHERE id = $1', [this.#id, this.#refusals]);
  }
}

/**
 * Why a campaign's sender domain is blocked; undefined if it is not. A domain is blocked while a campaign from it is paused over
 * a threshold, or completed over a threshold and not yet acknowledged. A paused campaign does not block itself, so it can be
 * resumed.
 */
export async function senderBlock({
  id,
  projectId,
  fromEmail,
}: Pick<Campaign, 'id' | 'projectId' | 'fromEmail'>): Promise<string | undefined> {
  const { rows } = await pool.query<{ name: string; status: string; reason: string | null; from_email: string | null }>(
    `SELECT DISTINCT ON (from_email) name, status::text, pause_reason AS reason, from_email FROM campaigns
     WHERE project_id = $1 AND pause_blocks_sender AND (status = 'completed' OR status = 'paused' AND id <> $2)`,
    [projectId, id],
  );
  const domain = emailDomain(fromEmail ?? '');
  const other = rows.find((row) => emailDomain(row.from_email ?? '') === domain);
  if (other === undefined) return undefined;
  const { name, status, reason } = other;
  return status === 'completed'
    ? `After the campaign "${name}" from ${domain} was completed: ${reason} Acknowledge it first.`
    : `The campaign "${name}" from ${domain} was paused automatically: ${reason} Resume or cancel it first.`;
}

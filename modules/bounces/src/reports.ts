import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { addToCampaignCounts } from '@postroom/campaigns/sql';
import {
  bounceClassOf,
  campaignNotice,
  countSoftBounces,
  EMAIL_EVENT_MEMBERS,
  endStreaks,
  OF_ERASED,
  suppressAll,
} from '@postroom/ledger';
import { recordFacts } from '@postroom/ledger/sql';
import { rowsById, rowWithId, valueById } from '@postroom/partitions/sql';
import { emailKey, exponentialDelays, messageKeySql, newId, pool, recordSelected } from '@postroom/platform';
import { classify } from '@postroom/smtp';
import type { MessageRecipient } from '@postroom/unsubscribe';

/** A report about an accepted message, from a provider or the development inbox. */
export interface Report {
  /** The message's id, as in its Message-ID. */
  messageId: string;
  kind: 'delivered' | 'bounced' | 'complained' | 'rejected';
  /** The server's reply; determines whether a bounce is permanent. */
  detail?: string | undefined;
  at: Date;
  /** The recipient it concerns, for an email to several; the first by default. */
  recipient?: string | undefined;
}

const KINDS = ['delivered', 'bounced', 'complained', 'rejected'] as const;

/** What the reports say about the message `m`. */
const known = valueById('known_by_id', 'm.id');

/**
 * Records any number of reports in one statement: sets each timestamp once, updates campaign counters and records one event
 * per new fact. A report proves that an `unknown` message, or one queued for retry, was accepted, so that is recorded too.
 * Rows are locked in id order and before campaigns, like in every ledger write, to avoid deadlocks. Mail from mailbox accounts
 * has no reports: its bounces go to the mailbox (spec: connected mailbox-provider accounts). Messages are found by primary key, and
 * the other recipients of an email by the partial index on `copy_of`.
 */
const RECORD = `
  WITH report AS (
    SELECT coalesce(copy.id, r.id) AS id, r.kind, r.detail, r.at, r.bounce_class
    FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $7::bounce_class[])
      AS r(id, kind, detail, at, recipient, bounce_class)
    LEFT JOIN messages copy ON r.recipient IS NOT NULL AND copy.copy_of = r.id AND ${messageKeySql('copy')} = r.recipient
  ), told AS (
    SELECT id, min(detail) FILTER (WHERE kind <> 'delivered') AS detail, min(at) AS at,
      min(bounce_class) AS bounce_class, min(detail) FILTER (WHERE kind = 'bounced') AS bounce_reason,
      ${KINDS.map((kind) => `min(at) FILTER (WHERE kind = '${kind}') AS ${kind}`).join(', ')}
    FROM report GROUP BY id ORDER BY id
  ), known AS (
    SELECT m.id, m.state AS before, t.detail, t.at AS reported_at, t.bounce_class,
      CASE WHEN NOT ${OF_ERASED} THEN t.bounce_reason END AS bounce_reason,
      m.state = 'unknown' OR m.state = 'planned' AND m.claim IS NOT NULL AS resolved,
      ${KINDS.map((kind) => `CASE WHEN m.${kind}_at IS NULL THEN t.${kind} END AS ${kind}`).join(', ')}
    FROM told t CROSS JOIN LATERAL ${rowWithId('messages', 'm', 't.id', 'AND m.mailbox_id IS NULL FOR NO KEY UPDATE')} m
  ), known_by_id AS (
    ${rowsById('known')}
  ), changed AS (
    ${recordFacts(
      KINDS,
      known,
      { when: known('resolved', 'boolean'), at: known('reported_at') },
      { bounce_class: 'bounce_class', bounce_reason: 'text' },
    )}
    WHERE m.id = ANY (ARRAY(SELECT id FROM known WHERE coalesce(${KINDS.join(', ')}) IS NOT NULL))
    RETURNING m.*, ${known('before', 'text')} AS before, ${known('resolved', 'boolean')} AS resolved, ${known('detail', 'text')} AS detail,
      ${KINDS.map((kind) => `${known(kind)} AS ${kind}`).join(', ')}
  ), fact AS (
    SELECT m.*, f.type, f.number FROM changed m CROSS JOIN LATERAL (VALUES
      ('email.sent', 0, m.resolved),
      ${KINDS.map((kind, index) => `('email.${kind}', ${index + 1}, m.${kind} IS NOT NULL)`).join(', ')}
    ) AS f(type, number, holds) WHERE f.holds
  ), recorded AS (
    ${recordSelected(`SELECT ids.id, m.project_id, m.type, CASE WHEN m.type IN ('email.bounced', 'email.rejected')
      THEN json_build_object(${EMAIL_EVENT_MEMBERS}, 'reason', CASE WHEN ${OF_ERASED} THEN '' ELSE coalesce(m.detail, '') END)
      ELSE json_build_object(${EMAIL_EVENT_MEMBERS}) END
    FROM (SELECT *, row_number() OVER (ORDER BY number, id) AS nth FROM fact) m
    JOIN unnest($6::text[]) WITH ORDINALITY AS ids(id, nth) ON ids.nth = m.nth
    LEFT JOIN campaigns c ON c.id = m.campaign_id`)}
  ), counted AS (
    SELECT campaign_id, count(*) FILTER (WHERE resolved) AS resolved, count(*) FILTER (WHERE resolved AND before = 'unknown') AS known,
      ${KINDS.map((kind) => `count(${kind}) AS ${kind}`).join(', ')}
    FROM changed WHERE campaign_id IS NOT NULL GROUP BY campaign_id
  ), locked AS (
    SELECT id FROM campaigns WHERE id IN (SELECT campaign_id FROM counted) ORDER BY id FOR NO KEY UPDATE
  ), counters AS (
    ${addToCampaignCounts(
      {
        delivered: 'n.delivered',
        bounced: 'n.bounced',
        rejected: 'n.rejected',
        complained: 'n.complained',
        accepted: 'n.resolved',
        unknown: '-n.known',
      },
      'FROM counted n JOIN locked l ON l.id = n.campaign_id WHERE c.id = l.id',
    )}
  )
  SELECT m.project_id AS "projectId", m.campaign_id AS "campaignId", m.id AS "messageId", m.email, m.detail,
    m.delivered IS NOT NULL AS delivered, m.bounced IS NOT NULL AS bounced, m.complained IS NOT NULL AS complained
  FROM changed m`;

interface Changed {
  projectId: string;
  campaignId: string | null;
  messageId: string;
  email: string;
  detail: string | null;
  delivered: boolean;
  bounced: boolean;
  complained: boolean;
}

/** How long a report waits for its message, in milliseconds. A worker that was killed leaves a message claimed for longer. */
export const MAX_WAIT_MS = 2_000;
/** How long to wait before the message is read again, in milliseconds. */
const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 250;

/**
 * Waits until a worker has recorded that the message was accepted, so that `email.sent` comes before what follows from it: a server may report on
 * a message before the worker has committed the server's reply. Call it outside of a transaction.
 */
export async function waitUntilSettled(messageId: string): Promise<void> {
  const until = performance.now() + MAX_WAIT_MS;
  for (const delayMs of exponentialDelays(FIRST_WAIT_MS, LONGEST_WAIT_MS)) {
    const { rowCount } = await pool.query({
      name: 'bounces-is-claimed',
      text: "SELECT FROM messages WHERE id = $1 AND state = 'claimed'",
      values: [messageId],
    });
    if (rowCount === 0 || performance.now() > until) return;
    await sleep(delayMs);
  }
}

/**
 * Records reports in the caller's transaction. Idempotent; reports about unknown messages are ignored. Suppresses addresses
 * that hard-bounced, soft-bounced too many times in a row, or complained.
 */
export async function recordReports(client: pg.ClientBase, reports: readonly Report[]): Promise<void> {
  if (reports.length === 0) return;
  // PostgreSQL may keep a named statement's plan; one made while there were few messages would scan them all for each report.
  await client.query('SET LOCAL enable_seqscan = off');
  const { rows } = await client.query<Changed>({
    name: 'emails-record-reports',
    text: RECORD,
    values: [
      reports.map(({ messageId }) => messageId),
      reports.map(({ kind }) => kind),
      reports.map(({ detail }) => detail ?? null),
      reports.map(({ at }) => at),
      reports.map(({ recipient }) => (recipient === undefined ? null : emailKey(recipient))),
      // At most two events per report: its own, and `email.sent` if the message turns out to have been accepted.
      Array.from({ length: reports.length * 2 }, () => newId('evt')),
      reports.map(({ kind, detail }) => (kind === 'bounced' ? bounceClassOf(detail) : null)),
    ],
  });
  await endStreaks(
    client,
    rows.filter(({ delivered, bounced }) => delivered && !bounced),
  );
  const softBounced = await countSoftBounces(
    client,
    rows.filter(({ bounced, detail }) => bounced && classify(detail ?? '').verdict === 'soft_bounce'),
  );
  const hardBounced = rows.filter(({ bounced, detail }) => bounced && bounceClassOf(detail) === 'hard');
  const complained = rows.filter((row) => row.complained);
  await suppressAll(client, [
    ...[...hardBounced, ...softBounced].map(({ projectId, email }) => ({
      projectId,
      email,
      reason: 'bounced' as const,
    })),
    ...complained.map(({ projectId, email }) => ({ projectId, email, reason: 'complained' as const })),
  ]);
  for (const campaignId of new Set(rows.map((row) => row.campaignId))) {
    const notice = campaignId === null ? '' : campaignNotice(campaignId);
    if (notice !== '') await client.query("SELECT pg_notify('postroom', $1)", [notice]);
  }
}

/**
 * Records a report about a deleted message: still suppresses an address that hard-bounced or complained. The caller must have
 * verified that the message was sent to `email`.
 */
export async function recordLateReport(
  client: pg.ClientBase,
  { projectId, email }: MessageRecipient,
  { kind, detail }: Pick<Report, 'kind' | 'detail'>,
): Promise<void> {
  const reason =
    kind === 'complained' ? kind : kind === 'bounced' && bounceClassOf(detail) === 'hard' ? kind : undefined;
  const { rowCount } = await client.query('SELECT FROM projects WHERE id = $1', [projectId]);
  if (reason !== undefined && rowCount === 1) await suppressAll(client, [{ projectId, email, reason }]);
}

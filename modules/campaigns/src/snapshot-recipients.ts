import { Parameters } from '@postroom/contacts';
import type { Audience, AudienceSnapshot, ContactRange } from '@postroom/groups';
import { audienceSnapshot, audienceSql, checkAudience, disableNestedLoops } from '@postroom/groups';
import { mailboxIdFor } from '@postroom/transports';
import { insertRecipients } from '@postroom/ledger/sql';
import { DomainError, inTransaction, record } from '@postroom/platform';
import type pg from 'pg';
import { campaignStarted } from './events.ts';
import { dueAtSql, insertCounted } from './local-time.ts';
import { shareSql } from './share.ts';

interface Row {
  id: string;
  projectId: string;
  name: string;
  fromEmail: string | null;
  groupIds: string[];
  segmentIds: string[];
  excludedGroupIds: string[];
  excludedSegmentIds: string[];
  localTime: string | null;
  timeZone: string | null;
  timeZoneField: string | null;
  abTestId: string | null;
  shareFrom: number | null;
  shareTo: number | null;
  status: string;
  frozenAt: Date | null;
  /** Set while ranges are left. */
  audience: AudienceSnapshot | null;
  prefix: string | null;
  until: string | null;
  cursor: string | null;
  recipients: number;
  suppressed: number;
}

/** How many recipients a campaign has so far, including suppressed ones, and how many are suppressed. */
export interface RecipientSnapshot {
  recipients: number;
  suppressed: number;
  /** Set while ranges are left. Part of workflow histories, as are the other fields. */
  isCounting?: true;
  /** How many workers should send it; its run alone if omitted. */
  shards?: number;
}

/** Contacts of the first range, which is written in a few tenths of a second. */
const FIRST_RANGE = 10_000;
/** How many times larger each range is than the one before. */
const GROWTH = 4;
/**
 * Contacts of the largest range, which takes a second: while a transaction runs, PostgreSQL can't reuse the room of the rows that are being claimed
 * and settled. The conditions of a segment may have to be evaluated as a whole for each range, so there are fewer of those.
 */
const LARGEST_RANGE = 100_000;
const LARGEST_RANGE_WITH_SEGMENTS = 1_000_000;

interface Options {
  /** Stop after the first range with recipients, so that sending can begin. */
  isFirst?: boolean;
  /** Contacts of the first range. */
  rangeSize?: number;
}

/**
 * Writes one message per contact of the audience into the ledger; suppressed contacts are marked as such. It takes the contacts in
 * ranges of ids, up to the newest contact at the start. Each range commits with the cursor behind it, so a crash repeats none, and
 * decides by the contacts and the members of groups as they are then, and by the conditions of segments as they were at the first range.
 * The last range records `campaign.started` with the number of recipients.
 */
export async function snapshotRecipients(
  campaignId: string,
  { isFirst = false, rangeSize = FIRST_RANGE }: Options = {},
): Promise<RecipientSnapshot> {
  for (let size = rangeSize; ; size *= GROWTH) {
    const snapshot = await inTransaction((client) => takeRange(client, campaignId, size, isFirst));
    if (snapshot.isCounting === undefined || (isFirst && snapshot.recipients > 0)) return snapshot;
  }
}

async function takeRange(
  client: pg.ClientBase,
  campaignId: string,
  size: number,
  isFirst: boolean,
): Promise<RecipientSnapshot> {
  const campaign = await lockSnapshot(client, campaignId);
  if (campaign === undefined) return { recipients: 0, suppressed: 0 };
  const { frozenAt, status, recipients, suppressed } = campaign;
  // A campaign canceled before its snapshot never gets recipients and never counts as started.
  if (frozenAt !== null || status === 'canceled') return { recipients, suppressed };
  if (isFirst && recipients > 0) return { recipients, suppressed, isCounting: true };
  const range = await nextRange(client, campaign, size);
  const audience = await audienceSnapshot(campaign.projectId, campaign, campaign.audience);
  const selected = { ...campaign, ...audience };
  const inserted = await insertMessages(client, selected, range);
  await checkAudience(client, campaign.projectId, selected);
  const { rows } = await client.query<{ recipients: number; suppressed: number }>(
    `UPDATE campaigns SET snapshot_prefix = $2, snapshot_until = $3, snapshot_cursor = $4, recipient_count = recipient_count + $5,
       suppressed_count = suppressed_count + $6, frozen_at = CASE WHEN $7 THEN now() END,
       snapshot_audience = CASE WHEN NOT $7 THEN $8::jsonb END
     WHERE id = $1 AND status <> 'canceled' RETURNING recipient_count AS recipients, suppressed_count AS suppressed`,
    [campaignId, range.prefix, range.until, range.to, inserted.recipients, inserted.suppressed, range.isLast, audience],
  );
  const [counts] = rows;
  // It was canceled meanwhile. The error takes the range back, and the next attempt finds the campaign canceled.
  if (counts === undefined) throw new DomainError('conflict', 'The campaign was canceled during its snapshot.');
  if (!range.isLast) return { ...counts, isCounting: true };
  await record(client, campaign.projectId, [campaignStarted(campaign, counts.recipients)]);
  return counts;
}

/** Ends the snapshot of a canceled campaign that has recipients already: it was started, and gets no more of them. */
export async function endSnapshot(campaignId: string): Promise<void> {
  await inTransaction(async (client) => {
    const campaign = await lockSnapshot(client, campaignId);
    if (campaign === undefined || campaign.frozenAt !== null || campaign.recipients === 0) return;
    await client.query('UPDATE campaigns SET frozen_at = now(), snapshot_audience = NULL WHERE id = $1', [campaignId]);
    await record(client, campaign.projectId, [campaignStarted(campaign, campaign.recipients)]);
  });
}

/** SQL that waits until a range that is being written is committed, and makes later ones wait until the transaction ends. */
export const lockSnapshotShared = (campaignId: string) =>
  `pg_advisory_xact_lock_shared(hashtextextended(${campaignId}, 2))`;

/** Serializes attempts without locking the campaign's row, which must stay free for claims, pause and cancel. */
async function lockSnapshot(client: pg.ClientBase, campaignId: string): Promise<Row | undefined> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 2))', [campaignId]);
  const { rows } = await client.query<Row>(
    `SELECT id, project_id AS "projectId", name, from_email AS "fromEmail", status::text, frozen_at AS "frozenAt",
       group_ids AS "groupIds", segment_ids AS "segmentIds", excluded_group_ids AS "excludedGroupIds",
       excluded_segment_ids AS "excludedSegmentIds", local_time AS "localTime", time_zone AS "timeZone",
       time_zone_field AS "timeZoneField", ab_test_id AS "abTestId", share_from AS "shareFrom", share_to AS "shareTo",
       snapshot_audience AS audience, snapshot_prefix AS prefix, snapshot_until AS until, snapshot_cursor AS cursor,
       recipient_count AS recipients, suppressed_count AS suppressed
     FROM campaigns WHERE id = $1`,
    [campaignId],
  );
  return rows[0];
}

interface Range {
  /** What the ids of all messages of the campaign begin with: the time of the first range. */
  prefix: string;
  /** The contacts after `from`, up to and including `to`. */
  from: string;
  to: string;
  /** The last contact of the last range. */
  until: string;
  isLast: boolean;
}

/** The contacts behind the cursor. Those that are added to the project from the first range on are not part of the campaign. */
async function nextRange(client: pg.ClientBase, { projectId, ...known }: Row, wanted: number): Promise<Range> {
  const hasSegments = known.segmentIds.length + known.excludedSegmentIds.length > 0;
  const size = Math.min(wanted, hasSegments ? LARGEST_RANGE_WITH_SEGMENTS : LARGEST_RANGE);
  const from = known.cursor ?? '';
  const { rows } = await client.query<{ prefix: string; until: string; to: string | null }>(
    `SELECT coalesce($2, left(postroom_id('eml'), 18)) AS prefix,
       coalesce($3, (SELECT id FROM contacts WHERE project_id = $1 ORDER BY id DESC LIMIT 1), '') AS until,
       (SELECT id FROM contacts WHERE project_id = $1 AND id > $4 ORDER BY id OFFSET $5 LIMIT 1) AS to`,
    [projectId, known.prefix, known.until, from, size - 1],
  );
  const { prefix, until, to } = rows[0] as (typeof rows)[number];
  const isLast = to === null || to >= until;
  return { prefix, from, to: isLast ? until : to, until, isLast };
}

async function insertMessages(
  client: pg.ClientBase,
  {
    id,
    projectId,
    fromEmail,
    recipients: before,
    localTime,
    timeZone,
    timeZoneField,
    abTestId,
    shareFrom,
    shareTo,
    ...audience
  }: Row & Audience,
  { prefix, from, to }: Range,
): Promise<RecipientSnapshot> {
  const parameters = new Parameters();
  const project = parameters.add(projectId);
  const campaign = parameters.add(id);
  const mailbox = parameters.add(await mailboxIdFor(projectId, fromEmail ?? ''));
  const [after, last] = [parameters.add(from), parameters.add(to)];
  const range: ContactRange = (contactId) => `${contactId} > ${after} AND ${contactId} <= ${last}`;
  const condition = await audienceSql(projectId, audience, parameters, range);
  const share = abTestId === null ? 'true' : shareSql({ abTestId, shareFrom, shareTo }, parameters, range);
  const messageId = idSql(parameters.add(prefix), parameters.add(before));
  const dueAt = await dueAtSql(client, { projectId, localTime, timeZone, timeZoneField }, { from, to }, parameters);
  await disableNestedLoops(client);
  const insert =
    insertRecipients(`SELECT ${messageId}, c.project_id, ${campaign}, ${mailbox}, c.id, c.email, ${STORED_KEY},
       CASE WHEN c.suppressed THEN 'suppressed' ELSE 'planned' END::message_state,
       CASE WHEN c.suppressed THEN ${SUPPRESSED_ANSWER} END, CASE WHEN c.suppressed THEN now() END,
       ${dueAt === undefined ? 'NULL::timestamptz' : `CASE WHEN NOT c.suppressed THEN ${dueAt} END`}
     FROM contacts c WHERE c.project_id = ${project} AND ${condition} AND ${share} ORDER BY c.id`);
  const inserted = await client.query<{ recipients: number }>(
    dueAt === undefined ? insert : insertCounted(insert, campaign),
    parameters.values,
  );
  const { rows } = await client.query<{ suppressed: number }>(
    `SELECT count(*)::int AS suppressed FROM messages
     WHERE campaign_id = $1 AND unsent_at IS NOT NULL AND state = 'suppressed' AND id >= $2 || lpad(to_hex(($3::bigint + 1) << 16), 12, '0')`,
    [id, prefix, before],
  );
  return { recipients: inserted.rows[0]?.recipients ?? inserted.rowCount ?? 0, suppressed: rows[0]?.suppressed ?? 0 };
}

/**
 * The id of each message, in contact order. Calling `postroom_id` per row took 40 % of the snapshot. Instead, one call supplies the
 * time prefix of the campaign; the last twelve hex digits are a 32-bit row number, which counts on from the ranges `before`, and 16
 * random bits.
 */
const idSql = (prefix: string, before: string) =>
  `${prefix}::text || lpad(to_hex((${before}::bigint + row_number() OVER (ORDER BY c.id) << 16) + floor(random() * 65536)::bigint), 12, '0')`;

/** The same rule as `storedEmailKey`. */
const STORED_KEY = `nullif(c.email_key, lower(c.email COLLATE "C"))`;

const SUPPRESSED_ANSWER = `'Not sent: the address is suppressed (' || coalesce((SELECT min(s.reason)::text FROM suppressions s
  WHERE s.project_id = c.project_id AND s.email_key = c.email_key), '') || ').'`;

import {
  analyzeChanged,
  configuredArchive,
  dropPartitions,
  extendPartitions,
  withTableLocked,
} from '@postroom/partitions';
import {
  config,
  databaseNow,
  DomainError,
  inTransaction,
  pool,
  queryPatiently,
  type RetentionOptions,
} from '@postroom/platform';
import { DELETE_HITS_BETWEEN, DELETE_LINKS_BETWEEN, ofMessagesBetween } from '@postroom/tracking/sql';

const DAY_MS = 24 * 60 * 60 * 1000;

const MESSAGES = { name: 'messages', prefix: 'eml' } as const;
/** Partitioned by message, so that a content is in the partition of the same time as its message. */
const CONTENTS = { name: 'message_contents', prefix: 'eml' } as const;

/** The length of partitions by retention, so that there are at most 13: each costs every statement that reads all of them. */
const LENGTHS = [
  { days: 13 * 7, length: '1 week' },
  { days: 13 * 30, length: '1 month' },
  { days: 13 * 91, length: '3 months' },
  { days: Infinity, length: '1 year' },
] as const;

/** The most rows of hits, links or attachments that one statement deletes. */
const BATCH = 10_000;

export interface DroppedMessages {
  partitions: number;
  /** The longest retention of a project, in days; Infinity if one keeps its messages forever. */
  longest: number;
  /** What projects with the longest retention created before this time is deleted in batches, and later with its partition. */
  batchesUntil: Date;
}

/** Everything is deleted in batches. */
export const NOTHING_DROPPED: DroppedMessages = { partitions: 0, longest: Infinity, batchesUntil: new Date(0) };

interface Options extends RetentionOptions {
  /** Marks the campaigns that have expired, of those whose message ids begin before `to`. */
  markExpired: (to: string) => Promise<void>;
}

/**
 * Creates partitions of messages and their contents, and drops those that no project keeps. What of them is needed moves to the first
 * partition: mail that may still be sent or was closed lately, and messages of campaigns that have not expired.
 */
export async function dropOldMessages({
  days = config.MESSAGE_RETENTION_DAYS,
  now = databaseNow(),
  onBatch = () => {},
  markExpired,
}: Options): Promise<DroppedMessages> {
  if (!(await arePartitioned())) return NOTHING_DROPPED;
  const { rows } = await pool.query<{ longest: number | null; forever: boolean | null }>(
    `SELECT max(coalesce(message_retention_days, $1)) AS longest, bool_or(coalesce(message_retention_days, $1) IS NULL) AS forever FROM projects`,
    [days ?? null],
  );
  const longest = rows[0]?.forever === false ? (rows[0].longest ?? Infinity) : Infinity;
  const length = LENGTHS.find((each) => longest <= each.days)?.length ?? '1 year';
  for (const table of [MESSAGES, CONTENTS]) await extendPartitions(table, length);
  await analyzeChanged(MESSAGES);
  if (longest === Infinity) return NOTHING_DROPPED;
  const before = new Date(now - longest * DAY_MS);
  const messages = await dropPartitions(MESSAGES, before, {
    needed: async (partition, limit) => {
      await markExpired(partition.to);
      const { rowCount } = await pool.query(COUNTING, [partition.from, partition.to]);
      if (rowCount !== 0) return undefined;
      const needed = await readIds(NEEDED, [partition.from, partition.to, before, limit]);
      if (needed.length < limit) await deleteDependents(partition, needed, onBatch);
      return needed;
    },
    archive: configuredArchive(),
    onBatch,
  });
  // Not archived: contents have their own retention, and are too large for files made in memory.
  const contents = await dropPartitions(CONTENTS, before, {
    needed: ({ from, to }, limit) => readIds(WITH_MESSAGE, [from, to, limit]),
    onBatch,
  });
  return { partitions: messages.partitions + contents.partitions, longest, batchesUntil: messages.batchesUntil };
}

/** What is created before this time is deleted in batches. @param before when the project's retention began. */
export const batchesBefore = (
  { longest, batchesUntil }: DroppedMessages,
  { days, before }: { days: number; before: Date },
): Date => (days < longest || before < batchesUntil ? before : batchesUntil);

const OPEN_OR_RECENT =
  "(m.state IN ('planned', 'claimed') OR coalesce(m.accepted_at, m.unsent_at, m.created_at) >= $3)";

/** An email is needed as a whole. The copies of one that was made at the end of the partition may be in the next. */
const NEEDED = `
  WITH email AS (
    SELECT coalesce(m.copy_of, m.id) AS id FROM messages m
    WHERE m.id >= $1 AND m.id < $2 AND m.campaign_id IS NULL AND ${OPEN_OR_RECENT}
    UNION
    SELECT m.copy_of FROM messages m WHERE m.copy_of >= $1 AND m.copy_of < $2 AND m.id >= $2 AND ${OPEN_OR_RECENT}
  )
  SELECT m.id FROM messages m LEFT JOIN campaigns c ON c.id = m.campaign_id
  WHERE m.id >= $1 AND m.id < $2 AND CASE WHEN m.campaign_id IS NULL THEN coalesce(m.copy_of, m.id) IN (SELECT id FROM email)
    ELSE c.recipients_deleted_at IS NULL AND c.id IS NOT NULL END
  LIMIT $4`;

/** A campaign whose recipients are still being counted gets more messages. */
const COUNTING = `
  SELECT FROM campaigns WHERE snapshot_prefix >= $1 AND snapshot_prefix < $2 AND frozen_at IS NULL AND status <> 'canceled' LIMIT 1`;

const WITH_MESSAGE = `
  SELECT c.message_id AS id FROM message_contents c
  WHERE c.message_id >= $1 AND c.message_id < $2 AND EXISTS (SELECT FROM messages m WHERE m.id = c.message_id) LIMIT $3`;

const DELETE_ATTACHMENTS_BETWEEN = `DELETE FROM message_attachments WHERE ${ofMessagesBetween('message_attachments', 'message_id')}`;

async function readIds(text: string, values: unknown[]): Promise<string[]> {
  return (await queryPatiently<{ id: string }>(text, values)).map(({ id }) => id);
}

/** Deletes the rows of messages in tables without partitions, before the messages are dropped with their partition. */
async function deleteDependents(
  { from, to }: { from: string; to: string },
  needed: readonly string[],
  onBatch: () => void,
): Promise<void> {
  for (const text of [DELETE_HITS_BETWEEN, DELETE_LINKS_BETWEEN, DELETE_ATTACHMENTS_BETWEEN])
    for (let deleted = BATCH; deleted === BATCH; onBatch()) {
      const { rowCount } = await pool.query(text, [from, to, needed, BATCH]);
      deleted = rowCount ?? 0;
    }
}

const IS_PARTITIONING = `pg_try_advisory_xact_lock(hashtext('postroom partition messages'))`;

/** Whether messages are partitioned. If not, this cleans up after an interrupted `partitionMessages`. */
async function arePartitioned(): Promise<boolean> {
  const { rows } = await pool.query<{ partitioned: boolean; bounded: boolean }>(
    `SELECT messages_are_partitioned() AS partitioned, EXISTS (SELECT FROM pg_constraint WHERE conname = 'messages_past_bound') AS bounded`,
  );
  if (rows[0]?.partitioned === true) return true;
  if (rows[0]?.bounded === true)
    await withTableLocked(MESSAGES.name, `SELECT CASE WHEN ${IS_PARTITIONING} THEN unbound_messages() END`, []);
  return false;
}

/**
 * Makes the tables of messages and their contents the first partitions of partitioned ones, while programs run. Every program must be of a
 * release that has this function: earlier ones have statements that are unsafe on a partitioned table.
 * @throws DomainError `conflict` if they are partitioned, this runs already, or others don't release the tables for seconds.
 */
export async function partitionMessages(): Promise<void> {
  await inTransaction(async (holder) => {
    const { rows } = await holder.query<{ mine: boolean; partitioned: boolean }>(
      `SELECT ${IS_PARTITIONING} AS mine, messages_are_partitioned() AS partitioned`,
    );
    if (rows[0]?.partitioned === true) throw new DomainError('conflict', 'Messages are already partitioned.');
    if (rows[0]?.mine !== true) throw new DomainError('conflict', 'Messages are already being partitioned.');
    const step = async (text: string) => {
      if (!(await withTableLocked(MESSAGES.name, text, [])))
        throw new DomainError('conflict', 'The tables are in use. Nothing was changed; try again.');
    };
    await step('SELECT bound_messages()');
    try {
      for (const { name } of [MESSAGES, CONTENTS])
        await queryPatiently(`ALTER TABLE ${name} VALIDATE CONSTRAINT ${name}_past_bound`, []);
      await step('SELECT partition_messages()');
    } catch (error) {
      await step('SELECT unbound_messages()');
      throw error;
    }
  });
  await analyzeChanged(MESSAGES);
}

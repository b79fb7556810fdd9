import { ALL_IDS, isIdWithin } from '@postroom/partitions/sql';
import { databaseTime, inTransaction, pool, queryPatiently } from '@postroom/platform';
import {
  beginEpochWithWitnesses,
  holdSending,
  type Installation,
  promotedReason,
  readInstallation,
  readReservations,
  readWitnesses,
  supersededReason,
} from './installation.ts';
import { CONSEQUENCES } from './ledger.ts';
import { ledgerPool } from './ledger-pool.ts';
import { messageIdsOf } from './message-table.ts';
import { MAIL_POLICY } from './policy.ts';
import { isLater, latestOf, type Reservation } from './witness.ts';

/** Shown as the answer of messages that a restore made uncertain. */
const RESTORED_ANSWER = 'May have been sent before the database was restored to an earlier time.';

/** Why sending is held meanwhile. */
const RESTORED = 'The database was restored to an earlier time.';

/** What was found after a restore. */
interface Restored {
  before: Installation;
  /** The epoch that has begun with the witnesses. */
  next: Pick<Installation, 'epoch' | 'number'>;
  /** The time of the last commit that PostgreSQL recovered; null if it has been restarted since, or did not recover. */
  recoveredUntil: Date | null;
  /** The reservations that may have been used since the restored point, the last of each scope. */
  reservations: Reservation[];
}

/**
 * Compares the database with its witnesses. If it is older, or if PostgreSQL was promoted or recovered, it holds sending and begins the next
 * epoch with the witnesses, so that nothing more is reserved in the database before this one, should it still run.
 * @returns undefined if neither is the case.
 */
export async function findRestore(): Promise<Restored | undefined> {
  const [before, known, witnessed] = [await readInstallation(), await readReservations(), await readWitnesses()];
  const isRestored = witnessed.some((reservation) => isLater(reservation, before));
  if (!isRestored && before.timelineChange === null) return undefined;
  await holdSending(before, isRestored ? RESTORED : promotedReason(before.timelineChange));
  const newest = newestOf(before, witnessed);
  const epoch = newest.epoch + 1;
  await beginEpochWithWitnesses({
    scope: 'installation',
    position: '',
    until: databaseTime().toISOString(),
    epoch,
    number: newest.number + 1,
  });
  // From now on this is the newest database, also if another one had taken over from it, or from the one that it is a copy of.
  await ledgerPool.query('UPDATE installation SET held_reason = $1 WHERE held_reason = $2', [
    RESTORED,
    supersededReason(before),
  ]);
  const last = await readWitnesses();
  const later = last.filter((reservation) => reservation.epoch < epoch && isLater(reservation, before));
  const number = Math.max(before.number, ...last.map((reservation) => reservation.number)) + 1;
  const reservations = latestOf([...inForce(known), ...later]);
  return { before, next: { epoch, number }, recoveredUntil: await readRecoveredUntil(), reservations };
}

async function readRecoveredUntil(): Promise<Date | null> {
  const { rows } = await ledgerPool.query<{ at: Date | null }>('SELECT pg_last_xact_replay_timestamp() AS at');
  return rows[0]?.at ?? null;
}

const newestOf = (before: Installation, reservations: readonly Reservation[]) =>
  reservations.reduce<Pick<Reservation, 'epoch' | 'number'>>((a, b) => (isLater(b, a) ? b : a), before);

/**
 * Reservations that were still in force at the restored point, which is not known but came after the newest of them: messages may
 * have been claimed under them later.
 */
function inForce(known: readonly Reservation[]): Reservation[] {
  const newest = Math.max(...known.map(({ until }) => Date.parse(until)));
  return known.filter(({ until }) => Date.parse(until) >= newest - MAIL_POLICY.reservation.validMs);
}

/** What a scope covers, as SQL about `messages m` with the parameters scope id, position and until. */
const COVERED: Record<string, string> = {
  campaign: `m.campaign_id = $1 AND (m.state = 'claimed' OR m.not_before IS NULL AND m.id <= $2 OR m.not_before <= $3::timestamptz)`,
  queue: `m.project_id = $1 AND m.campaign_id IS NULL AND m.mailbox_id IS NULL AND m.deferred_at IS NULL
    AND (m.state = 'claimed' OR m.not_before <= least($2::timestamptz, $3::timestamptz))`,
  retries: `m.project_id = $1 AND m.campaign_id IS NULL AND (m.mailbox_id IS NOT NULL OR m.deferred_at IS NOT NULL)
    AND (m.state = 'claimed' OR m.not_before <= least($2::timestamptz, $3::timestamptz))`,
};

const OPEN = ['planned', 'claimed'] as const;

/** Marks the covered messages of one state, which are also in `uncertain`. */
const markOf = (before: (typeof OPEN)[number]) => `
    UPDATE messages m SET state = 'unknown', unsent_at = now(), not_before = NULL, workflow_id = NULL, answer = $4,
      dispatched_at = CASE WHEN m.campaign_id IS NULL THEN coalesce(m.dispatched_at, now()) END
    WHERE m.id = ANY (ARRAY(SELECT id FROM uncertain WHERE before = '${before}')) AND ${isIdWithin('m.id', '$5', '$6')}
    RETURNING m.*, '${before}'::message_state AS before, NULL::text AS event_id`;

const MARK = (covered: string) => `
  WITH uncertain AS (
    SELECT m.id, m.state AS before FROM messages m WHERE ${covered} AND ${isIdWithin('m.id', '$5', '$6')} AND m.state IN ('planned', 'claimed')
    ORDER BY m.id FOR NO KEY UPDATE
  ), ${OPEN.map(
    (before) => `marked_${before} AS (${markOf(before)}
  )`,
  ).join(', ')}, settled AS (
    ${OPEN.map((before) => `SELECT * FROM marked_${before}`).join(' UNION ALL ')}
  ), ${CONSEQUENCES}
  SELECT count(*)::int AS marked FROM settled`;

/** Marks the open messages that a reservation covers as unknown: they may have been sent. @returns their number. */
export async function markUncertain({ scope, position, until }: Reservation): Promise<number> {
  const [kind = '', id = ''] = scope.split(' ');
  const covered = COVERED[kind];
  if (covered === undefined) return 0;
  const { lowest, highest } = kind === 'campaign' ? await messageIdsOf(id) : ALL_IDS;
  const values = [id, position, until, RESTORED_ANSWER, lowest, highest];
  // Without parallel statements, an index that is missing only costs time.
  const [row] = await queryPatiently<{ marked: number }>(MARK(covered), values);
  return row?.marked ?? 0;
}

/** Begins the epoch in the database as well. Sending stays held. */
export async function beginEpoch({ next, reservations }: Restored): Promise<void> {
  await inTransaction(async (client) => {
    await client.query(
      `INSERT INTO sending_reservations (scope, position, until, epoch, number)
       SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::int[], $5::int[])
       ON CONFLICT (scope) DO UPDATE SET position = excluded.position, until = excluded.until, epoch = excluded.epoch,
         number = excluded.number`,
      [
        reservations.map(({ scope }) => scope),
        reservations.map(({ position }) => position),
        reservations.map(({ until }) => until),
        reservations.map(({ epoch }) => epoch),
        reservations.map(({ number }) => number),
      ],
    );
    await client.query('UPDATE installation SET epoch = $1, number = $2, timeline = current_timeline()', [
      next.epoch,
      next.number,
    ]);
  }, ledgerPool);
}

/** Lets mail be sent again. @returns whether it was held. */
export async function releaseSending(): Promise<boolean> {
  const { rowCount } = await ledgerPool.query(
    'UPDATE installation SET held_reason = NULL, held_at = NULL WHERE held_reason IS NOT NULL',
  );
  return rowCount === 1;
}

/** A message that a restore made uncertain. */
export interface Uncertain {
  id: string;
  projectId: string;
  campaignId: string | null;
  email: string;
}

/** All messages that restores made uncertain and are not resolved yet. */
export async function listUncertain(): Promise<Uncertain[]> {
  const { rows } = await pool.query<Uncertain>(
    `SELECT id, project_id AS "projectId", campaign_id AS "campaignId", email FROM messages
     WHERE unsent_at IS NOT NULL AND state = 'unknown' AND answer = $1 ORDER BY project_id, campaign_id, id`,
    [RESTORED_ANSWER],
  );
  return rows;
}

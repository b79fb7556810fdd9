import { LRUCache } from 'lru-cache';
import { isIdWithin } from '@postroom/partitions/sql';
import { config, NOW } from '@postroom/platform';
import {
  announce,
  checkEpochWithWitnesses,
  compareWithWitnesses,
  heldReason,
  holdSending,
  type Installation,
  isSuperseded,
  ISO,
  readInstallation,
  heldReasonOf,
  SendingHeld,
  supersededReason,
} from './installation.ts';
import { ledgerPool } from './ledger-pool.ts';
import { messageIdsOf } from './message-table.ts';
import { MAIL_POLICY } from './policy.ts';
import { SupersededError } from './witness.ts';

/** Permission to claim messages up to a position. */
export interface Reserved {
  position: string;
  /** A claim names both, because a database that does not know them is older than this process, or another one. */
  epoch: number;
  number: number;
  /** Its end, by the clock of the database. ISO 8601. */
  until: string;
  /** A claim must not begin later, by the clock of `performance.now()`. */
  expiresAt: number;
  /** Campaigns: whether the position is the last message. Transactional mail: whether it is in the future. */
  isAll: boolean;
}

const { validMs, blockMs, minBlock, maxBlock, queueBlock, renewMs } = MAIL_POLICY.reservation;

/** The last reservation that this process made. */
let last = { epoch: 0, number: 0 };

/** The number of the last reservation that this process made: a database that does not know it is older than this process. */
export const lastNumber = (): number => last.number;

interface Row extends Omit<Reserved, 'expiresAt'> {
  scope: string;
}

/**
 * Records how far messages of a scope may be claimed: in the database, then with the witnesses.
 * @param position SQL with columns `position` and `is_all`.
 * @throws SendingHeld; an outage if a witness does not answer.
 */
async function reserve(scope: string, position: string, values: unknown[]): Promise<Reserved> {
  if (config.HOLD_SENDING) throw new SendingHeld('HOLD_SENDING is set.');
  await compareOnce();
  const expiresAt = performance.now() + validMs - renewMs;
  const before = last;
  const { rows } = await ledgerPool.query<Row>(
    `WITH reached AS (${position}), counted AS (
       UPDATE installation SET number = number + 1 WHERE held_reason IS NULL AND timeline = current_timeline() RETURNING epoch, number
     ), kept AS (
       INSERT INTO sending_reservations AS r (scope, position, until, epoch, number)
       SELECT $1, reached.position, now() + interval '${validMs} ms', epoch, number FROM counted, reached
       ON CONFLICT (scope) DO UPDATE SET position = greatest(r.position, excluded.position), until = excluded.until,
         epoch = excluded.epoch, number = excluded.number
       RETURNING *
     ) SELECT scope, kept.position, ${ISO('until')} AS until, epoch, number, is_all AS "isAll" FROM kept, reached`,
    [scope, ...values],
  );
  const [row] = rows;
  if (row === undefined) throw new SendingHeld((await heldReason()) ?? 'Sending was held.');
  const { isAll, ...reservation } = row;
  if (row.epoch < before.epoch) throw new SendingHeld(await holdSending(row, supersededReason(row)));
  if (row.epoch === before.epoch && row.number <= before.number) {
    const reason = `The database is older than this process: ${row.number} follows ${before.number}.`;
    throw new SendingHeld(await holdSending(row, reason));
  }
  if (row.epoch > last.epoch || row.number > last.number) last = { epoch: row.epoch, number: row.number };
  try {
    await announce([reservation]);
  } catch (error) {
    if (!(error instanceof SupersededError)) throw error;
    throw new SendingHeld(await holdSending(row, supersededReason(row)));
  }
  return { ...reservation, isAll, expiresAt };
}

/**
 * Runs a claim of reserved messages. What it claimed is not sent if the reservation has ended meanwhile, as when PostgreSQL was frozen: a standby
 * that was promoted may send it, because `after-restore` marks only what was claimed before the end.
 * @throws an outage, so that the claim is released.
 */
export async function whileReserved<T>(
  { expiresAt }: Pick<Reserved, 'expiresAt'>,
  claim: () => Promise<T>,
): Promise<T> {
  const claimed = await claim();
  if (performance.now() > expiresAt + renewMs)
    throw Object.assign(new Error('PostgreSQL took so long for a claim that its reservation has ended.'), {
      name: 'TimeoutError',
    });
  return claimed;
}

/**
 * Called before anything is concluded from rows: in a database that was restored, they may be older than what was sent.
 * @throws SendingHeld
 */
export async function checkNotHeld(): Promise<Installation> {
  await compareOnce();
  const installation = await readInstallation();
  const reason = await heldReasonOf(installation);
  if (reason !== undefined) throw new SendingHeld(reason);
  // A reservation of an earlier epoch allows no claim.
  if (keptOf !== installation.epoch) kept.clear();
  keptOf = installation.epoch;
  return installation;
}

/**
 * Finds out whether another database has taken over from this one. What is done in it is then lost, and a worker connected to it would take work
 * of the other one's rows from the workers that have them.
 * @returns why no worker may run; undefined if it may. @throws an outage if a witness does not answer.
 */
export async function findSuccessor(): Promise<string | undefined> {
  const { epoch, heldReason: known } = await readInstallation();
  if (known === null)
    await checkEpochWithWitnesses(epoch).catch((error: unknown) => {
      if (!(error instanceof SupersededError)) throw error;
      comparedAt = -Infinity; // this time at once
    });
  await compareOnce();
  const installation = await readInstallation();
  return isSuperseded(installation) ? supersededReason(installation) : undefined;
}

let comparedAt = -Infinity;
let comparing: Promise<void> | undefined;

/** Compares the database with its witnesses before the first reservation of this process, and regularly from then on. */
async function compareOnce(): Promise<void> {
  if (performance.now() - comparedAt < MAIL_POLICY.reservation.compareMs) return;
  comparing ??= compareWithWitnesses()
    .then(() => void (comparedAt = performance.now()))
    .finally(() => (comparing = undefined));
  await comparing;
}

/** A message id past a campaign's cursor and the last reservation ($3), by a number of messages ($4); its ids are from $5 to $6. */
const CAMPAIGN_POSITION = `
  SELECT coalesce(ahead.id, newest.id, '') AS position, ahead.id IS NULL AS is_all
  FROM (SELECT greatest($3, cursor) AS reached FROM campaigns WHERE id = $2) AS c
  LEFT JOIN LATERAL (
    SELECT id FROM messages WHERE campaign_id = $2 AND (campaign_id, id) > ($2, c.reached) AND ${isIdWithin('messages.id', '$5', '$6')}
    ORDER BY id OFFSET $4 LIMIT 1
  ) AS ahead ON true
  LEFT JOIN LATERAL (
    SELECT id FROM messages WHERE campaign_id = $2 AND ${isIdWithin('messages.id', '$5', '$6')} ORDER BY id DESC LIMIT 1
  ) AS newest ON true`;

/** How many messages the last run of a campaign reserved at a time. */
const blocks = new LRUCache<string, number>({ max: 1_000 });

/** The reservations of one run of a campaign. The next block is reserved while the current one is being sent. */
export class CampaignReservations {
  readonly #campaignId: string;
  #reserved: Reserved | undefined;
  #block: number;
  #blockAt = performance.now();
  /** Messages claimed since the last reservation, and how many of those reserved are left. */
  #claimed = 0;
  #left = 0;
  #isPassed = false;
  #extending: Promise<void> | undefined;

  constructor(campaignId: string) {
    this.#campaignId = campaignId;
    this.#block = blocks.get(campaignId) ?? minBlock;
  }

  /** How far messages may be claimed now. @throws SendingHeld; an outage. */
  async current(): Promise<Reserved> {
    if (this.#reserved === undefined || performance.now() > this.#reserved.expiresAt) await this.extend();
    else if (!this.#reserved.isAll && this.#left < this.#block / 2) void this.extend().catch(() => {});
    return this.#reserved as Reserved;
  }

  /** Counts claimed messages, to reserve the next block in time. */
  claimed(messages: number): void {
    this.#claimed += messages;
    this.#left -= messages;
  }

  /** Reserves the next block after one without messages to claim. A campaign whose messages wait for local times may have many of those. */
  pass(): Promise<void> {
    this.#isPassed = true;
    return this.extend();
  }

  /** Reserves the next block. */
  extend(): Promise<void> {
    this.#extending ??= this.#extend().finally(() => (this.#extending = undefined));
    return this.#extending;
  }

  async #extend(): Promise<void> {
    const startedAt = performance.now();
    const perBlock = this.#isPassed ? maxBlock : (this.#claimed * blockMs) / Math.max(1, startedAt - this.#blockAt);
    this.#isPassed = false;
    this.#block = Math.round(Math.min(maxBlock, this.#block * 4, Math.max(minBlock, perBlock, this.#block / 4)));
    blocks.set(this.#campaignId, this.#block);
    this.#blockAt = startedAt;
    this.#claimed = 0;
    const { lowest, highest } = await messageIdsOf(this.#campaignId);
    this.#reserved = await reserve(`campaign ${this.#campaignId}`, CAMPAIGN_POSITION, [
      this.#campaignId,
      this.#reserved?.position ?? '',
      this.#block,
      lowest,
      highest,
    ]);
    this.#left = Math.max(0, this.#left) + this.#block;
  }
}

/** Reserves a campaign's messages up to one that is known. @throws SendingHeld; an outage. */
export const reserveUpTo = (campaignId: string, messageId: string): Promise<Reserved> =>
  reserve(`campaign ${campaignId}`, 'SELECT $2::text AS position, false AS is_all', [messageId]);

/** Transactional messages are claimed in the order of `not_before`, so a queue that is long is reserved in part. */
const QUEUE_POSITION = `
  SELECT ${ISO('p.at')} AS position, p.at > now() AS is_all FROM (
    SELECT greatest((SELECT max(not_before) FROM messages WHERE workflow_id = $3 AND state = 'planned' AND mailbox_id IS NULL
        AND deferred_at IS NULL AND not_before <= ${NOW}),
      coalesce((SELECT not_before FROM messages WHERE project_id = $2 AND campaign_id IS NULL AND dispatched_at IS NULL
          AND mailbox_id IS NULL AND deferred_at IS NULL AND not_before <= ${NOW} ORDER BY not_before OFFSET ${queueBlock} LIMIT 1),
        now() + interval '${validMs} ms')) AS at
  ) AS p`;

const RETRIES_POSITION = `SELECT ${ISO(`now() + interval '${validMs} ms'`)} AS position, $2::text <> '' AS is_all`;

/** Reservations of this process by scope, while they are valid. A part of a long queue is claimed at once, and is not kept. */
const kept = new LRUCache<string, Reserved>({ max: 10_000 });
/** The epoch of those reservations. */
let keptOf = 0;
const underWay = new Map<string, Promise<Reserved>>();

/** How far a project's queued mail may be claimed: `not_before` up to the position. @throws SendingHeld; an outage. */
export const reserveQueue = (projectId: string, workflowId = ''): Promise<Reserved> =>
  reserveOnce(`queue ${projectId}`, QUEUE_POSITION, [projectId, workflowId]);

/** The same for deferred mail and that of mailbox accounts, which are sent in another order. */
export const reserveRetries = (projectId: string): Promise<Reserved> =>
  reserveOnce(`retries ${projectId}`, RETRIES_POSITION, [projectId]);

async function reserveOnce(scope: string, position: string, values: unknown[]): Promise<Reserved> {
  const known = kept.get(scope);
  const leftMs = (known?.expiresAt ?? 0) - performance.now();
  if (known !== undefined && leftMs > renewMs) return known;
  const renewal = underWay.get(scope) ?? renew(scope, position, values);
  underWay.set(scope, renewal);
  if (known === undefined || leftMs <= 0) return renewal;
  renewal.catch(() => {}); // reported to the next caller that has to wait for it
  return known;
}

async function renew(scope: string, position: string, values: unknown[]): Promise<Reserved> {
  try {
    const reserved = await reserve(scope, position, values);
    if (reserved.isAll) kept.set(scope, reserved);
    else kept.delete(scope);
    return reserved;
  } finally {
    underWay.delete(scope);
  }
}

import { config, databaseTime, logger } from '@postroom/platform';
import { ledgerPool } from './ledger-pool.ts';
import { isLater, latestOf, type Reservation, SupersededError, type Witness } from './witness.ts';

/** This database as its witnesses know it. */
export interface Installation {
  epoch: number;
  number: number;
  /** Why no mail is sent; null if it is. */
  heldReason: string | null;
  heldAt: Date | null;
  /** Set if PostgreSQL was promoted or recovered since: the timeline before and the one now. */
  timelineChange: string | null;
}

/** No mail is sent. The code makes it an outage, so that the sender tries again later and blames no message. */
export class SendingHeld extends Error {
  readonly code = 'EHELD';
}

let witnesses: readonly Witness[] = [];

/** Sets the witnesses of this process; without any, as in tests, only the database knows of reservations. */
export function setWitnesses(of: readonly Witness[]): void {
  witnesses = of;
}

/** Stores reservations with every witness. @throws SupersededError; an outage if one does not answer. */
export const announce = (reservations: readonly Reservation[]): Promise<void> =>
  tellAll((witness) => witness.announce(reservations));

/**
 * Begins an epoch with every witness. A database of an earlier epoch, such as the primary before a failover, makes no reservation from then on.
 */
export const beginEpochWithWitnesses = (first: Reservation): Promise<void> =>
  tellAll((witness) => witness.beginEpoch(first));

/** Asks every witness whether a later epoch has begun. @throws SupersededError if one has; an outage. */
export const checkEpochWithWitnesses = (epoch: number): Promise<void> =>
  tellAll((witness) => witness.checkEpoch(epoch));

async function tellAll(tell: (witness: Witness) => Promise<void>): Promise<void> {
  await Promise.all(
    witnesses.map(async (witness) => {
      try {
        await tell(witness);
      } catch (error) {
        if (error instanceof SupersededError) throw error;
        throw Object.assign(new Error(`${witness.name} did not accept reservations`, { cause: error }), {
          code: 'EWITNESS',
        });
      }
    }),
  );
}

/** What all witnesses know: the last reservation of each scope. */
export async function readWitnesses(): Promise<Reservation[]> {
  return latestOf((await Promise.all(witnesses.map(({ read }) => read()))).flat());
}

export async function readInstallation(): Promise<Installation> {
  const { rows } = await ledgerPool.query<Installation>(
    `SELECT epoch, number, held_reason AS "heldReason", held_at AS "heldAt",
       CASE WHEN timeline <> current_timeline() THEN timeline || ' to ' || current_timeline() END AS "timelineChange"
     FROM installation`,
  );
  const [installation] = rows;
  if (installation === undefined) throw new Error('The table installation has no row.');
  return installation;
}

/** Every reservation that the database knows, the newest first. */
export async function readReservations(): Promise<Reservation[]> {
  const { rows } = await ledgerPool.query<Reservation>(
    `SELECT scope, position, ${ISO('until')} AS until, epoch, number FROM sending_reservations ORDER BY epoch DESC, number DESC`,
  );
  return rows;
}

/** SQL of a time as text that sorts as the times do. */
export const ISO = (time: string): string => `to_char((${time}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Why an installation sends no mail. */
export interface SendingHold {
  reason: string;
  /** Null for `HOLD_SENDING`. */
  since: Date | null;
  /** What an operator does to release it. */
  remedy: string;
  /** Not once another database has taken over. */
  acceptsMail: boolean;
}

const RELEASE =
  'Run "postroom after-restore --list FILE", check the messages that may have been sent, then run "postroom after-restore --release". docs/how-to/restore.md explains each step.';
const STOP =
  'If this is the primary from before a failover, do not run "postroom after-restore" here: connect the programs to the database that has taken over, and stop this one; docs/how-to/disaster-recovery.md explains each step. If it was restored from a backup that is older than an earlier restore, docs/how-to/restore.md does.';
const UNSET = 'Unset HOLD_SENDING and restart the programs once mail may be sent.';

/** Why no mail is sent, since when, and what to do about it; undefined if mail is sent. */
export const sendingHold = async (): Promise<SendingHold | undefined> => holdOf(await readInstallation());

/** Why no mail is sent; undefined if it is. */
export const heldReason = async (): Promise<string | undefined> => (await sendingHold())?.reason;

/** Why an installation sends no mail; undefined if it does. A change of the timeline holds it. */
export const heldReasonOf = async (installation: Installation): Promise<string | undefined> =>
  (await holdOf(installation))?.reason;

async function holdOf(installation: Installation): Promise<SendingHold | undefined> {
  const { heldReason: known, heldAt, timelineChange } = installation;
  const acceptsMail = !isSuperseded(installation);
  if (config.HOLD_SENDING) return { reason: 'HOLD_SENDING is set.', since: null, remedy: UNSET, acceptsMail };
  if (known !== null) return { reason: known, since: heldAt, remedy: acceptsMail ? RELEASE : STOP, acceptsMail };
  if (timelineChange === null) return undefined;
  const reason = await holdSending(installation, promotedReason(timelineChange));
  return { reason, since: databaseTime(), remedy: RELEASE, acceptsMail };
}

/**
 * Holds sending until an operator releases it. After a failover, connections of a process may lead to two databases; the other one is not held.
 * @param epoch that of the database to hold.
 * @returns the reason.
 */
export async function holdSending({ epoch }: Pick<Installation, 'epoch'>, reason: string): Promise<string> {
  await ledgerPool.query(
    'UPDATE installation SET held_reason = coalesce(held_reason, $1), held_at = coalesce(held_at, now()) WHERE epoch = $2',
    [reason, epoch],
  );
  logger.error({ reason }, 'sending is held');
  return reason;
}

/**
 * Holds sending if a witness knows a later state of the database. A new database, which has nothing to send, takes over from the
 * one before.
 */
export async function compareWithWitnesses(): Promise<void> {
  const known = await readWitnesses();
  const installation = await readInstallation();
  const newest = known.find((one) => known.every((other) => !isLater(other, one)));
  if (newest === undefined || !isLater(newest, installation) || installation.heldReason !== null) return;
  if (await isNew()) {
    await ledgerPool.query('UPDATE installation SET epoch = $1, number = $2', [newest.epoch, newest.number]);
    return;
  }
  await holdSending(
    installation,
    newest.epoch > installation.epoch
      ? supersededReason(installation)
      : `The database is older than what its witnesses know: ${installation.epoch}.${installation.number} instead of ${newest.epoch}.${newest.number}.`,
  );
}

/** Why a database is held whose timeline has changed. */
export const promotedReason = (timelineChange: string | null): string =>
  `PostgreSQL was promoted or recovered to a point in time (timeline ${timelineChange}).`;

/** Why a database is held once another one has begun a later epoch. `database_problem` and the doctor know it by its first words. */
export const supersededReason = ({ epoch }: Pick<Installation, 'epoch'>): string =>
  `Another database has taken over since epoch ${epoch}. If this one is the primary from before a failover, stop it.`;

/** Whether another database has begun a later epoch, as after a failover. What is done in this one is then lost. */
export const isSuperseded = (installation: Pick<Installation, 'epoch' | 'heldReason'>): boolean =>
  installation.heldReason === supersededReason(installation);

async function isNew(): Promise<boolean> {
  const { rows } = await ledgerPool.query<{ used: boolean }>(
    'SELECT EXISTS (SELECT FROM messages) OR EXISTS (SELECT FROM campaigns) AS used',
  );
  return rows[0]?.used === false;
}

import { type Definition, zoneOf } from '@postroom/journey-definition';
import { type FrequencyCap, frequencyCapOf, getPolicy } from '@postroom/sending-policy';
import { CONTACTS_AT_FREQUENCY_CAP, frequencyCapLock } from '@postroom/ledger/sql';
import { databaseNow, lockUntilCommit, pool, sql, type Tx } from '@postroom/platform';
import { quietUntil } from './local-time.ts';
import type { DueRun, Plan } from './plan.ts';

/** Runs by whether the limits allow a message to their contacts now. */
interface Limited {
  /** Those that may get it. */
  sending: DueRun[];
  /** Those in quiet hours, and when these end. */
  postponed: Plan['postponed'];
  /** Those that have had as many messages as they may. */
  capped: DueRun[];
  /** The frequency caps that decided. */
  caps: FrequencyCap[];
}

/** Applies quiet hours and the frequency caps of a journey and its project to runs that are to get a message that needs consent. */
export async function limitSends(
  projectId: string,
  { quietHours, frequencyCap, ...definition }: Definition,
  runs: readonly DueRun[],
): Promise<Limited> {
  const postponed = runs.flatMap((run) => {
    const until =
      quietHours === undefined
        ? undefined
        : quietUntil(zoneOf(definition, run.customFields), quietHours, databaseNow());
    return until === undefined ? [] : [{ run, until }];
  });
  const isQuiet = new Set(postponed.map(({ run }) => run.id));
  const open = runs.filter(({ id }) => !isQuiet.has(id));
  const caps = [frequencyCap, frequencyCapOf(await getPolicy(projectId))].filter((cap) => cap !== undefined);
  const over = await atCap(pool, caps, open);
  return {
    postponed,
    capped: open.filter(({ contactId }) => over.has(contactId)),
    sending: open.filter(({ contactId }) => !over.has(contactId)),
    caps,
  };
}

/**
 * Makes sure that runs are still below the caps, until the transaction ends.
 * @throws Error if not: their messages have to be planned again.
 */
export async function recheckCaps(
  tx: Tx,
  projectId: string,
  caps: readonly FrequencyCap[],
  runs: readonly DueRun[],
): Promise<void> {
  if (caps.length === 0 || runs.length === 0) return;
  await lockUntilCommit(tx, frequencyCapLock(projectId));
  const { size } = await atCap(tx, caps, runs);
  if (size > 0) throw new Error(`${size} contacts reached the frequency cap while their messages were prepared.`);
}

/** The contacts among them that have had as many messages as one of the caps allows. */
async function atCap(tx: Tx, caps: readonly FrequencyCap[], runs: readonly DueRun[]): Promise<Set<string>> {
  const ids = runs.map(({ contactId }) => contactId);
  const over = new Set<string>();
  for (const { messages, days } of caps)
    for (const { id } of await sql<{ id: string }>(tx, CONTACTS_AT_FREQUENCY_CAP, [ids, days, messages])) over.add(id);
  return over;
}

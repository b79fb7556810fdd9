import { MESSAGES_WITH_CONSENT_SINCE } from '@postroom/ledger/sql';
import { pool, sql } from '@postroom/platform';
import type { Definition } from './definition.ts';
import { EVERY_DAY, isBetween, nextLocalTimes, zoneOf } from './local-time.ts';
import type { DueRun, Plan } from './plan.ts';

/** Runs by what a journey's limits say about a message to them now. */
interface Limited {
  /** Those that may get it. */
  sending: DueRun[];
  /** Those in quiet hours, and when these end. */
  postponed: Plan['postponed'];
  /** Those that have had as many messages as they may. */
  capped: DueRun[];
}

/** Applies quiet hours and the frequency cap of a journey to runs that are to get a message that needs consent. */
export async function limitSends(definition: Definition, runs: readonly DueRun[]): Promise<Limited> {
  const { quietHours, frequencyCap } = definition;
  const quiet =
    quietHours === undefined
      ? []
      : runs
          .map((run) => ({ run, zone: zoneOf(definition, run.customFields) }))
          .filter(({ zone }) => isBetween(zone, quietHours));
  const ends = await nextLocalTimes(
    pool,
    quiet.map(({ zone }) => ({ time: quietHours?.to ?? '', weekdays: EVERY_DAY, zone })),
  );
  const isQuiet = new Set(quiet.map(({ run }) => run.id));
  const open = runs.filter(({ id }) => !isQuiet.has(id));
  const over = frequencyCap === undefined ? new Set<string>() : await overCap(frequencyCap, open);
  return {
    postponed: quiet.map(({ run }, index) => ({ run, until: ends[index] as Date })),
    capped: open.filter(({ contactId }) => over.has(contactId)),
    sending: open.filter(({ contactId }) => !over.has(contactId)),
  };
}

/** The contacts among them that have had as many messages as they may. */
async function overCap(
  { messages, days }: NonNullable<Definition['frequencyCap']>,
  runs: readonly DueRun[],
): Promise<Set<string>> {
  const rows = await sql<{ id: string }>(pool, MESSAGES_WITH_CONSENT_SINCE, [
    runs.map(({ contactId }) => contactId),
    days,
    messages,
  ]);
  return new Set(rows.map(({ id }) => id));
}

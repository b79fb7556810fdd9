import { lockContacts } from '@postroom/contacts';
import { withDefaults } from '@postroom/journey-definition';
import { DECLARED_DEFAULTS } from '@postroom/custom-events/sql';
import { sql, type Tx } from '@postroom/platform';
import { enroll, EntryProblem, type Entrant, inEntryTransaction, type OpenJourney } from './enrollments.ts';
import { lockJourney } from './journeys.ts';
import { isApplying } from './new-version.ts';
import { computeTriggeredDeparture, isEntryTrigger, type JourneyTrigger } from './rules.ts';
import { type Move, moveRuns, type Run, RUN_COLUMNS } from './transitions.ts';
import { definitionOf } from './versions.ts';

/** Triggers per transaction. */
const PAGE = 500;

interface StoredTrigger extends JourneyTrigger {
  id: string;
  contactId: string;
  createdAt: Date;
}

const FIRST = `
  SELECT id, contact_id AS "contactId" FROM journey_triggers WHERE journey_id = $1 ORDER BY id LIMIT ${PAGE}`;
const TAKE = `
  DELETE FROM journey_triggers WHERE id = ANY ($1)
  RETURNING id, kind::text, key, contact_id AS "contactId", properties, created_at AS "createdAt"`;

const OPEN_RUNS = `
  SELECT ${RUN_COLUMNS}, e.waits_for AS "waitsFor" FROM enrollments e JOIN contacts c ON c.id = e.contact_id
  WHERE e.journey_id = $1 AND e.contact_id = ANY ($2) AND e.ended_at IS NULL`;

/**
 * Processes what happened to contacts since the last call, in order: they enter the journey, reach its goal, or stop waiting. A
 * trigger is deleted in the transaction that has its effects. Pauses a journey that nobody can enter.
 * @returns how many triggers were processed.
 */
export async function processTriggers(id: string): Promise<number> {
  const processing = inEntryTransaction(async (tx) => {
    const locked = await lockJourney(tx, id);
    if (locked?.status !== 'active' || locked.publishedVersion === null || (await isApplying(tx, id))) return 0;
    const first = await sql<{ id: string; contactId: string }>(tx, FIRST, [id]);
    if (first.length === 0) return 0;
    const { projectId, publishedVersion: number, updatedAt } = locked;
    // Before their triggers and runs, as the deletion of a contact locks them.
    await lockContacts(tx, projectId, { ids: first.map(({ contactId }) => contactId), keys: [] });
    const triggers = await sql<StoredTrigger>(tx, TAKE, [first.map((trigger) => trigger.id)]);
    const journey = { id, projectId, number, updatedAt, definition: await definitionOf(tx, id, number) };
    await fillDefaults(tx, projectId, triggers);
    for (const round of splitIntoRounds(triggers)) await processRound(tx, journey, round);
    return first.length;
  });
  return processing.catch((error: unknown) => {
    if (error instanceof EntryProblem) return 0;
    throw error;
  });
}

/** A property that an event lacks takes the default that the project declared. */
async function fillDefaults(tx: Tx, projectId: string, triggers: readonly StoredTrigger[]): Promise<void> {
  const events = [...new Set(triggers.filter(({ kind }) => kind === 'event').map(({ key }) => key))];
  const defaults = await sql<{ event: string; name: string; value: unknown }>(tx, DECLARED_DEFAULTS, [
    projectId,
    events,
  ]);
  const byEvent = Map.groupBy(defaults, ({ event }) => event);
  for (const trigger of triggers)
    if (trigger.kind === 'event')
      trigger.properties = { ...withDefaults(trigger.properties, byEvent.get(trigger.key) ?? []) };
}

/** Splits triggers so that each round has at most one per contact, and each contact's stay in order. */
function splitIntoRounds(triggers: readonly StoredTrigger[]): StoredTrigger[][] {
  const result: StoredTrigger[][] = [];
  const count = new Map<string, number>();
  for (const trigger of triggers.toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id)))) {
    const round = count.get(trigger.contactId) ?? 0;
    count.set(trigger.contactId, round + 1);
    (result[round] ??= []).push(trigger);
  }
  return result;
}

async function processRound(tx: Tx, journey: OpenJourney, triggers: readonly StoredTrigger[]): Promise<void> {
  const { id, projectId, definition } = journey;
  const runs = await sql<Run & { waitsFor: string | null }>(tx, OPEN_RUNS, [
    id,
    triggers.map(({ contactId }) => contactId),
  ]);
  const runOf = new Map(runs.map((run) => [run.contactId, run]));
  const moves: Move[] = [];
  const entrants: Entrant[] = [];
  for (const trigger of triggers) {
    const run = runOf.get(trigger.contactId);
    if (run === undefined) {
      if (isEntryTrigger(definition, trigger))
        entrants.push({ contactId: trigger.contactId, properties: trigger.properties, at: trigger.createdAt });
      continue;
    }
    const ofRun = await definitionOf(tx, id, run.version);
    const departure = computeTriggeredDeparture(trigger, run, ofRun);
    if (departure !== undefined) moves.push({ run, definition: ofRun, ...departure });
  }
  if (moves.length > 0) await moveRuns(tx, projectId, moves, true);
  if (entrants.length > 0) await enroll(tx, journey, entrants);
}

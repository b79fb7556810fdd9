import { type Definition, matches, type StepOf } from '@postroom/journey-definition';
import { EVENTS_RECEIVED_SINCE } from '@postroom/custom-events/sql';
import { sql, type Tx } from '@postroom/platform';

/** A run at a step that waits for an event. */
interface EventWait {
  contactId: string;
  enteredAt: Date;
  definition: Definition;
  step: StepOf<'wait_for_event'>;
}

/**
 * Whether each contact has caused the event that its step waits for since it entered. The event that it entered with does not
 * count.
 */
export async function eventsSince(tx: Tx, projectId: string, waits: readonly EventWait[]): Promise<boolean[]> {
  if (waits.length === 0) return [];
  const rows = await sql<{ place: number; properties: Record<string, unknown> }>(tx, EVENTS_RECEIVED_SINCE, [
    projectId,
    waits.map((_, index) => index),
    waits.map(({ contactId }) => contactId),
    waits.map(({ step }) => step.event),
    waits.map(({ enteredAt }) => enteredAt),
    waits.map(({ definition: { entry }, step }) => entry.type === 'event' && entry.event === step.event),
  ]);
  const found = new Set(
    rows.filter(({ place, properties }) => matches(properties, waits[place]?.step.where)).map(({ place }) => place),
  );
  return waits.map((_, index) => found.has(index));
}

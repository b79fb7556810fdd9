import { type Tx, sql } from './db.ts';
import { newId } from './ids.ts';

/** A fact that webhooks and live views may hear of. `data` becomes the member of that name, keys in this order. */
export interface NewEvent {
  type: string;
  data: Record<string, unknown>;
}

/**
 * Records facts in the transaction that makes them true. A trigger on `events` adds one delivery for each enabled
 * endpoint that wants the type, so whoever inserts events, by whatever statement, cannot forget the webhooks.
 */
export async function record(tx: Tx, projectId: string, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await sql(
    tx,
    `INSERT INTO events (id, project_id, type, data)
     SELECT e.id, $1, e.type, e.data::json FROM unnest($2::text[], $3::text[], $4::text[]) AS e(id, type, data)`,
    [
      projectId,
      events.map(() => newId('evt')),
      events.map((event) => event.type),
      events.map((event) => JSON.stringify(event.data)),
    ],
  );
}

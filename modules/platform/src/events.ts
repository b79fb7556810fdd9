import { sql } from './db.ts';
import type { Tx } from './transaction-observer.ts';
import { newId } from './ids.ts';
import { currentTraceparent } from '@postroom/observability';

/** A fact for webhooks and subscriptions. `data` becomes the member of that name, with keys in this order. */
export interface NewEvent {
  type: string;
  data: Record<string, unknown>;
}

/**
 * Records events in the transaction that makes them true. A trigger on `events` adds one delivery per enabled
 * endpoint subscribed to the type, so no insert can skip the webhooks.
 * @returns the ids of the events.
 */
export async function record(tx: Tx, projectId: string, events: readonly NewEvent[]): Promise<string[]> {
  if (events.length === 0) return [];
  const ids = events.map(() => newId('evt'));
  const values = [
    projectId,
    ids,
    events.map((event) => event.type),
    events.map((event) => JSON.stringify(event.data)),
    currentTraceparent(),
  ];
  // Every write runs this, so outside Prisma's transactions it is a prepared statement.
  if ('$queryRawUnsafe' in tx) await sql(tx, INSERT, values);
  else await tx.query({ name: 'record', text: INSERT, values });
  return ids;
}

/** Records events in a larger statement, as the SQL of a CTE. `select` yields their id, project id, type and data. */
export const recordSelected = (select: string): string => `INSERT INTO events (id, project_id, type, data) ${select}`;

/** The same with a fifth column, the `traceparent` that their cause ran in. */
export const recordTraced = (select: string): string =>
  `INSERT INTO events (id, project_id, type, data, traceparent) ${select}`;

const INSERT = recordTraced(
  'SELECT e.id, $1, e.type, e.data::json, $5 FROM unnest($2::text[], $3::text[], $4::text[]) AS e(id, type, data)',
);

/**
 * The messages of events of one type from a period, as SQL. All arguments are SQL; `from` and `to` are event ids that enclose
 * the period, so that it is a range of the index on `(project_id, id)`.
 */
export const messagesOfEvents = (
  of: Record<'projectId' | 'type' | 'since' | 'until' | 'from' | 'to', string>,
): string =>
  `SELECT e.data->>'message_id' FROM events e WHERE e.project_id = ${of.projectId} AND e.type = ${of.type}
   AND e.id >= ${of.from} AND e.id < ${of.to} AND e.created_at >= ${of.since} AND e.created_at < ${of.until}`;

/** Deletes events `e` that match a condition, as SQL. */
export const deleteEventsWhere = (condition: string): string => `DELETE FROM events e WHERE ${condition}`;

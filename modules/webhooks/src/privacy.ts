import { type Erasure, redaction, redactionValues, sql, type Tx } from '@postroom/platform';

const ATTEMPT = redaction({ response: 'text', error: 'text', headers: 'json' });

/** Removes the person's addresses from what receivers answered. */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<void> {
  await sql(
    tx,
    `UPDATE attempts SET ${ATTEMPT.set}
     WHERE delivery_id IN (SELECT id FROM deliveries WHERE project_id = $1) AND ${ATTEMPT.mentions}`,
    redactionValues(subject),
  );
}

const EXPORT = `
  SELECT d.event_id AS "eventId",
    json_agg(json_build_object('id', d.id, 'endpointUrl', w.url, 'state', d.state) ORDER BY d.id) AS deliveries
  FROM deliveries d LEFT JOIN webhook_endpoints w ON w.id = d.endpoint_id WHERE d.event_id = ANY ($1) GROUP BY d.event_id`;

/** The deliveries of events, by event id. */
export async function exportSubject(tx: Tx, eventIds: readonly string[]): Promise<Map<string, unknown>> {
  const rows = await sql<{ eventId: string; deliveries: unknown }>(tx, EXPORT, [eventIds]);
  return new Map(rows.map(({ eventId, deliveries }) => [eventId, deliveries]));
}

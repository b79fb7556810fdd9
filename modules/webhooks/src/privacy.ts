import {
  type DataSubject,
  type ErasedRows,
  type Erasure,
  type PersonData,
  type PrivacyStage,
  redaction,
  redactionValues,
  sql,
  type Tx,
} from '@postroom/platform';

export const stage: PrivacyStage = 'references';

const ATTEMPT = redaction({ response: 'text', error: 'text', headers: 'json' });

/** Removes the person's addresses from what receivers answered. */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  await sql(
    tx,
    `UPDATE attempts SET ${ATTEMPT.set} WHERE project_id = $1 AND ${ATTEMPT.mentions}`,
    redactionValues(subject),
  );
  return {};
}

const EXPORT = `
  SELECT d.event_id AS "eventId",
    json_agg(json_build_object('id', d.id, 'endpointUrl', w.url, 'state', d.state) ORDER BY d.id) AS deliveries
  FROM deliveries d LEFT JOIN webhook_endpoints w ON w.id = d.endpoint_id WHERE d.event_id = ANY ($1) GROUP BY d.event_id`;

/** Adds the deliveries to the person's events. */
export async function exportSubject(
  tx: Tx,
  _subject: DataSubject,
  { events }: Readonly<PersonData>,
): Promise<Partial<PersonData>> {
  const rows = await sql<{ eventId: string; deliveries: unknown }>(tx, EXPORT, [events.map(({ id }) => id)]);
  const deliveries = new Map(rows.map((row) => [row.eventId, row.deliveries]));
  return { events: events.map((event) => ({ ...event, deliveries: deliveries.get(event.id) ?? [] })) };
}

import type { DataSubject, ErasedRows, PersonData, PrivacyStage, Tx } from '@postroom/platform';
import { sql } from '@postroom/platform';
import { pageByProject, type SearchedTable, searchedByPage } from '@postroom/redaction';

export const stage: PrivacyStage = 'references';

/** Deliveries hold nothing about a person but the id of the event. */
export const eraseSubject = (): Promise<ErasedRows> => Promise.resolve({});

/** What receivers answered. */
export const searched: readonly SearchedTable[] = [
  searchedByPage(
    'attempts',
    { response: 'text', error: 'text', headers: 'json' },
    pageByProject('deliveries'),
    'delivery_id',
  ),
];

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

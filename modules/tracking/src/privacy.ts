import {
  type DataSubject,
  type ErasedRows,
  type Erasure,
  type PersonData,
  type PrivacyStage,
  sql,
  type Tx,
} from '@postroom/platform';
import { pageByProject, redaction, redactionValues, type SearchedTable, searchedByPage } from '@postroom/redaction';

export const stage: PrivacyStage = 'references';

const COLUMNS = { url: 'text' } as const;
const LINK = redaction(COLUMNS);

/** Removes what the hits on the person's messages say about their devices, and addresses from links of campaigns. */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  await sql(tx, 'UPDATE tracking_hits SET user_agent = NULL, network = NULL WHERE message_id = ANY ($1)', [
    subject.messageIds,
  ]);
  await sql(
    tx,
    `UPDATE tracked_links SET ${LINK.set}
     WHERE owner_id = ANY (ARRAY(SELECT id FROM campaigns WHERE project_id = $1)) AND ${LINK.mentions}`,
    redactionValues(subject),
  );
  return {};
}

/** The links of transactional mail. */
export const searched: readonly SearchedTable[] = [
  searchedByPage('tracked_links', COLUMNS, pageByProject('messages', { where: 'campaign_id IS NULL' }), 'owner_id'),
];

const EXPORT = `
  SELECT h.message_id AS "messageId", json_agg(json_build_object('kind', h.kind, 'at', h.at, 'userAgent', h.user_agent,
      'network', h.network, 'link', l.url, 'verdict', h.verdict) ORDER BY h.id) AS hits
  FROM tracking_hits h JOIN messages m ON m.id = h.message_id
  LEFT JOIN tracked_links l ON l.owner_id = coalesce(m.campaign_id, m.copy_of, m.id) AND l.position = h.position
  WHERE h.message_id = ANY ($1) GROUP BY h.message_id`;

/** Adds the hits to the person's messages. */
export async function exportSubject(
  tx: Tx,
  _subject: DataSubject,
  { messages }: Readonly<PersonData>,
): Promise<Partial<PersonData>> {
  const rows = await sql<{ messageId: string; hits: unknown }>(tx, EXPORT, [messages.map(({ id }) => id)]);
  const hits = new Map(rows.map((row) => [row.messageId, row.hits]));
  return { messages: messages.map((message) => ({ ...message, hits: hits.get(message.id) ?? [] })) };
}

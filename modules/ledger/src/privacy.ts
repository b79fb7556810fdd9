import { type DataSubject, type ErasedRows, type Erasure, type PrivacyStage, sql, type Tx } from '@postroom/platform';
import {
  pageByOwner,
  pageByProject,
  redactionBy,
  redactionValues,
  type SearchedTable,
  searchedByPage,
} from '@postroom/redaction';
import { MESSAGES_OF_PERSON } from './messages-of-person.ts';

export const stage: PrivacyStage = 'messages';

const ANONYMIZE = `
  UPDATE messages SET email = $2, email_key = NULL, subject = CASE WHEN subject IS NOT NULL THEN '' END, tags = NULL, metadata = NULL,
    answer = CASE WHEN NOT EXISTS (SELECT FROM unnest($3::text[]) AS key WHERE position(key IN lower(answer)) > 0) THEN answer END,
    bounce_reason = NULL
  WHERE id = ANY ($1) RETURNING id, coalesce(copy_of, id) AS content`;

const ADDRESSED = { from: 'text', to: 'jsonb', cc: 'jsonb', bcc: 'jsonb', reply_to: 'jsonb' } as const;
const ADDRESSES = redactionBy(ADDRESSED, { pattern: '$2', alias: '$3' });

/**
 * Cancels the person's planned transactional mail, anonymizes their messages and empties the contents. The rows stay for
 * statistics.
 */
export async function eraseSubject(tx: Tx, subject: Erasure): Promise<ErasedRows> {
  const { projectId, keys, contactId, alias, spellings } = subject;
  const found = await sql<{ id: string }>(tx, MESSAGES_OF_PERSON, [projectId, keys, contactId]);
  const ids = found.map(({ id }) => id);
  await sql(tx, 'DELETE FROM soft_bounce_streaks WHERE project_id = $1 AND email_key = ANY ($2)', [projectId, keys]);
  const canceled = await sql(
    tx,
    `UPDATE messages SET state = 'canceled', unsent_at = now(), dispatched_at = coalesce(dispatched_at, now()), workflow_id = NULL,
       answer = 'Not sent: the person was erased.'
     WHERE id = ANY ($1) AND campaign_id IS NULL AND state = 'planned' RETURNING id`,
    [ids],
  );
  const messages = await sql<{ id: string; content: string }>(tx, ANONYMIZE, [ids, alias, spellings]);
  const contents = messages.map(({ content }) => content);
  await sql(tx, 'DELETE FROM message_attachments WHERE message_id = ANY ($1)', [contents]);
  await sql(
    tx,
    `UPDATE message_contents SET ${ADDRESSES.set}, html = NULL, text = '', html_text = NULL, headers = '{}'
     WHERE message_id = ANY ($1)`,
    [contents, ...redactionValues(subject).slice(1)],
  );
  return { canceled: canceled.length, messageIds: messages.map(({ id }) => id) };
}

const CONTENT = { ...ADDRESSED, headers: 'jsonb', html: 'text', text: 'text', html_text: 'text' } as const;
const MESSAGE = { subject: 'text', answer: 'text', bounce_reason: 'text', tags: 'jsonb', metadata: 'jsonb' } as const;
const OF_CAMPAIGNS = { owners: 'campaigns', owner: 'campaign_id', table: 'messages', id: 'id' };
const TRANSACTIONAL = pageByProject('messages', { where: 'campaign_id IS NULL' });

/** Mail to others keeps the rest of its text. */
export const searched: readonly SearchedTable[] = [
  // A mail may have some megabytes of text.
  { ...searchedByPage('message_contents', CONTENT, TRANSACTIONAL, 'message_id'), pageSize: 200 },
  searchedByPage('message_attachments', { filename: 'text', content_id: 'text' }, TRANSACTIONAL, 'message_id'),
  searchedByPage('messages', MESSAGE, TRANSACTIONAL),
  {
    ...searchedByPage('messages', MESSAGE, pageByOwner(OF_CAMPAIGNS)),
    name: 'messages of campaigns',
  },
];

const EXPORT = `
  SELECT (SELECT coalesce(json_agg(json_build_object('inARow', b.bounces, 'lastMessage', b.last_message)), '[]')
      FROM soft_bounce_streaks b WHERE b.project_id = $1 AND b.email_key = ANY ($2)) AS "softBounces",
    (SELECT coalesce(json_agg(json_build_object('id', m.id, 'campaignId', m.campaign_id,
        'campaignName', (SELECT name FROM campaigns WHERE id = m.campaign_id), 'email', m.email,
        'subject', coalesce(m.subject, (SELECT subject FROM campaigns WHERE id = m.campaign_id)), 'state', m.state,
        'answer', m.answer, 'tags', m.tags, 'metadata', m.metadata, 'createdAt', m.created_at, 'acceptedAt', m.accepted_at,
        'deliveredAt', m.delivered_at, 'openedAt', m.opened_at, 'clickedAt', m.clicked_at, 'bouncedAt', m.bounced_at,
        'bounceClass', m.bounce_class, 'bounceReason', m.bounce_reason,
        'complainedAt', m.complained_at, 'unsubscribedAt', m.unsubscribed_at, 'resubscribedAt', m.resubscribed_at,
        'content', (SELECT json_build_object('from', k."from", 'to', k."to", 'cc', k.cc, 'replyTo', k.reply_to, 'html', k.html,
            'text', k.text, 'headers', k.headers,
            'attachments', coalesce((SELECT json_agg(json_build_object('filename', a.filename, 'contentType', a.content_type,
                'content', encode(a.content, 'base64')) ORDER BY a.position)
              FROM message_attachments a WHERE a.message_id = k.message_id), '[]'))
          FROM message_contents k WHERE k.message_id = coalesce(m.copy_of, m.id))) ORDER BY m.id), '[]')
      FROM messages m WHERE m.id = ANY (ARRAY(${MESSAGES_OF_PERSON}))) AS messages`;

/** The person's messages with their content, and their soft bounces. Bcc addresses belong to other people and are left out. */
export async function exportSubject(
  tx: Tx,
  { projectId, keys, contactId }: DataSubject,
): Promise<{ softBounces: unknown; messages: { id: string }[] }> {
  const values = [projectId, keys, contactId];
  const [found] = await sql<{ softBounces: unknown; messages: { id: string }[] }>(tx, EXPORT, values);
  return found ?? { softBounces: [], messages: [] };
}

import { db, messageKeySql, pool } from '@postroom/platform';
import { findDataSubject, type DataSubjectRef } from './data-subject.ts';

/** All stored data about a person as JSON. `p` is the person, `m` the messages to their addresses or contact. */
const DATA = `
  WITH p AS (SELECT $1::text AS project_id, $2::text[] AS keys, $3::text AS contact_id, $4::text[] AS spellings),
  m AS (
    SELECT m.* FROM messages m, p
     WHERE m.project_id = p.project_id AND (${messageKeySql('m')} = ANY (p.keys) OR m.contact_id = p.contact_id) ORDER BY m.id
  ), e AS (
    SELECT e.* FROM events e, p
     WHERE e.project_id = p.project_id
       AND (lower(e.data->>'email') = ANY (p.spellings) OR e.data->>'contact_id' = p.contact_id) ORDER BY e.id
  ), c AS (SELECT c.* FROM contacts c, p WHERE c.project_id = p.project_id AND c.id = p.contact_id)
  SELECT json_build_object(
    'email', p.keys[1],
    'otherEmails', p.keys[2:],
    'contact', (SELECT json_build_object('id', c.id, 'email', c.email, 'name', c.name, 'source', c.source,
        'customFields', c.custom_fields, 'createdAt', c.created_at, 'updatedAt', c.updated_at) FROM c),
    'groups', coalesce((SELECT json_agg(json_build_object('id', g.id, 'name', g.name) ORDER BY g.id)
        FROM groups g JOIN group_members gm ON gm.group_id = g.id WHERE gm.contact_id = p.contact_id), '[]'),
    'groupOptOuts', coalesce((SELECT json_agg(json_build_object('groupId', g.id, 'name', g.name, 'at', o.created_at) ORDER BY g.id)
        FROM groups g JOIN group_opt_outs o ON o.group_id = g.id WHERE o.contact_id = p.contact_id), '[]'),
    'suppressions', coalesce((SELECT json_agg(json_build_object('id', s.id, 'reason', s.reason, 'createdAt', s.created_at) ORDER BY s.id)
        FROM suppressions s WHERE s.project_id = p.project_id AND s.email_key = ANY (p.keys)), '[]'),
    'softBounces', coalesce((SELECT json_agg(json_build_object('inARow', b.bounces, 'lastMessage', b.last_message))
        FROM soft_bounce_streaks b WHERE b.project_id = p.project_id AND b.email_key = ANY (p.keys)), '[]'),
    'messages', coalesce((SELECT json_agg(json_build_object('id', m.id, 'campaignId', m.campaign_id,
        'campaignName', (SELECT name FROM campaigns WHERE id = m.campaign_id), 'email', m.email,
        'subject', coalesce(m.subject, (SELECT subject FROM campaigns WHERE id = m.campaign_id)), 'state', m.state,
        'answer', m.answer, 'tags', m.tags, 'metadata', m.metadata, 'createdAt', m.created_at, 'acceptedAt', m.accepted_at,
        'deliveredAt', m.delivered_at, 'openedAt', m.opened_at, 'clickedAt', m.clicked_at, 'bouncedAt', m.bounced_at,
        'complainedAt', m.complained_at, 'unsubscribedAt', m.unsubscribed_at,
        'content', (SELECT json_build_object('from', k."from", 'to', k."to", 'cc', k.cc, 'replyTo', k.reply_to, 'html', k.html,
            'text', k.text, 'headers', k.headers,
            'attachments', coalesce((SELECT json_agg(json_build_object('filename', a.filename, 'contentType', a.content_type,
                'content', encode(a.content, 'base64')) ORDER BY a.position)
              FROM message_attachments a WHERE a.message_id = k.message_id), '[]'))
          FROM message_contents k WHERE k.message_id = coalesce(m.copy_of, m.id)),
        'hits', coalesce((SELECT json_agg(json_build_object('kind', h.kind, 'at', h.at, 'userAgent', h.user_agent,
            'network', h.network, 'link', (SELECT url FROM tracked_links l
              WHERE l.owner_id = coalesce(m.campaign_id, m.copy_of, m.id) AND l.position = h.position),
            'verdict', h.verdict) ORDER BY h.id) FROM tracking_hits h WHERE h.message_id = m.id), '[]')))
        FROM m), '[]'),
    'events', coalesce((SELECT json_agg(json_build_object('id', e.id, 'type', e.type, 'at', e.created_at, 'data', e.data,
        'deliveries', coalesce((SELECT json_agg(json_build_object('id', d.id, 'endpointUrl',
            (SELECT url FROM webhook_endpoints w WHERE w.id = d.endpoint_id), 'state', d.state) ORDER BY d.id)
          FROM deliveries d WHERE d.event_id = e.id), '[]'))) FROM e), '[]'),
    'audit', coalesce((SELECT json_agg(json_build_object('id', a.id, 'action', a.action, 'at', a.created_at, 'details', a.details) ORDER BY a.id)
        FROM audit_entries a WHERE a.project_id = p.project_id
          AND (a.target_id = p.contact_id
            OR EXISTS (SELECT FROM unnest(p.spellings) AS key WHERE position(key IN lower(a.details::text)) > 0))), '[]')
  ) AS data FROM p`;

/**
 * Exports all data that the project stores about a person: the contact, messages sent and their outcomes. Bcc addresses belong
 * to other people and are left out.
 * @throws DomainError as `findDataSubject`.
 */
export async function personData(projectId: string, ref: DataSubjectRef): Promise<unknown> {
  const { keys, spellings, contactId } = await findDataSubject(db, projectId, ref);
  const { rows } = await pool.query<{ data: unknown }>(DATA, [projectId, keys, contactId, spellings]);
  return rows[0]?.data;
}

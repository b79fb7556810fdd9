import type { SuppressionOrigin } from '@postroom/contacts';
import { messagesOfJourneys } from '@postroom/journeys/sql';
import { invalid, pool } from '@postroom/platform';

/** Something that happened between a project and a contact. */
export interface Activity {
  /** Such as `contact.created` or `email.opened`. */
  type: string;
  at: Date;
  /** The server's reply, the suppression reason, the contact's source, or the form with the consent, depending on the type. */
  detail: string | null;
  /** Who caused a suppression. */
  origin: SuppressionOrigin | null;
  /** The user or API key that caused it: `usr_…` or `key_…`. */
  actorId: string | null;
  messageId: string | null;
  subject: string | null;
  campaignId: string | null;
  campaignName: string | null;
  journeyId: string | null;
  journeyName: string | null;
}

const MAX_MESSAGES = 200;

/** Validates the number of messages to include: 1 to 200. @throws DomainError `validation_error`. */
export function checkMessages(messages: number): number {
  if (messages < 1 || messages > MAX_MESSAGES)
    throw invalid({ field: 'messages', message: `must be between 1 and ${MAX_MESSAGES}` });
  return messages;
}

/**
 * The activity of each contact, newest first: its creation, its suppressions, what it submitted with forms, and every event of the
 * latest `messages` sent to it.
 */
export async function activitiesOf(
  projectId: string,
  contactIds: readonly string[],
  messages: number,
): Promise<Map<string, Activity[]>> {
  const { rows } = await pool.query<Activity & { contactId: string }>(ACTIVITY, [projectId, contactIds, messages]);
  return Map.groupBy(rows, ({ contactId }) => contactId);
}

/**
 * A message's events are columns of its row, so the query turns each row into one line per event. A report may arrive before the
 * acceptance is recorded; `greatest` and `rank` put the events in causal order. A suppression has the time of the refusal or
 * unsubscribe that caused it; that of an unsubscribe by a link is the same event, so it is left out. Each contact's latest messages come
 * from the index `(contact_id, id)`, read backwards.
 */
const ACTIVITY = `
  WITH contact AS (SELECT * FROM contacts WHERE project_id = $1 AND id = ANY ($2)),
  recent AS (
    SELECT m.*, coalesce(m.subject, c.subject) AS shown, c.name AS campaign, j.journey_id, j.name AS journey
    FROM contact CROSS JOIN LATERAL (
      SELECT * FROM messages WHERE contact_id = contact.id ORDER BY id DESC LIMIT $3
    ) AS m LEFT JOIN campaigns c ON c.id = m.campaign_id LEFT JOIN (${messagesOfJourneys('$2')}) AS j ON j.message_id = m.id
  )
  SELECT "contactId", type, at, detail, origin, "actorId", "messageId", subject, "campaignId", "campaignName", "journeyId", "journeyName" FROM (
    SELECT id AS "contactId", 'contact.created' AS type, created_at AS at, source::text AS detail, NULL AS origin,
      NULL AS "actorId", NULL AS "messageId", NULL AS subject,
      NULL AS "campaignId", NULL AS "campaignName", NULL AS "journeyId", NULL AS "journeyName", created_at AS place, 0 AS rank FROM contact
    UNION ALL
    SELECT contact.id, 'contact.suppressed', s.created_at, s.reason::text, s.origin::text, s.added_by_id, NULL, NULL, NULL, NULL, NULL, NULL, s.created_at, 9
    FROM contact JOIN suppressions s ON s.project_id = $1 AND s.email_key = contact.email_key
    WHERE NOT (s.reason = 'unsubscribed' AND EXISTS (
      SELECT FROM recent m WHERE m.contact_id = contact.id AND m.unsubscribed_at = s.created_at AND s.origin = 'recipient'))
    UNION ALL
    SELECT contact.id, fact.type, fact.at, fact.detail, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, fact.at, fact.rank
    FROM contact JOIN form_submissions s ON s.contact_id = contact.id JOIN forms f ON f.id = s.form_id CROSS JOIN LATERAL (VALUES
      (0, 'form.submitted', s.created_at, concat_ws(' · ', f.name, 'from ' || s.submitted_from, '“' || s.consent_text || '”')),
      (1, 'form.confirmed', s.confirmed_at, concat_ws(' · ', f.name, 'from ' || s.confirmed_from))
    ) AS fact(rank, type, at, detail)
    UNION ALL
    SELECT m.contact_id, fact.type, fact.at, fact.detail, NULL, NULL, m.id, m.shown, m.campaign_id, m.campaign, m.journey_id, m.journey,
      greatest(fact.at, m.accepted_at), fact.rank
    FROM recent m CROSS JOIN LATERAL (VALUES
      (1, 'email.deferred', CASE WHEN m.state = 'planned' THEN m.deferred_at END, m.answer),
      (2, 'email.sent', m.accepted_at, m.answer),
      (2, 'email.' || m.state, m.unsent_at, m.answer),
      (3, 'email.delivered', m.delivered_at, NULL),
      (4, 'email.opened', m.opened_at, NULL),
      (5, 'email.clicked', m.clicked_at, NULL),
      (4, 'email.opened_by_machine', m.machine_opened_at, NULL),
      (5, 'email.clicked_by_machine', m.machine_clicked_at, NULL),
      (6, 'email.bounced', m.bounced_at, NULL),
      (6, 'email.complained', m.complained_at, NULL),
      (6, 'email.rejected', m.rejected_at, NULL),
      (7, 'contact.unsubscribed', m.unsubscribed_at, NULL),
      (8, 'contact.subscribed', m.resubscribed_at, NULL)
    ) AS fact(rank, type, at, detail) WHERE fact.at IS NOT NULL
  ) AS facts ORDER BY place DESC, rank DESC`;

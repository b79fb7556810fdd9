/** In SQL: whether the row `m` of the ledger is of a person who was erased. What is heard of it later may name them again. */
export const OF_ERASED = `m.email LIKE 'erased-%@erased.invalid'`;

/**
 * `data` of an `email.*` event in SQL, from the row `m` of the ledger and the row `c` of its campaign, if it has one. The
 * ledger records events set-based, so the shape is written once, here (spec: Delivery).
 */
export const EMAIL_EVENT_MEMBERS = membersWith('c.subject');

/** The same where only the row of the ledger is at hand: its campaign is looked up when the message has no subject of its own. */
export const EMAIL_EVENT_MEMBERS_ALONE = membersWith('(SELECT c.subject FROM campaigns c WHERE c.id = m.campaign_id)');

function membersWith(campaignSubject: string): string {
  return `
  'email', m.email, 'message_id', coalesce(m.copy_of, m.id), 'subject', coalesce(m.subject, ${campaignSubject}),
  'campaign_id', m.campaign_id, 'contact_id', m.contact_id,
  'tags', coalesce(m.tags, '[]'), 'metadata', coalesce(m.metadata, '{}')`;
}

/** SQL condition: the ledger row `m` belongs to an erased contact. Later answers may name the address, so they are not stored. */
export const OF_ERASED = `m.email LIKE 'erased-%@erased.invalid'`;

/**
 * `data` of an `email.*` event as SQL, from the ledger row `m` and its campaign row `c`, if any. The ledger records events
 * in bulk, so their shape is defined once, here (spec: Delivery).
 */
export const EMAIL_EVENT_MEMBERS = membersWith('c.subject');

/** The same for statements without `c`: the campaign is looked up only if the message itself has no subject. */
export const EMAIL_EVENT_MEMBERS_ALONE = membersWith('(SELECT c.subject FROM campaigns c WHERE c.id = m.campaign_id)');

function membersWith(campaignSubject: string): string {
  return `
  'email', m.email, 'message_id', coalesce(m.copy_of, m.id), 'subject', coalesce(m.subject, ${campaignSubject}),
  'campaign_id', m.campaign_id, 'contact_id', m.contact_id,
  'tags', coalesce(m.tags, '[]'), 'metadata', coalesce(m.metadata, '{}')`;
}

/** SQL of tracking that other modules compose. This file imports nothing, so that modules below tracking may use it. */

/** Deletes the hits and links of the messages in `$1`, which have no foreign keys. */
export const DELETE_HITS = 'DELETE FROM tracking_hits WHERE message_id = ANY ($1)';
export const DELETE_LINKS = 'DELETE FROM tracked_links WHERE owner_id = ANY ($1)';

/** Selects up to `$4` rows of the messages whose ids are from `$1` to before `$2`, except those in `$3`. */
export const ofMessagesBetween = (table: string, column: string) =>
  `ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${column} >= $1 AND ${column} < $2 AND NOT (${column} = ANY ($3)) LIMIT $4))`;
export const DELETE_HITS_BETWEEN = `DELETE FROM tracking_hits WHERE ${ofMessagesBetween('tracking_hits', 'message_id')}`;
export const DELETE_LINKS_BETWEEN = `DELETE FROM tracked_links WHERE ${ofMessagesBetween('tracked_links', 'owner_id')}`;

/** The messages first opened or clicked in a period, by a human or a bot; all but `kind` and `verdict` is SQL. */
export const messagesFirstHit = (
  kind: 'open' | 'click',
  verdict: 'person' | 'machine',
  { projectId, since, until }: Record<'projectId' | 'since' | 'until', string>,
): string =>
  `SELECT h.message_id FROM tracking_hits h WHERE h.project_id = ${projectId} AND h.is_first
    AND h.kind = '${kind}' AND h.verdict = '${verdict}' AND h.at >= ${since} AND h.at < ${until}`;

/** Selects the link of a campaign, or of a message with its own content, `$1` that has the number `$2`. */
export const FIND_LINK = 'SELECT FROM tracked_links WHERE owner_id = $1 AND position = $2';

/** Whether a message has a human or bot click on one of its links; probes the index on `message_id`. */
export const clickedLink = (message: string, position: string, human: boolean): string =>
  `EXISTS (SELECT FROM tracking_hits h WHERE h.message_id = ${message} AND h.kind = 'click' AND h.position = ${position}
    AND h.verdict = '${human ? 'person' : 'machine'}')`;

/** Which mail a condition of a segment is about; any if all are omitted. */
export interface MailCondition {
  campaignId?: string;
  /** Mail made from it: of campaigns, of journeys, and transactional mail. */
  templateId?: string;
  /** Only those who clicked a link to this URL, as written in the campaign. */
  url?: string;
}

/** The members of a condition on mail. */
export const MAIL_MEMBERS = ['campaignId', 'templateId', 'url'];
const MAX_URL_LENGTH = 2048;

/** Reads the members of a condition on mail, whose names are in camelCase. Problems name the member. */
export function readMailCondition(
  { campaignId, templateId, url }: Record<string, unknown>,
  { isId, isClick }: { isId: (prefix: string, given: unknown) => boolean; isClick: boolean },
): MailCondition | { field: string; message: string } {
  if (campaignId != null && !isId('cmp', campaignId))
    return { field: 'campaignId', message: 'must be the id of a campaign' };
  if (templateId != null && !isId('tpl', templateId))
    return { field: 'templateId', message: 'must be the id of a template' };
  if (campaignId != null && templateId != null)
    return { field: 'templateId', message: 'must not be combined with campaignId' };
  if (url != null && !isClick) return { field: 'url', message: 'is only for clicked' };
  if (url != null && campaignId == null)
    return { field: 'url', message: 'needs the campaignId of the campaign that has the link' };
  if (url != null && (typeof url !== 'string' || url === '' || url.length > MAX_URL_LENGTH))
    return { field: 'url', message: `must be a URL of 1 to ${MAX_URL_LENGTH} characters` };
  return {
    ...(campaignId != null && { campaignId: campaignId as string }),
    ...(templateId != null && { templateId: templateId as string }),
    ...(url != null && { url: url as string }),
  };
}

/** What happened to mail, when. Times are SQL. */
interface MailFact {
  /** The column of the time. */
  column: string;
  /** Only mail in this state. */
  state?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/**
 * Whether the contact `c` had such mail. All values become parameters.
 * @param key SQL of the address key of the message `m`: transactional mail has no contact.
 * @param fewContacts whether the statement reads a few contacts by id.
 */
export function mailSql(
  { campaignId, templateId, url }: MailCondition,
  { column, state, since, until }: MailFact,
  { add, key, fewContacts }: { add: (value: unknown) => string; key: string; fewContacts: boolean },
): string {
  const inTime = (at: string) =>
    `${at} ${since === undefined ? 'IS NOT NULL' : `>= ${since}`}${until === undefined ? '' : ` AND ${at} <= ${until}`}`;
  const happened = inTime(`m.${column}`) + (state === undefined ? '' : ` AND m.state = '${state}'`);
  const campaign = campaignId === undefined ? '' : ` AND m.campaign_id = ${add(campaignId)}`;
  if (url !== undefined) {
    const links = `SELECT l.position FROM tracked_links l WHERE l.owner_id = ${add(campaignId)} AND l.url = ${add(url)}`;
    return `EXISTS (SELECT FROM messages m JOIN tracking_hits h ON h.message_id = m.id WHERE m.contact_id = c.id${campaign}
      AND m.clicked_at IS NOT NULL AND h.kind = 'click' AND h.verdict = 'person' AND h.position = ANY (ARRAY(${links})) AND ${inTime('h.at')})`;
  }
  if (templateId === undefined)
    return `EXISTS (SELECT FROM messages m WHERE m.contact_id = c.id${campaign} AND ${happened})`;
  const template = add(templateId);
  const campaigns = `SELECT k.id FROM campaigns k WHERE k.template_id = ${template}`;
  const toContact = `(m.template_id = ${template} OR m.campaign_id = ANY (ARRAY(${campaigns}))) AND ${happened}`;
  const toAddress = `m.template_id = ${template} AND m.contact_id IS NULL AND m.campaign_id IS NULL AND ${happened}`;
  // OFFSET 0 keeps the planner from reading all mail of the template.
  if (fewContacts)
    return `(EXISTS (SELECT FROM messages m WHERE m.contact_id = c.id AND ${toContact} OFFSET 0)
      OR EXISTS (SELECT FROM messages m WHERE m.project_id = c.project_id AND ${key} = c.email_key AND ${toAddress} OFFSET 0))`;
  // The planner does not know how many contacts the two have, guesses 200, and looks each up by index. The second comparison, which
  // equal ids pass, leaves it no choice but a join, which takes half the time.
  return `EXISTS (SELECT FROM (
      SELECT m.contact_id FROM messages m WHERE ${toContact}
      UNION ALL SELECT a.id FROM messages m JOIN contacts a ON a.project_id = m.project_id AND a.email_key = ${key} WHERE ${toAddress}
    ) AS n(contact_id) WHERE n.contact_id = c.id AND n.contact_id <= c.id)`;
}

/** SQL of tracking that other modules compose. This file imports nothing, so that modules below tracking may use it. */

/** Deletes the hits and links of the messages in `$1`, which have no foreign keys. */
export const DELETE_HITS = 'DELETE FROM tracking_hits WHERE message_id = ANY ($1)';
export const DELETE_LINKS = 'DELETE FROM tracked_links WHERE owner_id = ANY ($1)';

/** The messages first opened or clicked in a period, by a human or a bot; all but `kind` and `verdict` is SQL. */
export const messagesFirstHit = (
  kind: 'open' | 'click',
  verdict: 'person' | 'machine',
  { projectId, since, until }: Record<'projectId' | 'since' | 'until', string>,
): string =>
  `SELECT h.message_id FROM tracking_hits h WHERE h.project_id = ${projectId} AND h.is_first
    AND h.kind = '${kind}' AND h.verdict = '${verdict}' AND h.at >= ${since} AND h.at < ${until}`;

/** Whether a message has a human or bot click on one of its links; probes the index on `message_id`. */
export const clickedLink = (message: string, position: string, human: boolean): string =>
  `EXISTS (SELECT FROM tracking_hits h WHERE h.message_id = ${message} AND h.kind = 'click' AND h.position = ${position}
    AND h.verdict = '${human ? 'person' : 'machine'}')`;

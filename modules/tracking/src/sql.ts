/** SQL of tracking that other modules compose. This file imports nothing, so that modules below tracking may use it. */

/** Deletes the hits and links of the messages in `$1`, which have no foreign keys. */
export const DELETE_HITS = 'DELETE FROM tracking_hits WHERE message_id = ANY ($1)';
export const DELETE_LINKS = 'DELETE FROM tracked_links WHERE owner_id = ANY ($1)';

import { messageKeySql } from '@postroom/platform';

/** SQL of the ids of a person's messages: of the project `$1`, to one of the address keys `$2` or the contact `$3`. Each part has an index. */
export const MESSAGES_OF_PERSON = `
  SELECT id FROM messages WHERE contact_id = $3 AND project_id = $1
  UNION SELECT id FROM messages WHERE project_id = $1 AND campaign_id IS NULL AND ${messageKeySql('messages')} = ANY ($2)
  UNION SELECT m.id FROM campaigns c JOIN messages m ON m.campaign_id = c.id AND ${messageKeySql('m')} = ANY ($2)
    WHERE c.project_id = $1`;

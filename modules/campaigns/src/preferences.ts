import type { Preferences } from '@postroom/unsubscribe';
import { type Choice, choicesOf, keepGroups } from '@postroom/groups';
import { closeUnsent } from '@postroom/ledger/sql';
import { inVisitorTransaction } from '@postroom/projects';
import { pool } from '@postroom/platform';
import type pg from 'pg';
import { lockSnapshotShared } from './snapshot-recipients.ts';

/** The groups that a recipient may leave instead of unsubscribing from everything. */
export const preferences: Preferences = {
  of: async ({ projectId, contactId }) => {
    if (contactId === null) return [];
    const choices = await choicesOf(pool, projectId, contactId);
    return choices.map(({ groupId, name, isKept }: Choice) => ({ id: groupId, name, isKept }));
  },
  keep: async ({ projectId, contactId }, groupIds) => {
    if (contactId === null) return;
    await inVisitorTransaction(projectId, async (client) => {
      if (await keepGroups(client, projectId, contactId, groupIds)) await withdraw(client, projectId, contactId);
    });
  },
};

/**
 * Waits until ranges of recipients that are being written are committed, and makes later ranges wait for the opt-out. Otherwise neither
 * transaction would see the other, and the contact would get the mail.
 */
const AWAIT_RANGES = `
  SELECT ${lockSnapshotShared('c.id')}::text FROM (
    SELECT id FROM campaigns WHERE project_id = $1 AND status IN ('sending', 'paused') AND frozen_at IS NULL AND cardinality(segment_ids) = 0
    ORDER BY id) AS c`;

/** Locks sending and paused campaigns that reach a contact only through groups it has opted out of. */
const OPTED_OUT = `
  SELECT c.id FROM campaigns c JOIN messages m ON m.campaign_id = c.id AND m.contact_id = $1 AND m.state = 'planned'
  WHERE c.status IN ('sending', 'paused') AND cardinality(c.segment_ids) = 0
    AND NOT EXISTS (SELECT FROM group_members gm WHERE gm.contact_id = $1 AND gm.group_id = ANY (c.group_ids)
      AND NOT EXISTS (SELECT FROM group_opt_outs o WHERE o.group_id = gm.group_id AND o.contact_id = $1))
  ORDER BY c.id FOR NO KEY UPDATE OF c`;

const WITHDRAW = `
  WITH planned AS (
    SELECT id FROM messages WHERE contact_id = $1 AND campaign_id = ANY ($2) AND state = 'planned'
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
  ), withdrawn AS (
    ${closeUnsent('suppressed', "'Not sent: the recipient has left the group.'")}
    WHERE m.id = ANY (ARRAY(SELECT id FROM planned)) RETURNING m.campaign_id
  )
  UPDATE campaigns c SET suppressed_count = suppressed_count + 1 FROM withdrawn w WHERE c.id = w.campaign_id`;

/**
 * Suppresses a contact's planned messages in running campaigns to groups it has just left. Campaigns are locked first, in the
 * same order as a claim. Messages locked by a claim are skipped because they are already being sent.
 */
async function withdraw(client: pg.ClientBase, projectId: string, contactId: string): Promise<void> {
  await client.query(AWAIT_RANGES, [projectId]);
  const { rows } = await client.query<{ id: string }>(OPTED_OUT, [contactId]);
  if (rows.length === 0) return;
  await client.query(WITHDRAW, [contactId, rows.map(({ id }) => id)]);
}

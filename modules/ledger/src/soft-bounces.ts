import { emailKey } from '@postroom/platform';
import type pg from 'pg';
import { MAIL_POLICY } from './policy.ts';

/** A message and the address it was sent to. */
export interface MessageAddress {
  projectId: string;
  email: string;
  messageId: string;
}

/**
 * Counts soft bounces. A delivery since the last bounce restarts the count.
 * @returns the addresses that have reached the maximum; their count restarts too.
 */
export async function countSoftBounces(
  client: pg.ClientBase,
  bounces: readonly MessageAddress[],
): Promise<MessageAddress[]> {
  const byAddress = Map.groupBy(bounces, ({ projectId, email }) => `${projectId} ${emailKey(email)}`);
  const rows = [...byAddress.keys()].sort().map((key) => {
    const all = byAddress.get(key) ?? [];
    return {
      ...all[0]!,
      count: all.length,
      messageId: all
        .map(({ messageId }) => messageId)
        .sort()
        .at(-1)!,
    };
  });
  if (rows.length === 0) return [];
  const { rows: over } = await client.query<{ projectId: string; key: string }>(
    `WITH counted AS (
       INSERT INTO soft_bounce_streaks AS s (project_id, email_key, bounces, last_message)
       SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::text[])
       ON CONFLICT (project_id, email_key) DO UPDATE SET updated_at = now(), last_message = excluded.last_message,
         bounces = excluded.bounces + CASE WHEN EXISTS (
           SELECT FROM messages later JOIN messages last ON last.id = excluded.last_message
           WHERE later.contact_id = last.contact_id AND later.id > s.last_message AND later.id < excluded.last_message
             AND later.accepted_at < now() - interval '${MAIL_POLICY.softBounces.deliveredAfter}' AND later.bounced_at IS NULL
         ) THEN 0 ELSE s.bounces END
       RETURNING project_id, email_key, bounces
     ) SELECT project_id AS "projectId", email_key AS key FROM counted WHERE bounces >= ${MAIL_POLICY.softBounces.max}`,
    [
      rows.map(({ projectId }) => projectId),
      rows.map(({ email }) => emailKey(email)),
      rows.map(({ count }) => count),
      rows.map(({ messageId }) => messageId),
    ],
  );
  const tooMany = over.flatMap(({ projectId, key }) => byAddress.get(`${projectId} ${key}`)?.slice(0, 1) ?? []);
  await endStreaks(client, tooMany);
  return tooMany;
}

/** Restarts the soft-bounce count of addresses that received mail. */
export async function endStreaks(
  client: pg.ClientBase,
  addresses: readonly Omit<MessageAddress, 'messageId'>[],
): Promise<void> {
  if (addresses.length === 0) return;
  await client.query({
    name: 'emails-end-streaks',
    text: `DELETE FROM soft_bounce_streaks WHERE (project_id, email_key) IN (
        SELECT s.project_id, s.email_key FROM unnest($1::text[], $2::text[]) AS a(project_id, email_key)
        JOIN soft_bounce_streaks s USING (project_id, email_key) ORDER BY 1, 2 FOR UPDATE OF s)`,
    values: [addresses.map(({ projectId }) => projectId), addresses.map(({ email }) => emailKey(email))],
  });
}

import { pool } from '@postroom/platform';
import { ledgerPool } from '@postroom/ledger';

/** A tracked link of a campaign or message, with its click counts. */
export interface TrackedLink {
  position: number;
  url: string;
  /** Human clicks; `uniqueClicks` counts each message once. */
  clicks: number;
  uniqueClicks: number;
  /** Clicks by bots. */
  machineClicks: number;
}

/** Stores link targets of campaigns or messages; call it before the first mail with them is sent. Idempotent. */
export async function storeLinks(owners: readonly { id: string; links: readonly string[] }[]): Promise<void> {
  const rows = owners.flatMap(({ id, links }) => links.map((url, position) => ({ id, position, url })));
  if (rows.length === 0) return;
  await ledgerPool.query({
    name: 'tracking-store-links',
    text: `INSERT INTO tracked_links (owner_id, position, url) SELECT * FROM unnest($1::text[], $2::int[], $3::text[])
      ON CONFLICT DO NOTHING`,
    values: [rows.map(({ id }) => id), rows.map(({ position }) => position), rows.map(({ url }) => url)],
  });
}

/** The links of a campaign or message, in document order. */
export async function listLinks(ownerId: string): Promise<TrackedLink[]> {
  const { rows } = await pool.query<TrackedLink>(
    `SELECT position, url, clicks, unique_clicks AS "uniqueClicks", machine_clicks AS "machineClicks"
     FROM tracked_links WHERE owner_id = $1 ORDER BY position`,
    [ownerId],
  );
  return rows;
}

import { pool } from '@postroom/platform';
import { ledgerPool } from '@postroom/ledger';

/** A link of a campaign or message, and who followed it. */
export interface TrackedLink {
  position: number;
  url: string;
  /** By people: all of them, and the messages they were in. */
  clicks: number;
  uniqueClicks: number;
  machineClicks: number;
}

/** Writes down where the links of campaigns or messages lead, before the first mail with them goes out. Again is harmless. */
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

/** The links of a campaign or message, in the order in which they stand in it. */
export async function listLinks(ownerId: string): Promise<TrackedLink[]> {
  const { rows } = await pool.query<TrackedLink>(
    `SELECT position, url, clicks, unique_clicks AS "uniqueClicks", machine_clicks AS "machineClicks"
     FROM tracked_links WHERE owner_id = $1 ORDER BY position`,
    [ownerId],
  );
  return rows;
}

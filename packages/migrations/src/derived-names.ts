import type pg from 'pg';
import type { Cursor } from './cursor.ts';

/** Rows per batch. */
const BATCH = 1000;

/**
 * The local part used to be stored as the name of a contact without one. This empties names that are certainly such: they equal the local
 * part and contain a character that no name of a person has. See docs/decisions/contact-names.md.
 */
export async function emptyDerivedNames(client: pg.ClientBase, cursor: Cursor): Promise<Cursor | undefined> {
  const { rows } = await client.query<{ last: string | null }>(EMPTY, [String(cursor.after ?? ''), BATCH]);
  const last = rows[0]?.last ?? null;
  return last === null ? undefined : { after: last };
}

const EMPTY = `
  WITH batch AS (
    SELECT id FROM contacts
    WHERE id > $1 AND name = left(email, -strpos(reverse(email), '@')) AND name ~ '[0-9._+=]' ORDER BY id LIMIT $2
  ), emptied AS (
    UPDATE contacts SET name = '' FROM batch WHERE contacts.id = batch.id
  ) SELECT max(id) AS last FROM batch`;

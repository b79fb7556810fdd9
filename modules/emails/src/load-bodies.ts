import { batchLoaders, type Context, pool, readLimited, sql, tooMuchText } from '@postroom/platform';

interface Body {
  html: string | null;
  text: string | null;
  headers: object;
}

/** Loads bodies, newest first, until the request has as much text as it may; the last one may exceed that, so that each can be read. */
const loadBodies = batchLoaders(async (part: keyof Body, _: Context, ids) => {
  const rows = await readLimited((left) =>
    sql<{ id: string; fits: boolean; value: Body[typeof part] }>(
      pool,
      `SELECT message_id AS id, fits, CASE WHEN fits THEN ${part} END AS value
       FROM (SELECT *, sum(length) OVER (ORDER BY message_id DESC) - length < $2 AS fits FROM (
         SELECT message_id, ${part}, coalesce(length(${part}::text), 0) AS length
         FROM message_contents WHERE message_id = ANY ($1)) AS sized) AS limited`,
      [ids, left],
    ),
  );
  return new Map(rows.map(({ id, fits, value }) => [id, fits ? { value } : ('too large' as const)]));
});

/**
 * A body of an email, or its headers; undefined for a message of a campaign.
 * @throws DomainError `payload_too_large` when the request has as much text as it may.
 */
export async function bodyOf<Part extends keyof Body>(context: Context, id: string, part: Part) {
  const body = await loadBodies(part)(context, id);
  if (body === 'too large') throw tooMuchText();
  return body?.value as Body[Part] | undefined;
}

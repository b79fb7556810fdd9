import { batchLoader, type Context, DomainError, pool, sql } from '@postroom/platform';

interface Body {
  html: string | null;
  text: string | null;
  headers: object;
}

/** The bytes of bodies that a request loads; the last body may exceed it, so that each can be loaded. */
const MAX_BODIES_BYTES = 20_000_000;
const bytesLoaded = new WeakMap<Context, number>();

const loadBodies = batchLoader(async (context: Context, ids) => {
  const before = bytesLoaded.get(context) ?? 0;
  const rows = await sql<Body & { id: string; total: number; fits: boolean }>(
    pool,
    `SELECT message_id AS id, total::float8 AS total, fits, CASE WHEN fits THEN html END AS html,
       CASE WHEN fits THEN text END AS text, CASE WHEN fits THEN headers END AS headers
     FROM (SELECT *, total - bytes < $2 AS fits FROM (
       SELECT *, sum(bytes) OVER (ORDER BY message_id DESC) AS total FROM (
         SELECT message_id, html, text, headers,
           coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0) + octet_length(headers::text) AS bytes
         FROM message_contents WHERE message_id = ANY ($1)) AS sized) AS summed) AS limited`,
    [ids, MAX_BODIES_BYTES - before],
  );
  bytesLoaded.set(context, before + Math.max(0, ...rows.map(({ fits, total }) => (fits ? total : 0))));
  return new Map(rows.map(({ fits, ...body }) => [body.id, fits ? body : ('too large' as const)]));
});

/**
 * The bodies and headers of an email; undefined for a message of a campaign.
 * @throws DomainError `payload_too_large` when the request has loaded as much as it may.
 */
export async function bodyOf(context: Context, id: string): Promise<Body | undefined> {
  const body = await loadBodies(context, id);
  if (body !== 'too large') return body;
  const most = `${MAX_BODIES_BYTES / 1_000_000} MB`;
  throw new DomainError('payload_too_large', `The bodies and headers of these emails exceed ${most}; ask for fewer.`);
}

import { batchLoaders, type Context, DomainError, pool, sql } from '@postroom/platform';

interface Body {
  html: string | null;
  text: string | null;
  headers: object;
}

/** The bytes of bodies that a request loads, and those of its answer; the last body may exceed it, so that each can be read. */
const MAX_BODIES_BYTES = 20_000_000;
const answered = new WeakMap<Context, number>();

const loadBodies = batchLoaders(async (part: keyof Body, _: Context, ids) => {
  const rows = await sql<{ id: string; fits: boolean; value: Body[typeof part] }>(
    pool,
    `SELECT message_id AS id, fits, CASE WHEN fits THEN ${part} END AS value
     FROM (SELECT *, sum(bytes) OVER (ORDER BY message_id DESC) - bytes < $2 AS fits FROM (
       SELECT message_id, ${part}, coalesce(octet_length(${part}::text), 0) AS bytes
       FROM message_contents WHERE message_id = ANY ($1)) AS sized) AS limited`,
    [ids, MAX_BODIES_BYTES],
  );
  return new Map(rows.map(({ id, fits, value }) => [id, fits ? { value } : ('too large' as const)]));
});

/**
 * A body of an email, or its headers; undefined for a message of a campaign.
 * @throws DomainError `payload_too_large` when the request has as much of them as it may.
 */
export async function bodyOf<Part extends keyof Body>(context: Context, id: string, part: Part) {
  const isFull = () => (answered.get(context) ?? 0) >= MAX_BODIES_BYTES;
  const body = isFull() ? 'too large' : await loadBodies(part)(context, id);
  if (body === 'too large' || isFull()) {
    const most = `${MAX_BODIES_BYTES / 1_000_000} MB`;
    throw new DomainError('payload_too_large', `The bodies and headers of these emails exceed ${most}; ask for fewer.`);
  }
  const value = body?.value as Body[Part] | undefined;
  const bytes = typeof value === 'string' ? Buffer.byteLength(value) : 0;
  answered.set(context, (answered.get(context) ?? 0) + bytes);
  return value;
}

/**
 * The baseline for `/v1` in `bench/facade.ts`: four routes written by hand with Fastify and `pg`. They run the gateway's queries,
 * make its checks and return its responses, without GraphQL or Prisma.
 */
import { createHash } from 'node:crypto';
import { emailKey, emailProblem, newId } from '@postroom/platform';
import { isWellFormedKey } from '@postroom/projects';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import pg from 'pg';

const LIMIT = Number(process.env.RATE_LIMIT_PER_SECOND);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20, keepAlive: true });

class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

interface KeyRow {
  id: string;
  scope: 'full' | 'sending';
  all_projects: boolean;
  projects: string[];
  named_exists: boolean;
}

const FIND_KEY = `
  SELECT k.id, k.scope, k.all_projects,
    CASE WHEN k.all_projects THEN ARRAY(SELECT id FROM projects LIMIT 2)
      ELSE ARRAY(SELECT project_id FROM api_key_projects WHERE key_id = k.id) END AS projects,
    EXISTS (SELECT FROM projects WHERE id = $2) AS named_exists
  FROM api_keys k WHERE k.hash = $1 AND k.revoked_at IS NULL`;

const buckets = new Map<string, { tokens: number; filledAt: number }>();

/** Checks the key, its rate limit, its scope and its project, in the gateway's order. */
async function enter(request: FastifyRequest, reply: FastifyReply, needs: 'full' | 'sending'): Promise<string> {
  const given = request.headers['x-request-id'];
  const requestId = typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : newId('req');
  reply.header('X-Request-Id', requestId).header('Access-Control-Allow-Origin', '*');
  const [, key] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
  if (key === undefined || !isWellFormedKey(key)) throw new Refusal(401, 'unauthorized', 'An API key is required.');
  const named = request.headers['x-project-id'];
  const { rows } = await pool.query<KeyRow>({
    name: 'key',
    text: FIND_KEY,
    values: [createHash('sha256').update(key).digest('hex'), named ?? ''],
  });
  const [row] = rows;
  if (row === undefined) throw new Refusal(401, 'unauthorized', 'This API key is unknown or revoked.');
  takeToken(row.id, reply);
  if (needs === 'full' && row.scope !== 'full')
    throw new Refusal(403, 'insufficient_scope', 'A full-scope key is required.');
  return projectOf(row, typeof named === 'string' ? named : undefined);
}

function takeToken(id: string, reply: FastifyReply, now = Date.now()): void {
  const bucket = buckets.get(id) ?? { tokens: LIMIT, filledAt: now };
  bucket.tokens = Math.min(LIMIT, bucket.tokens + ((now - bucket.filledAt) / 1000) * LIMIT);
  bucket.filledAt = now;
  buckets.set(id, bucket);
  if (bucket.tokens < 1) throw new Refusal(429, 'rate_limited', `This key may make ${LIMIT} requests a second.`);
  bucket.tokens -= 1;
  reply.header('RateLimit-Limit', LIMIT).header('RateLimit-Remaining', Math.floor(bucket.tokens));
  reply.header('RateLimit-Reset', 1).header('RateLimit-Policy', `${LIMIT};w=1`);
}

function projectOf({ projects, all_projects: all, named_exists: exists }: KeyRow, named: string | undefined): string {
  const [only, second] = projects;
  if (named !== undefined && (all ? exists : projects.includes(named))) return named;
  if (named !== undefined || only === undefined)
    throw new Refusal(403, 'forbidden', 'This key does not cover the project.');
  if (second !== undefined) throw new Refusal(400, 'validation_error', 'Name the project in the X-Project-Id header.');
  return only;
}

const CONTACT = `c.id, c.email, c.name, c.source, c.custom_fields AS "customFields", c.created_at AS "createdAt",
  c.updated_at AS "updatedAt",
  CASE WHEN c.suppressed THEN (SELECT min(s.reason)::text FROM suppressions s
    WHERE s.project_id = c.project_id AND s.email_key = c.email_key) ELSE 'none' END AS "suppressionStatus"`;

interface Contact {
  id: string;
  email: string;
  name: string;
  source: string;
  customFields: object;
  suppressionStatus: string;
  createdAt: Date;
  updatedAt: Date;
}

/** Contacts in the response format. The benchmark's project has no segments, which both sides learn from a query. */
async function toResponse(projectId: string, contacts: readonly Contact[]) {
  const { rowCount } = await pool.query({
    name: 'segments',
    text: 'SELECT id, name, filter FROM segments WHERE project_id = $1 ORDER BY name, id',
    values: [projectId],
  });
  if (rowCount !== 0) throw new Error('The benchmark project has segments.');
  return contacts.map(({ id, email, name, source, suppressionStatus, customFields, createdAt, updatedAt }) => ({
    id,
    email,
    name,
    source,
    segments: [],
    suppressionStatus,
    customFields,
    createdAt,
    updatedAt,
  }));
}

const app = fastify({
  logger: false,
  bodyLimit: 1024 * 1024,
  ajv: { customOptions: { removeAdditional: false, coerceTypes: false } },
});

app.setErrorHandler((error: Error, _request, reply) => {
  const { status, code } = error instanceof Refusal ? error : { status: 400, code: 'validation_error' };
  if (!(error instanceof Refusal) && !('validation' in error)) console.error(error);
  const requestId = reply.getHeader('X-Request-Id');
  return reply.code(status).send({ error: { code, message: error.message, request_id: requestId, details: [] } });
});

app.get<{ Params: { id: string } }>('/v1/contacts/:id', async (request, reply) => {
  const projectId = await enter(request, reply, 'full');
  const { rows } = await pool.query<Contact>({
    name: 'contact',
    text: `SELECT ${CONTACT} FROM contacts c WHERE c.project_id = $1 AND c.id = $2`,
    values: [projectId, request.params.id],
  });
  if (rows.length === 0) throw new Refusal(404, 'not_found', 'This project has no such contact.');
  const [contact] = await toResponse(projectId, rows);
  return { data: contact };
});

const LIST_QUERY = {
  type: 'object',
  additionalProperties: false,
  properties: { limit: { type: 'string', pattern: '^\\d{1,4}$' }, cursor: { type: 'string' } },
};

app.get<{ Querystring: { limit?: string; cursor?: string } }>(
  '/v1/contacts',
  { schema: { querystring: LIST_QUERY } },
  async (request, reply) => {
    const projectId = await enter(request, reply, 'full');
    const limit = Number(request.query.limit ?? 100);
    if (limit < 1 || limit > 1000) throw new Refusal(400, 'validation_error', 'limit: must be between 1 and 1000');
    const { cursor } = request.query;
    const after = cursor === undefined ? [] : [Buffer.from(cursor, 'base64url').toString('latin1')];
    const { rows } = await pool.query<Contact>({
      name: `list-${after.length}`,
      text: `SELECT ${CONTACT} FROM contacts c WHERE c.project_id = $1 ${after.length > 0 ? 'AND c.id < $3' : ''}
        ORDER BY c.id DESC LIMIT $2`,
      values: [projectId, limit + 1, ...after],
    });
    const data = await toResponse(projectId, rows.slice(0, limit));
    const last = data.at(-1);
    const more = rows.length > limit && last !== undefined;
    return { data, has_more: more, next_cursor: more ? Buffer.from(last.id, 'latin1').toString('base64url') : null };
  },
);

const INSERT_CONTACT = `
  WITH created AS (
    INSERT INTO contacts AS c (id, project_id, email, email_key, name, source, custom_fields, created_at, updated_at)
    SELECT $2::text, $1::text, $3::text, $4::text, $5::text, 'api', $6::jsonb, $7::timestamptz, $7::timestamptz
     WHERE NOT EXISTS (SELECT FROM suppressions s WHERE s.project_id = $1 AND s.email_key = $4)
    ON CONFLICT (project_id, email_key) DO NOTHING
    RETURNING ${CONTACT}
  ), event AS (
    INSERT INTO events (id, project_id, type, data) SELECT $8::text, $1, 'contact.created', $9::json FROM created
  ) SELECT * FROM created`;

const NEW_CONTACT = {
  type: 'object',
  required: ['email'],
  additionalProperties: false,
  properties: { email: { type: 'string' }, name: { type: 'string', maxLength: 200 } },
};

app.post<{ Body: { email: string; name?: string } }>(
  '/v1/contacts',
  { schema: { body: NEW_CONTACT } },
  async (request, reply) => {
    const projectId = await enter(request, reply, 'full');
    const email = request.body.email.trim();
    const problem = emailProblem(email);
    if (problem !== undefined) throw new Refusal(400, 'validation_error', `email: ${problem}`);
    const name = request.body.name?.trim() || email.slice(0, email.lastIndexOf('@'));
    const created = await insertContact(projectId, email, name);
    const { rows } =
      created === undefined
        ? await pool.query<Contact>({
            name: 'contact-by-email',
            text: `SELECT ${CONTACT} FROM contacts c WHERE c.project_id = $1 AND c.email_key = $2`,
            values: [projectId, emailKey(email)],
          })
        : { rows: [created] };
    if (rows.length === 0) throw new Refusal(409, 'conflict', `${email} is on the project's suppression list.`);
    const [data] = await toResponse(projectId, rows);
    return reply.code(created === undefined ? 200 : 201).send({ data });
  },
);

async function insertContact(projectId: string, email: string, name: string): Promise<Contact | undefined> {
  const id = newId('ctc');
  const event = [newId('evt'), JSON.stringify({ contact_id: id, email, name })];
  const { rows } = await pool.query<Contact>({
    name: 'insert-contact',
    text: INSERT_CONTACT,
    values: [projectId, id, email, emailKey(email), name, '{}', new Date(), ...event],
  });
  return rows[0];
}

const INSERT_EMAIL = `
  WITH message AS (
    INSERT INTO messages (id, project_id, email, subject, tags, metadata, not_before, state, answer, unsent_at, dispatched_at)
    VALUES ($1, $2, $3, $4, '[]', $5::jsonb, now(), $6::message_state, $7, CASE $6 WHEN 'suppressed' THEN now() END,
      CASE $6 WHEN 'suppressed' THEN now() END)
  ), content AS (
    INSERT INTO message_contents (message_id, "from", "to", cc, bcc, reply_to, html, text, headers)
    VALUES ($1, $8, $9::jsonb, '[]', '[]', '[]', $10, $11, '{}')
  ) SELECT pg_notify('postroom', 'emails')::text`;

const text = { type: 'string', maxLength: 5_000_000 };
const NEW_EMAIL = {
  type: 'object',
  required: ['from', 'to', 'subject'],
  additionalProperties: false,
  properties: {
    from: { type: 'string' },
    to: { type: 'array', minItems: 1, maxItems: 1, items: { type: 'string' } },
    subject: { type: 'string', minLength: 1, maxLength: 998 },
    html: text,
    text,
    metadata: { type: 'object' },
  },
  anyOf: [{ required: ['html'] }, { required: ['text'] }],
};

interface NewEmail {
  from: string;
  to: [string];
  subject: string;
  html?: string;
  text?: string;
  metadata?: object;
}

/** The address of `Ada <ada@example.com>` or `ada@example.com`. */
function addressOf(mailbox: string, field: string): string {
  const address = (/<([^<>]*)>$/.exec(mailbox)?.[1] ?? mailbox).trim();
  const problem = emailProblem(address);
  if (problem !== undefined) throw new Refusal(400, 'validation_error', `${field}: ${problem}`);
  return address;
}

app.post<{ Body: NewEmail }>('/v1/emails', { schema: { body: NEW_EMAIL } }, async (request, reply) => {
  const projectId = await enter(request, reply, 'sending');
  const { from, to, subject, html, text, metadata = {} } = request.body;
  const [sender, recipient] = [addressOf(from, 'from'), addressOf(to[0], 'to.0')];
  await checkDomain(projectId, sender.slice(sender.lastIndexOf('@') + 1).toLowerCase());
  const suppressions = await pool.query<{ reason: string }>({
    name: 'suppressions',
    text: `SELECT email_key, min(reason)::text AS reason FROM suppressions
      WHERE project_id = $1 AND email_key = ANY ($2) AND reason <> 'unsubscribed' GROUP BY email_key`,
    values: [projectId, [emailKey(recipient)]],
  });
  const reason = suppressions.rows[0]?.reason;
  const id = newId('eml');
  const [state, status] = reason === undefined ? ['planned', 'queued'] : ['suppressed', 'suppressed'];
  const answer = reason === undefined ? null : `Not sent: the address is suppressed (${reason}).`;
  const content = [from, JSON.stringify(to), html ?? null, text ?? null];
  await pool.query({
    name: 'insert-email',
    text: INSERT_EMAIL,
    values: [id, projectId, recipient, subject, JSON.stringify(metadata), state, answer, ...content],
  });
  return reply.code(202).send({ data: { id, status } });
});

async function checkDomain(projectId: string, name: string): Promise<void> {
  const { rows } = await pool.query<{ verified_for_sending: boolean; blocked_at: Date | null; verification: string }>({
    name: 'domain',
    text: `SELECT verified_for_sending, blocked_at, verification::text FROM domains WHERE project_id = $1 AND domain = $2`,
    values: [projectId, name],
  });
  const [domain] = rows;
  const mayGoOut =
    domain?.verified_for_sending === true && domain.blocked_at === null && domain.verification !== 'failed';
  if (!mayGoOut) throw new Refusal(403, 'forbidden', `The domain ${name} may not send.`);
}

await app.listen({ host: '127.0.0.1', port: Number(process.env.GATEWAY_PORT) });
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

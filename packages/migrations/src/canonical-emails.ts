import type pg from 'pg';
import type { Cursor } from './cursor.ts';
import { emailKey, normalizeEmail } from '@postroom/email-address';
import { newId } from '@postroom/platform/ids';

/** Rows per batch. */
const BATCH = 100;

/** Keys used to be the lower-case address, so only those beyond ASCII or with a trailing dot can change. */
const mayChange = (column: string) => `(octet_length(${column}) <> char_length(${column}) OR ${column} LIKE '%.')`;

/**
 * Gives every address its canonical key, and merges what turns out to be one: of contacts the oldest stays, with the
 * groups, custom fields and messages of the others; every reason not to mail an address stays. Suppressions come first, so that
 * the flags of contacts follow them. See docs/decisions/email-address-canonical-form.md.
 */
export async function mergeSpellings(client: pg.ClientBase, cursor: Cursor): Promise<Cursor | undefined> {
  const place = Number(cursor.step ?? 0);
  const step = STEPS[place];
  if (step === undefined) return undefined;
  const last = await step(client, String(cursor.after ?? ''));
  return last === undefined ? { step: place + 1 } : { step: place, after: last };
}

/** Changes one batch of rows after an id; returns the last id of the batch, `undefined` if there were none. */
type Step = (client: pg.ClientBase, after: string) => Promise<string | undefined>;

interface Keyed {
  id: string;
  project_id: string;
  email: string;
  email_key: string;
}

function stepOver<Row extends { id: string }>(
  select: string,
  change: (client: pg.ClientBase, rows: Row[]) => Promise<void>,
): Step {
  return async (client, after) => {
    const { rows } = await client.query<Row>(`${select} ORDER BY id LIMIT ${BATCH}`, [after]);
    await change(client, rows);
    return rows.at(-1)?.id;
  };
}

const keyed = (table: string, columns = '') =>
  `SELECT id, project_id, email, email_key${columns} FROM ${table} WHERE id > $1 AND ${mayChange('email_key')}`;

/** Sequential, because an earlier row of the batch may now conflict with a later one. */
const oneByOne =
  <Row>(change: (client: pg.ClientBase, row: Row) => Promise<void>) =>
  async (client: pg.ClientBase, rows: readonly Row[]) => {
    for (const row of rows) await change(client, row);
  };

/** Suppressions with the same address and reason merge into the oldest. Different reasons all stay. */
async function moveSuppression(
  client: pg.ClientBase,
  row: Keyed & { reason: string; created_at: Date },
): Promise<void> {
  const key = emailKey(row.email_key);
  if (key === row.email_key) return;
  await client.query('DELETE FROM suppressions WHERE id = $1', [row.id]);
  await client.query(
    `INSERT INTO suppressions AS s (id, project_id, email, email_key, reason, created_at)
     SELECT $1, $2, $3, $4, $5::suppression_reason, $6
     WHERE NOT EXISTS (SELECT FROM suppressions WHERE project_id = $2 AND email_key = erased_key($2, $4))
     ON CONFLICT (project_id, email_key, reason) DO UPDATE SET created_at = least(s.created_at, excluded.created_at)`,
    [row.id, row.project_id, normalizeEmail(row.email), key, row.reason, row.created_at],
  );
}

/** A value to replace in the data of a project's events. */
interface Replacement {
  projectId: string;
  from: string;
  to: string;
}

/** A contact that was merged into another. */
interface Merged extends Replacement {
  email: string;
  name: string;
}

async function moveContacts(client: pg.ClientBase, rows: readonly Keyed[]): Promise<void> {
  const merged: Merged[] = [];
  for (const row of rows) await moveContact(client, row, merged);
  // A merge target may itself have been merged since.
  const keptBy = new Map(merged.map(({ from, to }) => [from, to]));
  const lastOf = (id: string): string => (keptBy.has(id) ? lastOf(keptBy.get(id) as string) : id);
  await rewriteEvents(
    client,
    'contact_id',
    merged.map(({ to, ...rest }) => ({ ...rest, to: lastOf(to) })),
  );
  for (const { projectId, from: id, email, name } of merged) {
    await client.query(`INSERT INTO events (id, project_id, type, data) VALUES ($1, $2, 'contact.deleted', $3)`, [
      newId('evt'),
      projectId,
      { contact_id: id, email, name },
    ]);
  }
}

/** Ids sort by creation time, so the smaller id is the older contact. */
async function moveContact(
  client: pg.ClientBase,
  { id, project_id: projectId }: Keyed,
  merged: Merged[],
): Promise<void> {
  const { rows } = await client.query<Keyed>(
    'SELECT id, project_id, email, email_key FROM contacts WHERE id = $1 FOR UPDATE',
    [id],
  );
  const [row] = rows; // may have been merged with an earlier row of the batch
  if (row === undefined) return;
  const key = emailKey(row.email_key);
  if (key !== row.email_key) {
    const { rows: others } = await client.query<{ id: string }>(
      'SELECT id FROM contacts WHERE project_id = $1 AND email_key = $2 FOR UPDATE',
      [projectId, key],
    );
    const [other] = others;
    if (other !== undefined) {
      const [kept = '', gone = ''] = [other.id, id].sort();
      merged.push(await mergeContact(client, projectId, kept, gone));
      if (kept === other.id) return;
    }
  }
  const email = normalizeEmail(row.email);
  if (key === row.email_key && email === row.email) return;
  await client.query('UPDATE contacts SET email = $2, email_key = $3, updated_at = now() WHERE id = $1', [
    id,
    email,
    key,
  ]);
}

async function mergeContact(client: pg.ClientBase, projectId: string, kept: string, gone: string): Promise<Merged> {
  const values = [kept, gone];
  for (const [table, column] of [
    ['group_members', 'group_id'],
    ['group_opt_outs', 'group_id'],
    ['contact_addresses', 'email_key'],
  ] as const) {
    await client.query(
      `DELETE FROM ${table} g WHERE g.contact_id = $2
         AND EXISTS (SELECT FROM ${table} k WHERE k.contact_id = $1 AND k.${column} = g.${column})`,
      values,
    );
    await client.query(`UPDATE ${table} SET contact_id = $1 WHERE contact_id = $2`, values);
  }
  // If a campaign has both contacts, the merged contact's message stays as it is and is not sent.
  await client.query(
    `UPDATE messages g SET contact_id = $1 WHERE g.contact_id = $2
       AND NOT EXISTS (SELECT FROM messages k WHERE k.contact_id = $1 AND k.campaign_id = g.campaign_id)`,
    values,
  );
  await client.query(
    `UPDATE contacts k SET custom_fields = g.custom_fields || k.custom_fields, updated_at = now()
       FROM contacts g WHERE k.id = $1 AND g.id = $2`,
    values,
  );
  const { rows } = await client.query<Pick<Keyed, 'email'> & { name: string }>(
    'DELETE FROM contacts WHERE id = $1 RETURNING email, name',
    [gone],
  );
  const [{ email, name } = { email: '', name: '' }] = rows;
  return { projectId, from: gone, to: kept, email: normalizeEmail(email), name };
}

/** Replaces a member of events' data and keeps the member order. Data exports find a person's events by it. */
async function rewriteEvents(
  client: pg.ClientBase,
  member: 'contact_id' | 'email',
  replacements: readonly Replacement[],
): Promise<void> {
  if (replacements.length === 0) return;
  await client.query(
    `UPDATE events e SET data = (SELECT json_object_agg(d.key, CASE WHEN d.key = $1 THEN to_json(r.becomes) ELSE d.value END)
         FROM json_each(e.data) AS d)
       FROM unnest($2::text[], $3::text[], $4::text[]) AS r(project_id, was, becomes)
      WHERE e.project_id = r.project_id AND e.data->>$1 = r.was`,
    [
      member,
      replacements.map(({ projectId }) => projectId),
      replacements.map(({ from }) => from),
      replacements.map(({ to }) => to),
    ],
  );
}

async function keyMessages(client: pg.ClientBase, rows: readonly Omit<Keyed, 'email_key'>[]): Promise<void> {
  await client.query(
    `UPDATE messages m SET email = n.email, email_key = n.key
       FROM unnest($1::text[], $2::text[], $3::text[]) AS n(id, email, key) WHERE m.id = n.id`,
    [
      rows.map(({ id }) => id),
      rows.map(({ email }) => normalizeEmail(email)),
      rows.map(({ email }) => emailKey(email)),
    ],
  );
  const respelled = new Map(
    rows
      .filter(({ email }) => normalizeEmail(email) !== email)
      .map(({ project_id: projectId, email }) => [
        `${projectId} ${email}`,
        { projectId, from: email, to: normalizeEmail(email) },
      ]),
  );
  await rewriteEvents(client, 'email', [...respelled.values()]);
}

/** Merges two accounts of one mailbox into the older one, including their messages. */
async function moveMailbox(client: pg.ClientBase, row: Keyed): Promise<void> {
  const key = emailKey(row.email_key);
  if (key === row.email_key) return;
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM mailbox_accounts WHERE project_id = $1 AND email_key = $2',
    [row.project_id, key],
  );
  const [kept, gone] = rows[0] === undefined ? [row.id] : [rows[0].id, row.id].sort();
  if (gone !== undefined) {
    await client.query('UPDATE messages SET mailbox_id = $1 WHERE mailbox_id = $2', [kept, gone]);
    await client.query('DELETE FROM mailbox_accounts WHERE id = $1', [gone]);
  }
  await client.query('UPDATE mailbox_accounts SET email = $2, email_key = $3 WHERE id = $1', [
    kept,
    normalizeEmail(row.email),
    key,
  ]);
}

/** A step over a small table without an id column, done in one batch. */
const allAtOnce =
  <Row extends pg.QueryResultRow>(select: string, change: (client: pg.ClientBase, row: Row) => Promise<void>): Step =>
  async (client) => {
    const { rows } = await client.query<Row>(select);
    for (const row of rows) await change(client, row);
    return undefined;
  };

const STEPS: readonly Step[] = [
  stepOver(keyed('suppressions', ', reason::text, created_at'), oneByOne(moveSuppression)),
  allAtOnce<{ contact_id: string; email_key: string }>(
    `SELECT contact_id, email_key FROM contact_addresses WHERE ${mayChange('email_key')}`,
    async (client, { contact_id: contactId, email_key: before }) => {
      const key = emailKey(before);
      if (key === before) return;
      await client.query(
        `WITH old AS (DELETE FROM contact_addresses WHERE contact_id = $1 AND email_key = $2 RETURNING *)
         INSERT INTO contact_addresses AS a (contact_id, email_key, project_id, changed_at)
         SELECT contact_id, $3, project_id, changed_at FROM old
         ON CONFLICT (contact_id, email_key) DO UPDATE SET changed_at = greatest(a.changed_at, excluded.changed_at)`,
        [contactId, before, key],
      );
    },
  ),
  stepOver(keyed('contacts'), moveContacts),
  allAtOnce<{ project_id: string; email_key: string }>(
    `SELECT project_id, email_key FROM soft_bounce_streaks WHERE ${mayChange('email_key')}`,
    async (client, { project_id: projectId, email_key: before }) => {
      const key = emailKey(before);
      if (key === before) return;
      await client.query(
        `WITH old AS (DELETE FROM soft_bounce_streaks WHERE project_id = $1 AND email_key = $2 RETURNING *)
         INSERT INTO soft_bounce_streaks AS s (project_id, email_key, bounces, last_message)
         SELECT project_id, $3, bounces, last_message FROM old
         ON CONFLICT (project_id, email_key) DO UPDATE SET bounces = greatest(s.bounces, excluded.bounces),
           last_message = greatest(s.last_message, excluded.last_message)`,
        [projectId, before, key],
      );
    },
  ),
  stepOver(keyed('mailbox_accounts'), oneByOne(moveMailbox)),
  stepOver(`SELECT id, project_id, email FROM messages WHERE id > $1 AND ${mayChange('email')}`, keyMessages),
  // A user with two accounts keeps both; signing in finds the one that got the canonical address first.
  allAtOnce<{ id: string; email: string }>(
    `SELECT id, email FROM users WHERE ${mayChange('email')} ORDER BY id`,
    async (client, { id, email }) => {
      await client.query(
        'UPDATE users SET email = $2 WHERE id = $1 AND NOT EXISTS (SELECT FROM users WHERE email = $2)',
        [id, emailKey(email)],
      );
    },
  ),
  allAtOnce<{ id: string; email: string }>(
    `SELECT id, email FROM invitations WHERE ${mayChange('email')}`,
    async (client, { id, email }) => {
      await client.query('UPDATE invitations SET email = $2 WHERE id = $1', [id, emailKey(email)]);
    },
  ),
];

import { addLocalDomain } from '@postroom/domains';
import { recordReports } from '@postroom/bounces';
import { holdMail } from '@postroom/emails/testing';
import { notify } from '@postroom/notifications';
import { audit, inTransaction, newId, pool, sql, type Tx } from '@postroom/platform';
import { type Api, eventually, interleave, signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
// The end of an import is an activity, which no worker runs here.
import { endImport } from '../../imports/src/imports.ts';
import { eraseIn } from '../src/erase.ts';
import { privacyParts } from '../src/parts.ts';
import { searchAll } from '../src/search.ts';
import { checkPlans } from '@postroom/testkit/plans';

checkPlans();

/** Columns that can hold an address, except those of tables that tests of partitions make meanwhile. */
const TEXT_COLUMNS = `FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
  WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.table_name NOT LIKE 'sample\\_%'
    AND NOT EXISTS (SELECT FROM pg_class p WHERE p.relname = c.table_name AND p.relispartition)
    AND c.data_type IN ('text', 'character varying', 'json', 'jsonb', 'bytea', 'ARRAY')`;

/** Every text column of every table, read from the catalog so that new tables are included. */
async function placesOf(text: string): Promise<string[]> {
  const { rows } = await pool.query<{ table: string; column: string; type: string }>(
    `SELECT c.table_name AS table, c.column_name AS column, c.data_type AS type
       ${TEXT_COLUMNS}`,
  );
  const found: string[] = [];
  for (const [table, columns] of Map.groupBy(rows, (row) => row.table)) {
    // A table is read once, for all of its columns.
    const holds = columns.map(({ column, type }) =>
      type === 'bytea'
        ? `coalesce(bool_or(position(convert_to($1, 'UTF8') IN "${column}") > 0), false)`
        : `coalesce(bool_or(position($1 IN lower("${column}"::text)) > 0), false)`,
    );
    const { rows: results } = await pool.query<{ holds: boolean[] }>(
      `SELECT ARRAY[${holds.join(', ')}] AS holds FROM "${table}"`,
      [text],
    );
    found.push(...columns.filter((_, at) => results[0]?.holds[at]).map(({ column }) => `${table}.${column}`));
  }
  return found.sort();
}

/**
 * Tables without contact addresses, or with only those that docs/how-to/privacy.md says are not erased. A new table fails the test
 * until it is listed here or the test person has data in it.
 */
const NOT_OF_CONTACTS = [
  // Ids, numbers and settings.
  '_prisma_migrations',
  'api_key_projects',
  'api_keys',
  'custom_fields',
  'data_migrations',
  'deliveries',
  'dkim_keys',
  'domain_blocks',
  'domain_lifecycle',
  'domain_volumes',
  'domains',
  'email_queue_drains',
  'group_members',
  'group_opt_outs',
  'import_batches',
  'installation',
  'leases',
  'mail_providers',
  'mailbox_accounts',
  'mailbox_authorizations',
  'mailbox_usage',
  'notification_recipients',
  'notification_settings',
  'outbox',
  'journey_entry_scans',
  'journey_passages',
  'journey_run_counts',
  'journey_segment_members',
  'journey_signing_secrets',
  'project_logos',
  'campaign_counts',
  'campaign_local_times',
  'event_exports',
  'project_cells',
  'held_requests',
  'statistics_counts',
  'statistics_progress',
  'projects',
  'provider_notifications',
  'segment_sizes',
  'sending_policies',
  'campaign_shards',
  'sending_reservations',
  'shared_rates',
  'shared_slots',
  'tracking_hits',
  'webhook_endpoint_hours',
  'webhook_endpoints',
  // Only while an erasure searches for what it holds.
  'erasures',
  // Content written by users.
  'ab_tests',
  'campaigns',
  'forms',
  'groups',
  'templates',
  'template_versions',
  // The development inbox, and the file of an import that has not ended.
  'import_parts',
  'inbox_mails',
  'inbox_reports',
  // Users who sign in.
  'accounts',
  'invitations',
  'members',
  'sessions',
  'sign_in_failures',
  'sign_in_rates',
  'two_factors',
  'users',
  'verifications',
];

const ERASE_CONTACT = 'mutation ($id: ID!) { erasePerson(contactId: $id) { messages events canceled isComplete } }';

/** Erases a contact as an owner; returns the counts or the error code. */
async function erase(api: Api, contactId: string): Promise<{ erased?: object; code?: string }> {
  const { body } = await (await signedIn(api, 'owner')).graphql(ERASE_CONTACT, { id: contactId });
  return body.errors === undefined ? { erased: body.data.erasePerson } : { code: body.errors[0].extensions.code };
}

const ERASE = 'mutation ($email: String!) { erasePerson(email: $email) { messages events canceled } }';

/** Every table that has a column for a text. */
async function tables(): Promise<string[]> {
  const { rows } = await pool.query<{ table: string }>(
    `SELECT DISTINCT c.table_name AS table
       ${TEXT_COLUMNS}`,
  );
  return rows.map(({ table }) => table).sort();
}

/** A person with data in every place that a project writes to. */
async function person() {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  await holdMail(api.projectId);
  const name = newId('ctc').slice(-12);
  const email = `Ada.${name}@Example.net`;
  const key = email.toLowerCase();
  await api.post('/v1/webhooks', { url: 'https://hooks.example.com/x', events: ['*'] });
  const contact = await api.contact(email, { name: 'Ada Lovelace' });
  // The contact had a different address before.
  const former = `ada.b.${name}@example.org`;
  await api.patch(`/v1/contacts/${contact.id}`, { email: former });
  await api.patch(`/v1/contacts/${contact.id}`, { email });
  const group = (await api.post('/v1/groups', { name: 'Readers', contact_ids: [contact.id] })).body.data;
  await pool.query('INSERT INTO group_opt_outs (group_id, contact_id) VALUES ($1, $2)', [group.id, contact.id]);
  const filter = { field: 'email', op: 'endsWith', value: key };
  const { status } = await api.post('/v1/segments', { name: 'Ada', filter });
  expect(status).toBe(201);
  const send = async (more: object) =>
    (
      await api.post('/v1/emails', {
        from: 'hello@example.com',
        to: [email],
        subject: 'Your order, Ada Lovelace',
        html: `<p>Dear Ada Lovelace, you are ${email}</p>`,
        metadata: { customer: email },
        tags: ['receipt'],
        headers: { 'X-For': email },
        attachments: [{ filename: 'invoice.txt', content: Buffer.from(`For ${key}`).toString('base64') }],
        ...more,
      })
    ).body.data.id as string;
  const sent = await send({});
  const scheduled = await send({ scheduled_at: new Date(Date.now() + 3_600_000).toISOString() });
  const about = await send({
    to: ['desk@example.net'],
    reply_to: [email],
    subject: `A question of ${email}`,
    html: `<a href="https://example.com/?of=${encodeURIComponent(email)}">Answer ${email}</a>`,
    attachments: [],
  });
  await pool.query(
    `UPDATE messages SET state = 'accepted', accepted_at = now(), answer = $2, dispatched_at = now() WHERE id = $1`,
    [sent, `250 ok <${key}>`],
  );
  await inTransaction((client) =>
    recordReports(client, [{ messageId: sent, recipient: email, kind: 'delivered', at: new Date() }]),
  );
  await pool.query(
    `INSERT INTO tracking_hits (message_id, project_id, kind, at, user_agent, network) VALUES ($1, $2, 'open', now(), 'Mail', '192.0.2.0')`,
    [sent, api.projectId],
  );
  await pool.query(
    `INSERT INTO soft_bounce_streaks (project_id, email_key, bounces, last_message) VALUES ($1, $2, 2, $3)`,
    [api.projectId, key, sent],
  );
  // The last attempt: a worker of another test may be making the first.
  await pool.query(
    `INSERT INTO attempts (delivery_id, project_id, number, started_at, duration_ms, response, headers)
     SELECT id, project_id, 6, now(), 5, $2, '{}' FROM deliveries WHERE project_id = $1`,
    [api.projectId, `no such customer: ${key}`],
  );
  await pool.query('INSERT INTO tracked_links (owner_id, position, url) VALUES ($1, 0, $2)', [
    about,
    `https://example.com/?of=${key}`,
  ]);
  const importId = newId('imp');
  await pool.query(
    `INSERT INTO imports (id, project_id, status, on_conflict, dry_run, create_fields, file_name, plan)
     VALUES ($1, $2, 'completed', 'skip', false, false, $3, $4)`,
    [importId, api.projectId, `Export of ${key} (1).csv`, { columns: [{ name: key }] }],
  );
  await pool.query(`INSERT INTO import_errors (import_id, line, field, message) VALUES ($1, 2, 'email', $2)`, [
    importId,
    `"${key}" is there already`,
  ]);
  await pool.query(
    `INSERT INTO import_causes (import_id, field, message, value, rows, first_line) VALUES ($1, 'customFields.plan', 'is not an option', $2, 1, 2)`,
    [importId, key],
  );
  await pool.query(
    `INSERT INTO bulk_operations (id, project_id, action, filter, actor_id, status, total, cursor) VALUES ($1, $2, 'suppress', $3, 'key_x', 'completed', 1, 'ctc_x')`,
    [newId('imp'), api.projectId, { email: key }],
  );
  const owner = await signedIn(api, 'owner');
  await pool.query(`INSERT INTO contact_views (id, project_id, user_id, name, search) VALUES ($1, $2, $3, 'Ada', $4)`, [
    newId('imp'),
    api.projectId,
    owner.id,
    { q: key },
  ]);
  await inTransaction((tx) =>
    notify(tx, api.projectId, {
      kind: 'campaign_paused',
      subjectId: newId('cmp'),
      title: `The campaign "For ${key}" was paused`,
      detail: `The last reply was: 550 no such user <${key}>`,
      advice: `Resume it for ${key}`,
    }),
  );
  const journeyId = newId('imp');
  const definition = { steps: [{ value: key }] };
  await pool.query(
    `INSERT INTO journeys (id, project_id, name, draft, edited_by_id) VALUES ($1, $2, $3, $4, 'key_x')`,
    [journeyId, api.projectId, `For ${key}`, definition],
  );
  await pool.query(
    `INSERT INTO journey_versions (journey_id, number, definition, published_by_id) VALUES ($1, 1, $2, 'key_x')`,
    [journeyId, definition],
  );
  // The events below are noted for it.
  await pool.query(`INSERT INTO journey_listeners (project_id, kind, key, journey_id) VALUES ($1, 'event', $2, $3)`, [
    api.projectId,
    `invited ${key}`,
    journeyId,
  ]);
  for (const contactId of [contact.id, newId('ctc')]) {
    const enrollmentId = newId('imp');
    await pool.query(
      `INSERT INTO enrollments (id, project_id, journey_id, contact_id, version, step_id, properties) VALUES ($1, $2, $3, $4, 1, 'a', $5)`,
      [enrollmentId, api.projectId, journeyId, contactId, { by: key }],
    );
    await pool.query(
      `INSERT INTO enrollment_steps (enrollment_id, visit, step_id, arrived_at, outcome, detail) VALUES ($1, 1, 'a', now(), 'failed', $2)`,
      [enrollmentId, `refused for ${key}`],
    );
    await pool.query(
      `INSERT INTO journey_calls (id, enrollment_id, visit, step_id, project_id, url, host, error, body)
       VALUES ($1 || '.1', $1, 1, 'a', $2, $3, $4, $5, $6)`,
      [enrollmentId, api.projectId, `https://example.com/${key}`, key, `refused for ${key}`, { by: key }],
    );
  }
  const backtestId = newId('imp');
  await pool.query(
    `INSERT INTO backtests (id, project_id, days, until_at, candidate, baseline, assumptions, actor_id, error)
     VALUES ($1, $2, 1, now(), $3, $3, '{}', 'key_x', $4)`,
    [backtestId, api.projectId, definition, key],
  );
  await pool.query(
    `INSERT INTO backtest_contacts (id, backtest_id, contact_id, difference, candidate, baseline, marks)
     VALUES ($1, $2, $3, 'none', $4, '[]', ARRAY[$5])`,
    [newId('imp'), backtestId, contact.id, { by: key }, key],
  );
  const formId = newId('imp');
  await pool.query(
    `INSERT INTO forms (id, project_id, name, title, edited_by_id) VALUES ($1, $2, 'Newsletter', 'Newsletter', 'key_x')`,
    [formId, api.projectId],
  );
  await pool.query(
    `INSERT INTO form_submissions (id, project_id, form_id, email, email_key, name, custom_fields, consent_text, submitted_from, submitted_at,
       message_id, reminder_id, expires_at, confirmed_from)
     VALUES ($1, $2, $3, $4, $4, $4, $5, $4, $4, ARRAY[now()], $4, $4, now() + interval '2 years', $4)`,
    [newId('imp'), api.projectId, formId, key, { by: key }],
  );
  await api.post('/v1/contacts', { email, name: 'Ada Lovelace' }, { 'Idempotency-Key': 'once' });
  await pool.query('UPDATE idempotency_keys SET key = $2 WHERE project_id = $1', [api.projectId, `once ${key}`]);
  const event = { name: `invited ${key}`, id: `invite ${key}`, properties: { by: key, [key]: true } };
  const tracked = await api.post('/v1/events', {
    events: [
      { ...event, contact_id: contact.id },
      { ...event, id: `again ${key}`, email: `friend.${name}@example.org`, create_contact: true },
    ],
  });
  expect(tracked.body.data).toMatchObject({ accepted: 2 });
  await api.post('/v1/suppressions', { email });
  await audit(pool, { projectId: api.projectId, actorId: 'key_x', action: 'test', details: { email: key } });
  return { api, email, key, contact, sent, scheduled, about };
}

test('after an erasure, no column of any table contains the address', { timeout: 60_000 }, async () => {
  const { api, key, contact, sent } = await person();
  const before = await placesOf(key);
  expect(before).toEqual(
    expect.arrayContaining([
      'attempts.response',
      'audit_entries.details',
      'contacts.email_key',
      'events.data',
      'idempotency_keys.body',
      'message_attachments.content',
      'message_contents.html',
      'message_contents.reply_to',
      'messages.answer',
      'messages.email',
      'messages.metadata',
      'messages.subject',
      'segments.filter',
      'soft_bounce_streaks.email_key',
    ]),
  );
  const written = new Set(before.map((place) => place.split('.')[0]));
  expect([...written, ...NOT_OF_CONTACTS].sort()).toEqual(await tables());
  const { rows: optOuts } = await pool.query('SELECT FROM group_opt_outs WHERE contact_id = $1', [contact.id]);
  expect(optOuts).toHaveLength(1);
  const { erased } = await erase(api, contact.id);
  expect(erased).toEqual({ messages: 2, events: expect.any(Number), canceled: 1, isComplete: true });
  expect(await placesOf(key)).toEqual([]);
  expect((await pool.query('SELECT FROM group_opt_outs WHERE contact_id = $1', [contact.id])).rows).toEqual([]);
  const { rows: hits } = await pool.query('SELECT user_agent, network FROM tracking_hits WHERE message_id = $1', [
    sent,
  ]);
  expect(hits).toEqual([{ user_agent: null, network: null }]);
});

/** Columns of tables with contacts' data that no erasure changes, besides ids, and why. */
const NOT_ERASED: Record<string, string> = {
  'audit_entries.action': 'a word of ours',
  'backtests.assumptions': 'percentages',
  'backtests.cursor': 'the id of a contact',
  'backtests.totals': 'numbers, by the ids of steps and templates',
  'bulk_operations.cursor': 'the id of a contact',
  'events.traceparent': 'random ids (W3C Trace Context)',
  'events.type': 'a word of ours',
  'idempotency_keys.fingerprint': 'a hash of the request',
  'imports.encoding': 'a word of ours',
  'imports.on_conflict': 'a word of ours',
  'imports.separator': 'one character',
  'journey_versions.applied_to': 'the id of a contact',
  'journey_versions.unapplied': 'a word of ours',
  'messages.claim': 'random',
  'messages.copy_of': 'the id of a message',
  'messages.traceparent': 'random ids (W3C Trace Context)',
  'segments.name': 'what its authors wrote, like the names of groups',
};

/** The columns that a statement changes: all of a table for DELETE, and those assigned by UPDATE. */
function columnsWritten(statement: string): { table: string; columns: string[] | '*' }[] {
  const text = statement.replaceAll(/\s+/g, ' ').trim();
  const deleted = /^DELETE FROM (\w+)/.exec(text)?.[1];
  if (deleted !== undefined) return [{ table: deleted, columns: '*' }];
  const [, table, assignments = ''] = /^UPDATE (\w+)(?: \w+)? SET (.*)$/.exec(text) ?? [];
  if (table === undefined) return [];
  let depth = 0;
  const columns: string[] = [];
  for (const [token, column] of assignments.matchAll(
    /[()]|\bCASE\b|\bEND\b|(?<=^|, )"?(\w+)"? =|(?: FROM | WHERE )/g,
  )) {
    if (token === '(' || token === 'CASE') depth++;
    else if (token === ')' || token === 'END') depth--;
    else if (depth === 0 && column === undefined) break;
    else if (depth === 0) columns.push(column!);
  }
  return [{ table, columns }];
}

test('every column that can hold an address is erased by the module that owns it, or listed', async () => {
  const api = await testApi();
  const { id } = await api.contact(`columns.${newId('ctc').slice(-12)}@example.net`);
  const written: { table: string; columns: string[] | '*' }[] = [];
  await inTransaction((client) => {
    const query = (...args: Parameters<typeof client.query>) => {
      const [statement] = args as unknown as [string | { text: string }];
      written.push(...columnsWritten(typeof statement === 'string' ? statement : statement.text));
      return client.query(...args);
    };
    return eraseIn(
      new Proxy(client, { get: (of, name) => (name === 'query' ? query : Reflect.get(of, name)) }),
      api.projectId,
      {
        contactId: id,
      },
    );
  });
  for (const { table, columns, deletedBy } of (await privacyParts()).flatMap(({ searched = [] }) => searched))
    written.push({ table, columns: deletedBy === undefined ? Object.keys(columns) : '*' });
  const isErased = (table: string, column: string) =>
    written.some((each) => each.table === table && (each.columns === '*' || each.columns.includes(column)));
  const { rows } = await pool.query<{ table: string; column: string }>(
    `SELECT c.table_name AS table, c.column_name AS column
       ${TEXT_COLUMNS} AND c.column_name !~ '(^|_)id$' ORDER BY 1, 2`,
  );
  const open = rows
    .filter(({ table, column }) => !NOT_OF_CONTACTS.includes(table) && !isErased(table, column))
    .map(({ table, column }) => `${table}.${column}`);
  expect(open).toEqual(Object.keys(NOT_ERASED).sort());
});

test('a failed erasure changes nothing', { timeout: 60_000 }, async () => {
  const { api, key, contact } = await person();
  const before = await placesOf(key);
  // The event is written last. Its delivery waits for the endpoint, which is locked, and then it fails.
  const holder = await pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM webhook_endpoints WHERE project_id = $1 FOR UPDATE', [api.projectId]);
    const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const outcome = erase(api, contact.id);
    await eventually(async () => {
      const { rowCount } = await pool.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
          WHERE $1 = ANY (pg_blocking_pids(pid)) AND query LIKE 'INSERT INTO events%'`,
        [rows[0]?.pid],
      );
      expect(rowCount).toBe(1);
    });
    expect(await outcome).toEqual({ code: 'timeout' });
  } finally {
    holder.release(true);
  }
  expect(await placesOf(key)).toEqual(before);
  expect((await api.get(`/v1/contacts/${contact.id}`)).status).toBe(200);
});

/** Audit entries of a project, of which the first and the last mention an address. @returns the ids of these two. */
async function manyEntries(projectId: string, count: number, email: string): Promise<{ first: string; last: string }> {
  const prefix = `aud_${newId('ctc').slice(-14)}`;
  await pool.query(
    `INSERT INTO audit_entries (id, project_id, actor_id, action, details)
     SELECT $2 || lpad(n::text, 12, '0'), $1, 'key_x', 'test', CASE WHEN n IN (1, $3) THEN jsonb_build_object('of', $4::text) ELSE '{}' END
     FROM generate_series(1, $3::int) AS n`,
    [projectId, prefix, count, email],
  );
  return { first: `${prefix}${'1'.padStart(12, '0')}`, last: `${prefix}${String(count).padStart(12, '0')}` };
}

const mentionedIn = async (id: string): Promise<unknown> =>
  (await pool.query<{ of: string }>(`SELECT details ->> 'of' AS of FROM audit_entries WHERE id = $1`, [id])).rows[0]
    ?.of;

test('the rest of a large project is searched in several transactions, while one of its rows is locked', async () => {
  const api = await testApi();
  const email = `${newId('usr')}@example.org`;
  const { id } = await api.contact(email);
  const { first, last } = await manyEntries(api.projectId, 12_000, email);
  const lock = (tx: Tx) => sql(tx, 'SELECT FROM audit_entries WHERE id = $1 FOR UPDATE', [last]);
  const { erased } = await interleave(
    lock,
    () => erase(api, id),
    async () => {
      await eventually(async () => expect(await mentionedIn(first)).toMatch(/^erased-/));
      expect(await mentionedIn(last)).toBe(email);
    },
  );
  expect(erased).toMatchObject({ isComplete: true });
  expect(await placesOf(email)).toEqual([]);
});

test('a worker searches what a request that was broken off has left, in its project alone', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const email = `${newId('usr')}@example.org`;
  for (const { projectId } of [api, other])
    await pool.query(`INSERT INTO idempotency_keys (project_id, key, fingerprint, body) VALUES ($1, $2, '', '')`, [
      projectId,
      `welcome ${email}`,
    ]);
  await inTransaction((tx) => eraseIn(tx, api.projectId, { email }));
  await searchAll();
  const mentions = () => pool.query('SELECT project_id FROM idempotency_keys WHERE key = $1', [`welcome ${email}`]);
  expect((await mentions()).rows).toHaveLength(2);
  await finish(api.projectId);
  expect((await mentions()).rows).toEqual([{ project_id: other.projectId }]);
  expect((await pool.query('SELECT FROM erasures WHERE project_id = $1', [api.projectId])).rows).toEqual([]);
});

test('messages and events are anonymized, and planned mail is not sent', async () => {
  const { api, contact, sent, scheduled, about } = await person();
  await erase(api, contact.id);
  const email = async (id: string) => (await api.get(`/v1/emails/${id}`)).body.data;
  expect(await email(sent)).toMatchObject({ status: 'delivered', html: null, metadata: {}, attachments: [] });
  expect(await email(scheduled)).toMatchObject({ status: 'canceled' });
  expect(await email(about)).toMatchObject({ to: ['desk@example.net'] });
  const events = await api.events();
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['contact.created', 'email.delivered', 'contact.deleted']),
  );
  for (const { data } of events) {
    expect(data.email).toMatch(/^(erased-\w+@erased\.invalid|desk@example\.net|friend\.\w+@example\.org)$/);
    expect(JSON.stringify(data)).not.toContain('Lovelace');
  }
  expect(await api.events('contact.deleted')).toMatchObject([{ data: { contact_id: contact.id, name: '' } }]);
});

test('an erased address is never mailed or added again, in any spelling', async () => {
  const { api, email, contact } = await person();
  await erase(api, contact.id);
  expect((await api.post('/v1/contacts', { email: email.toUpperCase() })).status).toBe(409);
  const batch = await api.post('/v1/contacts/batch', { contacts: [{ email }, { email: 'grace@example.net' }] });
  expect(batch.body.data.map(({ status }: { status: string }) => status)).toEqual(['error', 'created']);
  const { id } = batch.body.data[1];
  expect((await api.patch(`/v1/contacts/${id}`, { email })).status).toBe(409);
  const sending = await api.post('/v1/emails', { from: 'hello@example.com', to: [email], subject: 'x', text: 'x' });
  expect(sending.body.data.status).toBe('suppressed');
  const [suppression] = (await api.get(`/v1/suppressions?email=${encodeURIComponent(email)}`)).body.data;
  expect(suppression).toMatchObject({ email: 'erased', reason: 'manual' });
  // A returning person must be unsuppressed manually.
  await api.delete(`/v1/suppressions/${suppression.id}`);
  expect((await api.post('/v1/contacts', { email })).status).toBe(201);
});

/** A person with data in many places under a previous address. */
async function moved() {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  await holdMail(api.projectId);
  const name = newId('ctc').slice(-12);
  const [old, now] = [`grace.${name}@example.net`, `hopper.${name}@example.org`];
  await api.post('/v1/webhooks', { url: 'https://hooks.example.com/x', events: ['*'] });
  const contact = await api.contact(old, { name: 'Grace Hopper' });
  const send = async (to: string, more: object = {}) =>
    (await api.post('/v1/emails', { from: 'hello@example.com', to: [to], subject: `For ${old}`, text: old, ...more }))
      .body.data.id as string;
  const sent = await send(old);
  const waiting = await send(old, { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() });
  await pool.query(`UPDATE messages SET state = 'accepted', accepted_at = now(), dispatched_at = now() WHERE id = $1`, [
    sent,
  ]);
  await inTransaction((client) =>
    recordReports(client, [{ messageId: sent, kind: 'bounced', detail: '552 5.2.2 full', at: new Date() }]),
  );
  await api.post('/v1/suppressions', { email: old });
  const importId = newId('imp');
  await pool.query(
    `INSERT INTO imports (id, project_id, status, on_conflict, dry_run, create_fields, file_name) VALUES ($1, $2, 'completed', 'skip', false, false, 'a.csv')`,
    [importId, api.projectId],
  );
  await pool.query(`INSERT INTO import_errors (import_id, line, field, message) VALUES ($1, 2, 'email', $2)`, [
    importId,
    `"${old}" is suppressed`,
  ]);
  await audit(pool, { projectId: api.projectId, actorId: 'key_x', action: 'test', details: { email: old } });
  expect((await api.patch(`/v1/contacts/${contact.id}`, { email: now })).status).toBe(200);
  return { api, contact, old, now, sent, waiting };
}

test('an erasure covers previous addresses too: mail, events, suppressions and import errors', async () => {
  const { api, contact, old, now, waiting } = await moved();
  expect(await placesOf(old)).toEqual(
    expect.arrayContaining([
      'audit_entries.details',
      'contact_addresses.email_key',
      'events.data',
      'import_errors.message',
      'messages.email',
      'soft_bounce_streaks.email_key',
      'suppressions.email_key',
    ]),
  );
  const { erased } = await erase(api, contact.id);
  expect(erased).toMatchObject({ messages: 2, canceled: 1 });
  expect(await placesOf(old)).toEqual([]);
  expect(await placesOf(now)).toEqual([]);
  expect((await api.get(`/v1/emails/${waiting}`)).body.data.status).toBe('canceled');
  for (const email of [old, now]) expect((await api.post('/v1/contacts', { email })).status).toBe(409);
});

const isBefore = { before: true, during: false };

/** Searches for mentions, as a worker does some seconds after the request. */
async function finish(projectId: string): Promise<void> {
  await pool.query(`UPDATE erasures SET created_at = now() - interval '1 minute' WHERE project_id = $1`, [projectId]);
  await searchAll();
}

test.each(Object.keys(isBefore) as (keyof typeof isBefore)[])(
  'an import that fails %s the erasure keeps no address in its error, nor in its event',
  async (when) => {
    const api = await testApi();
    const email = `${newId('usr')}@example.org`;
    await api.contact(email);
    const importId = newId('imp');
    await pool.query(
      `INSERT INTO imports (id, project_id, status, on_conflict, dry_run, create_fields) VALUES ($1, $2, 'running', 'skip', false, false)`,
      [importId, api.projectId],
    );
    const fail = (tx: Tx) => endImport(tx, importId, 'failed', `No column is named email; the columns are: ${email}.`);
    const erasePerson = (tx: Tx) => eraseIn(tx, api.projectId, { email });
    if (isBefore[when]) await interleave(fail, () => inTransaction(erasePerson));
    else await interleave(erasePerson, () => inTransaction(fail));
    await finish(api.projectId);
    expect(await placesOf(email)).toEqual([]);
    const [failed] = await api.events('import.failed');
    expect(failed?.data['error']).toMatch(/^No column is named email; the columns are: erased\S*@erased.invalid.$/);
  },
);

test.each(['old', 'now'] as const)(
  'a person is found by either address, whose contact is there or not: %s',
  async (which) => {
    for (const isDeleted of [false, true]) {
      const person = await moved();
      if (isDeleted) await person.api.delete(`/v1/contacts/${person.contact.id}`);
      const { body } = await (await signedIn(person.api)).graphql(ERASE, { email: person[which] });
      expect(body.data.erasePerson).toMatchObject({ messages: 2, canceled: 1 });
      expect([...(await placesOf(person.old)), ...(await placesOf(person.now))]).toEqual([]);
      expect(await person.api.events('contact.deleted')).toHaveLength(1);
    }
  },
);

test('the export includes data stored under a previous address', async () => {
  const { api, contact, old, now, sent } = await moved();
  const { data } = (await api.get(`/v1/contacts/${contact.id}/data`)).body;
  expect(data).toMatchObject({
    email: now,
    otherEmails: [old],
    suppressions: [{ reason: 'manual' }],
    softBounces: [{ lastMessage: sent }],
  });
  expect(data.messages.map(({ id }: { id: string }) => id)).toContain(sent);
  expect(data.events.map(({ type }: { type: string }) => type)).toContain('email.bounced');
  expect(data.audit.map(({ action }: { action: string }) => action)).toEqual(['addSuppression', 'test']);
});

test("a previous address that now belongs to another contact is kept for them, but the person's own mail is erased", async () => {
  const { api, contact, old, sent } = await moved();
  const { body } = await api.get(`/v1/suppressions?email=${old}`);
  await api.delete(`/v1/suppressions/${body.data[0].id}`);
  const other = await api.contact(old);
  const theirs = (
    await api.post('/v1/emails', { from: 'hello@example.com', to: [old], subject: 'Yours', text: 'Yours' })
  ).body.data.id;
  await pool.query('UPDATE messages SET contact_id = $2 WHERE id = $1', [sent, contact.id]);
  expect((await erase(api, contact.id)).erased).toBeDefined();
  expect((await api.get(`/v1/contacts/${other.id}`)).body.data.email).toBe(old);
  expect((await api.get(`/v1/emails/${theirs}`)).body.data).toMatchObject({ to: [old], subject: 'Yours' });
  const { rows } = await pool.query('SELECT email FROM messages WHERE id = $1', [sent]);
  expect(rows[0].email).toMatch(/@erased\.invalid$/);
});

test('other addresses that contain the same characters are unaffected', async () => {
  const { api, key, contact } = await person();
  const others = [`x${key}`, `${key}.au`, `a-${key}`, `a.${key}`];
  for (const other of others)
    await api.post('/v1/emails', { from: 'hello@example.com', to: [other], subject: other, text: other });
  await erase(api, contact.id);
  for (const other of others) {
    const [found] = (await api.get(`/v1/emails?to=${encodeURIComponent(other)}`)).body.data;
    expect(found, other).toMatchObject({ to: [other], subject: other });
  }
});

test('the export of a person is one JSON document', async () => {
  const { api, key, email, contact, sent } = await person();
  const { body } = await api.get(`/v1/contacts/${contact.id}/data`);
  const { messages, events, ...data } = body.data;
  expect(data).toMatchObject({
    email: key,
    contact: { id: contact.id, email, name: 'Ada Lovelace' },
    groups: [{ name: 'Readers' }],
    groupOptOuts: [{ name: 'Readers' }],
    softBounces: [{ inARow: 2 }],
    // An entry names what was changed, here the address that was suppressed.
    audit: [{ action: 'addSuppression' }, { action: 'test' }],
    notifications: [{ kind: 'campaign_paused' }],
  });
  expect(messages).toHaveLength(2);
  const message = messages.find(({ id }: { id: string }) => id === sent);
  expect(message).toMatchObject({ metadata: { customer: email }, hits: [{ kind: 'open', network: '192.0.2.0' }] });
  const [file] = message.content.attachments;
  expect(Buffer.from(file.content, 'base64').toString()).toBe(`For ${key}`);
  expect(events.map(({ type }: { type: string }) => type)).toEqual(
    expect.arrayContaining(['contact.created', 'email.delivered']),
  );
  expect(events[0].deliveries).toHaveLength(1);
});

test('an address without a contact can be erased', async () => {
  const { api, key, contact } = await person();
  await api.delete(`/v1/contacts/${contact.id}`);
  const { body } = await (await signedIn(api)).graphql(ERASE, { email: ` ${key.toUpperCase()}` });
  expect(body.data.erasePerson).toMatchObject({ messages: 2, canceled: 1 });
  expect(await placesOf(key)).toEqual([]);
});

test('the audit log records the erasure without the address', async () => {
  const { api, key, contact } = await person();
  await erase(api, contact.id);
  const { rows } = await pool.query(`SELECT * FROM audit_entries WHERE project_id = $1 AND action = 'erasePerson'`, [
    api.projectId,
  ]);
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(key);
});

test('signed-in owners and admins may erase; API keys of any scope, members and viewers may not', async () => {
  const api = await testApi();
  const { key: sending } = await api.newKey('sending');
  const { key: everywhere } = await api.newKey('full', 'all');
  for (const [key, code] of [
    [api.key, 'forbidden'],
    [everywhere, 'forbidden'],
    [sending, 'insufficient_scope'],
  ] as const) {
    const headers = { 'X-Project-Id': api.projectId };
    const { body } = await api.graphql(ERASE, { email: 'ada@example.net' }, { key, headers });
    expect(body.errors[0].extensions.code).toBe(code);
  }
  const contact = await api.contact('ada@example.net');
  const byRest = await api.post(`/v1/contacts/${contact.id}/erase`);
  expect([byRest.status, byRest.body.error.code]).toEqual([403, 'forbidden']);
  expect((await api.get(`/v1/contacts/${contact.id}`)).status).toBe(200);
  for (const role of ['member', 'viewer'] as const) {
    const { body } = await (await signedIn(api, role)).graphql(ERASE, { email: 'ada@example.net' });
    expect(body.errors[0].extensions.code).toBe('forbidden');
  }
  for (const role of ['owner', 'admin'] as const) {
    const { body } = await (await signedIn(api, role)).graphql(ERASE, { email: `${role}@example.net` });
    expect(body.data.erasePerson).toEqual({ messages: 0, events: 0, canceled: 0 });
  }
});

test("another project's data about the same person is unaffected", async () => {
  const [one, two]: [Api, Api] = await Promise.all([testApi(), testApi()]);
  const [mine, theirs] = [await one.contact('ada@example.net'), await two.contact('ada@example.net')];
  await erase(one, mine.id);
  expect(await erase(one, theirs.id)).toEqual({ code: 'not_found' });
  expect((await two.get(`/v1/contacts/${theirs.id}`)).status).toBe(200);
  expect((await two.events('contact.created'))[0]?.data.email).toBe('ada@example.net');
});

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDatamodel } from './sql-ownership/datamodel.ts';
import { findUses } from './sql-ownership/find-uses.ts';
import type { Use } from './sql-ownership/source-file.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The programs. Tests, benches, the chaos test and testkit arrange rows as they need them; migrations change any table. */
const PROGRAMS = ['{apps,modules,packages}/*/src/**/*.{ts,tsx,sql}', 'workflows/src/**/*.ts'];
const NO_PROGRAMS = ['packages/testkit/**', '**/generated/**'];

/** Files that may write the tables of all modules, and why. */
const MAY_WRITE_ALL: Record<string, string> = {
  'packages/migrations/src/canonical-emails.ts':
    'a data migration: like a migration.sql, it runs once and is never changed',
  'packages/migrations/src/data-migrations.ts': 'records which of them have run',
  'packages/migrations/src/derived-names.ts': 'a data migration',
  'packages/migrations/src/migrate.ts':
    'after a dump is restored, transaction ids start anew in all tables that have them',
  'apps/worker/src/move/copy.ts': 'copies the rows of a project between databases',
  'apps/worker/src/move/delete-rows.ts': 'deletes the rows of a project that was moved, or is deleted',
  'apps/worker/src/move/move.ts': 'says in both cells which one has a project',
  'modules/privacy/src/search.ts': 'replaces addresses in the columns that their modules list as searched',
  'apps/gateway/src/rotate-encryption-key.ts': 'rewrites the columns that their modules registered as secret',
};

/**
 * The tables of other modules that a module reads, in SQL or with Prisma. A read may span modules where one statement has to;
 * this list shows where. It may only shrink: call a function of the owner instead, or compose its `sql.ts`.
 */
const READS: Record<string, string[]> = {
  // whose project a request is of, by whatever names it
  'apps/gateway': [
    'form_submissions',
    'forms',
    'mail_providers',
    'mailbox_accounts',
    'mailbox_authorizations',
    'project_logos',
  ],
  // a move or deletion of a project: whose each row is, by its parent, what is in flight, and how much there is
  'apps/worker': [
    'api_key_projects',
    'backtests',
    'campaign_shards',
    'campaigns',
    'contact_views',
    'contacts',
    'custom_event_definitions',
    'deliveries',
    'domains',
    'enrollments',
    'event_exports',
    'groups',
    'imports',
    'invitations',
    'journeys',
    'mail_providers',
    'mailbox_accounts',
    'members',
    'messages',
    'segments',
    'webhook_endpoints',
  ],
  // the log, and who is behind an actor id in an export
  audit: ['api_keys', 'audit_entries', 'users'],
  // the projects of a user, shown with their names, and who deleted one
  auth: ['audit_entries', 'projects'],
  // reports and the events they cause, in one statement
  backtests: [
    'contacts',
    'custom_events',
    'enrollments',
    'form_submissions',
    'group_members',
    'messages',
    'suppressions',
  ],
  // whose project a bounce is of, and whether its domain is ours
  bounces: ['campaigns', 'domains', 'messages', 'projects'],
  // the snapshot of an audience, in one statement, the groups that a recipient may leave, and campaigns over their limits
  campaigns: [
    'contacts',
    'group_members',
    'group_opt_outs',
    'messages',
    'projects',
    'sending_policies',
    'suppressions',
    'templates',
  ],
  'custom-events': ['contacts'],
  // claims of due messages with what they need to be sent
  emails: ['campaigns', 'message_attachments', 'message_contents', 'messages', 'projects', 'suppressions', 'templates'],
  // the stream; the table is the kernel's, because every module records events
  events: ['events'],
  // what a form refers to, the brand of its pages, and whether an address may subscribe
  forms: ['contacts', 'custom_fields', 'groups', 'projects', 'suppressions', 'templates'],
  // members that exist, and audiences: what groups and segments select
  groups: ['contacts', 'segments', 'suppressions'],
  // exports, and the group to fill
  imports: ['contacts', 'groups'],
  // statistics, and what happened to a contact
  insights: [
    'campaigns',
    'contacts',
    'events',
    'form_submissions',
    'forms',
    'messages',
    'projects',
    'suppressions',
    'tracking_hits',
  ],
  // runs with their contacts, the outcomes of their messages, and members to notify
  journeys: ['contacts', 'forms', 'group_members', 'groups', 'members', 'messages', 'segments', 'templates'],
  // subjects and states of campaigns, retention settings, and a claim with what its recipients are sent by, in one statement
  ledger: ['campaigns', 'contacts', 'projects', 'sending_policies', 'suppressions'],
  // the project's name in emails, and its retention settings
  notifications: ['projects'],
  // which data migrations have run
  'packages/migrations': ['data_migrations'],
  // what a campaign would send, and at what rate; the module has no tables
  preflight: ['campaigns', 'contacts', 'sending_policies'],
  // finds the person
  privacy: ['contact_addresses', 'contacts', 'messages'],
  // who is behind an actor id
  projects: ['members', 'users'],
  // the messages of a campaign, and a message with its contact; the module has no tables
  recipients: ['campaign_shards', 'campaigns', 'contacts', 'messages'],
  // hits and the events they cause, and conditions of segments on mail, in one statement each
  tracking: ['campaigns', 'contacts', 'messages', 'projects'],
  // the signing key and the load of a transport
  transports: ['dkim_keys', 'domains', 'messages'],
  // what a link leads to, in one statement; the module has no tables
  unsubscribe: ['campaigns', 'contact_addresses', 'contacts', 'messages', 'projects', 'suppressions'],
  // deliveries with their events, in one statement
  webhooks: ['events', 'projects'],
};

const datamodel = readDatamodel(
  new Map(globSync('modules/*/schema.prisma', { cwd: ROOT }).map((path) => [ownerOf(path), read(path)])),
);

/** The module of a file, or the app or package it belongs to. */
function ownerOf(path: string): string {
  const [folder = '', name = ''] = path.replaceAll('\\', '/').split('/');
  return folder === 'modules' ? name : `${folder}/${name}`;
}

const uses = findUses(
  new Map(
    globSync(PROGRAMS, { cwd: ROOT, exclude: NO_PROGRAMS })
      .sort()
      .map((path) => [path.replaceAll('\\', '/'), read(path)]),
  ),
  datamodel,
  ownerOf,
);
const isForeign = ({ file, table }: Use) => datamodel.owners.get(table) !== ownerOf(file);

test('every table is written by the module that owns it, and by no other', () => {
  const foreign = uses
    .filter((use) => use.kind !== 'read' && isForeign(use) && MAY_WRITE_ALL[use.file] === undefined)
    .map((use) =>
      use.kind === 'unresolved'
        ? `${use.file}:${use.line} writes to a table whose name is not spelled out: ${use.table}`
        : `${use.file}:${use.line} writes to ${use.table}, which belongs to ${datamodel.owners.get(use.table)}`,
    );
  expect(foreign).toEqual([]);
});

test('the analysis finds the writes of the owners', () => {
  const written = new Set(uses.filter(({ kind }) => kind === 'write').map(({ table }) => table));
  // Better Auth writes its own tables through its Prisma adapter.
  const byLibrary = ['verifications', 'sign_in_rates'];
  const byTrigger = ['campaign_counts'];
  const others = [...datamodel.owners.keys()].filter((table) => !written.has(table));
  expect(others.filter((table) => ![...byLibrary, ...byTrigger].includes(table))).toEqual([]);
});

test('files that may write everything still do', () => {
  const files = new Set(uses.filter((use) => use.kind !== 'read' && isForeign(use)).map(({ file }) => file));
  expect(Object.keys(MAY_WRITE_ALL).filter((file) => !files.has(file))).toEqual([]);
});

test('reads of other modules are the ones listed', () => {
  const found: Record<string, string[]> = {};
  for (const use of uses.filter((each) => each.kind === 'read' && isForeign(each) && !MAY_WRITE_ALL[each.file])) {
    const tables = (found[ownerOf(use.file)] ??= []);
    if (!tables.includes(use.table)) tables.push(use.table);
  }
  for (const tables of Object.values(found)) tables.sort();
  expect(found).toEqual(READS);
});

// ---- The analysis itself -------------------------------------------------------------------------------------------

const SCHEMAS = new Map([
  [
    'shop',
    `model Order {
  id     String @id
  email  String @map("email_address")
  lines  OrderLine[]
  invoice Invoice? @relation(fields: [invoiceId], references: [id])
  invoiceId String? @map("invoice_id")

  @@map("orders")
}

model OrderLine {
  id      String @id
  order   Order @relation(fields: [orderId], references: [id])
  orderId String @map("order_id")

  @@map("order_lines")
}
`,
  ],
  [
    'billing',
    `model Invoice {
  id     String @id
  orders Order[]

  @@map("invoices")
}
`,
  ],
]);

/** The uses in one file, as `kind table:line`. */
function usesOf(text: string, more: Record<string, string> = {}, file = 'modules/shop/src/orders.ts'): string[] {
  return findUses(new Map([[file, text], ...Object.entries(more)]), readDatamodel(SCHEMAS), ownerOf)
    .filter((use) => use.file === file)
    .map(({ kind, table, line }) => `${kind} ${table}:${line}`);
}

test('the datamodel gives tables, owners, columns and relations', () => {
  const { owners, models } = readDatamodel(SCHEMAS);
  expect(Object.fromEntries(owners)).toEqual({ orders: 'shop', order_lines: 'shop', invoices: 'billing' });
  expect(models.get('order')?.columns.get('email')).toEqual({ column: 'email_address', type: 'String' });
  expect(models.get('order')?.relations.get('invoice')).toEqual({ model: 'invoice', holdsKey: true });
  expect(models.get('invoice')?.relations.get('orders')).toEqual({ model: 'order', holdsKey: false });
});

test.each([
  ['INSERT INTO invoices (id) VALUES (1)'],
  ['insert into invoices values (1)'],
  ['UPDATE invoices SET paid = true'],
  ['UPDATE ONLY "invoices" AS i SET paid = true'],
  ['UPDATE public.invoices i SET paid = true'],
  ['DELETE FROM invoices USING orders o WHERE o.id = invoices.id'],
  ['MERGE INTO invoices i USING orders o ON true WHEN MATCHED THEN DELETE'],
  ['TRUNCATE TABLE invoices'],
  ['COPY invoices (id) FROM STDIN'],
  ['WITH paid AS (\n UPDATE invoices SET paid = true RETURNING id) SELECT * FROM paid'],
  ['INSERT INTO orders VALUES (1) ON CONFLICT (id) DO UPDATE SET id = 1; DELETE FROM invoices'],
])('a write is found in every kind of statement: %s', (statement) => {
  expect(usesOf(`await pool.query(${JSON.stringify(statement)})`)).toContain('write invoices:1');
});

test('a write is found in a .sql file, at its line', () => {
  expect(usesOf('-- DELETE FROM orders\nUPDATE invoices SET id = 1', {}, 'modules/shop/src/pay.sql')).toEqual([
    'write invoices:2',
  ]);
});

test('a table named by a constant, a list, a member or another file is followed', () => {
  expect(usesOf("const T = 'invoices';\nexport const q = `DELETE FROM ${T}`;")).toEqual([
    'write invoices:2',
    'read invoices:2',
  ]);
  expect(
    usesOf("const T = { of: { bills: 'invoices' } } as const;\nconst q = `UPDATE ${T.of.bills} SET id = 1`;"),
  ).toEqual(['write invoices:2']);
  expect(usesOf("for (const [table] of [['orders'], ['invoices']]) run(`TRUNCATE ${table}`);")).toEqual([
    'write orders:1',
    'write invoices:1',
  ]);
  expect(usesOf("const q = 'UPDATE ' + (late ? 'orders' : 'invoices') + ' SET id = 1';")).toEqual([
    'write orders:1',
    'write invoices:1',
  ]);
  expect(usesOf("const q = ['DELETE FROM', 'invoices'].join(' ');")).toContain('write invoices:1');
  const tables = {
    'modules/shop/src/tables.ts': "export { BILLS } from './names.ts';",
    'modules/shop/src/names.ts': "export const BILLS = 'invo' + 'ices';",
  };
  expect(usesOf("import { BILLS } from './tables.ts';\nconst q = `INSERT INTO ${BILLS} VALUES (1)`;", tables)).toEqual([
    'write invoices:2',
  ]);
});

test('a write to a table that cannot be determined is reported', () => {
  expect(usesOf('const clear = (table: string) => pool.query(`DELETE FROM ${table}`);')).toEqual([
    'unresolved DELETE FROM ${…}:1',
  ]);
  expect(usesOf("let table = 'orders';\nconst q = `UPDATE ${table} SET id = 1`;")).toEqual([
    'unresolved UPDATE ${…} SET id = 1:2',
  ]);
  expect(usesOf("const verb = 'INSERT INTO ';")).toEqual(['unresolved INSERT INTO:1']);
});

test('fragments belong to the file that names the table, not to the one that composes them', () => {
  const billing = { 'modules/billing/src/sql.ts': 'export const PAY = `UPDATE invoices SET paid = true`;' };
  expect(
    usesOf(
      "import { PAY } from '@postroom/billing/sql';\nconst q = `WITH paid AS (${PAY} RETURNING id) DELETE FROM orders`;",
      billing,
    ),
  ).toEqual(['write orders:2', 'read orders:2']);
});

test('row locks, upserts of the own table and prose are no writes', () => {
  expect(usesOf('const q = `SELECT FROM orders ORDER BY id FOR NO KEY UPDATE`;')).toEqual(['read orders:1']);
  expect(usesOf("const q = 'SELECT id FROM orders FOR UPDATE';")).toEqual(['read orders:1']);
  expect(usesOf("const text = 'You may update invoices here, or delete from the list.';")).toEqual([]);
});

test('reads are found in joins and lists', () => {
  expect(usesOf('const q = `SELECT a, invoices FROM orders AS o, order_lines l JOIN invoices i ON true`;')).toEqual([
    'read orders:1',
    'read order_lines:1',
    'read invoices:1',
  ]);
});

test('Prisma calls are found, whatever the client is called and however the delegate is named', () => {
  expect(usesOf('await db.invoice.create({ data: {} });')).toEqual(['write invoices:1']);
  expect(usesOf('await tx\n  .invoice\n  .deleteMany({});')).toEqual(['write invoices:1']);
  expect(usesOf("await this.context.db['invoice'].updateMany({});")).toEqual(['write invoices:1']);
  expect(usesOf('const invoices = db.invoice;')).toEqual(['write invoices:1']);
  expect(usesOf('const data = (id: string) => ({ id, invoice: { connectOrCreate: { where, create } } });')).toEqual([
    'write invoices:1',
  ]);
  expect(usesOf('await db[name].update({});')).toEqual(['unresolved db[name]:1']);
  expect(usesOf('await db.invoice.findMany({});')).toEqual(['read invoices:1']);
});

test('nested writes through relations are found wherever the object is made; linking writes where the key is', () => {
  expect(usesOf('await db.order.create({ data: { id, invoice: { create: { id } } } });')).toContain('write invoices:1');
  expect(
    usesOf('const data = { lines: { createMany: { data: [] } } };\nawait db.order.update({ where, data });'),
  ).toEqual(['write order_lines:1', 'write orders:2']);
  expect(usesOf('await db.order.update({ where, data: { invoice: { connect: { id } } } });')).toEqual([
    'write orders:1',
  ]);
  expect(usesOf('await db.invoice.update({ where, data: { orders: { connect: { id } } } });')).toEqual([
    'write invoices:1',
    'write orders:1',
  ]);
  expect(
    usesOf(
      'await db.order.upsert({ where, create: { ...base, lines: { create: [{ order: { update: { invoice: { delete: true } } } }] } }, update: {} });',
    ),
  ).toContain('write invoices:1');
});

import { pool } from '@postroom/platform';
import { createContactsBatch, suppress } from '@postroom/contacts';
import { type Api, eventually, startTestWorker, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { contactsOf, ended, errorsOf, importFile, type Shown, upload } from './testing.ts';

beforeAll(startTestWorker);

const counts = (some: object) => ({
  rows: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  duplicates: 0,
  suppressed: 0,
  invalid: 0,
  incomplete: 0,
  ...some,
});

/** `data` of the event of an import that ended. */
const endedWith = ({ id }: Shown, some: object, more: object = {}) => {
  const { incomplete: _, ...rows } = counts(some);
  return { import_id: id, kind: 'contacts', file_name: 'people.csv', dry_run: false, ...rows, ...more };
};

test('each row becomes a contact of source import, and contact.created fires for each', async () => {
  const api = await testApi();
  const done = await importFile(api, 'email,name\nada@example.com,Ada Lovelace\ngrace@example.com,\n');
  expect(done).toMatchObject({
    status: 'completed',
    progress: 1,
    counts: counts({ rows: 2, created: 2 }),
    error: null,
  });
  expect(await contactsOf(api)).toEqual([
    ['ada@example.com', 'Ada Lovelace', {}],
    ['grace@example.com', 'grace', {}],
  ]);
  const { body } = await api.get('/v1/contacts?source=import');
  const [grace, ada] = body.data;
  expect((await api.events()).map(({ type, data }) => ({ type, data }))).toEqual([
    { type: 'contact.created', data: { contact_id: ada.id, email: 'ada@example.com', name: 'Ada Lovelace' } },
    { type: 'contact.created', data: { contact_id: grace.id, email: 'grace@example.com', name: 'grace' } },
    { type: 'import.completed', data: endedWith(done, { rows: 2, created: 2 }) },
  ]);
});

test('an import merges what it added to the search indexes, so that no write of another project has to', async () => {
  const api = await testApi();
  const rows = Array.from({ length: 5_000 }, (_, at) => `searched${at}@example.com,Reader ${at}`);
  await importFile(api, `email,name\n${rows.join('\n')}\n`);
  await pool.query('CREATE EXTENSION IF NOT EXISTS pgstattuple');
  const { rows: found } = await pool.query<{ pending: number }>(
    `SELECT pending_tuples::int AS pending FROM pgstatginindex('contacts_search_idx')`,
  );
  expect(found[0]?.pending).toBeLessThan(4_000);
});

test('columns map to custom fields by key, label or derived key, and values are coerced', async () => {
  const api = await testApi();
  for (const field of [
    { key: 'plan', type: 'select', options: ['free', 'pro'] },
    { key: 'seats', type: 'number' },
    { key: 'since', label: 'Customer since', type: 'date' },
    { key: 'vip_guest', label: 'x', type: 'boolean' },
  ]) {
    await api.post('/v1/custom-fields', field);
  }
  const file =
    'E-Mail;Full name;PLAN;seats;customer since;VIP guest;other\nada@example.com;Ada;PRO;3;2026-11-21;yes;x\n';
  const done = await importFile(api, file);
  expect(done.columns.map(({ name, fields, type, isNew }) => [name, ...fields, type, isNew])).toEqual([
    ['E-Mail', 'email', null, false],
    ['Full name', 'name', null, false],
    ['PLAN', 'customFields.plan', 'select', false],
    ['seats', 'customFields.seats', 'number', false],
    ['customer since', 'customFields.since', 'date', false],
    ['VIP guest', 'customFields.vip_guest', 'boolean', false],
    ['other', null, false],
  ]);
  expect(await contactsOf(api)).toEqual([
    ['ada@example.com', 'Ada', { plan: 'pro', seats: 3, since: '2026-11-21', vip_guest: true }],
  ]);
});

test('a text is the same value in a file as in a request, and blank cells are none', async () => {
  const api = await testApi();
  for (const key of ['city', 'note']) await api.post('/v1/custom-fields', { key, type: 'text' });
  const city = ' \u00a0New  York\u200bCity\t';
  const ada = await api.contact('ada@example.com', { custom_fields: { city } });
  await importFile(api, `email,city,note\nbob@example.com,"${city}", \u200b \n`);
  const values = { city: 'New  York\u200bCity' };
  expect((await api.get(`/v1/contacts/${ada.id}`)).body.data.customFields).toEqual(values);
  expect(await contactsOf(api)).toEqual([
    ['ada@example.com', 'ada', values],
    ['bob@example.com', 'bob', values],
  ]);
  const again = await importFile(api, `email,city\nada@example.com,${values.city}\n`, { on_conflict: 'update' });
  expect(again.counts).toEqual(counts({ rows: 1, unchanged: 1 }));
});

test('accents are composed: in names, values, options of new fields and names of columns', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'city', label: 'Cit\u00e9', type: 'text' });
  const rows = Array.from(
    { length: 12 },
    (_, at) => `zoe${at}@example.com,Zoe\u0308,Orle\u0301ans,${at % 2 ? 'Cafe\u0301' : 'Caf\u00e9'}`,
  );
  await importFile(api, `email,name,Cite\u0301,Favorite\n${rows.join('\n')}\n`, { create_fields: true });
  expect((await contactsOf(api))[0]).toEqual([
    'zoe0@example.com',
    'Zo\u00eb',
    { city: 'Orl\u00e9ans', favorite: 'Caf\u00e9' },
  ]);
  const { body } = await api.get('/v1/custom-fields');
  expect(body.data[0]).toMatchObject({ key: 'favorite', options: ['Caf\u00e9'] });
});

test('an invalid row is reported with its line, field and reason, and blocks no other', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'seats', type: 'number' });
  const file = [
    'email,name,seats',
    'ada@example.com,"Ada',
    'Lovelace",1',
    ',Nobody,2',
    'bob at example.com,Bob,many',
    '',
    'carl@example.com,Carl,7,8',
    `dora@example.com,${'x'.repeat(201)},3`,
    '"eve@example.com,Eve,4',
    'frank@example.com,Fr\0ank,5',
    'grace@example.com,Grace,6,,',
    ',,',
  ].join('\r\n');
  const done = await importFile(api, file);
  expect(done.counts).toEqual(counts({ rows: 8, created: 3, invalid: 5, incomplete: 1 }));
  expect(await errorsOf(api, done.id)).toEqual([
    '4 email is required',
    '5 custom_fields.seats must be a number',
    '5 email must be an email address such as ada@example.com',
    '7 row 4 columns instead of 3',
    '8 name must be at most 200 characters',
    '9 row a quote is opened but never closed',
    '10 row a value contains a NUL character',
  ]);
  expect((await contactsOf(api)).map(([email]) => email)).toEqual([
    'ada@example.com',
    'dora@example.com',
    'grace@example.com',
  ]);
});

test('missing cells at the end of a row are blank, as spreadsheets leave them out, and separators after the last column count for nothing', async () => {
  const api = await testApi();
  await api.contact('grace@example.com', { name: 'Grace' });
  const file = 'email,name,plan\nada@example.com\nbob@example.com,Bob,pro,,\ngrace@example.com\n';
  const done = await importFile(api, file, { create_fields: true, on_conflict: 'update' });
  expect(done.counts).toEqual(counts({ rows: 3, created: 2, unchanged: 1 }));
  expect(await contactsOf(api)).toEqual([
    ['ada@example.com', 'ada', {}],
    ['bob@example.com', 'Bob', { plan: 'pro' }],
    ['grace@example.com', 'Grace', {}],
  ]);
});

test('if rows share an address, ignoring case, the first valid one wins; the others name its line', async () => {
  const api = await testApi();
  const file = 'email,name\nada@example,Bad\nAda@Example.com,First\n ADA@example.com ,Second\nada@example.com,Third\n';
  for (const onConflict of ['skip', 'update']) {
    const done = await importFile(api, file, { on_conflict: onConflict });
    expect(done.counts).toMatchObject({ rows: 4, duplicates: 2, invalid: 1 });
    expect(await errorsOf(api, done.id)).toEqual([
      '2 email must have a domain such as example.com after the @',
      '4 email is already in line 3',
      '5 email is already in line 3',
    ]);
    expect(await contactsOf(api)).toEqual([['Ada@Example.com', 'First', {}]]);
  }
});

test('an erased address is not imported again', async () => {
  const api = await testApi();
  await pool.query(
    `INSERT INTO suppressions (id, project_id, email, email_key, reason)
     VALUES ('sup_erased' || $1, $1, 'erased', erased_key($1, 'gone@example.com'), 'manual')`,
    [api.projectId],
  );
  const { id, counts } = await importFile(api, 'email\nada@example.com\nGone@example.com\n');
  expect(counts).toMatchObject({ created: 1, suppressed: 1 });
  expect(await errorsOf(api, id)).toEqual(["3 email is on the project's suppression list"]);
});

test('a new suppressed address is reported; an existing suppressed contact is updated', async () => {
  const api = await testApi();
  await api.contact('known@example.com', { name: 'Known' });
  const addresses = ['gone@example.com', 'known@example.com'];
  await suppress(
    pool,
    api.projectId,
    addresses.map((email) => ({ email, reason: 'bounced' })),
  );
  const file = 'email,name\nGONE@example.com,Gone\nknown@example.com,Known better\nnew@example.com,New\n';
  const done = await importFile(api, file, { on_conflict: 'update' });
  expect(done.counts).toEqual(counts({ rows: 3, created: 1, updated: 1, suppressed: 1 }));
  expect(await errorsOf(api, done.id)).toEqual(["2 email is on the project's suppression list"]);
  expect(await contactsOf(api)).toEqual([
    ['known@example.com', 'Known better', {}],
    ['new@example.com', 'New', {}],
  ]);
});

test('on_conflict=skip leaves contacts unchanged, and no events of contacts fire', async () => {
  const api = await testApi();
  await api.contact('ada@example.com', { name: 'Ada' });
  const done = await importFile(api, 'email,name\nada@example.com,Somebody else\n');
  expect(done.counts).toEqual(counts({ rows: 1, unchanged: 1 }));
  expect(await contactsOf(api)).toEqual([['ada@example.com', 'Ada', {}]]);
  expect((await api.events()).map(({ type }) => type)).toEqual(['contact.created', 'import.completed']);
});

test('on_conflict=update writes given values, blank cells change nothing, and contact.updated fires for changed names', async () => {
  const api = await testApi();
  for (const key of ['plan', 'city']) await api.post('/v1/custom-fields', { key, type: 'text' });
  const custom_fields = { plan: 'free', city: 'London' };
  for (const name of ['ada', 'bob', 'cy']) await api.contact(`${name}@example.com`, { name, custom_fields });
  const file =
    'email,name,plan,city\nada@example.com,Ada King,pro,\nbob@example.com,,pro,Bonn\ncy@example.com,cy,free,\n';
  const done = await importFile(api, file, { on_conflict: 'update' });
  expect(done.counts).toEqual(counts({ rows: 3, updated: 2, unchanged: 1 }));
  expect(await contactsOf(api)).toEqual([
    ['ada@example.com', 'Ada King', { plan: 'pro', city: 'London' }],
    ['bob@example.com', 'bob', { plan: 'pro', city: 'Bonn' }],
    ['cy@example.com', 'cy', custom_fields],
  ]);
  expect((await api.events('contact.updated')).map(({ data }) => data.email)).toEqual(['ada@example.com']);
});

test('concurrent imports and batches that share new addresses create each contact once, and all succeed', async () => {
  const api = await testApi();
  const people = Array.from({ length: 4_000 }, (_, n) => ({ email: `person${n}@example.com`, name: `Person ${n}` }));
  const fileOf = (rows: typeof people) =>
    ['email,name', ...rows.map(({ email, name }) => `${email},${name}`)].join('\n');
  const [one, two, ...batches] = await Promise.all([
    importFile(api, fileOf(people)),
    importFile(api, fileOf(people.toReversed())),
    ...[0, 1, 2, 3].map((part) => createContactsBatch(api.projectId, people.slice(part * 1000, part * 1000 + 1000))),
  ]);
  expect([one.status, two.status]).toEqual(['completed', 'completed']);
  const created = batches.flat().filter(({ status }) => status === 'created').length;
  expect(created + one.counts.created + two.counts.created).toBe(4_000);
  expect(one.counts.created + one.counts.unchanged).toBe(4_000);
  const { rows } = await pool.query(
    `SELECT count(*)::int AS contacts, count(DISTINCT email_key)::int AS addresses,
       (SELECT count(DISTINCT data->>'contact_id')::int FROM events WHERE project_id = $1 AND type = 'contact.created') AS events
       FROM contacts WHERE project_id = $1`,
    [api.projectId],
  );
  expect(rows).toEqual([{ contacts: 4_000, addresses: 4_000, events: 4_000 }]);
});

test('a batch that conflicts with a concurrent writer is retried after that one commits', async () => {
  const api = await testApi();
  const blocking = await pool.connect();
  await blocking.query('BEGIN');
  await blocking.query(
    `INSERT INTO contacts (id, project_id, email, email_key, name, source) VALUES ('ctc_blocking' || $1, $1, 'bob@example.com', 'bob@example.com', 'Bob', 'api')`,
    [api.projectId],
  );
  const importing = importFile(api, 'email\nada@example.com\nbob@example.com\neve@example.com\n');
  await eventually(async () => {
    const { rows } = await pool.query(
      `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO contacts%' AND $1 = ANY (pg_blocking_pids(pid))`,
      [(blocking as unknown as { processID: number }).processID],
    );
    expect(rows).toHaveLength(1);
  });
  await blocking.query('COMMIT');
  blocking.release();
  expect(await importing).toMatchObject({ status: 'completed', counts: { rows: 3, created: 2, unchanged: 1 } });
  expect((await api.events('contact.created')).length).toBe(2);
});

test('imported contacts are listed in file order, the last one first', async () => {
  const api = await testApi();
  const emails = ['mia', 'ada', 'zoe', 'bob'].map((name) => `${name}@example.com`);
  await importFile(api, ['email', ...emails].join('\n'));
  const { body } = await api.get('/v1/contacts');
  expect(body.data.map(({ email }: { email: string }) => email)).toEqual(emails.toReversed());
});

test('line breaks, quotes and backslashes in texts are preserved; in a name, a line break is a space', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'note', type: 'text' });
  const [name, note] = ['Ada\nthe "Countess" \\ {NULL}, of', 'one\r\ntwo\t"three" \\n \\'];
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  await importFile(api, `email,name,note\nada@example.com,${quoted(name)},${quoted(note)}\nbob@example.com,NULL,\n`);
  expect(await contactsOf(api)).toEqual([
    ['ada@example.com', name.replace('\n', ' '), { note }],
    ['bob@example.com', 'NULL', {}],
  ]);
});

test('a dry run writes nothing, and predicts the import including its errors', async () => {
  const api = await testApi();
  await api.contact('ada@example.com', { name: 'Ada' });
  await api.contact('bob@example.com', { name: 'Bob' });
  await suppress(pool, api.projectId, [{ email: 'gone@example.com', reason: 'manual' }]);
  const before = await contactsOf(api);
  const file = [
    'email,name,plan',
    'ada@example.com,Ada King,pro',
    'bob@example.com,Bob,',
    'cy@example.com,Cy,pro',
    'CY@example.com,Cy,pro',
    'gone@example.com,Gone,free',
    'nonsense,,',
  ].join('\n');
  const options = { on_conflict: 'update', create_fields: true, group_name: 'New' };
  const dry = await importFile(api, file, { ...options, dry_run: true });
  expect(await contactsOf(api)).toEqual(before);
  expect((await api.get('/v1/custom-fields')).body.data).toEqual([]);
  expect((await api.get('/v1/groups')).body.data).toEqual([]);
  const predicted = { rows: 6, created: 1, updated: 1, unchanged: 1, duplicates: 1, suppressed: 1, invalid: 1 };
  expect((await api.events()).map(({ type, data }) => (type === 'import.completed' ? data : type))).toEqual([
    'contact.created',
    'contact.created',
    endedWith(dry, predicted, { dry_run: true }),
  ]);
  const real = await importFile(api, file, options);
  expect(real.counts).toEqual(counts(predicted));
  expect(dry.counts).toEqual(real.counts);
  expect(dry.columns).toEqual(real.columns);
  expect(await errorsOf(api, dry.id)).toEqual(await errorsOf(api, real.id));
});

test('create_fields cuts a long name of a column, also within an emoji', async () => {
  const api = await testApi();
  const file = `email,${'x'.repeat(199)}😀\nada@example.com,1\n`;
  expect(await importFile(api, file, { create_fields: true })).toMatchObject({ status: 'completed' });
  const [field] = (await api.get('/v1/custom-fields')).body.data;
  expect(field.label).toHaveLength(200);
});

test('create_fields creates custom fields with the guessed types, except for blank columns', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'city', type: 'text' });
  const rows = Array.from(
    { length: 30 },
    (_, n) =>
      `p${n}@example.com,Ann,Lee,Bonn,${['free', 'pro'][n % 2]},${n},2026-01-${10 + (n % 20)},${n % 2 ? 'yes' : 'no'},0${n},,'=${n}`,
  );
  const file = ['email,First name,Last name,City,Plan,Seats,Signed up,VIP,Postcode,Void,Formula', ...rows].join('\n');
  const done = await importFile(api, file, { create_fields: true });
  expect(done.counts.created).toBe(30);
  const { body } = await api.get('/v1/custom-fields');
  expect(
    body.data.map(({ key, label, type, options }: Record<string, unknown>) => [key, label, type, options]).reverse(),
  ).toEqual([
    ['city', 'city', 'text', []],
    ['first_name', 'First name', 'select', ['Ann']],
    ['last_name', 'Last name', 'select', ['Lee']],
    ['plan', 'Plan', 'select', ['free', 'pro']],
    ['seats', 'Seats', 'number', []],
    ['signed_up', 'Signed up', 'date', []],
    ['vip', 'VIP', 'boolean', []],
    ['postcode', 'Postcode', 'text', []],
    ['formula', 'Formula', 'text', []],
  ]);
  expect((await contactsOf(api))[0]).toEqual([
    'p0@example.com',
    'Ann Lee',
    {
      city: 'Bonn',
      first_name: 'Ann',
      last_name: 'Lee',
      plan: 'free',
      seats: 0,
      signed_up: '2026-01-10',
      vip: false,
      postcode: '00',
      formula: '=0',
    },
  ]);
});

test('contacts join the named group, which is created with its first member; existing contacts get an event', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const file = 'email\nada@example.com\nbob@example.com\n';
  const done = await importFile(api, file, { group_name: ' Newsletter ' });
  const group = (await api.get(`/v1/groups/${done.groupId}`)).body.data;
  expect(group).toMatchObject({ name: 'Newsletter', memberCount: 2 });
  expect((await api.events('contact.updated')).map(({ data }) => data.contact_id)).toEqual([ada.id]);
  const again = await importFile(api, 'email\nada@example.com\ncy@example.com\n', { group_name: 'Newsletter' });
  expect(again.groupId).toBe(done.groupId);
  await importFile(api, 'email\ndora@example.com\n', { group_id: done.groupId });
  expect((await api.get(`/v1/groups/${done.groupId}`)).body.data.memberCount).toBe(4);
  expect(await api.events('contact.updated')).toHaveLength(1);
});

test('a group is never empty: without contacts none is created; one deleted meanwhile is not recreated', async () => {
  const api = await testApi();
  const none = await importFile(api, 'email\nnonsense\n', { group_name: 'Nobody' });
  expect([none.groupId, (await api.get('/v1/groups')).body.data]).toEqual([null, []]);
  const ada = await api.contact('ada@example.com');
  const { body } = await api.post('/v1/groups', { name: 'Gone', contact_ids: [ada.id] });
  const { body: accepted } = await upload(api, 'email\nbob@example.com\n', { group_id: body.data.id });
  await api.delete(`/v1/groups/${body.data.id}`);
  expect(await ended(api, accepted.data.id)).toMatchObject({ status: 'completed', counts: { created: 1 } });
});

test('a column without a name, or with the name of an earlier one, can still be mapped by a name', async () => {
  const file = 'email;Notes;notes ;;Notes (column 3)\nada@example.com;first;second;third;fourth\n';
  const api = await testApi();
  const custom_fields = { a: 'notes', b: 'Notes (column 3)', c: 'column 4', d: 'notes (column 3) (column 5)' };
  const done = await importFile(api, file, { columns: { custom_fields }, create_fields: true });
  expect(done.columns.map(({ name }) => name)).toEqual([
    'email',
    'Notes',
    'notes (column 3)',
    'column 4',
    'Notes (column 3) (column 5)',
  ]);
  const values = { a: 'first', b: 'second', c: 'third', d: 'fourth' };
  expect(await contactsOf(api)).toEqual([['ada@example.com', 'ada', values]]);
  const other = await testApi();
  await importFile(other, file, { create_fields: true });
  const { body } = await other.get('/v1/custom-fields');
  expect(body.data.map(({ label }: { label: string }) => label).reverse()).toEqual([
    'Notes',
    'Notes (column 3)',
    'Column 4',
    'Notes (column 3) (column 5)',
  ]);
});

test('columns are mapped by name, ignoring case; omitted mappings are derived from the names', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'plan', type: 'text' });
  await api.post('/v1/custom-fields', { key: 'city', type: 'text' });
  const file = 'Kontakt;Mail privat;Vorn.;Nachn.;Tarif;city\nold@example.com;ada@example.com;Ada;Lovelace;pro;Bonn\n';
  const done = await importFile(api, file, {
    columns: { email: 'mail privat', name: ['Vorn.', 'nachn.'], custom_fields: { plan: 'TARIF' } },
  });
  expect(done.columns.map(({ fields }) => fields)).toEqual([
    [],
    ['email'],
    ['name'],
    ['name'],
    ['customFields.plan'],
    [],
  ]);
  expect(await contactsOf(api)).toEqual([['ada@example.com', 'Ada Lovelace', { plan: 'pro' }]]);
  const rest = await importFile(api, file, { columns: { email: 'Kontakt', name: [] } });
  expect(rest.columns.map(({ fields }) => fields)).toEqual([['email'], [], [], [], [], ['customFields.city']]);
});

test.each([
  ['names,of\nno,address\n', {}, 'No column is named email or contains addresses; the columns are: names, of.'],
  ['email,name\n', { columns: { email: 'E-Mail' } }, 'No column is named "E-Mail"; the columns are: email, name.'],
  [
    'email,plan\na@example.com,pro\n',
    { columns: { custom_fields: { tarif: 'plan' } } },
    'tarif is not a custom field of this project. Create it first, or allow the import to create fields.',
  ],
  [
    'email,plan\na@example.com,pro\n',
    { create_fields: true, columns: { custom_fields: { 'not a key': 'plan' } } },
    "The custom field not a key can't be created: key: must begin with a letter and have at most 64 letters, digits and underscores",
  ],
  ['"email,name\na@example.com,Ann\n', {}, 'Line 1 should name the columns: a quote is opened but never closed.'],
  ['\n\n', {}, 'The file is empty.'],
  ['email,na\0me\na@example.com,Ann\n', {}, 'Line 1 should name the columns: a name contains a NUL character.'],
  ['foo\0\n1\n', {}, 'Line 1 should name the columns: a name contains a NUL character.'],
  [
    'PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0[Content_Types].xml',
    {},
    'The file is no CSV file: it is a spreadsheet, such as of Excel, or a ZIP archive. Save the sheet as CSV, or unpack the archive.',
  ],
  ['%PDF-1.7\n', {}, 'The file is no CSV file: it is a PDF document. Export the data as CSV.'],
  [
    'x\n'.repeat(2_000_000),
    {},
    'The file has 2,000,001 lines, and an import takes 2,000,000 at most. Split it into several.',
  ],
])('an unusable file fails the import with a sentence, and nothing is written: %#', async (file, options, error) => {
  const api = await testApi();
  const failed = await importFile(api, file, options);
  expect(failed).toMatchObject({ status: 'failed', error, counts: counts({}) });
  expect(await contactsOf(api)).toEqual([]);
  expect(await api.events()).toMatchObject([{ type: 'import.failed', data: endedWith(failed, {}, { error }) }]);
});

test.each([
  ['UTF-8 with a byte order mark', 'utf-8', ',', Buffer.from('\uFEFFemail,name\nzoe@example.com,Zoé ☕\n')],
  [
    'UTF-16 with tabs, as Excel writes it',
    'utf-16le',
    '\t',
    Buffer.from('\uFEFFemail\tname\r\nzoe@example.com\tZoé ☕\r\n', 'utf16le'),
  ],
  [
    'Windows-1252 with sep=;',
    'windows-1252',
    ';',
    Buffer.from('sep=;\r\nemail;name\r\nzoe@example.com;Zo\xe9 \x95\r\n', 'latin1'),
  ],
])('the encoding and the separator are detected: %s', async (_name, encoding, separator, bytes) => {
  const api = await testApi();
  const done = await importFile(api, new Uint8Array(bytes));
  expect(done).toMatchObject({ status: 'completed', encoding, separator, counts: { created: 1 } });
  expect((await contactsOf(api))[0]?.[1]).toMatch(/^Zoé [☕•]$/);
});

test('a given encoding and separator are used', async () => {
  const api = await testApi();
  const bytes = new Uint8Array(Buffer.from('email:name\nzoe@example.com:\xfa\xcf\xd1\n', 'latin1'));
  const done = await importFile(api, bytes, { encoding: 'koi8-r', separator: ':' });
  expect(done).toMatchObject({ encoding: 'koi8-r', separator: ':' });
  expect(await contactsOf(api)).toEqual([['zoe@example.com', 'Зоя', {}]]);
});

test('unusual files are read: no header, one column, lone carriage returns, everything quoted, no final line break', async () => {
  const files: [string, number][] = [
    ['Ada;ada@example.com\nBob;bob@example.com\n', 2],
    ['email\nada@example.com\nbob@example.com', 2],
    ['email,name\rada@example.com,Ada\rbob@example.com,Bob\r', 2],
    ['"email","name"\r\n"ada@example.com","Ada ""the Countess"""\r\n"bob@example.com","two\r\nlines"\r\n', 2],
    ['\n\n email , name \n\n ada@example.com , Ada \n', 1],
    ['name,email,name\nAda,ada@example.com,Bob\n', 1],
    ['email\n', 0],
  ];
  for (const [file, created] of files) {
    const api = await testApi();
    expect(await importFile(api, file)).toMatchObject({ status: 'completed', counts: { rows: created, created } });
  }
});

test('imports are listed newest first, and only those of the project', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const [one, two] = [await importFile(api, 'email\n'), await importFile(api, 'email\n')];
  const page = await api.get('/v1/imports?limit=1');
  expect(page.body).toMatchObject({ data: [{ id: two.id }], has_more: true });
  const { body } = await api.get(`/v1/imports?cursor=${page.body.next_cursor}`);
  expect(body).toMatchObject({ data: [{ id: one.id }], has_more: false });
  for (const path of [`/v1/imports/${one.id}`, `/v1/imports/${one.id}/errors`, '/v1/imports/nonsense/errors']) {
    expect(await other.get(path)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  }
  expect((await other.post(`/v1/imports/${one.id}/cancel`)).status).toBe(404);
});

test('an ended import cannot be canceled', async () => {
  const api = await testApi();
  const { id } = await importFile(api, 'email\n');
  expect(await api.post(`/v1/imports/${id}/cancel`)).toMatchObject({
    status: 409,
    body: { error: { code: 'conflict' } },
  });
});

test('no part of the file is kept after its import has ended', async () => {
  const api: Api = await testApi();
  const { id } = await importFile(api, 'email\nada@example.com\n');
  for (const table of ['import_parts', 'import_batches']) {
    expect((await pool.query(`SELECT 1 FROM ${table} WHERE import_id = $1`, [id])).rowCount).toBe(0);
  }
});

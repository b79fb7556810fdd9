import { request } from 'node:http';
import { inTransaction, lockUntilCommit, pool } from '@postroom/platform';
import { type Api, eventually, startTestWorker, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { contactsOf, ended, upload } from './testing.ts';

beforeAll(startTestWorker);

const FILE = 'email,name\nada@example.com,Ada\n';

async function post(
  api: Api,
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string> = {},
  query = '',
) {
  const response = await fetch(`${api.url}/v1/imports${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api.key}`, ...headers },
    body,
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- Tests check the shape.
  return { status: response.status, body: (await response.json()) as any };
}

const csv = { 'Content-Type': 'text/csv' };
const importsOf = async (api: Api) => (await api.get('/v1/imports')).body.data;

test('a multipart/form-data upload returns 202 and the id of its import', async () => {
  const api = await testApi();
  const reply = await upload(api, FILE, { group_name: 'New' });
  expect(reply).toMatchObject({
    status: 202,
    body: { data: { id: expect.stringMatching(/^imp_/), status: 'queued' } },
  });
  expect(reply.headers.get('x-request-id')).toMatch(/^req_/);
  expect(await ended(api, reply.body.data.id)).toMatchObject({ fileName: 'people.csv', groupName: 'New' });
});

test('options may follow the file or be in the query; those in the form take precedence', async () => {
  const api = await testApi();
  const form = new FormData();
  form.set('file', new Blob([FILE]));
  form.set('options', '{"dry_run": true}');
  const { body } = await post(api, form, {}, '?on_conflict=update&dry_run=false');
  expect(await ended(api, body.data.id)).toMatchObject({ dryRun: true, onConflict: 'update' });
});

test('a quote in the filename of a form is shown as a quote', async () => {
  const api = await testApi();
  const form = new FormData();
  form.set('file', new Blob([FILE]), '"new" 100% people.csv');
  const { body } = await post(api, form);
  expect(await ended(api, body.data.id)).toMatchObject({ fileName: '"new" 100% people.csv' });
});

test('a text/csv body is imported, with the options in the query', async () => {
  const api = await testApi();
  const columns = encodeURIComponent('{"email": "name", "name": []}');
  const query = `?file_name=a.csv&dry_run=true&columns=${columns}`;
  const { status, body } = await post(api, 'name\nada@example.com\n', csv, query);
  expect(status).toBe(202);
  const done = await ended(api, body.data.id);
  expect(done).toMatchObject({ fileName: 'a.csv', dryRun: true, counts: { created: 1 } });
  const latin = await post(api, Buffer.from('email;name\nzoe@example.com;Zo\xe9\n', 'latin1'), {
    'Content-Type': 'text/csv; charset="ISO-8859-1"',
  });
  await ended(api, latin.body.data.id);
  expect(await contactsOf(api)).toEqual([['zoe@example.com', 'Zoé', {}]]);
});

test('an invalid request is 400, and names each field as it was written', async () => {
  const api = await testApi();
  const other = await testApi();
  const eve = await other.contact('eve@example.com');
  const { body: theirs } = await other.post('/v1/groups', { name: 'Theirs', contact_ids: [eve.id] });
  const fieldsOf = async (options: object) => {
    const { status, body } = await upload(api, FILE, options);
    return [status, body.error.code, ...body.error.details.map(({ field }: { field: string }) => field).sort()];
  };
  expect(await fieldsOf({ colour: 'red', on_conflict: 'merge', dry_run: 'yes' })).toEqual([
    400,
    'validation_error',
    'colour',
    'dry_run',
    'on_conflict',
  ]);
  expect(await fieldsOf({ group_id: theirs.data.id, encoding: 'klingon', separator: 'and' })).toEqual([
    400,
    'validation_error',
    'encoding',
    'group_id',
    'separator',
  ]);
  expect(await fieldsOf({ group_id: 'grp_x', group_name: ' ', columns: { custom_fields: ['a'] } })).toEqual([
    400,
    'validation_error',
    'columns',
    'group_id',
    'group_name',
    'group_name',
  ]);
  expect((await post(api, FILE, csv, '?colour=red')).body.error.details[0].field).toBe('colour');
  expect((await post(api, FILE, csv, '?columns=nonsense')).body.error.details[0].field).toBe('columns');
  expect(await importsOf(api)).toEqual([]);
});

test('a form without a file, with two, with an unknown part or with invalid JSON options is 400', async () => {
  const api = await testApi();
  const forms = ['{}', '{', '{}', '{}'].map((options) => {
    const form = new FormData();
    form.set('options', options);
    return form;
  });
  for (const form of forms.slice(1)) form.set('file', new Blob([FILE]), 'a.csv');
  forms[2]?.append('file', new Blob([FILE]), 'b.csv');
  forms[3]?.set('colour', 'red');
  const replies = await Promise.all(forms.map((form) => post(api, form)));
  expect(replies.map(({ status, body }) => [status, body.error.details[0].field])).toEqual([
    [400, 'file'],
    [400, 'options'],
    [400, 'file'],
    [400, 'colour'],
  ]);
  expect((await post(api, 'no form', { 'Content-Type': 'multipart/form-data' })).status).toBe(400);
  expect((await post(api, 'no form', { 'Content-Type': 'multipart/form-data; boundary=x' })).status).toBe(400);
  expect((await post(api, '', csv)).body.error.message).toBe('The file is empty.');
  expect(await importsOf(api)).toEqual([]);
});

test('other media types, and compressed bodies, are 415 unsupported_media_type', async () => {
  const api = await testApi();
  for (const headers of [
    { 'Content-Type': 'application/json' },
    { 'Content-Type': '' },
    { ...csv, 'Content-Encoding': 'gzip' },
  ]) {
    expect(await post(api, FILE, headers)).toMatchObject({
      status: 415,
      body: { error: { code: 'unsupported_media_type' } },
    });
  }
});

test('the key, its scope and the project are checked first', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const { key: sending } = await api.newKey('sending');
  const { key: both } = await api.newKey('full', [api.projectId, other.projectId]);
  const statuses = [
    await post(api, FILE, { 'Content-Type': 'nonsense', Authorization: 'Bearer pr_nonsense' }),
    await post(api, FILE, { 'Content-Type': 'nonsense', Authorization: `Bearer ${sending}` }),
    await post(api, FILE, { 'Content-Type': 'nonsense', 'X-Project-Id': other.projectId }),
    await post(api, FILE, { ...csv, Authorization: `Bearer ${both}` }),
    await post(api, FILE, { ...csv, Authorization: `Bearer ${both}`, 'X-Project-Id': other.projectId }),
  ].map(({ status, body }) => `${status} ${body.error?.code ?? ''}`.trim());
  expect(statuses).toEqual([
    '401 unauthorized',
    '403 insufficient_scope',
    '403 forbidden',
    '400 validation_error',
    '202',
  ]);
  expect([(await importsOf(api)).length, (await importsOf(other)).length]).toEqual([0, 1]);
});

test('a file declared too large is rejected at once, and one that turns out to be too large leaves nothing behind', async () => {
  const api = await testApi();
  const answered = (headers: Record<string, string | number>, send: (write: (part: Buffer) => void) => void) =>
    new Promise<number | undefined>((resolve) => {
      const sent = request(`${api.url}/v1/imports`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${api.key}`, ...csv, ...headers },
      });
      sent.once('response', (response) => resolve(response.resume().statusCode));
      sent.once('error', () => resolve(undefined)); // the connection is closed while data is still being sent
      send((part) => void sent.write(part));
    });
  expect(await answered({ 'Content-Length': 300 * 1024 * 1024 }, (write) => write(Buffer.from('email\n')))).toBe(413);
  const status = await answered({}, (write) => {
    for (let mb = 0; mb < 201; mb++) write(Buffer.alloc(1024 * 1024, 'x'));
  });
  expect([413, undefined]).toContain(status);
  await eventually(async () => expect(await importsOf(api)).toEqual([]));
});

test('an interrupted upload leaves nothing behind', async () => {
  const api = await testApi();
  const broken = request(`${api.url}/v1/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api.key}`, ...csv },
  });
  broken.on('error', () => {});
  broken.write(Buffer.alloc(3 * 1024 * 1024, 'x\n'));
  await eventually(async () => expect(await importsOf(api)).toMatchObject([{ status: 'uploading' }]));
  broken.destroy();
  await eventually(async () => expect(await importsOf(api)).toEqual([]));
});

test('the same file with the same Idempotency-Key is imported once; a different file is a conflict', async () => {
  const api = await testApi();
  const key = { 'Idempotency-Key': 'monday' };
  const [one, two] = [await upload(api, FILE, {}, key), await upload(api, FILE, {}, key)];
  expect([one.status, two.status, two.body]).toEqual([202, 202, one.body]);
  expect([one.headers.get('idempotent-replayed'), two.headers.get('idempotent-replayed')]).toEqual([null, 'true']);
  for (const reply of [await upload(api, `${FILE}x`, {}, key), await upload(api, FILE, { dry_run: true }, key)]) {
    const message = 'This Idempotency-Key was used for a different request: the path or the bytes of the body differ.';
    const details = [{ field: 'Idempotency-Key', message }];
    expect(reply).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict', message, details } } });
  }
  expect(await importsOf(api)).toHaveLength(1);
});

test('an abandoned upload is deleted after a day', async () => {
  const api = await testApi();
  const stale = `INSERT INTO imports (id, project_id, on_conflict, dry_run, create_fields, created_at)
    VALUES (postroom_id('imp'), $1, 'skip', false, false, now() - $2 * interval '1 hour') RETURNING id`;
  const {
    rows: [recent],
  } = await pool.query<{ id: string }>(stale, [api.projectId, 23]);
  await pool.query(stale, [api.projectId, 25]);
  const { body } = await upload(api, FILE);
  const ids = (await importsOf(api)).map(({ id }: { id: string }) => id);
  expect(new Set(ids)).toEqual(new Set([body.data.id, recent?.id]));
});

test('the audit log names who started an import', async () => {
  const api = await testApi();
  const { body } = await upload(api, FILE);
  const { rows } = await pool.query('SELECT action, target_id FROM audit_entries WHERE project_id = $1', [
    api.projectId,
  ]);
  expect(rows).toEqual([{ action: 'startImport', target_id: body.data.id }]);
});

test('an option that is not known is named as it was written, also where a known one differs only in case', async () => {
  const api = await testApi();
  const unknown = (body: { error: { details: { field: string; message: string }[] } }) =>
    body.error.details.filter(({ message }) => /is not a known/.test(message)).map(({ field }) => field);
  const inQuery = await post(api, FILE, csv, '?onConflict=update&columns={"customFields":{}}');
  expect([inQuery.status, unknown(inQuery.body)]).toEqual([400, ['onConflict', 'columns.customFields']]);
  const form = new FormData();
  form.set('file', new Blob([FILE], { type: 'text/csv' }), 'a.csv');
  form.set('options', '{"dryRun":true}');
  const inForm = await post(api, form);
  expect([inForm.status, unknown(inForm.body)]).toEqual([400, ['dryRun']]);
});

test('uploads that a project starts at once wait for each other without holding all connections', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const holding = inTransaction(async (tx) => {
    await lockUntilCommit(tx, `imports ${api.projectId}`);
    await held;
  });
  const uploads = Array.from({ length: 60 }, () => post(api, FILE, csv));
  await eventually(async () => {
    const { rows } = await pool.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'advisory'`);
    expect(rows.length).toBeGreaterThanOrEqual(2);
  });
  const reply = await Promise.race([other.get('/v1/contacts'), new Promise((resolve) => setTimeout(resolve, 5_000))]);
  release();
  expect(reply).toMatchObject({ status: 200 });
  await holding;
  const statuses = new Set((await Promise.all(uploads)).map(({ status }) => status));
  expect([...statuses].filter((status) => status !== 202 && status !== 429)).toEqual([]);
});

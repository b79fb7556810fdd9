import { pool, sql } from '@postroom/platform';
import { suppress } from '@postroom/contacts';
import { interleave, startTestWorker, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { contactsOf, download, importFile } from './testing.ts';

beforeAll(startTestWorker);

test('an export has every contact, newest first, with custom fields and read-only columns', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'seats', type: 'number' });
  await api.post('/v1/custom-fields', { key: 'note', type: 'text' });
  const ada = await api.contact('ada@example.com', { name: 'Ada, Countess', custom_fields: { seats: -3 } });
  await api.contact('bob@example.com', { name: 'Bob "B" Lee', custom_fields: { note: 'two\r\nlines' } });
  await suppress(pool, api.projectId, [{ email: 'ada@example.com', reason: 'complained' }]);
  const { createdAt, updatedAt } = (await api.get(`/v1/contacts/${ada.id}`)).body.data;
  const file = await download(api, '/v1/contacts/export');
  const [header, bob, lines, last] = file.split('\r\n');
  expect(header).toBe('email,name,seats,note,id,source,suppression_status,created_at,updated_at');
  expect(`${bob}\r\n${lines}`).toMatch(/^bob@example\.com,"Bob ""B"" Lee",,"two\r\nlines",ctc_\w+,api,none,/);
  expect(last).toBe(`ada@example.com,"Ada, Countess",-3,,${ada.id},api,complained,${createdAt},${updatedAt}`);
});

test('a custom field named as a member of every object has a value only where a contact has one', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'constructor', type: 'text' });
  await api.contact('ada@example.com', { custom_fields: { constructor: 'Acme' } });
  const contacts = [{ email: 'ada@example.com', custom_fields: { constructor: null } }, { email: 'bob@example.com' }];
  const exported = async () =>
    (await download(api, '/v1/contacts/export'))
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(',').slice(0, 3));
  expect(await exported()).toEqual([
    ['email', 'name', 'constructor'],
    ['ada@example.com', '', 'Acme'],
  ]);
  await api.post('/v1/contacts/batch', { contacts, on_conflict: 'update' });
  expect(await exported()).toEqual([
    ['email', 'name', 'constructor'],
    ['bob@example.com', '', ''],
    ['ada@example.com', '', ''],
  ]);
});

test('the filters are those of the list: a group, a segment and the others', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com', { name: 'Ada' });
  await api.contact('bob@example.com', { name: 'Bob' });
  const { body: group } = await api.post('/v1/groups', { name: 'A', contact_ids: [ada.id] });
  const filter = { field: 'name', op: 'is', value: 'Bob' };
  const { body: segment } = await api.post('/v1/segments', { name: 'B', filter });
  const emails = async (query: string) =>
    (await download(api, `/v1/contacts/export?${query}`))
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[0]);
  expect(await emails(`group_id=${group.data.id}`)).toEqual(['ada@example.com']);
  expect(await emails(`segment_id=${segment.data.id}`)).toEqual(['bob@example.com']);
  expect(await emails('search=ADA&source=api&suppressed=false&created_after=2026-01-01T00:00:00Z')).toEqual([
    'ada@example.com',
  ]);
  expect(await emails('email=nobody@example.com')).toEqual([]);
});

test('an export of a segment that names a deleted group is an error, not a file with everyone', async () => {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  await api.contact('bob@example.com');
  const withGroup = async (name: string) => {
    const group = (await api.post('/v1/groups', { name, contact_ids: [ada.id] })).body.data.id as string;
    const filter = { not: { field: 'group', op: 'is', value: group } };
    const segment = (await api.post('/v1/segments', { name, filter })).body.data.id as string;
    const message = `has a condition on the group ${group}, which was deleted`;
    return { group, run: () => api.get(`/v1/contacts/export?segment_id=${segment}`), message };
  };
  const before = await withGroup('Deleted before');
  await api.delete(`/v1/groups/${before.group}`);
  const reply = await before.run();
  expect([reply.status, reply.body.error.details]).toEqual([400, [{ field: 'segment_id', message: before.message }]]);
  const during = await withGroup('Deleted meanwhile');
  // The custom fields are read between the check of the request and the snapshot.
  const answer = await interleave(
    (tx) => sql(tx, 'LOCK TABLE custom_fields IN ACCESS EXCLUSIVE MODE', []),
    during.run,
    (tx) => sql(tx, 'DELETE FROM groups WHERE id = $1', [during.group]),
  );
  expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(during.message)]);
});

test('an invalid export request is an error, not a file', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const eve = await other.contact('eve@example.com');
  const { body: theirs } = await other.post('/v1/groups', { name: 'Theirs', contact_ids: [eve.id] });
  const { key: sending } = await api.newKey('sending');
  const answers = [
    await api.get(`/v1/contacts/export?group_id=${theirs.data.id}`),
    await api.get('/v1/contacts/export?segment_id=nonsense'),
    await api.get('/v1/contacts/export?raw=maybe'),
    await api.get('/v1/contacts/export?colour=red'),
    await api.send('GET', '/v1/contacts/export', { key: sending }),
    await api.send('GET', '/v1/contacts/export', { key: null }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 400, 400, 403, 401]);
});

const FORMULAS = ['=1+1', '+49 30 1234', '-5', '@SUM(A1)', "'=1", "O'Brien", '＝1+1', '＋1', '－1', '＠SUM(A1)'];

test('formulas are guarded unless raw is set; an import removes the guard', async () => {
  const api = await testApi();
  await api.post('/v1/custom-fields', { key: 'note', type: 'text' });
  for (const [n, note] of FORMULAS.entries()) {
    await api.contact(`p${n}@example.com`, { name: note, custom_fields: { note } });
  }
  const before = await contactsOf(api);
  const file = await download(api, '/v1/contacts/export');
  expect(file).not.toMatch(/(^|,|")[=+\-@＝＋－＠]/m);
  const raw = await download(api, '/v1/contacts/export?raw=true');
  for (const note of FORMULAS) expect(raw).toContain(`,${note},${note},`);

  const again = await importFile(api, file, { on_conflict: 'update', create_fields: true });
  expect(again.counts).toMatchObject({ rows: FORMULAS.length, unchanged: FORMULAS.length });
  const copy = await testApi();
  const copied = await importFile(copy, file, { create_fields: true });
  expect(copied.columns.map(({ name, fields }) => [name, ...fields])).toEqual([
    ['email', 'email'],
    ['name', 'name'],
    ['note', 'customFields.note'],
    ['id'],
    ['source'],
    ['suppression_status'],
    ['created_at'],
    ['updated_at'],
  ]);
  expect(await contactsOf(copy)).toEqual(before);
});

test('a byte order mark for Excel is written on request', async () => {
  const api = await testApi();
  const bytes = async (query: string) => {
    const response = await fetch(`${api.url}/v1/contacts/export${query}`, {
      headers: { Authorization: `Bearer ${api.key}` },
    });
    return [...new Uint8Array(await response.arrayBuffer()).subarray(0, 3)];
  };
  expect(await bytes('?bom=true')).toEqual([0xef, 0xbb, 0xbf]);
  expect(await bytes('')).toEqual([...Buffer.from('ema')]);
});

const HELD = `SELECT pid FROM pg_stat_activity WHERE query LIKE 'FETCH%exported' AND state = 'idle in transaction'
  AND state_change < now() - interval '1 second'`;

test('exports are streamed: too many at once are rejected temporarily, and a stalled one is aborted', async () => {
  const api = await testApi();
  // In portions, as a statement ends after fifteen seconds.
  for (let from = 1; from <= 60_000; from += 10_000)
    await pool.query(
      `INSERT INTO contacts (id, project_id, email, email_key, name, source)
       SELECT postroom_id('ctc'), $1, 'p' || n || '@example.com', 'p' || n || '@example.com', repeat('x', 200), 'api'
         FROM generate_series($2::int, $2 + 9999) AS n`,
      [api.projectId, from],
    );
  const open = async () => {
    const stop = new AbortController();
    const headers = { Authorization: `Bearer ${api.key}` };
    const response = await fetch(`${api.url}/v1/contacts/export`, { headers, signal: stop.signal });
    return { status: response.status, retryAfter: response.headers.get('retry-after'), stop, response };
  };
  const four = await Promise.all([open(), open(), open(), open()]);
  expect(four.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await open()).toMatchObject({ status: 429, retryAfter: '10' });
  // Each waits for its reader in a spool file, so none holds a connection or delays another project.
  const { key } = await api.newKey('full');
  expect((await download({ ...api, key }, '/v1/contacts/export')).split('\r\n')).toHaveLength(60_002);
  const other = await testApi();
  expect(await download(other, '/v1/contacts/export')).toMatch(/^email,name/);
  await expect.poll(async () => (await pool.query(HELD)).rows, { timeout: 20_000 }).toEqual([]);
  for (const { stop } of four) stop.abort();
  await expect
    .poll(async () => (await download(api, '/v1/contacts/export').catch(() => '')).split('\r\n').length, {
      timeout: 20_000,
    })
    .toBe(60_002);
}, 120_000);

test('a HEAD responds like a GET, without the file', async () => {
  const api = await testApi();
  const response = await fetch(`${api.url}/v1/contacts/export`, {
    method: 'HEAD',
    headers: { Authorization: `Bearer ${api.key}` },
  });
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    200,
    'text/csv; charset=utf-8',
    '',
  ]);
  expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="contacts-\d{4}-\d\d-\d\d\.csv"$/);
});

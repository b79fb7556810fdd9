import { db } from '@postroom/platform';
import { signedIn, startTestWorker, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { download, ended, errorsOf, importFile, upload } from './testing.ts';

beforeAll(() => startTestWorker());

const KIND = { kind: 'suppressions' };

const suppressionsOf = async (projectId: string) => {
  const rows = await db.suppression.findMany({ where: { projectId }, orderBy: [{ email: 'asc' }, { reason: 'asc' }] });
  return rows.map(({ email, reason, origin, addedById }) => [email, reason, origin, addedById?.slice(0, 4)]);
};

test('a file of suppressions is imported in the background, with its errors by cause', async () => {
  const api = await testApi();
  await api.post('/v1/suppressions', { email: 'known@example.com', reason: 'bounced' });
  const file = [
    'Email;Reason;Note',
    'ada@example.com;Bounced;x',
    'bob@example.com;;x',
    'ADA@example.com;bounced;again',
    'ada@example.com;complained;another reason',
    'nobody;;x',
    'eve@example.com;bored;x',
    'known@example.com;bounced;x',
  ].join('\n');
  const done = await importFile(api, file, { ...KIND, reason: 'unsubscribed' });
  expect(done).toMatchObject({
    kind: 'suppressions',
    reason: 'unsubscribed',
    status: 'completed',
    error: null,
    counts: { rows: 7, created: 3, unchanged: 1, duplicates: 1, invalid: 2, updated: 0, suppressed: 0, incomplete: 0 },
    columns: [{ fields: ['email'] }, { fields: ['reason'] }, { fields: [] }],
  });
  expect(await suppressionsOf(api.projectId)).toEqual([
    ['ada@example.com', 'complained', 'import', 'key_'],
    ['ada@example.com', 'bounced', 'import', 'key_'],
    ['bob@example.com', 'unsubscribed', 'import', 'key_'],
    ['known@example.com', 'bounced', 'api', 'key_'],
  ]);
  const { causes } = (await api.get(`/v1/imports/${done.id}`)).body.data;
  expect(causes).toHaveLength(3);
  expect(causes).toContainEqual(expect.objectContaining({ field: 'reason', value: 'bored', rows: 1, firstLine: 7 }));
  expect(await errorsOf(api, done.id)).toEqual([
    '4 email is already in line 2',
    '6 email must be an email address such as ada@example.com',
    '7 reason must be one of: complained, bounced, manual, unsubscribed',
  ]);
});

test.each([
  [
    'EmailAddress,SuppressionReason\nada@example.com,HardBounce\nbob@example.com,SpamComplaint\neve@example.com,ManualSuppression\n',
    'SuppressionReason',
    ['bounced', 'complained', 'manual'],
  ],
  ['EmailAddress,Reason\nada@example.com,BOUNCE\nbob@example.com,COMPLAINT\n', 'Reason', ['bounced', 'complained']],
  [
    'email,reason\nada@example.com,hard-bounce\nbob@example.com,spam\neve@example.com,unsub\n',
    'reason',
    ['bounced', 'complained', 'unsubscribed'],
  ],
  [
    'email,created,reason,status\nada@example.com,1,"550 5.1.1 No such user",5.1.1\nbob@example.com,2,500 No MX,\n',
    undefined,
    ['unsubscribed', 'unsubscribed'],
  ],
])('the export of another provider is imported: %j', async (file, column, reasons) => {
  const api = await testApi();
  const done = await importFile(api, file, { ...KIND, reason: 'unsubscribed' });
  expect(done.counts).toMatchObject({ created: reasons.length, invalid: 0 });
  const reasonColumn = done.columns.find(({ fields }: { fields: string[] }) => fields.includes('reason'));
  expect(reasonColumn?.name).toBe(column);
  expect((await suppressionsOf(api.projectId)).map(([, reason]) => reason)).toEqual(reasons);
});

test('a dry run writes nothing, counts what is new, and can be executed', async () => {
  const api = await testApi();
  const dry = await importFile(api, 'ada@example.com\nbob@example.com\n', { ...KIND, dry_run: true });
  expect(dry).toMatchObject({ status: 'completed', counts: { rows: 2, created: 2 } });
  expect(await suppressionsOf(api.projectId)).toEqual([]);
  const { id } = (await api.post(`/v1/imports/${dry.id}/execute`)).body.data;
  expect(await ended(api, id)).toMatchObject({ kind: 'suppressions', status: 'completed', counts: { created: 2 } });
  expect(await suppressionsOf(api.projectId)).toEqual([
    ['ada@example.com', 'manual', 'import', 'key_'],
    ['bob@example.com', 'manual', 'import', 'key_'],
  ]);
});

test('an export of suppressions can be imported into another project', async () => {
  const [from, to] = [await testApi(), await testApi()];
  await from.post('/v1/suppressions', { email: 'ada@example.com', reason: 'complained' });
  await from.post('/v1/suppressions', { email: 'bob@example.com' });
  const done = await importFile(to, await download(from, '/v1/suppressions/export'), KIND);
  expect(done).toMatchObject({ status: 'completed', counts: { created: 2, invalid: 0 } });
  expect((await suppressionsOf(to.projectId)).map(([email, reason]) => [email, reason])).toEqual([
    ['ada@example.com', 'complained'],
    ['bob@example.com', 'manual'],
  ]);
});

test('contacts who are on an imported list are told to webhooks as unsubscribed, and count as suppressed', async () => {
  const api = await testApi();
  const { id } = await api.contact('ada@example.com');
  await importFile(api, 'email,reason\nada@example.com,unsubscribed\n', KIND);
  expect((await api.get(`/v1/contacts/${id}`)).body.data.suppressionStatus).toBe('unsubscribed');
  expect(await db.event.count({ where: { projectId: api.projectId, type: 'contact.unsubscribed' } })).toBe(1);
});

test('options of the other kind are refused, by name', async () => {
  const api = await testApi();
  const refused = async (options: object) => {
    const { status, body } = await upload(api, 'email\nada@example.com\n', options);
    return [status, body.error.details.map(({ field }: { field: string }) => field)];
  };
  expect(await refused({ ...KIND, group_name: 'x', on_conflict: 'update' })).toEqual([
    400,
    ['on_conflict', 'group_name'],
  ]);
  expect(await refused({ reason: 'bounced' })).toEqual([400, ['reason']]);
  expect(await refused({ ...KIND, reason: 'bored' })).toEqual([400, ['reason']]);
});

test('a suppression that a signed-in user imports names the user', async () => {
  const api = await testApi();
  const user = await signedIn(api, 'member');
  const run = async (query: string, variables: object) => {
    const { body } = await user.graphql(query, variables as never);
    expect(body.errors).toBeUndefined();
    return body.data;
  };
  const { createImport } = await run('mutation ($input: ImportContactsInput!) { createImport(input: $input) { id } }', {
    input: KIND,
  });
  const { id } = createImport;
  const data = Buffer.from('ada@example.com\n').toString('base64');
  await run('mutation ($id: ID!, $data: String!) { addImportPart(id: $id, number: 0, data: $data) { id } }', {
    id,
    data,
  });
  await run('mutation ($id: ID!) { startImport(id: $id) { id } }', { id });
  await ended(api, id);
  expect(await suppressionsOf(api.projectId)).toEqual([['ada@example.com', 'manual', 'import', 'usr_']]);
});

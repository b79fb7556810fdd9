import { pool } from '@postroom/platform';
import { type Api, interleave, signedIn, startTestWorker, testApi } from '@postroom/testkit';
import { beforeAll, expect, test } from 'vitest';
import { addPart, createImport, endImport } from '../src/imports.ts';
import { dropExpiredFiles } from '../src/kept-files.ts';
import { checkOptions } from '../src/options.ts';
import { contactsOf, ended, errorsOf, importFile } from './testing.ts';

beforeAll(startTestWorker);

const FILE =
  'email,plan,seats\na@example.com,gold,1\nb@example.com,free,many\nc@example.com,gold,3\nnobody,free,4\na@example.com,free,5\n';

async function projectWithFields() {
  const api = await testApi();
  const plan = await api.post('/v1/custom-fields', { key: 'plan', label: 'Plan', type: 'select', options: ['free'] });
  await api.post('/v1/custom-fields', { key: 'seats', label: 'Seats', type: 'number' });
  return { api, planId: plan.body.data.id as string };
}

test('a row with an invalid optional field is imported without it, and errors are grouped by cause with a fix', async () => {
  const { api } = await projectWithFields();
  const { id, counts } = await importFile(api, FILE);
  expect(counts).toEqual({
    rows: 5,
    created: 3,
    updated: 0,
    unchanged: 0,
    duplicates: 1,
    suppressed: 0,
    invalid: 1,
    incomplete: 3,
  });
  expect(await contactsOf(api)).toEqual([
    ['a@example.com', 'a', { seats: 1 }],
    ['b@example.com', 'b', { plan: 'free' }],
    ['c@example.com', 'c', { seats: 3 }],
  ]);
  expect(await errorsOf(api, id)).toHaveLength(5);
  const { causes } = (await api.get(`/v1/imports/${id}`)).body.data;
  expect(causes).toEqual([
    {
      field: 'custom_fields.plan',
      message: 'is not an option',
      value: 'gold',
      rows: 2,
      firstLine: 2,
      fix: 'Add “gold” to the options of the field, or leave it: they are imported without the value.',
    },
    expect.objectContaining({
      field: 'custom_fields.seats',
      message: 'must be a number',
      value: '',
      rows: 1,
      firstLine: 3,
    }),
    expect.objectContaining({ field: 'email', rows: 1, firstLine: 6, message: 'is on an earlier line too' }),
    expect.objectContaining({ field: 'email', rows: 1, firstLine: 5 }),
  ]);
});

test('with skip_invalid, such rows are skipped', async () => {
  const { api } = await projectWithFields();
  const { counts } = await importFile(api, FILE, { skip_invalid: true });
  expect(counts).toMatchObject({ created: 1, duplicates: 0, invalid: 4, incomplete: 0 });
  expect(await contactsOf(api)).toEqual([['a@example.com', 'a', { plan: 'free', seats: 5 }]]);
});

test('values are told apart up to a limit, and addresses are never kept', async () => {
  const { api } = await projectWithFields();
  const lines = Array.from({ length: 80 }, (_, at) => `p${at}@example.com,value ${at},1`);
  const { id } = await importFile(api, `email,plan,seats\n${lines.join('\n')}\nq@example.com,ada@example.com,1\n`);
  const { causes } = (await api.get(`/v1/imports/${id}`)).body.data;
  expect(causes).toHaveLength(51);
  expect(causes[0]).toMatchObject({ value: '', rows: 31, message: 'is not an option' });
});

test('a dry run writes nothing, keeps its file, and is executed once, with the options of the fields as they are then', async () => {
  const { api, planId } = await projectWithFields();
  const dry = await importFile(api, FILE, { dry_run: true });
  expect(dry).toMatchObject({ fileExpiresAt: expect.any(String), executedAsId: null });
  expect(await contactsOf(api)).toEqual([]);
  await api.patch(`/v1/custom-fields/${planId}`, { options: ['free', 'gold'] });
  const replies = await Promise.all([1, 2].map(() => api.post(`/v1/imports/${dry.id}/execute`, {})));
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
  const executed = replies.find(({ status }) => status === 201)?.body.data.id as string;
  const refused = replies.find(({ status }) => status === 409);
  expect(refused?.body.error.message).toBe(`This dry run has already been executed, as the import ${executed}.`);
  expect(await ended(api, executed)).toMatchObject({
    status: 'completed',
    counts: { created: 3, incomplete: 1, invalid: 1 },
  });
  expect((await contactsOf(api))[0]).toEqual(['a@example.com', 'a', { plan: 'gold', seats: 1 }]);
  expect((await api.get(`/v1/imports/${dry.id}`)).body.data).toMatchObject({
    fileExpiresAt: null,
    executedAsId: executed,
  });
  const other = await testApi();
  expect((await other.post(`/v1/imports/${dry.id}/execute`, {})).status).toBe(404);
});

/** The imports of a project that have a file. */
async function withFile(api: Api): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT DISTINCT import_id AS id FROM import_parts JOIN imports i ON i.id = import_id WHERE i.project_id = $1 ORDER BY 1`,
    [api.projectId],
  );
  return rows.map(({ id }) => id);
}

const eraseSomeone = async (api: Api) => {
  const { body } = await (
    await signedIn(api, 'owner')
  ).graphql('mutation { erasePerson(email: "someone@example.com") { messages } }');
  expect(body.errors).toBeUndefined();
};

test('files of dry runs are deleted after a week, beyond the third, and when a person is erased', async () => {
  const { api } = await projectWithFields();
  const kept = () => withFile(api);
  const ids: string[] = [];
  for (let at = 0; at < 4; at++) ids.push((await importFile(api, FILE, { dry_run: true })).id);
  expect(await kept()).toEqual(ids.slice(1));
  await pool.query(`UPDATE imports SET file_expires_at = now() - interval '1 second' WHERE id = $1`, [ids[1]]);
  await dropExpiredFiles();
  expect(await kept()).toEqual(ids.slice(2));
  const reply = await api.post(`/v1/imports/${ids[1]}/execute`, {});
  expect([reply.status, reply.body.error.message]).toEqual([409, expect.stringContaining('no longer kept')]);
  await eraseSomeone(api);
  expect(await kept()).toEqual([]);
});

test('the erasure of a person cancels uploads and dry runs, whose files would be kept, but no other import', async () => {
  const { api } = await projectWithFields();
  const [uploading, part] = [
    await createImport(api.projectId, await checkOptions(api.projectId, {})),
    Buffer.from(FILE),
  ];
  await addPart(api.projectId, uploading.id, 0, part);
  const open = async (status: string, isDryRun: boolean) => {
    const { id } = await importFile(api, FILE, { dry_run: true });
    await pool.query(
      `UPDATE imports SET status = $2::import_status, dry_run = $3, file_expires_at = NULL, finished_at = NULL WHERE id = $1`,
      [id, status, isDryRun],
    );
    return id;
  };
  const dry = [await open('queued', true), await open('running', true)];
  const real = [await open('queued', false), await open('running', false)];
  await eraseSomeone(api);
  expect(await withFile(api)).toEqual(real);
  for (const id of [uploading.id, ...dry])
    expect((await api.get(`/v1/imports/${id}`)).body.data).toMatchObject({
      status: 'canceled',
      error: expect.stringContaining('A person was erased'),
    });
  await expect(addPart(api.projectId, uploading.id, 1, part)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('A person was erased'),
  });
});

test('the file of a dry run that is completed during an erasure is not kept', async () => {
  const { api } = await projectWithFields();
  const { id } = await importFile(api, FILE, { dry_run: true });
  await pool.query(`UPDATE imports SET status = 'running', file_expires_at = NULL WHERE id = $1`, [id]);
  await interleave(
    (tx) => endImport(tx, id, 'completed'),
    () => eraseSomeone(api),
  );
  expect(await withFile(api)).toEqual([]);
});

test('an import that ends during an erasure leaves no address of the person in its event', async () => {
  const { api } = await projectWithFields();
  const { id } = await importFile(api, FILE);
  await pool.query(`UPDATE imports SET status = 'running', file_name = 'for someone@example.com' WHERE id = $1`, [id]);
  await interleave(
    (tx) => endImport(tx, id, 'failed', 'The import could not continue.'),
    () => eraseSomeone(api),
  );
  expect(await api.events('import.failed')).toHaveLength(1);
  expect(JSON.stringify(await api.events())).not.toContain('someone@example.com');
});

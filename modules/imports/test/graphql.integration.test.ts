import { db } from '@postroom/platform';
import { startTestWorker, testApi, eventually } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { batchesOf } from '../src/batches.ts';
import { planFile } from '../src/plan.ts';
import { contactsOf, ended, importFile } from './testing.ts';

const CREATE = 'mutation ($input: ImportContactsInput!) { createImport(input: $input) { id status size } }';
const PART =
  'mutation ($id: ID!, $number: Int!, $data: String!) { addImportPart(id: $id, number: $number, data: $data) { size } }';
const START = 'mutation ($id: ID!) { startImport(id: $id) { id status } }';
const CANCEL = 'mutation ($id: ID!) { cancelImport(id: $id) { id status cancelRequestedAt } }';

const base64 = (text: string) => Buffer.from(text).toString('base64');

test('parts may be uploaded in any order and repeatedly, and the file is imported once started', async () => {
  const api = await testApi();
  await startTestWorker();
  const { id, status } = (await api.graphql(CREATE, { input: { fileName: 'people.csv' } })).body.data.createImport;
  expect(status).toBe('uploading');
  const part = (number: number, text: string) => api.graphql(PART, { id, number, data: base64(text) });
  await part(1, 'example.com,A');
  await part(0, 'nonsense');
  await part(0, 'email,name\nada@');
  const gap = await part(3, '!');
  expect(gap.body.data.addImportPart.size).toBe(29);
  expect((await api.graphql(START, { id })).body.errors[0].message).toBe('The file lacks 1 part.');
  await part(2, 'da');
  // A worker picks it up asynchronously.
  expect((await api.graphql(START, { id })).body.data.startImport).toEqual({
    id,
    status: expect.stringMatching(/^(queued|running|completed)$/),
  });
  expect(await ended(api, id)).toMatchObject({ fileName: 'people.csv', counts: { created: 1 } });
  expect(await contactsOf(api)).toEqual([['ada@example.com', 'Ada!', {}]]);
  for (const late of [await part(4, 'x'), await api.graphql(START, { id })]) {
    expect(late.body.errors[0].extensions.code).toBe('conflict');
  }
});

test('an import that has not begun is canceled at once, and never begins', async () => {
  const api = await testApi();
  const { id } = (await api.graphql(CREATE, { input: {} })).body.data.createImport;
  await api.graphql(PART, { id, number: 0, data: base64('email\nada@example.com\n') });
  const { cancelImport } = (await api.graphql(CANCEL, { id })).body.data;
  expect(cancelImport).toEqual({ id, status: 'canceled', cancelRequestedAt: expect.any(String) });
  expect((await api.graphql(START, { id })).body.errors[0].extensions.code).toBe('conflict');
  expect((await api.graphql(CANCEL, { id })).body.errors[0].extensions.code).toBe('conflict');
  expect(await api.events()).toMatchObject([{ type: 'import.canceled', data: { import_id: id, error: null } }]);
});

test('progress follows the rows also within one part of the file', async () => {
  const api = await testApi();
  const { id } = (await api.graphql(CREATE, { input: {} })).body.data.createImport;
  const rows = Array.from({ length: 4000 }, (_, index) => `"ada${index}@example.com","two\nlines"`);
  await api.graphql(PART, { id, number: 0, data: base64(`email,name\n${rows.join('\n')}\n`) });
  const row = await db.import.findUniqueOrThrow({ where: { id } });
  const ends = [];
  for await (const { bytes } of batchesOf(row, await planFile(row))) ends.push(bytes / row.size);
  expect(ends.map((end) => Math.round(end * 100))).toEqual([25, 50, 75, 100]);
});

test('errors are paginated in file order', async () => {
  const api = await testApi();
  await startTestWorker();
  await api.post('/v1/custom-fields', { key: 'age', type: 'number' });
  const { id } = await importFile(api, 'email,age\nx,old\ny,1\nada@example.com,old\n');
  const query = `query ($id: ID!, $after: String) {
    import(id: $id) { errors(first: 3, after: $after) { nodes { line field message } pageInfo { hasNextPage endCursor } } }
  }`;
  const page = async (after?: string) => (await api.graphql(query, { id, after })).body.data.import.errors;
  const first = await page();
  expect(first.nodes.map(({ line, field }: { line: number; field: string }) => [line, field])).toEqual([
    [2, 'customFields.age'],
    [2, 'email'],
    [3, 'email'],
  ]);
  const second = await page(first.pageInfo.endCursor);
  expect(second).toEqual({
    nodes: [{ line: 4, field: 'customFields.age', message: 'must be a number' }],
    pageInfo: { hasNextPage: false, endCursor: expect.any(String) },
  });
  const { body } = await api.graphql(query, { id, after: 'nonsense' });
  expect(body.errors[0].extensions.code).toBe('validation_error');
});

test('importProgress sends the current import, then its progress, and completes with it', async () => {
  const api = await testApi();
  const { id } = (await api.graphql(CREATE, { input: { dryRun: true } })).body.data.createImport;
  const states: string[] = [];
  const watch = async () => {
    const query = `subscription { importProgress(id: "${id}") { status progress counts { rows } } }`;
    const response = await fetch(`${api.url}/graphql/stream`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
      body: JSON.stringify({ query }),
    });
    for await (const text of (response.body as ReadableStream<Uint8Array>).pipeThrough(
      new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>,
    )) {
      states.push(...[...text.matchAll(/"status":"(\w+)"/g)].map(([, status = '']) => status));
    }
    return states.at(-1);
  };
  const watching = watch();
  await eventually(() => expect(states).toEqual(['uploading']));
  await api.graphql(PART, { id, number: 0, data: base64('email\nada@example.com\n') });
  await startTestWorker();
  await api.graphql(START, { id });
  expect(await watching).toBe('completed');
  // A late subscriber gets the final state.
  states.length = 0;
  expect(await watch()).toBe('completed');
  expect(states).toEqual(['completed']);
});

test("another project's import cannot be watched", async () => {
  const [api, other] = [await testApi(), await testApi()];
  const { id } = (await other.graphql(CREATE, { input: {} })).body.data.createImport;
  const { body } = await api.graphql(`{ import(id: "${id}") { id } }`);
  expect(body.errors[0].extensions.code).toBe('not_found');
  const response = await fetch(`${api.url}/graphql/stream`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({ query: `subscription { importProgress(id: "${id}") { id } }` }),
  });
  expect(await response.text()).toContain('not_found');
});

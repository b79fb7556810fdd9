import { eventually, startTestWorker, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { Postroom } from '../src/index.ts';

const text = (stream: ReadableStream<Uint8Array>) => new Response(stream).text();

test('a file of contacts is imported, and errors and contacts are downloaded as files', async () => {
  const [api] = await Promise.all([testApi(), startTestWorker()]);
  const postroom = new Postroom({ apiKey: api.key, baseUrl: api.url });
  const file = 'email,name\nada@example.com,Ada Lovelace\nnonsense,Nobody\ngrace@example.com,Grace Hopper\n';
  const { id, status } = await postroom.imports.create(new File([file], 'people.csv'), { group_name: 'Pioneers' });
  expect(status).toBe('queued');
  const done = await eventually(async () => {
    const now = await postroom.imports.get(id);
    expect(now.status).toBe('completed');
    return now;
  });
  expect(done).toMatchObject({ fileName: 'people.csv', groupName: 'Pioneers', counts: { created: 2, invalid: 1 } });
  expect(await text(await postroom.imports.errors(id))).toMatch(/^line,field,message\r?\n3,email,/);
  const exported = await text(await postroom.contacts.export({ search: 'grace' }));
  expect(exported.trim().split(/\r?\n/)).toHaveLength(2);
  expect(exported).toContain('grace@example.com');
  expect((await postroom.imports.list()).data.map((each) => each.id)).toEqual([id]);
});

test('the same file with the same key is imported once, even if the response was lost', async () => {
  const api = await testApi();
  const postroom = new Postroom({ apiKey: api.key, baseUrl: api.url });
  const start = () => postroom.imports.create('email\nada@example.com\n', {}, { idempotencyKey: 'monday' });
  expect((await start()).id).toBe((await start()).id);
  expect((await postroom.imports.list()).data).toHaveLength(1);
});

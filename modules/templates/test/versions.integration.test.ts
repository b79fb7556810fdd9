import { newId, pool } from '@postroom/platform';
import { type Api, signedIn, testApi } from '@postroom/testkit';
import { describe, expect, test } from 'vitest';

const written = async (api: Api, more: object = {}): Promise<string> =>
  (await api.post('/v1/templates', { name: 'Letter', subject: 'One', body: '<p>One</p>', ...more })).body.data.id;

const versionsOf = async (api: Api, id: string) => (await api.get(`/v1/templates/${id}/versions`)).body.data;

test('each save and publication adds a version with time and author, newest first', async () => {
  const api = await testApi();
  const person = await signedIn(api);
  const id = await written(api);
  const update = `mutation ($id: ID!) { updateTemplate(id: $id, input: { body: "<p>Two</p>" }) { version } }`;
  expect((await person.graphql(update, { id })).body.data.updateTemplate.version).toBe(2);
  await api.post(`/v1/templates/${id}/publish`);
  const versions = await versionsOf(api, id);
  expect(versions).toMatchObject([
    { number: 3, status: 'published', body: '<p>Two</p>', subject: 'One' },
    { number: 2, status: 'draft', body: '<p>Two</p>', authorId: expect.stringMatching(/^usr_/) },
    { number: 1, status: 'draft', body: '<p>One</p>', authorId: expect.stringMatching(/^key_/), restoredFrom: null },
  ]);
  expect(versions[1].authorName).toEqual(expect.any(String));
  expect(Math.abs(Date.parse(versions[0].createdAt) - Date.now())).toBeLessThan(600_000);
  expect((await api.get(`/v1/templates/${id}/versions/${versions[2].id}`)).body.data).toEqual(versions[2]);
  const firstPage = (await api.get(`/v1/templates/${id}/versions?limit=2`)).body;
  expect(firstPage).toMatchObject({ has_more: true, data: [{ number: 3 }, { number: 2 }] });
  const rest = await api.get(`/v1/templates/${id}/versions?limit=2&cursor=${firstPage.next_cursor}`);
  expect(rest.body).toMatchObject({ has_more: false, data: [{ number: 1 }] });
});

test('renaming, saving the same content or publishing again adds no version', async () => {
  const api = await testApi();
  const id = await written(api);
  await api.patch(`/v1/templates/${id}`, { name: 'Another' });
  await api.patch(`/v1/templates/${id}`, { subject: 'One', body: '<p>One</p>' });
  await api.post(`/v1/templates/${id}/publish`);
  await api.post(`/v1/templates/${id}/publish`);
  expect((await versionsOf(api, id)).map(({ number }: { number: number }) => number)).toEqual([2, 1]);
  expect((await api.get(`/v1/templates/${id}`)).body.data).toMatchObject({ name: 'Another', version: 2 });
});

test('restoring a version of a published template adds a draft, which is sent once it is published', async () => {
  const api = await testApi();
  const mjml = '<mjml><mj-body><mj-section><mj-column><mj-text>One</mj-text></mj-column></mj-section></mj-body></mjml>';
  const id = await written(api, { body: mjml, format: 'mjml' });
  const [first] = await versionsOf(api, id);
  await api.patch(`/v1/templates/${id}`, { subject: null, body: '<p>Two</p>' });
  await api.post(`/v1/templates/${id}/publish`);
  const restored = await api.post(`/v1/templates/${id}/versions/${first.id}/restore`);
  expect(restored).toMatchObject({
    status: 200,
    body: {
      data: {
        subject: null,
        body: '<p>Two</p>',
        status: 'published',
        version: 4,
        publishedVersion: 3,
        draft: { number: 4, subject: 'One', format: 'mjml', source: mjml, body: first.body },
      },
    },
  });
  expect(await versionsOf(api, id)).toMatchObject([
    { number: 4, restoredFrom: 1, source: mjml, status: 'draft' },
    { number: 3, body: '<p>Two</p>', restoredFrom: null },
    { number: 2 },
    { number: 1, id: first.id },
  ]);
  const owner = await signedIn(api);
  const log = await owner.graphql('{ auditLog(first: 1) { nodes { action targetId } } }');
  expect(log.body.data.auditLog.nodes).toEqual([{ action: 'restoreTemplateVersion', targetId: id }]);
});

describe('a published template', () => {
  const published = async () => {
    const api = await testApi();
    const id = await written(api);
    await api.post(`/v1/templates/${id}/publish`);
    const read = async () => (await api.get(`/v1/templates/${id}`)).body.data;
    return { api, id, read };
  };

  test('has a draft until it is published again; everyone else reads what is published', async () => {
    const { api, id, read } = await published();
    expect(await read()).toMatchObject({ version: 2, publishedVersion: 2, draft: null });
    const saved = (await api.patch(`/v1/templates/${id}`, { body: '<p>Two</p>' })).body.data;
    expect(saved).toMatchObject({ body: '<p>One</p>', status: 'published', draft: { number: 3, body: '<p>Two</p>' } });
    expect((await api.get('/v1/templates')).body.data).toMatchObject([{ body: '<p>One</p>', status: 'published' }]);
    // A second edit goes on from the draft.
    await api.patch(`/v1/templates/${id}`, { subject: 'Two' });
    expect(await read()).toMatchObject({
      subject: 'One',
      body: '<p>One</p>',
      version: 4,
      publishedVersion: 2,
      draft: { number: 4, subject: 'Two', body: '<p>Two</p>' },
    });
    await api.post(`/v1/templates/${id}/publish`);
    expect(await read()).toMatchObject({
      subject: 'Two',
      body: '<p>Two</p>',
      version: 5,
      publishedVersion: 5,
      draft: null,
    });
    expect((await versionsOf(api, id)).map(({ status }: { status: string }) => status)).toEqual([
      'published',
      'draft',
      'draft',
      'published',
      'draft',
    ]);
  });

  test('keeps a draft that was modified since the one to discard', async () => {
    const { api, id, read } = await published();
    await api.patch(`/v1/templates/${id}`, { body: '<p>Two</p>' });
    const { updatedAt } = await read();
    await api.patch(`/v1/templates/${id}`, { body: '<p>Three</p>' });
    const discard = async (given: string) =>
      (
        await api.graphql(
          'mutation ($id: ID!, $updatedAt: DateTime) { discardTemplateDraft(id: $id, updatedAt: $updatedAt) { id } }',
          { id, updatedAt: given },
        )
      ).body;
    expect(await discard(updatedAt)).toMatchObject({
      errors: [{ extensions: { code: 'conflict', details: [{ field: 'updatedAt' }] } }],
    });
    expect((await read()).draft).toMatchObject({ body: '<p>Three</p>' });
    expect(await discard((await read()).updatedAt)).toEqual({ data: { discardTemplateDraft: { id } } });
  });

  test('goes back to what is published when its draft is discarded, and keeps the draft as a version', async () => {
    const { api, id, read } = await published();
    await api.patch(`/v1/templates/${id}`, { name: 'Renamed', body: '<p>Two</p>' });
    expect((await api.delete(`/v1/templates/${id}/draft`)).body).toEqual({ deleted: true });
    expect(await read()).toMatchObject({
      name: 'Renamed',
      body: '<p>One</p>',
      version: 4,
      publishedVersion: 4,
      draft: null,
    });
    expect(await versionsOf(api, id)).toMatchObject([{ restoredFrom: 2 }, { body: '<p>Two</p>' }, {}, {}]);
    expect((await api.delete(`/v1/templates/${id}/draft`)).status).toBe(200);
    expect((await read()).version).toBe(4);
    const { id: never } = (await api.post('/v1/templates', { name: 'Never', body: '<p>x</p>' })).body.data;
    expect((await api.delete(`/v1/templates/${never}/draft`)).status).toBe(409);
  });

  test('refuses an edit and a draft of another project', async () => {
    const { id } = await published();
    const other = await testApi();
    for (const reply of [
      await other.patch(`/v1/templates/${id}`, { body: '<p>Two</p>' }),
      await other.delete(`/v1/templates/${id}/draft`),
      await other.post(`/v1/templates/${id}/test`, { emails: ['ada@example.com'], from_email: 'ada@example.com' }),
    ])
      expect(reply.status).toBe(404);
  });
});

test('concurrent saves each get their own version number', async () => {
  const api = await testApi();
  const id = await written(api);
  const saves = Array.from({ length: 8 }, (_, index) =>
    api.patch(`/v1/templates/${id}`, { body: `<p>By ${index}</p>` }),
  );
  expect((await Promise.all(saves)).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  const versions = await versionsOf(api, id);
  expect(versions.map(({ number }: { number: number }) => number)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
  expect((await api.get(`/v1/templates/${id}`)).body.data).toMatchObject({ version: 9, body: versions[0].body });
});

test('of two edits based on the same version, the second is a conflict, and the first is kept', async () => {
  const api = await testApi();
  const id = await written(api);
  const save = (body: string) => api.patch(`/v1/templates/${id}`, { body, version: 1 });
  const replies = await Promise.all([save('<p>Ada</p>'), save('<p>Bob</p>')]);
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  expect(replies.find(({ status }) => status === 409)?.body.error.message).toMatch(/was modified since you loaded it/);
  const kept = replies.find(({ status }) => status === 200)?.body.data.body;
  expect((await api.get(`/v1/templates/${id}`)).body.data).toMatchObject({ body: kept, version: 2 });
});

test('a version is immutable in the database, and is deleted with its template', async () => {
  const api = await testApi();
  const id = await written(api);
  const change = pool.query(`UPDATE template_versions SET body = 'x' WHERE template_id = $1`, [id]);
  await expect(change).rejects.toThrow('Rows of template_versions are never changed.');
  await api.delete(`/v1/templates/${id}`);
  const { rowCount } = await pool.query('SELECT FROM template_versions WHERE template_id = $1', [id]);
  expect(rowCount).toBe(0);
});

test('a version is only found under its own template', async () => {
  const api = await testApi();
  const [id, other] = [await written(api), await written(api, { name: 'Other' })];
  const [version] = await versionsOf(api, id);
  for (const [template, each] of [
    [other, version.id],
    [id, newId('tpv')],
    [id, 'nonsense'],
    ['nonsense', version.id],
  ]) {
    const path = `/v1/templates/${template}/versions/${each}`;
    for (const reply of [await api.get(path), await api.post(`${path}/restore`)])
      expect(reply).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  }
  expect(await versionsOf(api, other)).toHaveLength(1);
});

test('an edit or a publication that names when the template was modified is refused once it was modified again', async () => {
  const api = await testApi();
  const person = await signedIn(api);
  const id = await written(api);
  const { updatedAt } = (await api.get(`/v1/templates/${id}`)).body.data;
  const edits = ['Notice', 'Note'].map((name) => api.patch(`/v1/templates/${id}`, { name, updated_at: updatedAt }));
  const replies = await Promise.all(edits);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(replies.find(({ status }) => status === 409)?.body.error).toMatchObject({
    code: 'conflict',
    details: [{ field: 'updated_at' }],
  });
  const publish = (since: string) =>
    person.graphql(
      'mutation ($id: ID!, $updatedAt: DateTime) { publishTemplate(id: $id, updatedAt: $updatedAt) { status } }',
      { id, updatedAt: since },
    );
  expect((await publish(updatedAt)).body.errors[0].extensions).toMatchObject({ code: 'conflict' });
  const now = (await api.get(`/v1/templates/${id}`)).body.data.updatedAt;
  expect((await publish(now)).body.data.publishTemplate.status).toBe('published');
});

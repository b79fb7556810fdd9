import { inTransaction, pool } from '@postroom/platform';
import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';
import { suppress } from '../src/suppressions.ts';

test('a contact shows its strongest reason: complained, bounced, manual, unsubscribed', async () => {
  const api = await testApi();
  const { id } = await api.contact('ada@example.com');
  const status = async () => (await api.get(`/v1/contacts/${id}`)).body.data.suppressionStatus;
  const seen = [await status()];
  for (const reason of ['unsubscribed', 'manual', 'bounced', 'complained'] as const) {
    await suppress(pool, api.projectId, [{ email: 'ADA@example.com', reason }]);
    seen.push(await status());
  }
  const suppressions = (await api.get('/v1/suppressions')).body.data;
  for (const suppression of suppressions) {
    await api.delete(`/v1/suppressions/${suppression.id}`);
    seen.push(await status());
  }
  expect(seen).toEqual([
    'none',
    'unsubscribed',
    'manual',
    'bounced',
    'complained',
    'bounced',
    'manual',
    'unsubscribed',
    'none',
  ]);
});

test('an address is suppressed manually, even if it is no contact: 201 when new, 200 unchanged when it exists', async () => {
  const api = await testApi();
  const add = () => api.post('/v1/suppressions', { email: ' Ada@Example.com ' });
  const replies = await Promise.all([add(), add()]);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 201]);
  expect(replies[0]?.body).toEqual(replies[1]?.body);
  expect(replies[0]?.body.data).toEqual({
    id: expect.stringMatching(/^sup_/),
    email: 'Ada@Example.com',
    origin: 'api',
    addedById: expect.stringMatching(/^key_/),
    reason: 'manual',
    createdAt: expect.any(String),
  });
  expect((await api.post('/v1/contacts', { email: 'ada@example.com' })).status).toBe(409);
  expect((await api.post('/v1/suppressions', { email: 'nobody' })).body.error.details[0].field).toBe('email');
  expect(
    (await api.post('/v1/suppressions', { email: 'a@example.com', reason: 'boredom' })).body.error.details[0].field,
  ).toBe('reason');
});

test('suppressions are listed newest first, filtered by address and reason, and paginated', async () => {
  const api = await testApi();
  for (const [email, reason] of [
    ['a@example.com', 'manual'],
    ['b@example.com', 'bounced'],
    ['a@example.com', 'complained'],
  ]) {
    await api.post('/v1/suppressions', { email, reason });
  }
  const listed = async (query: string) =>
    (await api.get(`/v1/suppressions${query}`)).body.data.map(
      ({ email, reason }: Record<string, string>) => `${email} ${reason}`,
    );
  expect(await listed('')).toEqual(['a@example.com complained', 'b@example.com bounced', 'a@example.com manual']);
  expect(await listed('?email=A%40example.com')).toEqual(['a@example.com complained', 'a@example.com manual']);
  expect(await listed('?reason=bounced')).toEqual(['b@example.com bounced']);
  const first = await api.get('/v1/suppressions?limit=2');
  expect(first.body.has_more).toBe(true);
  expect(await listed(`?limit=2&cursor=${first.body.next_cursor}`)).toEqual(['a@example.com manual']);
});

test('a suppression is retrieved, and removed once; that of another project is not_found', async () => {
  const [api, other] = [await testApi(), await testApi()];
  const { id } = (await api.post('/v1/suppressions', { email: 'ada@example.com' })).body.data;
  expect((await other.get(`/v1/suppressions/${id}`)).status).toBe(404);
  expect((await other.delete(`/v1/suppressions/${id}`)).status).toBe(404);
  expect((await api.get(`/v1/suppressions/${id}`)).body.data.email).toBe('ada@example.com');
  const replies = await Promise.all([api.delete(`/v1/suppressions/${id}`), api.delete(`/v1/suppressions/${id}`)]);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 404]);
});

test('adding and removing an unsubscribe suppression fires the events once, and only for contacts', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  const entries = ['ada@example.com', 'nobody@example.com'].map((email) => ({
    email,
    reason: 'unsubscribed' as const,
  }));
  await inTransaction((tx) => suppress(tx, api.projectId, entries));
  await inTransaction((tx) => suppress(tx, api.projectId, entries));
  for (const { id } of (await api.get('/v1/suppressions')).body.data) await api.delete(`/v1/suppressions/${id}`);
  expect((await api.events()).map(({ type }) => type)).toEqual([
    'contact.created',
    'contact.unsubscribed',
    'contact.subscribed',
  ]);
});

test('a bounce or a complaint is not an unsubscribe', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  await suppress(pool, api.projectId, [
    { email: 'ada@example.com', reason: 'bounced' },
    { email: 'ada@example.com', reason: 'complained' },
  ]);
  expect((await api.events()).map(({ type }) => type)).toEqual(['contact.created']);
});

test('concurrent suppressions and contact changes in one project all succeed', async () => {
  const api = await testApi();
  const contacts = await Promise.all(Array.from({ length: 8 }, (_each, n) => api.contact(`ada${n}@example.com`)));
  const replies = await Promise.all(
    contacts.flatMap(({ id, email }, n) => [
      api.patch(`/v1/contacts/${id}`, { email: `moved${n}@example.com`, subscribed: n % 2 === 0 }),
      api.post('/v1/suppressions', { email }),
      api.post('/v1/contacts/batch', {
        contacts: contacts.map((contact) => ({ email: contact.email, name: `Ada ${n}` })),
        on_conflict: 'update',
      }),
    ]),
  );
  expect(replies.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
});

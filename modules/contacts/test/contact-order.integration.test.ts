import { type Api, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

async function people(): Promise<Api> {
  const api = await testApi();
  await api.contact('zoe@example.com', { name: 'ada' });
  await api.contact('carl@example.com');
  await api.contact('ada@example.com', { name: 'Zoe' });
  await api.contact('bob@example.com', { name: 'Ada' });
  return api;
}

/** All local parts in an order, read in pages of one and of two. */
async function inPages(api: Api, query: string): Promise<string[]> {
  const read = async (limit: number) => {
    const found: string[] = [];
    for (let cursor = ''; ;) {
      const { body } = await api.get(`/v1/contacts?limit=${limit}&${query}${cursor}`);
      found.push(...body.data.map(({ email }: { email: string }) => email.split('@')[0]));
      if (!body.has_more) return found;
      cursor = `&cursor=${body.next_cursor}`;
    }
  };
  const found = await read(1);
  expect(await read(2)).toEqual(found);
  return found;
}

test.each([
  ['newest', ['bob', 'ada', 'carl', 'zoe']],
  ['oldest', ['zoe', 'carl', 'ada', 'bob']],
  ['email', ['ada', 'bob', 'carl', 'zoe']],
  ['email_desc', ['zoe', 'carl', 'bob', 'ada']],
  ['name', ['zoe', 'bob', 'carl', 'ada']],
  ['name_desc', ['ada', 'carl', 'bob', 'zoe']],
])('contacts are listed by %s, page by page, also with a filter', async (sort, order) => {
  const api = await people();
  expect(await inPages(api, `sort=${sort}`)).toEqual(order);
  const { id } = (await api.post('/v1/groups', { name: 'All', emails: order.map((name) => `${name}@example.com`) }))
    .body.data;
  expect(await inPages(api, `sort=${sort}&group_id=${id}`)).toEqual(order);
  expect(await inPages(api, `sort=${sort}&search=ada`)).toEqual(order.filter((name) => name !== 'carl'));
});

test('a cursor of another order is refused', async () => {
  const api = await people();
  const orders = ['newest', 'oldest', 'name', 'name_desc', 'email', 'email_desc'];
  for (const order of orders) {
    const { next_cursor: cursor } = (await api.get(`/v1/contacts?limit=1&sort=${order}`)).body;
    const replies = await Promise.all(orders.map((other) => api.get(`/v1/contacts?sort=${other}&cursor=${cursor}`)));
    expect(replies.map(({ status }) => status)).toEqual(orders.map((other) => (other === order ? 200 : 400)));
    expect(replies.find(({ status }) => status === 400)?.body.error.details[0].field).toBe('cursor');
  }
});

test('an unsaved condition filters the list, and a bad one names its path', async () => {
  const api = await people();
  await api.post('/v1/custom-fields', { key: 'seats', label: 'Seats', type: 'number' });
  await api.contact('eve@example.com', { custom_fields: { seats: 7 } });
  const where = (condition: object) => `/v1/contacts?where=${encodeURIComponent(JSON.stringify(condition))}`;
  const found = (await api.get(where({ field: 'customFields.seats', op: 'atLeast', value: 5 }))).body.data;
  expect(found.map(({ email }: { email: string }) => email)).toEqual(['eve@example.com']);
  const { status, body } = await api.get(where({ field: 'customFields.none', op: 'is', value: 1 }));
  expect([status, body.error.details[0].field]).toEqual([400, 'where.field']);
});

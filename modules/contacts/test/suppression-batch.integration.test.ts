import { testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const entries = [
  { email: 'Ada@Example.com', reason: 'Bounced' },
  { email: 'ada@example.com', reason: 'bounced' },
  { email: 'bob@example.com' },
  { email: 'nobody' },
  { email: 'eve@example.com', reason: 'moved' },
  { email: 'tim@example.com', reason: 'moved' },
];

test('a list of suppressions is tried, imported, and exported; errors are grouped by cause', async () => {
  const api = await testApi();
  const batch = async (body: object) => (await api.post('/v1/suppressions/batch', body)).body.data;
  const expected = {
    created: 2,
    existing: 1,
    invalid: 3,
    causes: [
      { message: 'reason must be one of: complained, bounced, manual, unsubscribed', entries: 2, firstIndex: 4 },
      { message: expect.stringMatching(/^email must/), entries: 1, firstIndex: 3 },
    ],
  };
  expect(await batch({ entries, dry_run: true })).toEqual(expected);
  expect((await api.get('/v1/suppressions')).body.data).toEqual([]);
  expect(await batch({ entries })).toEqual(expected);
  expect(await batch({ entries, dry_run: true })).toMatchObject({ created: 0, existing: 3 });
  const { data } = (await api.get('/v1/suppressions')).body;
  expect(data).toHaveLength(2);
  expect(data[0]).toMatchObject({ origin: 'import', addedById: expect.stringMatching(/^key_/) });

  const response = await fetch(`${api.url}/v1/suppressions/export?reason=bounced`, {
    headers: { Authorization: `Bearer ${api.key}` },
  });
  const [header, line, ...rest] = (await response.text()).trimEnd().split('\r\n');
  expect(header).toBe('email,reason,origin,created_at');
  expect(line).toMatch(/^Ada@Example.com,bounced,import,\d{4}-/);
  expect(rest).toEqual([]);
  expect((await api.post('/v1/suppressions/batch', { entries: [] })).status).toBe(400);
});

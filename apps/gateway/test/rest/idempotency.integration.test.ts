import { addLocalDomain } from '@postroom/domains';
import { sendEmails } from '@postroom/emails';
import { claimIdempotencyKey, type KeyClaim, pool } from '@postroom/platform';
import { type Api, eventually, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed');
const withKey = (key: string) => ({ 'Idempotency-Key': key });

/** A project with one contact and a group of it. */
async function withGroup() {
  const api = await testApi();
  const ada = await api.contact('ada@example.com');
  const group = (await api.post('/v1/groups', { name: 'Beta', contact_ids: [ada.id] })).body.data;
  const add = (key: string) => api.post(`/v1/groups/${group.id}/contacts`, { contact_ids: [ada.id] }, withKey(key));
  return { api, ada, group, add };
}

/** Runs `during` while the group's row is locked, so that changes of the group wait; `pid` holds the lock. */
async function whileHeld<T>(groupId: string, during: (pid: number) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT id FROM groups WHERE id = $1 FOR UPDATE', [groupId]);
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return await during(rows[0]?.pid as number);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

/** The connection that waits for a lock of `pid`. */
const waiter = (pid: number) =>
  eventually(async () => {
    const { rows } = await pool.query<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))',
      [pid],
    );
    expect(rows).toHaveLength(1);
    return rows[0]?.pid as number;
  });

const create = (api: Api, key: string, name = 'Beta') =>
  api.post('/v1/groups', { name, emails: ['ada@example.com'] }, withKey(key));

test('the same key and body replays the first response and does nothing again', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  const [first, second] = [await create(api, 'order-1'), await create(api, 'order-1')];
  expect([first.status, replayed(first)]).toEqual([201, null]);
  expect([second.status, replayed(second)]).toEqual([201, 'true']);
  expect(second.body).toEqual(first.body);
  expect((await api.get('/v1/groups')).body.data).toHaveLength(1);
});

test('a response with a secret that was encrypted with a lost key is 409 conflict, and the request is not repeated', async () => {
  const api = await testApi();
  const post = () =>
    api.post('/v1/webhooks', { url: 'https://hooks.example.com/in', events: ['*'] }, withKey('webhook-1'));
  expect((await post()).status).toBe(201);
  const { rowCount } = await pool.query(
    `UPDATE idempotency_keys SET body = regexp_replace(body, '^v2:[^:]+:', 'v2:lost:') WHERE project_id = $1 AND body LIKE 'v2:%'`,
    [api.projectId],
  );
  expect(rowCount).toBe(1);
  const { status, body } = await post();
  expect([status, body.error.code, body.error.message]).toEqual([
    409,
    'conflict',
    expect.stringMatching(/no longer has the key.*Use another key/),
  ]);
  expect((await api.get('/v1/webhooks')).body.data).toHaveLength(1);
});

test('without a key a POST runs again', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  const body = { name: 'Beta', emails: ['ada@example.com'] };
  expect([(await api.post('/v1/groups', body)).status, (await api.post('/v1/groups', body)).status]).toEqual([
    201, 409,
  ]);
});

test('another body under the same key is 409 idempotency_conflict', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  await create(api, 'order-1');
  const other = await create(api, 'order-1', 'Gamma');
  expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_conflict']);
  expect(other.body.error.details).toMatchObject([{ field: 'Idempotency-Key', reason: 'different_request' }]);
  expect(other.headers.get('retry-after')).toBeNull();
  expect((await api.get('/v1/groups')).body.data).toHaveLength(1);
});

test('the same JSON in another order is a different request, and the message says what differs', async () => {
  const api = await testApi();
  const send = (body: object) => api.post('/v1/contacts', body, withKey('order-1'));
  await send({ email: 'ada@example.com', name: 'Ada' });
  const other = await send({ name: 'Ada', email: 'ada@example.com' });
  expect([other.status, other.body.error.message]).toEqual([
    409,
    'This Idempotency-Key was used for a different request: the path or the bytes of the body differ.',
  ]);
});

test('another address under the same key is 409 idempotency_conflict', async () => {
  const { api, add } = await withGroup();
  await add('order-1');
  const other = await api.post('/v1/contacts', { email: 'grace@example.com' }, withKey('order-1'));
  expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_conflict']);
});

test('a key belongs to one project: another may use the same', async () => {
  const [one, two] = await Promise.all([testApi(), testApi()]);
  for (const api of [one, two]) {
    await api.contact('ada@example.com');
    const reply = await create(api, 'order-1');
    expect([reply.status, replayed(reply)]).toEqual([201, null]);
  }
});

test('of concurrent requests with one key, one does the work; the others conflict or get its response', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  const replies = await Promise.all(Array.from({ length: 20 }, () => create(api, 'order-1')));
  const own = replies.filter((reply) => reply.status === 201 && replayed(reply) === null);
  expect(own).toHaveLength(1);
  for (const reply of replies) {
    expect(reply.status === 201 ? reply.body : reply.body.error.code).toEqual(
      reply.status === 201 ? own[0]?.body : 'idempotency_conflict',
    );
  }
  expect((await api.get('/v1/groups')).body.data).toHaveLength(1);
});

test('while the first request is in flight, another under its key is 409 idempotency_conflict', async () => {
  const { group, add } = await withGroup();
  const { first, second } = await whileHeld(group.id, async (pid) => {
    const first = add('order-1');
    await waiter(pid);
    return { first, second: await add('order-1') };
  });
  expect([second.status, second.body.error.code]).toEqual([409, 'idempotency_conflict']);
  expect(second.body.error.details).toMatchObject([{ field: 'Idempotency-Key', reason: 'in_flight' }]);
  expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await first).status).toBe(200);
  expect(replayed(await add('order-1'))).toBe('true');
});

test('client errors are replayed as well', async () => {
  const api = await testApi();
  const first = await create(api, 'order-1');
  await api.contact('ada@example.com');
  const second = await create(api, 'order-1');
  expect([first.status, second.status, replayed(second)]).toEqual([400, 400, 'true']);
  const idsOf = (reply: typeof first) => [reply.body.error.request_id, reply.headers.get('x-request-id')];
  for (const reply of [first, second]) expect(idsOf(reply)[0]).toBe(idsOf(reply)[1]);
  expect(idsOf(second)[0]).not.toBe(idsOf(first)[0]);
  expect({ ...second.body.error, request_id: '' }).toEqual({ ...first.body.error, request_id: '' });
});

test('a server error is 500 internal_error without internals, and releases the key', async () => {
  const { group, add } = await withGroup();
  const constraint = `never_${group.id}`;
  await pool.query(
    `ALTER TABLE group_members ADD CONSTRAINT ${constraint} CHECK (group_id <> '${group.id}') NOT VALID`,
  );
  await pool.query('DELETE FROM group_members WHERE group_id = $1', [group.id]);
  const failed = await add('order-1');
  await pool.query(`ALTER TABLE group_members DROP CONSTRAINT ${constraint}`);
  expect(failed.status).toBe(500);
  expect(failed.body.error).toMatchObject({ code: 'internal_error', details: [] });
  expect(failed.body.error.request_id).toBe(failed.headers.get('x-request-id'));
  expect(JSON.stringify(failed.body)).not.toMatch(/constraint|postgres|prisma|group_members|node_modules/i);
  const again = await add('order-1');
  expect([again.status, replayed(again)]).toEqual([200, null]);
});

test('a lost connection to the database is 503 timeout with Retry-After, without internals, and releases the key', async () => {
  const { group, add } = await withGroup();
  const failed = await whileHeld(group.id, async (pid) => {
    const reply = add('order-1');
    await pool.query('SELECT pg_terminate_backend($1)', [await waiter(pid)]);
    return reply;
  });
  expect([failed.status, Number(failed.headers.get('retry-after'))]).toEqual([503, 2]);
  expect(failed.body.error).toMatchObject({ code: 'timeout', details: [] });
  expect(failed.body.error.request_id).toBe(failed.headers.get('x-request-id'));
  expect(JSON.stringify(failed.body)).not.toMatch(/terminat|postgres|prisma|connection|node_modules/i);
  const again = await add('order-1');
  expect([again.status, replayed(again)]).toEqual([200, null]);
});

test('a response is kept for 24 hours', async () => {
  const { api, add } = await withGroup();
  await add('order-1');
  const age = (hours: number) =>
    pool.query('UPDATE idempotency_keys SET created_at = now() - make_interval(hours => $2) WHERE project_id = $1', [
      api.projectId,
      hours,
    ]);
  await age(23);
  expect(replayed(await add('order-1'))).toBe('true');
  await age(25);
  expect(replayed(await add('order-1'))).toBeNull();
  expect(replayed(await add('order-1'))).toBe('true');
});

test.each(['', 'a b', 'é', 'x'.repeat(256)])(
  'a key must be 1 to 255 visible ASCII characters, not "%s"',
  async (key) => {
    const api = await testApi();
    const headers = new Headers({ Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json' });
    headers.set('Idempotency-Key', key);
    const body = JSON.stringify({ email: 'ada@example.com' });
    const response = await fetch(`${api.url}/v1/contacts`, { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({
      error: { code: 'validation_error', details: [{ field: 'Idempotency-Key' }] },
    });
  },
);

const email = { from: 'post@example.com', to: ['ada@example.net'], subject: 'Receipt', text: 'Thanks.' };
const EMAIL_ROUTES = [
  ['/v1/emails', email],
  ['/v1/emails/batch', { emails: [email, email] }],
] as const;
/** A project whose mail may come from example.com. */
async function withDomain() {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  return api;
}
const storedEmails = async ({ projectId }: Api) =>
  (await pool.query('SELECT FROM messages WHERE project_id = $1', [projectId])).rowCount;
/** What a gateway leaves behind that was killed before it did the work. */
const leave = ({ projectId }: Api, key: string, seconds: number) =>
  pool.query(
    `UPDATE idempotency_keys SET status = NULL, body = NULL, created_at = now() - $3 * interval '1 s' WHERE project_id = $1 AND key = $2`,
    [projectId, key, seconds],
  );

test.each(EMAIL_ROUTES)('the response of %s is committed with the emails, as it is sent', async (path, body) => {
  const api = await withDomain();
  const first = await api.post(path, body, withKey('order-1'));
  expect(first.status).toBe(202);
  const { rows } = await pool.query<{ same: boolean }>(
    `SELECT k.xmin = m.xmin AS same FROM idempotency_keys k JOIN messages m USING (project_id) WHERE project_id = $1`,
    [api.projectId],
  );
  expect(new Set(rows.map(({ same }) => same))).toEqual(new Set([true]));
  const second = await api.post(path, body, withKey('order-1'));
  expect([second.status, replayed(second), second.body]).toEqual([202, 'true', first.body]);
});

test.each(EMAIL_ROUTES)(
  'the key of %s that a killed gateway left is taken over after five seconds',
  async (path, body) => {
    const api = await withDomain();
    const sent = await api.post(path, body, withKey('order-1'));
    await pool.query(
      'DELETE FROM message_contents WHERE message_id IN (SELECT id FROM messages WHERE project_id = $1)',
      [api.projectId],
    );
    await pool.query('DELETE FROM messages WHERE project_id = $1', [api.projectId]);
    await leave(api, 'order-1', 1);
    const early = await api.post(path, body, withKey('order-1'));
    expect([early.status, early.body.error.details[0].reason, Number(early.headers.get('retry-after'))]).toEqual([
      409,
      'in_flight',
      expect.toSatisfy((seconds: number) => seconds >= 1 && seconds <= 4),
    ]);
    await leave(api, 'order-1', 6);
    const replies = await Promise.all(Array.from({ length: 5 }, () => api.post(path, body, withKey('order-1'))));
    expect(replies.filter((reply) => reply.status === 202 && replayed(reply) === null)).toHaveLength(1);
    expect(await storedEmails(api)).toBe([sent.body.data].flat().length);
  },
);

test('a request whose key was taken over while it ran sends nothing', async () => {
  const api = await withDomain();
  const { projectId } = api;
  const key: KeyClaim = {
    projectId,
    key: 'order-1',
    claimedAt: (await claimIdempotencyKey(projectId, 'order-1', 'a')) as string,
    answerOf: (data) => ({ status: 202, body: JSON.stringify(data) }),
  };
  await leave(api, 'order-1', 6);
  await expect(sendEmails(projectId, [email], key)).rejects.toMatchObject({ code: 'idempotency_conflict' });
  const attachments = [{ filename: 'a.txt', content: 'aGVsbG8=' }];
  await expect(sendEmails(projectId, [{ ...email, attachments }], key)).rejects.toMatchObject({
    code: 'idempotency_conflict',
  });
  expect(await storedEmails(api)).toBe(0);
});

test('the key of another request that a killed gateway left stays claimed, with an unknown outcome after ten minutes', async () => {
  const api = await testApi();
  await api.contact('ada@example.com');
  await create(api, 'order-1');
  const afterSeconds = async (seconds: number) => {
    await leave(api, 'order-1', seconds);
    const { status, body, headers } = await create(api, 'order-1');
    return [status, body.error.details[0].reason, headers.get('retry-after')];
  };
  expect(await afterSeconds(570)).toEqual([409, 'in_flight', '30']);
  expect(await afterSeconds(600)).toEqual([409, 'outcome_unknown', null]);
  expect(await afterSeconds(86_000)).toEqual([409, 'outcome_unknown', null]);
  expect((await api.get('/v1/groups')).body.data).toHaveLength(1);
});

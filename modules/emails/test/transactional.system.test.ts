import { eventually, mailSystem, type SystemApi, temporalClient } from '@postroom/testkit';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';

const { sink, system } = await mailSystem();
const client = await temporalClient();

const HELLO = { from: 'Acme <hello@example.com>', subject: 'Hello', html: '<p>Hello &amp; welcome</p>' };

async function send(api: SystemApi, body: Record<string, unknown>): Promise<string> {
  const reply = await api.post('/v1/emails', { ...HELLO, ...body });
  expect(reply.status, JSON.stringify(reply.body)).toBe(202);
  return reply.body.data.id;
}

const untilStatus = (api: SystemApi, id: string, status: string, timeoutMs?: number) =>
  eventually(async () => {
    const email = (await api.get(`/v1/emails/${id}`)).body.data;
    expect(email.status).toBe(status);
    return email;
  }, timeoutMs);

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

const mailsTo = (to: string) => sink.mails.filter((mail) => mail.to === to);

test('an email is sent once, with a Message-ID derived from its id, and emits email.sent with its metadata', async () => {
  const api = await system.api();
  const id = await send(api, {
    to: 'Ada <one@mail.test>',
    metadata: { order: 7 },
    tags: ['receipt'],
    headers: { 'X-Order': '7' },
  });
  const email = await untilStatus(api, id, 'sent');
  expect(email.events.map(({ type }: { type: string }) => type)).toEqual(['email.queued', 'email.sent']);
  const [mail, ...others] = mailsTo('one@mail.test');
  expect(others).toEqual([]);
  const parsed = await PostalMime.parse(Buffer.from(mail?.raw ?? '', 'latin1'));
  expect(parsed).toMatchObject({
    messageId: `<${id}@example.com>`,
    subject: 'Hello',
    from: { name: 'Acme', address: 'hello@example.com' },
    to: [{ name: 'Ada', address: 'one@mail.test' }],
    text: expect.stringMatching(/^Hello & welcome\s*$/),
  });
  expect(parsed.headers).toContainEqual(expect.objectContaining({ key: 'x-order', value: '7' }));
  const { rows } = await system.pool.query('SELECT type, data FROM events WHERE project_id = $1', [api.projectId]);
  expect(rows).toEqual([
    {
      type: 'email.sent',
      data: {
        email: 'one@mail.test',
        message_id: id,
        subject: 'Hello',
        campaign_id: null,
        contact_id: null,
        tags: ['receipt'],
        metadata: { order: 7 },
      },
    },
  ]);
});

test('an email to several addresses reaches each once; bcc recipients stay hidden, and attachments arrive unchanged', async () => {
  const api = await system.api();
  const content = Buffer.from(Array.from({ length: 5_000 }, (_, index) => index % 256));
  const id = await send(api, {
    to: ['to@mail.test'],
    cc: ['cc@mail.test'],
    bcc: ['bcc@mail.test'],
    attachments: [{ filename: 'bytes.bin', content: content.toString('base64') }],
  });
  const { recipients } = await eventually(async () => {
    const email = (await api.get(`/v1/emails/${id}`)).body.data;
    expect(email.recipients.map(({ status }: { status: string }) => status)).toEqual(['sent', 'sent', 'sent']);
    return email;
  });
  expect(recipients.map(({ email }: { email: string }) => email)).toEqual([
    'to@mail.test',
    'cc@mail.test',
    'bcc@mail.test',
  ]);
  for (const address of ['to', 'cc', 'bcc']) {
    const mails = mailsTo(`${address}@mail.test`);
    expect(mails).toHaveLength(1);
    expect(mails[0]?.raw).not.toContain('bcc@mail.test');
    const parsed = await PostalMime.parse(Buffer.from(mails[0]?.raw ?? '', 'latin1'));
    expect(Buffer.from(parsed.attachments[0]?.content as ArrayBuffer)).toEqual(content);
  }
});

test.each([
  ['a blind copy', { to: 'jürgen@mail.test', bcc: ['plain@mail.test'] }],
  ['a copy', { to: ['jürgen@mail.test'], cc: ['plain@mail.test'] }],
])('an address beyond ASCII does not keep %s from servers without SMTPUTF8', async (_, recipients) => {
  const api = await system.api();
  const id = await send(api, recipients);
  await untilStatus(api, id, 'sent');
  const messages = () => sink.mails.filter(({ raw }) => raw.includes(`<${id}@example.com>`));
  await eventually(async () => expect(messages()).toHaveLength(2));
  const rawTo = (to: string) => Buffer.from(messages().find((mail) => mail.to === to)?.raw ?? '', 'latin1');
  const plain = rawTo('plain@mail.test');
  expect(plain.toString('latin1')).toMatch(/^[\t\r\n -~]*$/);
  expect((await PostalMime.parse(plain)).to).toEqual([{ name: 'jürgen@mail.test', group: [] }]);
  expect(rawTo('jürgen@mail.test').toString()).toMatch(/^To: jürgen@mail\.test\r$/m);
});

test('a scheduled email is sent on time, and a canceled one never is', async () => {
  const api = await system.api();
  const scheduledAt = Date.now() + 2_500;
  const scheduled_at = new Date(scheduledAt).toISOString();
  const id = await send(api, { to: 'later@mail.test', scheduled_at });
  const canceled = await send(api, { to: 'never@mail.test', scheduled_at });
  expect((await api.post(`/v1/emails/${canceled}/cancel`)).status).toBe(200);
  await untilStatus(api, id, 'sent');
  expect(mailsTo('later@mail.test')[0]?.at).toBeGreaterThanOrEqual(scheduledAt);
  expect(mailsTo('never@mail.test')).toEqual([]);
});

test('a rejected email fails with the reason, and a nonexistent address is suppressed', async () => {
  const api = await system.api();
  sink.answer((to) => (to === 'gone@mail.test' ? { code: 550, message: '5.1.1 No such user' } : undefined));
  const id = await send(api, { to: 'gone@mail.test' });
  const email = await untilStatus(api, id, 'failed');
  sink.answer(() => undefined);
  expect(email.answer).toContain('No such user');
  const { rows } = await system.pool.query('SELECT type, data FROM events WHERE project_id = $1', [api.projectId]);
  expect(rows).toMatchObject([{ type: 'email.failed', data: { reason: expect.stringContaining('550') } }]);
  expect((await api.post('/v1/emails', { ...HELLO, to: 'gone@mail.test' })).body.data.status).toBe('suppressed');
});

test('an email names its workflow, also after it was sent, and the history of that names the outcome of each of its emails', async () => {
  const api = await system.api();
  expect(
    (await api.get(`/v1/emails/${await send(api, { to: 'later@mail.test', scheduled_at: inAnHour() })}`)).body.data,
  ).toMatchObject({ workflowId: null, workflowUrl: null });
  sink.answer((to) => (to === 'named-no@mail.test' ? { code: 550, message: '5.7.1 Refused by policy' } : undefined));
  const ids = {
    sent: await send(api, { to: 'named@mail.test' }),
    failed: await send(api, { to: 'named-no@mail.test' }),
  };
  const { payloadConverter } = client.options.loadedDataConverter;
  for (const [status, state] of [
    ['sent', 'accepted'],
    ['failed', 'failed'],
  ] as const) {
    const { workflowId, workflowUrl } = await untilStatus(api, ids[status], status);
    expect(workflowId).toMatch(/^eml_/);
    expect(workflowUrl).toMatch(new RegExp(`^http:.*/namespaces/default/workflows/${workflowId}$`));
    const outcomes = await eventually(async () => {
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
      const results = (events ?? []).flatMap(
        (event) => event.activityTaskCompletedEventAttributes?.result?.payloads ?? [],
      );
      expect(results).not.toEqual([]);
      return results.map((payload) => payloadConverter.fromPayload<{ outcomes: unknown }>(payload).outcomes);
    });
    expect(outcomes).toContainEqual(expect.objectContaining({ [state]: expect.arrayContaining([ids[status]]) }));
  }
  sink.answer(() => undefined);
});

test('an address suppressed after the email was accepted receives nothing', async () => {
  const api = await system.api();
  const id = await send(api, { to: 'late@mail.test', scheduled_at: new Date(Date.now() + 2_000).toISOString() });
  await api.post('/v1/suppressions', { email: 'late@mail.test' });
  await untilStatus(api, id, 'suppressed');
  expect(mailsTo('late@mail.test')).toEqual([]);
});

test('emails go out although another project has been deleted', async () => {
  const api = await system.api();
  await system.pool.query(
    `INSERT INTO project_cells (project_id, cell, state, move_id) VALUES ('prj_deleted', '', 'deleted', 'deletion')`,
  );
  try {
    await untilStatus(api, await send(api, { to: 'neighbor@mail.test' }), 'sent');
    expect(mailsTo('neighbor@mail.test')).toHaveLength(1);
  } finally {
    await system.pool.query(`DELETE FROM project_cells WHERE project_id = 'prj_deleted'`);
  }
});

test.each([
  [
    'blocked',
    'has been blocked',
    'UPDATE domains SET blocked_at = now(), verified_for_sending = false WHERE project_id = $1',
  ],
  ['removed', 'is not a sending domain of this project', 'DELETE FROM domains WHERE project_id = $1'],
  [
    'no longer verified',
    'is no longer verified',
    "UPDATE domains SET verification = 'failed', verified_for_sending = false WHERE project_id = $1",
  ],
])('an email whose domain is %s after it was accepted fails with the reason', async (state, reason, change) => {
  const api = await system.api();
  const to = `stale-${state.replaceAll(' ', '-')}@mail.test`;
  const id = await send(api, { to, scheduled_at: new Date(Date.now() + 2_000).toISOString() });
  await system.pool.query(change, [api.projectId]);
  expect((await untilStatus(api, id, 'failed')).answer).toContain(reason);
  expect(mailsTo(to)).toEqual([]);
  const { rows } = await system.pool.query('SELECT type, data FROM events WHERE project_id = $1', [api.projectId]);
  expect(rows).toMatchObject([{ type: 'email.failed', data: { reason: expect.stringContaining(reason) } }]);
});

test('concurrent emails share workflows, and each is sent once', async () => {
  const api = await system.api();
  for (let page = 0; page < 5; page++) {
    const emails = Array.from({ length: 100 }, (_, index) => ({ ...HELLO, to: [`burst${page}-${index}@mail.test`] }));
    expect((await api.post('/v1/emails/batch', { emails })).status).toBe(202);
  }
  await eventually(async () => {
    const { rows } = await system.pool.query(
      'SELECT count(*)::int AS sent FROM messages WHERE project_id = $1 AND state = $2',
      [api.projectId, 'accepted'],
    );
    expect(rows[0].sent).toBe(500);
  }, 30_000);
  const bursts = [...sink.counts()].filter(([to]) => to.startsWith('burst'));
  expect(bursts).toHaveLength(500);
  expect(bursts.every(([, count]) => count === 1)).toBe(true);
  const { data } = (await api.get('/v1/emails?limit=500')).body;
  for (const { workflowId } of data) expect(workflowId).toMatch(/^(eml|burst)_/);
});

test('after kill -9 of the worker queued emails are sent, none twice, and those in flight are unknown', async () => {
  const api = await system.api();
  sink.answer(() => new Promise((resolve) => setTimeout(() => resolve(undefined), 300)));
  const emails = Array.from({ length: 100 }, (_, index) => ({ ...HELLO, to: [`kill${index}@mail.test`] }));
  await api.post('/v1/emails/batch', { emails });
  await eventually(() => expect([...sink.counts().keys()].some((to) => to.startsWith('kill'))).toBe(true));
  await system.killWorker();
  const more = await send(api, { to: 'killed-later@mail.test' });
  sink.answer(() => undefined);
  await system.startWorker();
  await untilStatus(api, more, 'sent');
  const states = await eventually(async () => {
    const { rows } = await system.pool.query<{ state: string; count: number }>(
      'SELECT state, count(*)::int AS count FROM messages WHERE project_id = $1 GROUP BY state',
      [api.projectId],
    );
    const counts = Object.fromEntries(rows.map(({ state, count }) => [state, count]));
    expect((counts.accepted ?? 0) + (counts.unknown ?? 0)).toBe(101);
    return counts;
  }, 60_000);
  expect(states.unknown).toBeGreaterThan(0);
  const counts = [...sink.counts()].filter(([to]) => to.startsWith('kill'));
  expect(counts.every(([, count]) => count === 1)).toBe(true);
}, 120_000);

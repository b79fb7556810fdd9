import { addLocalDomain } from '@postroom/domains';
import { newId, pool, sql } from '@postroom/platform';
import { interleave, testApi } from '@postroom/testkit';
import { describe, expect, test } from 'vitest';
import { ContentBudget, prepareEmails } from '../src/index.ts';
import { holdMail } from './hold-mail.ts';
import { checkPlans } from '@postroom/testkit/plans';

checkPlans();

/** A project whose mail stays queued, even if a worker of another test is running. */
async function sender() {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  await holdMail(api.projectId);
  return api;
}

const HELLO = { from: 'Acme <hello@example.com>', to: ['ada@example.net'], subject: 'Hello', html: '<p>Hello</p>' };

const fieldsOf = (reply: { body: { error: { details: { field: string }[] } } }) =>
  reply.body.error.details.map(({ field }) => field);

describe('POST /v1/emails', () => {
  test('accepts keys with sending or full scope, and returns 202 with an id and status queued', async () => {
    const api = await sender();
    const { key } = await api.newKey('sending');
    for (const options of [{ key }, {}]) {
      const reply = await api.send('POST', '/v1/emails', { ...options, body: HELLO });
      expect(reply.status, JSON.stringify(reply.body)).toBe(202);
      expect(reply.body).toEqual({ data: { id: expect.stringMatching(/^eml_[0-9a-z]{26}$/), status: 'queued' } });
    }
    for (const [method, path] of [
      ['GET', '/v1/emails'],
      ['POST', '/v1/emails/batch'],
    ] as const) {
      const reply = await api.send(method, path, { key, ...(method === 'POST' ? { body: { emails: [HELLO] } } : {}) });
      expect([reply.status, reply.body.error.code]).toEqual([403, 'insufficient_scope']);
    }
  });

  test('commits its rows before the response', async () => {
    const api = await sender();
    const { id } = (await api.post('/v1/emails', { ...HELLO, metadata: { order: '1' }, tags: ['receipt'] })).body.data;
    const { rows } = await pool.query('SELECT email, subject, metadata, tags FROM messages WHERE id = $1', [id]);
    expect(rows).toEqual([{ email: 'ada@example.net', subject: 'Hello', metadata: { order: '1' }, tags: ['receipt'] }]);
  });

  test('accepts one address or a list, with or without names', async () => {
    const api = await sender();
    const reply = await api.post('/v1/emails', {
      ...HELLO,
      to: '"Lovelace, Ada" <ada@example.net>',
      cc: ['b@example.net'],
      reply_to: 'help@example.com',
    });
    const { data } = (await api.get(`/v1/emails/${reply.body.data.id}`)).body;
    expect(data).toMatchObject({
      from: 'Acme <hello@example.com>',
      to: ['"Lovelace, Ada" <ada@example.net>'],
      cc: ['b@example.net'],
      bcc: [],
      replyTo: ['help@example.com'],
      status: 'queued',
      recipients: [{ email: 'ada@example.net', status: 'queued' }, { email: 'b@example.net' }],
      events: [{ type: 'email.queued' }],
    });
  });

  test.each([
    ['nothing', {}, ['from', 'to']],
    ['no content', { from: HELLO.from, to: HELLO.to }, ['subject', 'html']],
    [
      'bad addresses',
      { ...HELLO, from: 'x', to: ['a@b.test', 'nobody'], cc: ['a@'], bcc: 'b@', reply_to: ['c@'] },
      ['from', 'to.1', 'cc.0', 'bcc.0', 'reply_to.0'],
    ],
    [
      'a sender beyond ASCII',
      {
        ...HELLO,
        from: 'jörg@example.com',
        to: 'jörg@example.com',
        reply_to: ['ada@bücher.example', 'jörg@example.com'],
      },
      ['from', 'reply_to.1'],
    ],
    ['no recipients', { ...HELLO, to: [] }, ['to']],
    ['a line break in a name', { ...HELLO, to: ['Ada\r\nBcc: eve@example.net <ada@example.net>'] }, ['to.0']],
    ['too many addresses', { ...HELLO, bcc: Array.from({ length: 50 }, (_, i) => `b${i}@example.net`) }, ['to']],
    [
      'bad headers',
      { ...HELLO, headers: { Subject: 'x', 'X-A': 1, 'X-B': 'a\r\nb' } },
      ['headers.Subject', 'headers.X-A', 'headers.X-B'],
    ],
    [
      'bad attachments',
      { ...HELLO, attachments: [{ filename: '../x', content: '%' }] },
      ['attachments.0.filename', 'attachments.0.content'],
    ],
    ['a time in the past', { ...HELLO, scheduled_at: '2020-01-01T00:00:00Z' }, ['scheduled_at']],
    ['metadata that is a list', { ...HELLO, metadata: [1] }, ['metadata']],
    [
      'an unknown template',
      { from: HELLO.from, to: HELLO.to, subject: 'x', template_id: 'tpl_01h455vb4pex5vsknk084sn02q' },
      ['template_id'],
    ],
    ['an unknown field', { ...HELLO, form: 'x' }, ['form']],
    [
      'a subject that its values leave empty',
      { ...HELLO, subject: '{% if name == "Ada" %}Hello{% endif %} ', variables: { name: 'Bob' } },
      ['subject'],
    ],
    ['a missing variable', { ...HELLO, html: '<p>{{name}}</p>', variables: {} }, ['variables.name']],
  ])('with %s returns a validation_error that names each field', async (_name, body, fields) => {
    const api = await sender();
    const reply = await api.post('/v1/emails', body);
    expect(reply.status).toBe(400);
    expect(reply.body.error.code).toBe('validation_error');
    expect(fieldsOf(reply)).toEqual(fields);
  });

  test('rejects a domain that may not send with forbidden', async () => {
    const api = await sender();
    const unknown = await api.post('/v1/emails', { ...HELLO, from: 'hello@elsewhere.test' });
    await pool.query('UPDATE domains SET blocked_at = now() WHERE project_id = $1', [api.projectId]);
    const blocked = await api.post('/v1/emails', HELLO);
    for (const reply of [unknown, blocked]) expect([reply.status, reply.body.error.code]).toEqual([403, 'forbidden']);
  });

  test('renders a published template, with variables escaped by context', async () => {
    const api = await sender();
    const body = '<p>Hello {{name|there}}, <a href="https://x.test/?o={{order}}">order</a></p>';
    const template = (await api.post('/v1/templates', { name: 'Receipt', subject: 'Order {{order}}', body })).body.data;
    const email = {
      from: HELLO.from,
      to: HELLO.to,
      template_id: template.id,
      variables: { order: 'a&b', name: '<Ada>' },
    };
    expect(fieldsOf(await api.post('/v1/emails', email))).toEqual(['template_id']);
    await api.post(`/v1/templates/${template.id}/publish`);
    const reply = await api.post('/v1/emails', email);
    const { data } = (await api.get(`/v1/emails/${reply.body.data.id}`)).body;
    expect(data.subject).toBe('Order a&b');
    expect(data.html).toBe('<p>Hello &lt;Ada&gt;, <a href="https://x.test/?o=a%26b">order</a></p>');
    const batch = await api.post('/v1/emails/batch', { emails: [{ ...email, cc: ['cc@example.net'] }, HELLO] });
    const [first, second] = batch.body.data.map(({ id }: { id: string }) => id);
    const { rows } = await pool.query(
      'SELECT coalesce(copy_of, id) AS id, template_id FROM messages WHERE project_id = $1 ORDER BY messages.id',
      [api.projectId],
    );
    expect(rows).toEqual([
      { id: reply.body.data.id, template_id: template.id },
      { id: first, template_id: template.id },
      { id: first, template_id: template.id },
      { id: second, template_id: null },
    ]);
  });

  test('renders conditions, filters, nested data and a loop over the items of an order', async () => {
    const api = await sender();
    const body =
      '<p>Hi {{ customer.name | capitalize | default: "there" }}</p><table>{% for item in order.items %}' +
      '<tr><td>{{ forloop.index }}. {{ item.title }}</td><td>{{ item.price | times: item.count | currency: "EUR" }}</td></tr>' +
      '{% else %}<tr><td>Nothing</td></tr>{% endfor %}</table>' +
      '{% if order.paid %}<p>Paid {{ order.paid | date: "%-d %B %Y", "Europe/Berlin" }}</p>{% else %}<p>{{ due }}</p>{% endif %}';
    const subject = 'Order {{ order.id }}{% if order.items.size > 1 %} ({{ order.items.size }} items){% endif %}';
    const template = (await api.post('/v1/templates', { name: 'Receipt', subject, body })).body.data;
    await api.post(`/v1/templates/${template.id}/publish`);
    const send = (variables: Record<string, unknown>) =>
      api.post('/v1/emails', { from: HELLO.from, to: HELLO.to, template_id: template.id, variables });
    const items = [
      { title: 'Tea <green>', price: 4.5, count: 2 },
      { title: 'Cup', price: 10, count: 1 },
    ];
    const reply = await send({ customer: { name: 'ada' }, order: { id: 'A-7', items, paid: '2026-11-20T23:30:00Z' } });
    expect(reply.status, JSON.stringify(reply.body)).toBe(202);
    const { data } = (await api.get(`/v1/emails/${reply.body.data.id}`)).body;
    expect(data.subject).toBe('Order A-7 (2 items)');
    expect(data.html).toBe(
      '<p>Hi Ada</p><table><tr><td>1. Tea &lt;green&gt;</td><td>€9.00</td></tr><tr><td>2. Cup</td><td>€10.00</td></tr></table><p>Paid 21 November 2026</p>',
    );
    expect(fieldsOf(await send({ order: { id: 'A-8', items: [] } }))).toEqual(['variables.due']);
    const many = Array.from({ length: 50_000 }, () => items[0]);
    const refused = await send({ order: { id: 'A-9', items: many, paid: 0 } });
    expect(refused.status).toBe(400);
    expect(refused.body.error.details[0].message).toMatch(
      /more than 1000000 steps|more than 5000000 characters|more than 50000 elements/,
    );
  });

  test('fills in the postal address of the project, also without a template, and says where to enter it if there is none', async () => {
    const api = await sender();
    const { id } = (
      await api.post('/v1/templates', { name: 'Footer', subject: 'Hi', body: '<p>{{postal_address}}</p>' })
    ).body.data;
    await api.post(`/v1/templates/${id}/publish`);
    const { html: _, ...rest } = HELLO;
    const bodies = [
      { ...rest, template_id: id },
      { ...HELLO, html: '<p>{{postal_address}}</p>', variables: {} },
    ];
    for (const body of bodies) {
      expect((await api.post('/v1/emails', body)).body.error.details).toEqual([
        {
          field: 'variables.postal_address',
          message: 'is required, because the project has no postal address; enter one in the dashboard, under Project',
        },
      ]);
    }
    await pool.query('UPDATE projects SET postal_address = $2 WHERE id = $1', [api.projectId, 'Acme,\n1 Main Street']);
    for (const body of [...bodies, { ...bodies[0], variables: { postal_address: 'Elsewhere' } }]) {
      const sent = await api.post('/v1/emails', body);
      expect(sent.status, JSON.stringify(sent.body)).toBe(202);
      const { html } = (await api.get(`/v1/emails/${sent.body.data.id}`)).body.data;
      expect(html).toBe(
        `<p>${'variables' in body && 'postal_address' in body.variables ? 'Elsewhere' : 'Acme, 1 Main Street'}</p>`,
      );
    }
  });

  test('leaves braces unchanged without variables', async () => {
    const api = await sender();
    const { id } = (await api.post('/v1/emails', { ...HELLO, html: '<p>{{ not ours }}</p>' })).body.data;
    expect((await api.get(`/v1/emails/${id}`)).body.data.html).toBe('<p>{{ not ours }}</p>');
  });

  test('records a suppressed address as suppressed, but sends to one that unsubscribed from campaigns', async () => {
    const api = await sender();
    await api.post('/v1/suppressions', { email: 'ada@example.net' });
    const suppressed = await api.post('/v1/emails', { ...HELLO, to: 'Ada@Example.net' });
    expect(suppressed.body.data.status).toBe('suppressed');
    const eve = await api.contact('eve@example.net');
    await api.patch(`/v1/contacts/${eve.id}`, { subscribed: false });
    expect((await api.post('/v1/emails', { ...HELLO, to: 'eve@example.net' })).body.data.status).toBe('queued');
    const some = (await api.post('/v1/emails', { ...HELLO, to: ['bob@example.net'], cc: ['ada@example.net'] })).body
      .data;
    expect(some.status).toBe('queued');
    expect((await api.get(`/v1/emails/${some.id}`)).body.data.recipients).toMatchObject([
      { email: 'bob@example.net', status: 'queued' },
      { email: 'ada@example.net', status: 'suppressed', answer: expect.stringContaining('manual') },
    ]);
  });

  test('sends once per idempotency key', async () => {
    const api = await sender();
    const headers = { 'Idempotency-Key': 'receipt-1' };
    const [first, again] = [await api.post('/v1/emails', HELLO, headers), await api.post('/v1/emails', HELLO, headers)];
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await api.get('/v1/emails')).body.data).toHaveLength(1);
  });

  test('accepts 30 MB of attachments and stores them unchanged', async () => {
    const api = await sender();
    const content = Buffer.alloc(25 * 1024 * 1024, 'postroom ');
    const attachments = [
      { filename: 'big.bin', content: content.toString('base64') },
      { filename: 'logo.png', content: 'iVBORw0KGgo=', content_type: 'image/png', content_id: 'logo' },
    ];
    const { id } = (await api.post('/v1/emails', { ...HELLO, attachments })).body.data;
    expect((await api.get(`/v1/emails/${id}`)).body.data.attachments).toEqual([
      { filename: 'big.bin', contentType: null, contentId: null },
      { filename: 'logo.png', contentType: 'image/png', contentId: 'logo' },
    ]);
    const { rows } = await pool.query(
      'SELECT content FROM message_attachments WHERE message_id = $1 ORDER BY position',
      [id],
    );
    expect(content.equals(rows[0].content)).toBe(true);
  });
});

test('a file cannot have the type of several parts, which only a message has', async () => {
  const api = await sender();
  const attachments = [{ filename: 'a', content: 'aGk=', content_type: 'multipart/mixed' }];
  const reply = await api.post('/v1/emails', { ...HELLO, attachments });
  expect(reply.status).toBe(400);
  expect(fieldsOf(reply)).toEqual(['attachments.0.content_type']);
});

test('what a mail can have only once is refused if it is given twice: a content id, and a header in whatever case', async () => {
  const api = await sender();
  const image = { filename: 'a.png', content: 'aGk=', content_id: 'logo' };
  const twoImages = await api.post('/v1/emails', { ...HELLO, attachments: [image, { ...image, filename: 'b.png' }] });
  expect(fieldsOf(twoImages)).toEqual(['attachments.1.content_id']);
  const twoHeaders = await api.post('/v1/emails', { ...HELLO, headers: { 'X-Order': '1', 'x-order': '2' } });
  expect(fieldsOf(twoHeaders)).toEqual(['headers.x-order']);
});

test('a tag is stored without surrounding space and with composed accents, once', async () => {
  const api = await sender();
  const { id } = (await api.post('/v1/emails', { ...HELLO, tags: ['receipt ', ' receipt', 'cafe\u0301'] })).body.data;
  expect((await api.get(`/v1/emails/${id}`)).body.data.tags).toEqual(['receipt', 'caf\u00e9']);
  for (const tag of ['caf\u00e9', 'cafe\u0301'])
    expect((await api.get(`/v1/emails?tag=${encodeURIComponent(tag)}`)).body.data).toMatchObject([{ id }]);
});

describe('POST /v1/emails/batch', () => {
  test('accepts up to 100 emails and returns an id for each', async () => {
    const api = await sender();
    const emails = Array.from({ length: 100 }, (_, index) => ({ ...HELLO, to: [`r${index}@example.net`] }));
    const reply = await api.post('/v1/emails/batch', { emails });
    expect(reply.status).toBe(202);
    expect(new Set(reply.body.data.map(({ id }: { id: string }) => id)).size).toBe(100);
    expect((await api.post('/v1/emails/batch', { emails: [...emails, HELLO] })).status).toBe(400);
    expect((await api.post('/v1/emails/batch', { emails: [] })).status).toBe(400);
  });

  test('accepts none if one is invalid, and names its field', async () => {
    const api = await sender();
    const reply = await api.post('/v1/emails/batch', { emails: [HELLO, { ...HELLO, to: ['nobody'] }] });
    expect(reply.status).toBe(400);
    expect(fieldsOf(reply)).toEqual(['emails.1.to.0']);
    const other = { ...HELLO, from: 'me@elsewhere.example' };
    const forbidden = await api.post('/v1/emails/batch', { emails: [HELLO, other, HELLO, other] });
    expect(forbidden.status).toBe(403);
    expect(fieldsOf(forbidden)).toEqual(['emails.1.from', 'emails.3.from']);
    expect((await api.get('/v1/emails')).body.data).toEqual([]);
  });
});

describe('scheduled emails', () => {
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

  test('can be rescheduled, and canceled once', async () => {
    const api = await sender();
    const [first, second] = [at(1), at(2)];
    const queued = (await api.post('/v1/emails', { ...HELLO, scheduled_at: first })).body.data;
    expect(queued.status).toBe('scheduled');
    const path = `/v1/emails/${queued.id}`;
    expect((await api.get(path)).body.data).toMatchObject({ status: 'scheduled', scheduledAt: first });
    expect((await api.patch(path, { scheduled_at: second })).body.data.scheduledAt).toBe(second);
    expect((await api.patch(path, { scheduled_at: '2020-01-01T00:00:00Z' })).status).toBe(400);
    const canceled = (await api.post(`${path}/cancel`)).body.data;
    expect(canceled).toMatchObject({
      status: 'canceled',
      events: [{ type: 'email.queued' }, { type: 'email.canceled' }],
    });
    expect((await api.post(`${path}/cancel`)).status).toBe(409);
    expect((await api.patch(path, { scheduled_at: second })).status).toBe(409);
  });

  test('are rescheduled for all recipients, or with 409 for none when one of them is being sent', async () => {
    const api = await sender();
    const to = ['ada@example.net', 'bob@example.net'];
    const { id } = (await api.post('/v1/emails', { ...HELLO, to, scheduled_at: at(1) })).body.data;
    const times = async () =>
      (
        await pool.query<{ at: Date }>(
          'SELECT not_before AS at FROM messages WHERE id = $1 OR copy_of = $1 UNION ALL SELECT scheduled_at FROM message_contents WHERE message_id = $1',
          [id],
        )
      ).rows.map((row) => row.at.toISOString());
    const [first, second] = [at(2), at(3)];
    const reschedule = (time: string) => api.patch(`/v1/emails/${id}`, { scheduled_at: time });
    expect((await reschedule(first)).status).toBe(200);
    expect(await times()).toEqual([first, first, first]);
    const reply = await interleave(
      (tx) => sql(tx, `UPDATE messages SET state = 'claimed', dispatched_at = now() WHERE copy_of = $1`, [id]),
      () => reschedule(second),
    );
    expect([reply.status, reply.body.error.code]).toEqual([409, 'conflict']);
    expect(await times()).toEqual([first, first, first]);
    await pool.query(`UPDATE messages SET state = 'suppressed' WHERE copy_of = $1`, [id]);
    expect((await reschedule(second)).status).toBe(200);
    expect((await times()).toSorted()).toEqual([first, second, second]);
  });

  test('return 409 to one of two concurrent cancels', async () => {
    const api = await sender();
    const { id } = (await api.post('/v1/emails', { ...HELLO, scheduled_at: at(1) })).body.data;
    const replies = await Promise.all([api.post(`/v1/emails/${id}/cancel`), api.post(`/v1/emails/${id}/cancel`)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

describe('GET /v1/emails', () => {
  test('lists newest first, and filters by status, address and tag', async () => {
    const api = await sender();
    const send = async (more: object) => (await api.post('/v1/emails', { ...HELLO, ...more })).body.data.id;
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    const first = await send({ tags: ['receipt'], scheduled_at });
    const second = await send({ to: ['bob@example.net'], cc: ['Carol@example.net'], scheduled_at });
    await api.post(`/v1/emails/${second}/cancel`);
    const ids = async (query: string) =>
      (await api.get(`/v1/emails${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await ids('')).toEqual([second, first]);
    expect(await ids('?status=scheduled')).toEqual([first]);
    expect(await ids('?status=canceled')).toEqual([second]);
    expect(await ids('?tag=receipt')).toEqual([first]);
    expect(await ids('?to=CAROL@example.net')).toEqual([second]);
    expect(await ids(`?created_after=${encodeURIComponent(new Date(Date.now() + 1000).toISOString())}`)).toEqual([]);
  });

  test("another project's email, or an id of another kind, is not_found", async () => {
    const api = await sender();
    const { id } = (await api.post('/v1/emails', HELLO)).body.data;
    const other = await testApi();
    for (const path of [`/v1/emails/${id}`, '/v1/emails/cmp_01h455vb4pex5vsknk084sn02q']) {
      expect((await other.get(path)).status).toBe(404);
      expect((await other.post(`${path}/cancel`)).status).toBe(404);
    }
  });
});

test('a page of large emails loads about 12 MB of bodies, and says so for the rest; without bodies it loads none', async () => {
  const api = await sender();
  const text = 'x'.repeat(4_900_000);
  const emails = Array.from({ length: 6 }, () => ({ ...HELLO, html: undefined, text }));
  expect((await api.post('/v1/emails/batch', { emails })).status).toBe(202);
  const { body } = await api.graphql('{ emails { nodes { cc text } } }');
  const lengths = body.data.emails.nodes.map((email: { text: string | null }) => email.text?.length ?? null);
  expect(lengths).toEqual([...Array<number>(3).fill(text.length), null, null, null]);
  expect(body.errors).toMatchObject(
    [3, 4, 5].map((at) => ({ path: ['emails', 'nodes', at, 'text'], extensions: { code: 'payload_too_large' } })),
  );
  const twice = (await api.graphql('{ a: emails(first: 3) { nodes { text } } b: emails(first: 1) { nodes { text } } }'))
    .body;
  expect(twice.errors).toMatchObject([{ extensions: { code: 'payload_too_large' } }]);
  const listed = await api.get('/v1/emails');
  expect([listed.status, listed.body.data.length]).toEqual([200, 6]);
});

describe('short requests that become long content', () => {
  // 4.5 million characters once it is filled in.
  const text = '{{a}}'.repeat(900);
  const variables = { a: 'x'.repeat(5_000) };

  test('a batch that becomes too long is rejected, naming the first email beyond the limit', async () => {
    const api = await testApi();
    await addLocalDomain(api.projectId, 'example.com');
    const email = { from: 'a@example.com', to: 'b@example.net', subject: 'x', text, variables };
    const { status, body } = await api.post('/v1/emails/batch', { emails: Array.from({ length: 11 }, () => email) });
    expect(status).toBe(400);
    expect(body.error.details).toEqual([
      { field: expect.stringMatching(/^emails\.\d+\.html$/), message: expect.stringMatching(/^is too long together/) },
      { field: expect.stringMatching(/^emails\.\d+\.html$/), message: expect.stringMatching(/^is too long together/) },
    ]);
  });

  test('a page of messages of a journey that becomes too long is prepared in parts', async () => {
    const api = await testApi();
    await addLocalDomain(api.projectId, 'example.com');
    const input = { from: 'a@example.com', to: ['b@example.net'], subject: 'x', text, variables, needsConsent: false };
    const inputs = Array.from({ length: 103 }, () => ({ ...input, id: newId('eml') }));
    const budget = new ContentBudget(9_000_000);
    const prepared = await prepareEmails(api.projectId, inputs.slice(0, 3), budget);
    expect(prepared.filter((email) => !('problem' in email))).toHaveLength(2);
    expect(prepared.filter((email) => 'isPostponed' in email)).toHaveLength(1);
    const rendered = new Set<string>();
    const watched = inputs.map((each) => ({
      ...each,
      get variables() {
        return (rendered.add(each.id), variables);
      },
    }));
    // What follows is not even rendered.
    const others = await prepareEmails(api.projectId, watched, budget);
    expect(others.every((email) => 'isPostponed' in email)).toBe(true);
    expect(rendered.size).toBe(0);
    // Only a few are rendered in vain.
    await prepareEmails(api.projectId, watched, new ContentBudget(9_000_000));
    expect(rendered.size).toBeLessThan(10);
  });
});

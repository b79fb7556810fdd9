import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { storeLinks, trackingToken } from '@postroom/tracking';
import { newId, pool } from '@postroom/platform';
import { eventually, testApi } from '@postroom/testkit';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Inbox, startInbox } from '../src/inbox.ts';

let inbox: Inbox;
beforeAll(async () => {
  inbox = await startInbox({ host: '127.0.0.1', smtpPort: 0, webPort: 0 });
});
afterAll(() => inbox.stop());

const mailer = () => createTransport({ host: '127.0.0.1', port: inbox.smtpPort, pool: true });
/** A unique address, so that other tests send it no mail. */
const someone = () => `${randomBytes(6).toString('hex')}@example.com`;

async function api(path: string, init?: RequestInit) {
  const response = await fetch(inbox.webUrl + path, init);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith('{') ? JSON.parse(text) : undefined,
  };
}
const mailsTo = async (recipient: string) =>
  (await api(`/api/mails?recipient=${encodeURIComponent(recipient)}`)).body.data;

async function send(message: Parameters<ReturnType<typeof mailer>['sendMail']>[0]) {
  const transport = mailer();
  try {
    return await transport.sendMail({ from: 'ops@example.com', ...message });
  } finally {
    transport.close();
  }
}

/** A ledger row, as sending creates it. */
async function message(projectId: string, email: string, state = 'accepted') {
  const id = newId('eml');
  await pool.query(`INSERT INTO messages (id, project_id, email, state) VALUES ($1, $2, $3, $4)`, [
    id,
    projectId,
    email,
    state,
  ]);
  return { id, messageId: `<${id}@example.com>` };
}

test('a mail is shown with its HTML, text, headers, source and attachments', async () => {
  const to = someone();
  await send({
    to: `"Zoé" <${to.toUpperCase()}>`,
    subject: 'Brötchen ☕',
    text: 'Hello',
    html: '<p>Hello <img src="cid:dot@x"></p>',
    attachments: [
      { filename: 'märz.pdf', content: Buffer.from('%PDF'), contentType: 'application/pdf' },
      { filename: 'dot.png', content: Buffer.from('PNG'), cid: 'dot@x' },
    ],
  });
  const [listed] = await mailsTo(to);
  expect(listed).toMatchObject({
    recipient: to,
    subject: 'Brötchen ☕',
    sender: 'ops@example.com',
    mailFrom: 'ops@example.com',
  });

  const { data: mail } = (await api(`/api/mails/${listed.id}`)).body;
  expect(mail).toMatchObject({
    text: expect.stringContaining('Hello'),
    html: expect.stringContaining('<p>'),
    to: [{ name: 'Zoé' }],
  });
  expect(mail.headers).toContainEqual({ name: 'MIME-Version', value: '1.0' });
  const pdf = mail.attachments.find((part: { filename: string }) => part.filename === 'märz.pdf');
  expect(pdf).toMatchObject({ mimeType: 'application/pdf', size: 4 });

  const download = await api(`/api/mails/${listed.id}/attachments/${pdf.index}`);
  expect(download.text).toBe('%PDF');
  expect(download.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''m%C3%A4rz.pdf");
  expect((await api(`/api/mails/${listed.id}/source`)).text).toContain('Content-Type: multipart/');
  expect((await api(`/mails/${listed.id}/html`)).text).toContain(
    `data:image/png;base64,${Buffer.from('PNG').toString('base64')}`,
  );
});

test('the HTML of a mail runs no script, sends no form and loads nothing from elsewhere', async () => {
  const to = someone();
  await send({ to, html: '<!doctype html><html><head></head><body><script>alert(1)</script></body></html>' });
  const [{ id }] = await mailsTo(to);
  const page = await api(`/mails/${id}/html`);
  const policy = page.headers.get('content-security-policy')!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("form-action 'none'");
  expect(policy).toContain('sandbox allow-popups');
  expect(policy).not.toMatch(/script-src|http|allow-scripts|allow-same-origin/);
  expect(page.text).toMatch(/^<!doctype html><html><head><base target="_blank">/);
  expect((await api(`/mails/${id}/html?pictures`)).headers.get('content-security-policy')).toContain(
    'img-src data: http: https:',
  );
});

test('each envelope recipient gets the mail, including Bcc', async () => {
  const [to, bcc] = [someone(), someone()];
  await send({ to, bcc, subject: 'Both' });
  expect(await mailsTo(to)).toHaveLength(1);
  expect(await mailsTo(bcc)).toHaveLength(1);
  expect((await api(`/api/mails/${(await mailsTo(bcc))[0].id}/source`)).text).not.toContain(bcc);
});

test('mails are searched by words and paginated, newest first', async () => {
  const word = randomBytes(6).toString('hex');
  for (const number of [1, 2, 3]) await send({ to: someone(), subject: `Number ${number} 100% of ${word}` });
  const first = (await api(`/api/mails?search=${word}+NUMBER&limit=2`)).body;
  expect(first.data.map((mail: { subject: string }) => mail.subject[7])).toEqual(['3', '2']);
  expect(first.has_more).toBe(true);
  const second = (await api(`/api/mails?search=${word}&limit=2&before=${first.next_cursor}`)).body;
  expect(second.data.map((mail: { subject: string }) => mail.subject[7])).toEqual(['1']);
  expect(second).toMatchObject({ has_more: false, next_cursor: null });
  expect((await api(`/api/mails?search=${word}+100%25`)).body.data).toHaveLength(3);
  expect((await api(`/api/mails?search=${word}+1_0%25`)).body.data).toHaveLength(0);
});

test('statistics count recipients, and duplicate Message-IDs per recipient', async () => {
  const word = randomBytes(6).toString('hex');
  const [a, b] = [someone(), someone()];
  await send({ to: [a, b], subject: word, messageId: `<${word}@x>` });
  await send({ to: a, subject: word, messageId: `<${word}@x>` });
  await send({ to: a, subject: word });
  expect((await api(`/api/stats?search=${word}`)).body.data).toMatchObject({
    mails: 4,
    uniqueRecipients: 2,
    duplicates: 1,
  });
});

test('a mail can be deleted', async () => {
  const to = someone();
  await send({ to });
  const [{ id }] = await mailsTo(to);
  expect((await api(`/api/mails/${id}`, { method: 'DELETE' })).body).toEqual({ deleted: true });
  expect((await api(`/api/mails/${id}`)).status).toBe(404);
  expect((await api(`/api/mails/${id}`, { method: 'DELETE' })).status).toBe(404);
});

test('unknown paths, mails and methods are errors', async () => {
  expect(await api('/nothing')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  for (const query of ['limit=0', 'before=yesterday', 'before=mai_1'])
    expect(await api(`/api/mails?${query}`)).toMatchObject({
      status: 400,
      body: { error: { code: 'validation_error', message: expect.stringContaining(query.split('=', 1)[0] ?? '') } },
    });
  const refused = await api('/api/mails', { method: 'POST' });
  expect(refused.status).toBe(405);
  expect(refused.headers.get('allow')).toBe('GET, DELETE');
});

test('another site can’t read mail through its own hostname (DNS rebinding)', async () => {
  const { port } = new URL(inbox.webUrl);
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () =>
      socket.write('GET /api/mails HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'),
    );
    let text = '';
    socket.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text));
  });
  expect(answer).toMatch(/^HTTP\/1\.1 403/);
});

test('open pages are notified of new mail', async () => {
  const response = await fetch(`${inbox.webUrl}/api/events`);
  const reader = response.body!.getReader();
  await send({ to: someone() });
  let text = '';
  while (!text.includes('event: changed')) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  expect(text).toContain('"received":');
});

test('mail to an ordinary address is reported as delivered at the time it was accepted', async () => {
  const { projectId, events } = await testApi();
  const to = someone();
  const { id, messageId } = await message(projectId, to);
  await send({ to, messageId });
  const [{ receivedAt }] = await mailsTo(to);
  const [event] = await eventually(async () => {
    const found = await events('email.delivered');
    expect(found).toHaveLength(1);
    return found;
  });
  expect(event!.data).toMatchObject({ message_id: id, email: to });
  const { rows } = await pool.query<{ delivered_at: Date }>('SELECT delivered_at FROM messages WHERE id = $1', [id]);
  expect(rows[0]!.delivered_at.toISOString()).toBe(receivedAt);
});

test('a message is reported as delivered once its sending is recorded, or after two seconds', async () => {
  const { projectId, events } = await testApi();
  const [settled, left] = [
    await message(projectId, someone(), 'claimed'),
    await message(projectId, someone(), 'claimed'),
  ];
  await send({ to: someone(), messageId: settled.messageId });
  await send({ to: someone(), messageId: left.messageId });
  const reported = async () =>
    (await events('email.delivered')).map(({ data }) => (data as { message_id: string }).message_id);
  const waiting = await pool.query('SELECT FROM inbox_reports WHERE message_id = ANY ($1)', [[settled.id, left.id]]);
  expect([waiting.rowCount, await reported()]).toEqual([2, []]);
  await pool.query("UPDATE messages SET state = 'accepted', accepted_at = now() WHERE id = $1", [settled.id]);
  await eventually(async () => expect(await reported()).toContain(settled.id));
  await eventually(async () => expect(await reported()).toContain(left.id), 10_000);
});

test('a bounce after acceptance is reported as a bounce only', async () => {
  const { projectId, events } = await testApi();
  const { messageId } = await message(projectId, 'bounced@simulator.invalid');
  await send({ to: 'bounced@simulator.invalid', messageId });
  await eventually(async () => expect(await events('email.bounced')).toHaveLength(1));
  expect(await events('email.delivered')).toHaveLength(0);
});

test('reports left by a killed inbox are sent by the next one', async () => {
  const { projectId, events } = await testApi();
  const { id } = await message(projectId, 'ada@example.com');
  await pool.query(
    `INSERT INTO inbox_reports (message_id, recipient, kind, at) VALUES ($1, 'ada@example.com', 'delivered', now())`,
    [id],
  );
  await send({ to: someone(), messageId: `<${newId('eml')}@example.com>` });
  await eventually(async () => expect(await events('email.delivered')).toHaveLength(1));
});

test('refused@ is rejected at RCPT, deferred@ on its first two attempts', async () => {
  await expect(send({ to: 'refused@simulator.invalid' })).rejects.toMatchObject({ responseCode: 550 });
  const messageId = `<${randomBytes(6).toString('hex')}@x>`;
  const again = () => send({ to: 'deferred@simulator.invalid', messageId });
  await expect(again()).rejects.toMatchObject({ responseCode: 451 });
  await expect(again()).rejects.toMatchObject({ responseCode: 451 });
  expect((await again()).response).toMatch(/^250/);
});

/**
 * A raw SMTP session: sends each part after the response to the previous one. Resolves with the last response, or drops
 * the connection right after the last part.
 */
function session(parts: (string | Buffer)[], { drop = false } = {}): Promise<string> {
  const socket = connect(inbox.smtpPort, '127.0.0.1');
  const waiting = [...parts];
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('error', reject);
    socket.on('close', () => resolve(''));
    socket.on('data', (chunk) => {
      text += chunk;
      if (!/^\d{3} .*\r\n$/m.test(text)) return;
      const answer = text;
      text = '';
      const next = waiting.shift();
      if (next !== undefined) {
        const last = drop && waiting.length === 0;
        socket.write(next, () => last && socket.destroy());
        return;
      }
      socket.destroy();
      resolve(answer);
    });
  });
}
const envelope = (to: string) => ['EHLO x\r\n', 'MAIL FROM:<>\r\n', `RCPT TO:<${to}>\r\n`, 'DATA\r\n'];

test('all bytes are stored as received, except for dot-stuffing', async () => {
  const to = someone();
  const body = (dot: string) => [
    Buffer.from(`Subject: bytes\r\n\r\n${dot}\r\n${dot}.two\r\n`),
    Buffer.from([0, 0xff, 0x80]),
    Buffer.from('\r\n'),
  ];
  expect(await session([...envelope(to), Buffer.concat([...body('..'), Buffer.from('.\r\n')])])).toMatch(/^250/);
  const [{ id, mailFrom }] = await mailsTo(to);
  const source = await fetch(`${inbox.webUrl}/api/mails/${id}/source`);
  expect(Buffer.from(await source.arrayBuffer())).toEqual(Buffer.concat(body('.')));
  expect(mailFrom).toBe('');
});

test('a whole transaction may be pipelined, followed by another one', async () => {
  const to = someone();
  const mail = `Subject: pipelined\r\n\r\nx\r\n.\r\n`;
  const [hello, ...rest] = envelope(to);
  await session([hello!, rest.join(''), mail + rest.join(''), mail]);
  expect(await mailsTo(to)).toHaveLength(2);
});

test('a message that ends prematurely is not stored', async () => {
  const to = someone();
  await session([...envelope(to), 'Subject: half\r\n\r\nhalf of it'], { drop: true });
  await send({ to: someone() });
  expect(await mailsTo(to)).toHaveLength(0);
});

test('many concurrent connections lose and duplicate nothing', async () => {
  const word = randomBytes(6).toString('hex');
  const transport = createTransport({
    host: '127.0.0.1',
    port: inbox.smtpPort,
    pool: true,
    maxConnections: 20,
    maxMessages: 1000,
  });
  await Promise.all(
    Array.from({ length: 500 }, (_, number) =>
      transport.sendMail({ from: 'a@example.com', to: `p${number}@example.com`, subject: word, text: 'x' }),
    ),
  );
  transport.close();
  expect((await api(`/api/stats?search=${word}`)).body.data).toMatchObject({
    mails: 500,
    uniqueRecipients: 500,
    duplicates: 0,
  });
});

test('the reader of opened@ fetches the pixel, and that of clicked@ also follows the first tracked link', async () => {
  const tester = await testApi();
  const own = await startInbox({ host: '127.0.0.1', smtpPort: 0, webPort: 0, gatewayUrl: tester.url, readAfterMs: 10 });
  const transport = createTransport({ host: '127.0.0.1', port: own.smtpPort });
  try {
    for (const [behavior, kinds] of [
      ['opened', ['open']],
      ['clicked', ['open', 'click']],
    ] as const) {
      const { id, messageId } = await message(tester.projectId, `${behavior}@simulator.invalid`);
      await storeLinks([{ id, links: ['https://a.example/'] }]);
      const html = `<a href="https://b.example/t/c/${trackingToken(id)}.0">x</a><img src="https://b.example/t/o/${trackingToken(id)}">`;
      await transport.sendMail({ from: 'a@example.com', to: `${behavior}@simulator.invalid`, messageId, html });
      await eventually(async () => {
        const { rows } = await pool.query('SELECT kind FROM tracking_hits WHERE message_id = $1 ORDER BY id', [id]);
        expect(rows.map(({ kind }) => kind)).toEqual(kinds);
      });
    }
  } finally {
    transport.close();
    await own.stop();
  }
});

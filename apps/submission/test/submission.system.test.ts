import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addLocalDomain } from '@postroom/domains';
import { holdMail } from '@postroom/emails/testing';
import { config, pool, selfSigned } from '@postroom/platform';
import { revokeApiKey } from '@postroom/projects';
import { parseNetworks } from '@postroom/settings';
import { type Api, eventually, freePorts, testApi } from '@postroom/testkit';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_MESSAGE_BYTES, SubmissionSession } from '../src/session.ts';
import { startSubmission, type Submission } from '../src/submission.ts';

const tls = selfSigned();
let development: Submission;
let production: Submission;
beforeAll(async () => {
  development = await startSubmission({ host: '127.0.0.1', port: 0, tls, needsTls: false });
  production = await startSubmission({ host: '127.0.0.1', port: 0, tls, needsTls: true });
});
afterAll(() => Promise.all([development.stop(), production.stop()]));

/** A project that may send from example.com. Its mail stays queued, even if a worker of another test is running. */
async function sender(): Promise<Api> {
  const api = await testApi();
  await addLocalDomain(api.projectId, 'example.com');
  await holdMail(api.projectId);
  return api;
}

const HELLO = { from: 'Acme <hello@example.com>', to: 'ada@example.net', subject: 'Hello', text: 'Hello Ada' };

/** Sends as a mail client does; returns the server's last reply, or its rejection. */
async function send(key: string, mail: SendMailOptions, { user = 'postroom', port = development.port } = {}) {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    requireTLS: true,
    tls: { ca: tls.cert, servername: 'localhost' },
    auth: { user, pass: key },
  });
  try {
    const { response } = await transport.sendMail(mail);
    return { response, id: /eml_\S+/.exec(response)?.[0] ?? '' };
  } catch (error) {
    return { response: String((error as { response?: string }).response ?? error), id: '' };
  } finally {
    transport.close();
  }
}

const emailsOf = async (api: Api) => (await api.get('/v1/emails')).body.data;
const email = async (api: Api, id: string) => (await api.get(`/v1/emails/${id}`)).body.data;

/** A raw SMTP client that sends one line at a time. */
async function dial(port: number) {
  const socket: Socket = connect(port, '127.0.0.1');
  let received = '';
  socket
    .setMaxListeners(0)
    .setEncoding('latin1')
    .on('data', (text: string) => (received += text));
  const answer = async () => {
    for (;;) {
      const [whole, last] = /^(?:\d{3}-.*\r\n)*(\d{3} .*)\r\n/.exec(received) ?? [];
      if (whole !== undefined && last !== undefined) {
        received = received.slice(whole.length);
        return whole.trimEnd();
      }
      if (socket.closed) return '';
      await new Promise((resolve) => socket.once('data', resolve).once('close', resolve));
    }
  };
  await answer();
  const say = (text: string) => {
    socket.write(text, 'latin1');
    return answer();
  };
  return { say, answer, socket };
}

const plain = (user: string, key: string) => `AUTH PLAIN ${Buffer.from(`\0${user}\0${key}`).toString('base64')}\r\n`;

test('a mail becomes what POST /v1/emails would have made of it, and its id is answered', async () => {
  const api = await sender();
  const pixel = Buffer.from('iVBORw0KGgo=', 'base64');
  const { response, id } = await send(api.key, {
    from: { name: 'Acme, Inc.', address: 'hello@example.com' },
    to: ['Ada Lovelace <ada@example.net>', 'grace@example.net'],
    cc: 'Team: alan@example.net;',
    bcc: 'audit@example.net',
    replyTo: 'help@example.com',
    subject: 'Grüße – 你好',
    html: '<p>Hëllo <img src="cid:logo @1"></p>',
    text: 'Hëllo',
    headers: { 'X-Order': 'Nº 1843', 'X-Postroom-Tag': 'receipt, shop', 'X-Postroom-Metadata': '{"order":"1843"}' },
    attachments: [
      { filename: 'Rechnung für Ada.pdf', content: Buffer.from('%PDF-1.4'), contentType: 'application/pdf' },
      { filename: 'logo.png', content: pixel, cid: 'logo @1' },
    ],
  });
  expect(response).toMatch(/^250 2\.0\.0 eml_\w+ queued/);
  expect(await email(api, id)).toMatchObject({
    status: 'queued',
    from: '"Acme, Inc." <hello@example.com>',
    to: ['Ada Lovelace <ada@example.net>', 'grace@example.net'],
    cc: ['alan@example.net'],
    bcc: ['audit@example.net'],
    replyTo: ['help@example.com'],
    subject: 'Grüße – 你好',
    html: expect.stringContaining('<p>Hëllo <img src="cid:logo-@1"></p>'),
    text: expect.stringMatching(/^Hëllo$/m),
    headers: { 'X-Order': 'Nº 1843' },
    tags: ['receipt', 'shop'],
    metadata: { order: '1843' },
    attachments: [
      { filename: 'logo.png', contentType: 'image/png', contentId: 'logo-@1' },
      { filename: 'Rechnung für Ada.pdf', contentType: 'application/pdf', contentId: null },
    ],
  });
  const { rows } = await pool.query('SELECT content FROM message_attachments WHERE message_id = $1 ORDER BY position', [
    id,
  ]);
  expect(rows.map(({ content }) => content)).toEqual([pixel, Buffer.from('%PDF-1.4')]);
});

test('a suppressed address gets nothing, however the envelope spells it', async () => {
  const api = await sender();
  await api.post('/v1/suppressions', { email: 'ada@bücher.example', reason: 'complained' });
  for (const to of ['ada@xn--bcher-kva.example', 'ADA@BÜcher.example', 'ada@bücher.example']) {
    const { response } = await send(api.key, { ...HELLO, to });
    expect([to, response]).toEqual([to, expect.stringMatching(/^550 5\.7\.1 eml_\w+ was not sent/)]);
  }
});

test('the envelope decides who gets it, whatever the headers say', async () => {
  const api = await sender();
  const { id } = await send(api.key, {
    ...HELLO,
    to: 'Everybody <all@example.net>',
    envelope: { from: 'bounce@example.org', to: ['ada@example.net', 'grace@example.net'] },
  });
  const { to, bcc, recipients } = await email(api, id);
  expect({ to, bcc }).toEqual({ to: ['Everybody <all@example.net>'], bcc: ['ada@example.net', 'grace@example.net'] });
  expect(recipients.map((recipient: { email: string }) => recipient.email)).toEqual([
    'ada@example.net',
    'grace@example.net',
  ]);
});

test('a mail without To goes to the recipients in the envelope and names none of them', async () => {
  const api = await sender();
  const { to: _to, ...hello } = HELLO;
  const { id } = await send(api.key, { ...hello, bcc: ['ada@example.net', 'grace@example.net'] });
  const { to, recipients } = await email(api, id);
  expect(to).toEqual([]);
  expect(recipients).toHaveLength(2);
});

test('a template, its variables and a time are asked for in headers', async () => {
  const api = await sender();
  const at = new Date(Date.now() + 3_600_000).toISOString();
  const reply = await send(api.key, {
    ...HELLO,
    headers: { 'X-Postroom-Template': 'tpl_x', 'X-Postroom-Variables': '{"a":1}' },
  });
  expect(reply.response).toBe('550 5.6.0 template_id is not a template of this project');
  const { id } = await send(api.key, { ...HELLO, headers: { 'X-Postroom-Scheduled-At': at } });
  expect(await email(api, id)).toMatchObject({ status: 'scheduled', scheduledAt: at, headers: {} });
  const bad = await send(api.key, { ...HELLO, headers: { 'X-Postroom-Metadata': 'order 5' } });
  expect(bad.response).toBe('550 5.6.0 X-Postroom-Metadata must be a JSON object');
  const large = await send(api.key, { ...HELLO, headers: { 'X-Postroom-Metadata': '{"order":9007199254740993}' } });
  expect(large.response).toMatch(/^550 5\.6\.0 X-Postroom-Metadata: order must be a number between/);
});

test('a sender whose domain may not send is 550 with the words of /v1, and nothing is kept', async () => {
  const api = await sender();
  const { response } = await send(api.key, { ...HELLO, from: 'me@elsewhere.example' });
  const rest = await api.post('/v1/emails', { ...HELLO, from: 'me@elsewhere.example', to: ['ada@example.net'] });
  expect(response).toBe(`550 5.7.1 ${rest.body.error.message}`);
  expect(await emailsOf(api)).toEqual([]);
});

test('what is wrong with a mail is 550 and names the field', async () => {
  const api = await sender();
  const long = { ...HELLO, headers: { 'X-Long': 'x'.repeat(4_001) } };
  expect((await send(api.key, long)).response).toMatch(/^550 5\.6\.0 headers\.X-Long .*longer than 4,000 characters/);
  expect(await emailsOf(api)).toEqual([]);
});

test('a recipient whose address is invalid is refused, and the others get the mail', async () => {
  const api = await sender();
  const { say, socket } = await dial(development.port);
  await say('EHLO test\r\n');
  await say(plain('postroom', api.key));
  await say('MAIL FROM:<hello@example.com>\r\n');
  expect(await say('RCPT TO:<ada@[127.0.0.1]>\r\n')).toMatch(/^553 5\.1\.3 The recipient's address must have a domain/);
  expect(await say('RCPT TO:<grace@example.net>\r\n')).toMatch(/^250 /);
  await say('DATA\r\n');
  const to = 'To: ada@[127.0.0.1], Grace <grace@example.net>\r\n';
  const id = /eml_\w+/.exec(await say(`From: hello@example.com\r\n${to}Subject: x\r\n\r\nx\r\n.\r\n`))?.[0] ?? '';
  expect(await email(api, id)).toMatchObject({
    to: ['Grace <grace@example.net>'],
    recipients: [{ email: 'grace@example.net' }],
  });
  socket.destroy();
});

test.each(['root', 'Undisclosed recipients <>', 'root@localhost, "ada"@'])(
  'a mail to %s in its header goes to the recipient in the envelope',
  async (to) => {
    const api = await sender();
    const { say, socket } = await dial(development.port);
    await say('EHLO test\r\n');
    await say(plain('postroom', api.key));
    await say('MAIL FROM:<hello@example.com>\r\n');
    await say('RCPT TO:<grace@example.net>\r\n');
    await say('DATA\r\n');
    const reply = await say(`From: hello@example.com\r\nTo: ${to}\r\nCc: ${to}\r\nSubject: x\r\n\r\nx\r\n.\r\n`);
    expect(reply).toMatch(/^250 2\.0\.0 eml_/);
    expect(await email(api, /eml_\w+/.exec(reply)?.[0] ?? '')).toMatchObject({
      to: [],
      cc: [],
      bcc: ['grace@example.net'],
    });
    socket.destroy();
  },
);

test('a request for delivery reports, which are not offered, is refused, and so is every unknown parameter', async () => {
  const api = await sender();
  const { say, socket } = await dial(development.port);
  await say('EHLO test\r\n');
  await say(plain('postroom', api.key));
  for (const parameters of ['RET=HDRS', 'ENVID=a', 'FOO=bar'])
    expect(await say(`MAIL FROM:<hello@example.com> ${parameters}\r\n`)).toMatch(/^555 5\.5\.4 .*\b(RET|ENVID|FOO)\b/);
  expect(await say('MAIL FROM:<hello@example.com> SIZE=10 BODY=8BITMIME SMTPUTF8 AUTH=<>\r\n')).toMatch(/^250 /);
  for (const parameters of ['NOTIFY=SUCCESS', 'ORCPT=rfc822;ada@example.net', 'FOO'])
    expect(await say(`RCPT TO:<ada@example.net> ${parameters}\r\n`)).toMatch(/^555 5\.5\.4 .*\b(NOTIFY|ORCPT|FOO)\b/);
  expect(await say('RCPT TO:<ada@example.net>\r\n')).toMatch(/^250 /);
  socket.destroy();
});

test('a mail without a subject stays one', async () => {
  const api = await sender();
  const { subject: _, ...untitled } = HELLO;
  const { response, id } = await send(api.key, untitled);
  expect(response).toMatch(/^250/);
  expect((await email(api, id)).subject).toBe('');
});

const INVITATION = 'BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nSUMMARY:Prüfung\r\nEND:VCALENDAR\r\n';

test('the forms of a body stay forms of it, with their types: an invitation, AMP', async () => {
  const api = await sender();
  const { id } = await send(api.key, {
    ...HELLO,
    html: '<p>Hello</p>',
    amp: '<!doctype html><html amp4email><body>Hello</body></html>',
    icalEvent: { method: 'REQUEST', content: INVITATION },
    alternatives: [{ contentType: 'text/x-other; flavour="a b"', content: 'other' }],
    attachments: [{ filename: 'plan.pdf', content: '%PDF-1.4' }],
  });
  const shown = await email(api, id);
  expect(shown.attachments.map(({ filename }: { filename: string }) => filename)).toEqual(
    expect.arrayContaining(['plan.pdf']),
  );
  expect(JSON.stringify(shown.attachments)).not.toContain('x-amp-html');
  const { rows } = await pool.query(
    'SELECT content_type, content FROM message_attachments WHERE message_id = $1 AND alternative ORDER BY position',
    [id],
  );
  expect(rows.map(({ content_type: type }) => type)).toEqual([
    expect.stringMatching(/^text\/x-amp-html(; charset=utf-8)?$/),
    expect.stringMatching(/^text\/calendar; (charset=utf-8; method=REQUEST|method=REQUEST; charset=utf-8)$/),
    expect.stringMatching(/^text\/x-other; .*flavour="a b"/),
  ]);
  expect(rows[1].content.toString()).toBe(INVITATION);
});

test('a mail whose recipients are all suppressed is 550; one with another recipient goes to that', async () => {
  const api = await sender();
  await api.post('/v1/suppressions', { email: 'ada@example.net', reason: 'manual' });
  expect((await send(api.key, HELLO)).response).toMatch(/^550 5\.7\.1 eml_\w+ was not sent/);
  const { id } = await send(api.key, { ...HELLO, to: ['ada@example.net', 'grace@example.net'] });
  expect((await email(api, id)).recipients).toMatchObject([{ status: 'suppressed' }, { status: 'queued' }]);
});

test('a sending key is enough; a key that is wrong, malformed or revoked is 535', async () => {
  const api = await sender();
  const { id, key } = await api.newKey('sending');
  expect((await send(key, HELLO)).response).toMatch(/^250/);
  await revokeApiKey(id);
  expect((await send(key, HELLO)).response).toBe('535 5.7.8 This API key is unknown or has been revoked.');
  expect((await send('hunter2', HELLO)).response).toBe(
    '535 5.7.8 This is not a well-formed API key. Copy all of it: pr_ and 40 letters and digits.',
  );
});

test.each([
  ['at the prompt', ['AUTH LOGIN', '']],
  ['at the prompt, written as for an initial response', ['AUTH LOGIN', '=']],
  ['in the command', ['AUTH LOGIN =']],
])('AUTH LOGIN accepts an empty username %s: only the key counts', async (_where, lines) => {
  const { key } = await (await sender()).newKey('sending');
  const { say, socket } = await dial(development.port);
  await say('EHLO test\r\n');
  for (const [password, reply] of [
    ['hunter2', /^535 5\.7\.8 This is not a well-formed API key/],
    [key, /^235/],
  ] as const) {
    let prompt = '';
    for (const line of lines) prompt = await say(`${line}\r\n`);
    expect(prompt).toBe('334 UGFzc3dvcmQ6');
    expect(await say(`${Buffer.from(password).toString('base64')}\r\n`)).toMatch(reply);
  }
  socket.destroy();
});

test('a key that is revoked stops working at once, also on a connection that it opened', async () => {
  const api = await sender();
  const { id, key } = await api.newKey('sending');
  const { say, socket } = await dial(development.port);
  await say('EHLO test\r\n');
  expect(await say(plain('postroom', key))).toMatch(/^235/);
  expect(await say('MAIL FROM:<hello@example.com>\r\n')).toMatch(/^250/);
  expect(await say('RCPT TO:<ada@example.net>\r\n')).toMatch(/^250/);
  expect(await say('DATA\r\n')).toMatch(/^354/);
  await revokeApiKey(id);
  expect(await say('From: hello@example.com\r\nSubject: x\r\n\r\nx\r\n.\r\n')).toMatch(/^535 5\.7\.8/);
  expect(await say('MAIL FROM:<hello@example.com>\r\n')).toMatch(/^535 5\.7\.8/);
  socket.destroy();
  expect(await emailsOf(api)).toEqual([]);
});

test('a key of several projects needs the project as the username', async () => {
  const [one, two] = await Promise.all([sender(), sender()]);
  const { key } = await one.newKey('sending', [one.projectId, two.projectId]);
  expect((await send(key, HELLO)).response).toMatch(/^535 5\.7\.8 .*the project's id as the username/);
  expect((await send(key, HELLO, { user: 'prj_01jaaaaaaaaaaaaaaaaaaaaaaa' })).response).toMatch(/^535 5\.7\.8/);
  expect((await send(key, HELLO, { user: two.projectId })).response).toMatch(/^250/);
  expect([await emailsOf(one), await emailsOf(two)].map((emails) => emails.length)).toEqual([0, 1]);
});

test('outside development a key is taken over TLS only', async () => {
  const api = await sender();
  const { say, socket } = await dial(production.port);
  expect(await say('EHLO test\r\n')).toContain('STARTTLS');
  expect(await say(plain('postroom', api.key))).toMatch(/^538/);
  expect(await say('MAIL FROM:<hello@example.com>\r\n')).toMatch(/^530/);
  socket.destroy();
  expect((await send(api.key, HELLO, { port: production.port })).response).toMatch(/^250/);
});

test('silent clients, and those that only talk, are closed before they have shown a key; others are served meanwhile', async () => {
  const short = await startSubmission({
    host: '127.0.0.1',
    port: 0,
    tls,
    needsTls: false,
    authMs: 600,
    perAddress: 20,
  });
  const api = await sender();
  const silent = await Promise.all(Array.from({ length: 18 }, () => dial(short.port)));
  const talking = await dial(short.port);
  const talk = setInterval(() => talking.socket.write('NOOP\r\n'), 100);
  expect((await send(api.key, HELLO, { port: short.port })).response).toMatch(/^250/);
  await eventually(() => expect([...silent, talking].every(({ socket }) => socket.destroyed)).toBe(true));
  clearInterval(talk);
  const trusted = await dial(short.port);
  await trusted.say('EHLO test\r\n');
  expect(await trusted.say(plain('postroom', api.key))).toMatch(/^235/);
  await new Promise((resolve) => setTimeout(resolve, 900));
  expect(await trusted.say('NOOP\r\n')).toMatch(/^250/);
  trusted.socket.destroy();
  await short.stop();
});

test('a client that tries many keys is closed', async () => {
  const { say, socket } = await dial(development.port);
  await say('EHLO test\r\n');
  for (let count = 0; count < 10; count++)
    expect(await say(plain('postroom', `pr_${String(count).padEnd(40, 'a')}`))).toMatch(/^535 5\.7\.8 /);
  expect(await say(plain('postroom', 'pr_a'))).toBe('421 4.7.0 Too many refused commands');
  socket.destroy();
});

test('connections per address are limited, and other addresses are still served', async () => {
  const few = await startSubmission({ host: '0.0.0.0', port: 0, tls, needsTls: false, perAddress: 3 });
  const open = await Promise.all([1, 2, 3].map(() => dial(few.port)));
  expect(await greeting(few.port)).toBe('421 4.7.0 Too many connections from your address');
  expect(await greeting(few.port, '127.0.0.2')).toMatch(/^220/);
  open[0]?.socket.destroy();
  await eventually(async () => expect(await greeting(few.port)).toMatch(/^220/));
  for (const { socket } of open) socket.destroy();
  await few.stop();
});

test('a project has as many connections as it leaves free, so others are still served', async () => {
  const small = await startSubmission({ host: '127.0.0.1', port: 0, tls, needsTls: false, perAddress: 20, total: 8 });
  const [noisy, quiet] = [await sender(), await sender()];
  const signIn = async (key: string) => {
    const client = await dial(small.port);
    await client.say('EHLO test\r\n');
    return { client, reply: await client.say(plain('postroom', key)) };
  };
  const open = [];
  for (let count = 0; count < 4; count++) open.push(await signIn(noisy.key));
  expect(open.map(({ reply }) => reply.slice(0, 3))).toEqual(Array(4).fill('235'));
  expect((await signIn(noisy.key)).reply).toBe('421 4.7.0 Too many connections of your project');
  expect((await send(quiet.key, HELLO, { port: small.port })).response).toMatch(/^250/);
  open[0]?.client.socket.destroy();
  await eventually(async () => expect((await signIn(noisy.key)).reply).toMatch(/^235/));
  await small.stop();
});

test('the messages that are being received use no more memory than their project leaves free, whichever key sends them', async () => {
  const session = new SubmissionSession({ total: 1_000, perProject: 600 });
  const receive = (id: string, password: string, chunks: AsyncIterable<Buffer>) =>
    session.take(Object.assign(chunks, { sizeExceeded: false }), { credentials: { username: '', password }, id }, []);
  const paused = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  async function* slowly() {
    yield Buffer.alloc(400);
    reached.resolve();
    await paused.promise;
  }
  async function* atOnce() {
    yield Buffer.alloc(150, 'x');
  }
  const held = receive('prj_a', 'one', slowly());
  await reached.promise;
  await expect(receive('prj_a', 'two', atOnce())).rejects.toThrow('Too many large messages at once');
  // It is received, and its key is refused only then.
  await expect(receive('prj_b', 'three', atOnce())).rejects.toThrow(/key/);
  paused.resolve();
  await expect(held).rejects.toThrow('NUL');
});

test('connections per address are those of clients behind a proxy that names them', async () => {
  const proxies = parseNetworks('127.0.0.1');
  const behind = await startSubmission({ host: '0.0.0.0', port: 0, tls, needsTls: false, perAddress: 1, proxies });
  const through = (client: string, localAddress = '127.0.0.1') =>
    greeting(behind.port, localAddress, `PROXY TCP4 ${client} 198.51.100.1 1234 587\r\n`);
  const socket = connect(behind.port, '127.0.0.1');
  socket.write('PROXY TCP4 192.0.2.1 198.51.100.1 1234 587\r\n');
  await once(socket, 'data');
  expect(await through('192.0.2.1')).toBe('421 4.7.0 Too many connections from your address');
  expect(await through('192.0.2.2')).toMatch(/^220/);
  // Any other peer that sends a header talks before the greeting, and is not the client that it names.
  expect(await through('192.0.2.1', '127.0.0.2')).toMatch(/^421 .* You talk too soon/);
  expect(await greeting(behind.port, '127.0.0.3')).toMatch(/^220/);
  socket.destroy();
  await behind.stop();
});

/** The first line that a client at an address receives. */
async function greeting(port: number, localAddress = '127.0.0.1', header = '') {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).setEncoding('latin1');
  socket.write(header);
  const [line] = (await once(socket, 'data')) as [string];
  socket.destroy();
  return line.trim();
}

test.each([
  ['in the text', 'Subject: x\r\n\r\na\0b'],
  ['in a header', 'Subject: x\0y\r\n\r\na'],
  ['in a header of its own', 'Subject: x\r\nX-Order: a\0b\r\n\r\na'],
  ['in base64', `Subject: x\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from('a\0b').toString('base64')}`],
  ['in quoted-printable', 'Subject: x\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na=00b'],
  ['in an encoded word', 'Subject: =?utf-8?Q?a=00b?=\r\n\r\na'],
  ['in an encoded header', 'Subject: x\r\nX-Order: =?utf-8?Q?a=00b?=\r\n\r\na'],
  ['in metadata', 'Subject: x\r\nX-Postroom-Metadata: {"a":"\\u0000"}\r\n\r\na'],
  ['in a tag', 'Subject: x\r\nX-Postroom-Tag: =?utf-8?Q?a=00b?=\r\n\r\na'],
])('a NUL %s is 550, and nothing is kept', async (_, rest) => {
  const api = await sender();
  const { response } = await send(api.key, {
    envelope: { from: 'hello@example.com', to: ['ada@example.net'] },
    raw: `From: hello@example.com\r\n${rest}\r\n`,
  });
  expect(response).toMatch(/^550 5\.6\.0 /);
  expect(await emailsOf(api)).toEqual([]);
});

test.each([
  'From: eve@example.org',
  'SUBJECT: Other',
  'Sender: a@example.com\r\nSender: b@example.com',
  'Date: 1\r\nDate: 2',
])('a header that a message has at most once is refused if it is repeated: %j', async (repeated) => {
  const api = await sender();
  const { response } = await send(api.key, {
    envelope: { from: 'hello@example.com', to: ['ada@example.net'] },
    raw: `From: hello@example.com\r\nSubject: x\r\n${repeated}\r\n\r\nx\r\n`,
  });
  expect(response).toMatch(/^550 5\.6\.0 The message has more than one \w+ header$/);
  expect(await emailsOf(api)).toEqual([]);
});

test.each(['MAIL FROM:<he\0llo@example.com>', 'EHLO a\0b', 'NO\0OP', 'RCPT TO:<a\0b@example.net>'])(
  'a NUL in a command is refused for good: %j',
  async (command) => {
    const api = await sender();
    const { say, socket } = await dial(development.port);
    await say('EHLO test\r\n');
    await say(plain('postroom', api.key));
    if (command.startsWith('RCPT')) await say('MAIL FROM:<hello@example.com>\r\n');
    expect(await say(`${command}\r\n`)).toMatch(/^5\d\d /);
    socket.destroy();
  },
);

test('the same mail again under its Message-ID is taken once, also at once; without one it is another', async () => {
  const api = await sender();
  const date = new Date();
  const mail = { ...HELLO, messageId: '<order-1843@example.com>', date };
  const replies = await Promise.all([send(api.key, mail), send(api.key, mail), send(api.key, mail)]);
  expect(new Set(replies.map(({ id }) => id)).size).toBe(1);
  expect(replies[0]?.response).toMatch(/^250/);
  expect(await emailsOf(api)).toHaveLength(1);
  await send(api.key, { ...mail, to: 'grace@example.net' });
  await send(api.key, { ...mail, text: 'Hello again' });
  expect(await emailsOf(api)).toHaveLength(3);
  const bare = {
    envelope: { from: 'hello@example.com', to: ['ada@example.net'] },
    raw: 'From: hello@example.com\r\nSubject: x\r\n\r\nx',
  };
  for (let n = 0; n < 2; n++) await send(api.key, bare);
  expect(await emailsOf(api)).toHaveLength(5);
});

test('commands in one packet are answered in their order', async () => {
  const api = await sender();
  const { say, answer, socket } = await dial(development.port);
  expect(await say('EHLO test\r\n')).toMatch(/PIPELINING/);
  await say(plain('postroom', api.key));
  const answers = [
    await say('MAIL FROM:<hello@example.com>\r\nRCPT TO:<ada@example.net>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n'),
  ];
  for (let n = 0; n < 3; n++) answers.push(await answer());
  expect(answers.map((text) => text.slice(0, 3))).toEqual(['250', '250', '250', '354']);
  expect(await say('From: hello@example.com\r\nTo: ada@example.net\r\nSubject: x\r\n\r\n..dot\r\n.\r\n')).toMatch(
    /^250/,
  );
  socket.destroy();
  const [{ id }] = await emailsOf(api);
  expect((await email(api, id)).text.trim()).toBe('.dot');
});

test('a mail above 40 MB is 552, said before it is sent where its size is', async () => {
  const api = await sender();
  const { say, socket } = await dial(development.port);
  expect(await say('EHLO test\r\n')).toContain(`SIZE ${MAX_MESSAGE_BYTES}`);
  await say(plain('postroom', api.key));
  expect(await say(`MAIL FROM:<hello@example.com> SIZE=${MAX_MESSAGE_BYTES + 1}\r\n`)).toMatch(/^552/);
  await say('MAIL FROM:<hello@example.com>\r\n');
  await say('RCPT TO:<ada@example.net>\r\n');
  await say('DATA\r\n');
  const line = `${'x'.repeat(998)}\r\n`;
  for (let sent = 0; sent <= MAX_MESSAGE_BYTES; sent += line.length * 1000) {
    if (!socket.write(line.repeat(1000))) await new Promise((resolve) => socket.once('drain', resolve));
  }
  expect(await say('.\r\n')).toMatch(/^552/);
  socket.destroy();
  expect(await emailsOf(api)).toEqual([]);
});

test('a mail to 120 addresses becomes three messages: each address gets one, all show the same, and a repetition is none', async () => {
  const api = await sender();
  const addresses = Array.from({ length: 120 }, (_, index) => `reader${index}@example.net`);
  const shown = addresses.slice(0, 60);
  const mail = {
    ...HELLO,
    to: shown,
    messageId: '<listed@example.com>',
    date: new Date(),
    envelope: { from: 'hello@example.com', to: [...addresses, 'READER7@example.net', 'reader90@example.net'] },
  };
  const { response, id } = await send(api.key, mail);
  expect(response).toMatch(/^250 2\.0\.0 eml_\w+ queued in 3 messages/);
  expect((await send(api.key, mail)).id).toBe(id);
  const emails = await Promise.all((await emailsOf(api)).map((one: { id: string }) => email(api, one.id)));
  expect(emails).toHaveLength(3);
  const got: string[] = emails.flatMap(({ recipients }) =>
    recipients.map(({ email: one }: { email: string }) => one.toLowerCase()),
  );
  expect(got.toSorted()).toEqual(addresses.toSorted());
  for (const { to, recipients } of emails) {
    expect(to).toEqual(shown);
    expect(recipients.length).toBeLessThanOrEqual(50);
  }
  expect(emails.flatMap(({ bcc }) => bcc).toSorted()).toEqual(addresses.slice(60).toSorted());
});

test('of a mail to many nothing is kept when it is refused', async () => {
  const api = await sender();
  const to = Array.from({ length: 120 }, (_, index) => `reader${index}@example.net`);
  const { response } = await send(api.key, { ...HELLO, to, from: 'me@elsewhere.example' });
  expect(response).toMatch(/^550 5\.7\.1/);
  const tags = await send(api.key, { ...HELLO, to, headers: { 'X-Postroom-Tag': 'x'.repeat(101) } });
  expect(tags.response).toBe('550 5.6.0 tags.0 must be at most 100 characters');
  expect(await emailsOf(api)).toEqual([]);
});

test('a mailing list in To that is not an envelope recipient is not counted', async () => {
  const api = await sender();
  const to = Array.from({ length: 50 }, (_, index) => `reader${index}@example.net`);
  const { response } = await send(api.key, {
    ...HELLO,
    to: 'list@example.net',
    envelope: { from: 'hello@example.com', to },
  });
  expect(response).toMatch(/^250/);
});

test('the 1,001st recipient is 452, so that a client sends it in another mail', async () => {
  const api = await sender();
  const { say, socket } = await dial(development.port);
  await say('EHLO test\r\n');
  await say(plain('postroom', api.key));
  await say('MAIL FROM:<hello@example.com>\r\n');
  const answers: string[] = [];
  for (let n = 0; n < 1_001; n++) answers.push(await say(`RCPT TO:<person${n}@example.net>\r\n`));
  expect(answers[999]).toMatch(/^250/);
  expect(answers[1_000]).toMatch(/^452 4\.5\.3/);
  socket.destroy();
});

test('a mail more than a key may send in a second is 451, and nothing of it is kept', async () => {
  const api = await sender();
  const { say, answer, socket } = await dial(development.port);
  await say('EHLO test\r\n');
  await say(plain('postroom', api.key));
  const before = config.RATE_LIMIT_PER_SECOND;
  config.RATE_LIMIT_PER_SECOND = 1;
  const answers: string[] = [];
  // On a slow machine they may fall in different seconds.
  for (let n = 0; n < 50 && !answers.at(-1)?.startsWith('451'); n++) {
    await say('MAIL FROM:<hello@example.com>\r\nRCPT TO:<ada@example.net>\r\nDATA\r\n');
    await answer();
    await answer();
    answers.push(await say(`From: hello@example.com\r\nSubject: ${n}\r\n\r\nx\r\n.\r\n`));
  }
  config.RATE_LIMIT_PER_SECOND = before;
  socket.destroy();
  expect(answers[0]).toMatch(/^250/);
  expect(answers.at(-1)).toMatch(/^451 4\.7\.0/);
  // The key may try again shortly afterwards.
  await eventually(async () => expect(await emailsOf(api)).toHaveLength(answers.length - 1));
});

test.each(['SIGKILL', 'SIGTERM'] as const)('a %s in the middle loses nothing that was answered 250', async (signal) => {
  const api = await sender();
  const [port = 0] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), 'postroom-test-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(cert, tls.cert);
  writeFileSync(key, tls.key);
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    SUBMISSION_PORT: String(port),
    SUBMISSION_TLS_CERT: cert,
    SUBMISSION_TLS_KEY: key,
    LOG_LEVEL: 'silent',
    RATE_LIMIT_PER_SECOND: '100000',
  };
  const program = fork(join(import.meta.dirname, '../src/main.ts'), { env, execArgv: [] });
  await once(program, 'message');
  rmSync(folder, { recursive: true });
  const exited = once(program, 'exit');
  const accepted: string[] = [];
  const sendOn = async () => {
    for (;;) {
      const { id } = await send(api.key, HELLO, { port });
      if (id === '') return;
      if (accepted.push(id) === 40) program.kill(signal);
    }
  };
  await Promise.all(Array.from({ length: 8 }, sendOn));
  await exited;
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM messages WHERE project_id = $1', [api.projectId]);
  const kept = new Set(rows.map(({ id }) => id));
  expect(accepted.length).toBeGreaterThanOrEqual(40);
  expect(accepted.filter((id) => !kept.has(id))).toEqual([]);
});

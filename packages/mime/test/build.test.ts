import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { lf, parseStrictly } from './support.ts';
import { parseTemplate } from '@postroom/templating';
import { buildMessage, compileMessage } from '../src/index.ts';
import type { MessageInput } from '../src/index.ts';

const input: MessageInput = {
  messageId: 'eml_1@mail.example.com',
  date: new Date('2026-11-20T12:34:56Z'),
  from: { name: 'Jürgen, CEO', email: 'ceo@example.com' },
  to: [{ name: '李小龍', email: 'li@example.com' }, { email: 'ada@example.com' }],
  subject: 'Receipt № 7 😀',
  html: '<p>Thank you, <b>Ada</b></p>',
  text: 'Thank you, Ada',
};
const build = async (over: Partial<MessageInput> = {}) => parseStrictly(await buildMessage({ ...input, ...over }));

test('a message contains everything it was built with', async () => {
  const mail = await build({
    cc: [{ email: 'cc@example.com' }],
    replyTo: [{ email: 'r1@example.com' }, { email: 'r2@example.com' }],
    headers: { 'X-Order': '7', 'In-Reply-To': '<a@example.com>', 'X-Long': 'é'.repeat(200) },
  });
  expect(mail).toMatchObject({
    subject: 'Receipt № 7 😀',
    from: { name: 'Jürgen, CEO', address: 'ceo@example.com' },
    to: [{ name: '李小龍', address: 'li@example.com' }, { address: 'ada@example.com' }],
    cc: [{ address: 'cc@example.com' }],
    replyTo: [{ address: 'r1@example.com' }, { address: 'r2@example.com' }],
    messageId: '<eml_1@mail.example.com>',
    date: '2026-11-20T12:34:56.000Z',
    inReplyTo: '<a@example.com>',
  });
  expect(lf(mail.text)).toBe('Thank you, Ada');
  expect(lf(mail.html)).toBe(input.html);
});

test('attachments arrive byte for byte, and an inline image is related to its HTML', async () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256);
  const message = await buildMessage({
    ...input,
    html: '<img src="cid:logo@postroom">',
    text: 'See the file',
    attachments: [
      { filename: 'Übersicht 2026.pdf', content: bytes },
      { filename: 'logo.png', content: bytes.subarray(0, 10), contentId: 'logo@postroom' },
      { filename: 'x', content: new Uint8Array(), contentType: 'text/csv; charset=utf-8' },
    ],
  });
  const mail = await parseStrictly(message);
  expect(message.toString('latin1')).toMatch(/multipart\/mixed[\s\S]*multipart\/related/);
  const files = mail.attachments.map((file) => ({ ...file, content: Buffer.from(file.content as ArrayBuffer) }));
  expect(files.find((file) => file.filename === 'Übersicht 2026.pdf')).toMatchObject({
    mimeType: 'application/pdf',
    disposition: 'attachment',
    content: Buffer.from(bytes),
  });
  expect(files.find((file) => file.filename === 'logo.png')).toMatchObject({
    contentId: '<logo@postroom>',
    related: true,
    content: Buffer.from(bytes.subarray(0, 10)),
  });
  expect(files.find((file) => file.filename === 'x')).toMatchObject({ mimeType: 'text/csv' });
});

test('an attached message is not encoded, or not called a message if it would have to be', async () => {
  const message = 'Subject: Hi\n\nHi\n.\n';
  const attachments = [
    { filename: 'a.eml', content: Buffer.from(message) },
    { filename: 'b', content: Buffer.from(message), contentType: 'message/rfc822' },
    { filename: 'c.eml', content: Buffer.from('Subject: Grüße\n\n') },
    { filename: 'd.eml', content: Buffer.from(`${'x'.repeat(999)}\n`) },
  ];
  const built = (await buildMessage({ ...input, html: undefined, text: 'See the files', attachments })).toString();
  const parts = built.split(/^--.*\r\n/m).slice(2, -1);
  const lines = message.replaceAll('\n', '\r\n');
  for (const part of parts.slice(0, 2)) {
    expect(part).toMatch(/^Content-Type: message\/rfc822/);
    expect(part).toMatch(/^Content-Transfer-Encoding: 7bit\r$/m);
    expect(part).toContain(`\r\n\r\n${lines}`);
  }
  for (const part of parts.slice(2)) expect(part).toMatch(/^Content-Type: application\/octet-stream[^]*: base64\r$/m);
  expect(parts).toHaveLength(4);
});

test('a bare carriage return in a text is a line break, as the signature of the message must cover what is sent', async () => {
  const mail = await build({ text: 'one\rtwo\r\nthree\nfour', html: '<p>one\rtwo</p>' });
  expect(lf(mail.text)).toBe('one\ntwo\nthree\nfour');
  expect(lf(mail.html)).toBe('<p>one\ntwo</p>');
});

test('a name that looks like an encoded word arrives as it is', async () => {
  const name = '=?utf-8?q?=41?=';
  const built = await buildMessage({
    ...input,
    to: [{ name, email: 'ada@example.com' }],
    cc: [{ name, email: 'li@example.com' }],
  });
  expect(built.toString('latin1')).not.toContain(name);
  expect(await parseStrictly(built)).toMatchObject({ to: [{ name }], cc: [{ name }] });
});

test('a recipient with an ASCII address gets ASCII headers, which show the other addresses', async () => {
  const to = [
    { name: 'Jürgen', email: 'jürgen@example.com' },
    { name: 'Ada', email: 'ada@example.com' },
  ];
  const cc = [{ email: `${'ü'.repeat(30)}@müller.example` }];
  const built = await buildMessage({ ...input, to, cc, asciiOnly: true });
  expect(built.toString('latin1')).toMatch(/^[\t\r\n -~]*$/);
  expect(await parseStrictly(built)).toMatchObject({
    to: [
      { name: 'Jürgen jürgen@example.com', group: [] },
      { name: 'Ada', address: 'ada@example.com' },
    ],
    cc: [{ name: cc[0]?.email, group: [] }],
  });
  const headers = (await buildMessage({ ...input, to, cc })).toString();
  expect(headers).toContain('=?UTF-8?Q?J=C3=BCrgen?= <jürgen@example.com>');
  const compiled = frameOf({ to, asciiOnly: true });
  expect(compiled).toMatch(/^[\t\r\n -~]*$/);
  expect((await PostalMime.parse(compiled)).to).toEqual([{ name: 'Jürgen jürgen@example.com', group: [] }]);
});

test.each<[string, Partial<MessageInput>]>([
  ['headers.Bcc', { headers: { Bcc: 'x@example.com' } }],
  ['headers.content-type', { headers: { 'content-type': 'text/html' } }],
  ['headers.X-A', { headers: { 'X-A': 'a\r\nBcc: x@example.com' } }],
  ['headers.List-Unsubscribe', { headers: { 'List-Unsubscribe': '<https://bücher.example/>' } }],
  ['headers.List-Help', { headers: { 'List-Help': `<https://shop.example/${'a'.repeat(900)}>` } }],
  ['to', { to: [{ email: 'a@example.com>\r\nBcc: x' }] }],
  ['cc', { cc: [{ email: 'a@example.com, b@example.com' }] }],
  ['from', { from: { email: 'jürgen@example.com' } }],
  ['messageId', { messageId: 'a b@example.com' }],
  [
    'attachments.0.contentType',
    { attachments: [{ filename: 'a', content: new Uint8Array(), contentType: 'a/b\r\nX: y' }] },
  ],
  ['attachments.0.contentId', { attachments: [{ filename: 'a', content: new Uint8Array(), contentId: 'a>\r\nX: y' }] }],
])('%s is refused when it could add a header, or not be read', async (field, over) => {
  await expect(buildMessage({ ...input, ...over })).rejects.toMatchObject({ name: 'MessageError', field });
});

test('names, subjects and filenames cannot inject a header', async () => {
  const evil = 'x\r\nBcc: all@example.com\0';
  const mail = await build({
    subject: evil,
    from: { name: evil, email: 'a@example.com' },
    to: [{ name: evil, email: 'b@example.com' }],
    attachments: [{ filename: evil, content: new Uint8Array([1]) }],
  });
  expect(mail.bcc).toBeUndefined();
  expect(mail.subject?.trim()).toBe('x Bcc: all@example.com');
});

test('a message without a subject has no Subject header, built or compiled', async () => {
  expect((await buildMessage({ ...input, subject: '' })).toString('latin1')).not.toMatch(/^subject:/im);
  expect(frameOf({ subject: '' })).not.toMatch(/^subject:/im);
});

test('alternative parts are placed where clients expect them, with their types, byte for byte', async () => {
  const invitation = Buffer.from('BEGIN:VCALENDAR\r\nSUMMARY:Prüfung\r\nEND:VCALENDAR\r\n');
  const raw = (
    await buildMessage({
      ...input,
      alternatives: [
        { contentType: 'text/calendar; charset=utf-8; method=REQUEST', content: invitation },
        { contentType: 'text/x-amp-html; charset=utf-8', content: Buffer.from('<html amp4email></html>') },
        { contentType: 'text/watch-html', content: Buffer.from('<b>7</b>'), beforeHtml: true },
      ],
      attachments: [{ filename: 'plan.pdf', content: Buffer.from('%PDF') }],
    })
  ).toString('latin1');
  const [, boundary = ''] = /multipart\/alternative;\s+boundary="([^"]+)"/.exec(raw) ?? [];
  const parts = raw.split(`--${boundary}`).slice(1, -1);
  expect(parts.map((part) => /Content-Type: ([^;\r]+)/.exec(part)?.[1])).toEqual([
    'text/plain',
    'text/x-amp-html',
    'text/watch-html',
    'text/html',
    'text/calendar',
  ]);
  expect(parts[4]).toMatch(/method=REQUEST/);
  const body = parts[4]?.slice(parts[4].indexOf('\r\n\r\n') + 4) ?? '';
  expect(Buffer.from(body, 'base64')).toEqual(invitation);
});

test('a comment beyond ASCII does not make a header of URLs unreadable', async () => {
  const headers = {
    'List-Unsubscribe': '<https://shop.example/(a)> (Désinscription), <mailto:off@shop.example> (by mail)',
  };
  expect((await buildMessage({ ...input, headers })).toString()).toContain(
    'List-Unsubscribe: <https://shop.example/(a)> , <mailto:off@shop.example>\r\n (by mail)\r\n',
  );
});

test('headers arrive as they were given', async () => {
  const headers = {
    References: Array.from({ length: 60 }, (_, n) => `<${n}@${'m'.repeat(50)}.example>`).join(' '),
    'In-Reply-To': '<1@shop.example> <2@shop.example>',
    'List-ID': 'News <news.shop.example>',
    'List-Unsubscribe': `<https://shop.example/u?t==?UTF-8?Q?a?=${'a'.repeat(300)}>, <mailto:off@shop.example>`,
  };
  const { headers: arrived } = await PostalMime.parse(
    await buildMessage({ ...input, headers: { ...headers, 'X-Order': 'Grüße 1843' } }),
  );
  const named = (name: string) => arrived.filter(({ originalKey }) => originalKey === name);
  for (const [name, value] of Object.entries(headers)) expect(named(name)).toMatchObject([{ value }]);
  expect(named('X-Order')).toMatchObject([{ value: expect.stringContaining('=?UTF-8?') }]);
});

const LONG = 'x'.repeat(990);

test.each([
  ['a subject', { subject: 'x'.repeat(998) }],
  ['a subject beyond ASCII', { subject: 'é'.repeat(998) }],
  ['a header without a space', { headers: { 'X-Long': 'x'.repeat(4_000) } }],
  ['a header with one long word', { headers: { 'X-Long': `${LONG} ${LONG} a` } }],
  [
    'references',
    { headers: { References: Array.from({ length: 60 }, (_, n) => `<${n}@${'m'.repeat(50)}.example>`).join(' ') } },
  ],
  ['a name', { from: { name: 'x'.repeat(200), email: 'ceo@example.com' } }],
  ['a name that needs quotes', { from: { name: `"${'x,'.repeat(99)}`, email: 'ceo@example.com' } }],
  [
    'many recipients',
    { to: Array.from({ length: 200 }, (_, n) => ({ name: `Reader ${n}`, email: `r${n}@example.com` })) },
  ],
  ['a long address', { to: [{ email: `${'a'.repeat(64)}@${'d'.repeat(60)}.${'e'.repeat(60)}.example` }] }],
  ['a filename', { attachments: [{ filename: 'x'.repeat(255), content: Buffer.from('x') }] }],
  ['a filename beyond ASCII', { attachments: [{ filename: 'é'.repeat(255), content: Buffer.from('x') }] }],
  [
    'a type of a file',
    { attachments: [{ filename: 'x', contentType: `a/b; c="${'x'.repeat(240)}"`, content: Buffer.from('x') }] },
  ],
] as [string, Partial<MessageInput>][])('no line of a header is longer than 998 octets: %s', async (_, over) => {
  const built = (await buildMessage({ ...input, ...over })).toString('latin1');
  for (const message of over.attachments === undefined ? [built, frameOf(over)] : [built]) {
    const lines = message.split('\r\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(998);
  }
  await PostalMime.parse(built);
});

/** The same message as compiled for a campaign or a single recipient. */
function frameOf({
  subject = input.subject,
  headers = {},
  from = input.from,
  to = input.to,
  asciiOnly,
}: Partial<MessageInput>): string {
  const frame = compileMessage({
    from,
    subject: parseTemplate(subject, 'subject'),
    html: parseTemplate('<p>x</p>', 'html'),
    text: parseTemplate('x', 'text'),
    headers,
  });
  const { messageId, date } = input;
  return frame.render({ to: to[0] ?? { email: 'ada@example.com' }, asciiOnly, messageId, date, values: {} });
}

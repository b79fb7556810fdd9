import { runIsolated } from '@postroom/platform';
import { expect, test } from 'vitest';
import { parseSubmitted } from '../src/mail-parser.ts';
import { readMessage, requestOf } from '../src/message.ts';

const parse = (type: string, body: string) =>
  parseSubmitted(Buffer.from(`From: ada@example.com\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`));

test('a reply to an invitation that is a calendar part alone keeps its method', async () => {
  const { mail, alternatives } = await parse('text/calendar; charset=utf-8; method=REPLY', 'BEGIN:VCALENDAR');
  expect(alternatives.map(({ contentType, content }) => [contentType, String(content)])).toEqual([
    ['text/calendar; charset=utf-8; method=REPLY', 'BEGIN:VCALENDAR'],
  ]);
  expect(mail.attachments).toEqual([]);
});

test('any other mail of one part that is not text is an attachment', async () => {
  const { mail, alternatives } = await parse('text/csv; name=list.csv', 'a,b');
  expect(alternatives).toEqual([]);
  expect(mail.attachments).toMatchObject([{ filename: 'list.csv', mimeType: 'text/csv' }]);
});

test('a file keeps its bytes and the parameters of its type, however it was encoded', async () => {
  const file = (headers: string, body: string) =>
    `--a\r\n${headers}\r\nContent-Disposition: attachment; filename=f\r\n\r\n${body}\r\n`;
  const encoded = (encoding: string) => `\r\nContent-Transfer-Encoding: ${encoding}`;
  const body = [
    file('Content-Type: text/csv; charset=iso-8859-1; name=f', 'a,b\r\n1,2'),
    file(`Content-Type: text/plain; charset=utf-8${encoded('quoted-printable')}`, 'Zo=C3=AB=\r\n!\r\n'),
    file('Content-Type: application/pgp-keys', '-----BEGIN\r\n\r\nx'),
    file(`Content-Type: text/plain${encoded('base64')}`, 'YQpi'),
    file('Content-Type: text/calendar; method=request; charset=utf-8', 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n'),
    file(`Content-Type: text/x; charset=utf-8; a=${'x'.repeat(200)}; b=${'x'.repeat(50)}`, 'x'),
    file('Content-Type: no-type', 'x'),
    '--a\r\nContent-Type: message/rfc822\r\n\r\nSubject: Hi\r\n\r\nHi\r\n--a--',
  ].join('');
  const { attachments = [] } = requestOf(await parse('multipart/mixed; boundary=a', body), []);
  const files = attachments?.map(({ contentType, content }) => [contentType, String(Buffer.from(content, 'base64'))]);
  expect(files).toEqual([
    ['text/csv; charset=iso-8859-1', 'a,b\r\n1,2'],
    ['text/plain; charset=utf-8', 'Zoë!\r\n'],
    ['application/pgp-keys', '-----BEGIN\r\n\r\nx'],
    ['text/plain', 'a\nb'],
    ['text/calendar; method=request; charset=utf-8', 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n'],
    ['text/x', 'x'],
    ['application/octet-stream', 'x'],
    ['message/rfc822', 'Subject: Hi\r\n\r\nHi'],
  ]);
  expect(attachments?.at(-1)?.filename).toBe('attachment-8.eml');
});

test('an alternative keeps its place before or after the HTML, which may be one of several parts', async () => {
  const part = (type: string) => `--a\r\nContent-Type: ${type}\r\n\r\nx\r\n`;
  const related =
    '--a\r\nContent-Type: multipart/related; boundary=r\r\n\r\n--r\r\nContent-Type: text/html\r\n\r\nx\r\n--r--\r\n';
  const body = `${part('text/plain')}${part('text/watch-html')}${related}${part('text/calendar')}--a--`;
  const { alternatives } = await parse('multipart/alternative; boundary=a', body);
  expect(alternatives.map(({ contentType, beforeHtml }) => [contentType, beforeHtml])).toEqual([
    ['text/watch-html', true],
    ['text/calendar', false],
  ]);
});

test('text and HTML end as they did, with one line break or several', async () => {
  const body =
    '--a\r\nContent-Type: text/plain\r\n\r\nHi\r\n\r\n--a\r\nContent-Type: text/html\r\n\r\n<p>Hi</p>\r\n--a--';
  expect(requestOf(await parse('multipart/alternative; boundary=a', body), [])).toMatchObject({
    text: 'Hi\n',
    html: '<p>Hi</p>',
  });
  expect(requestOf(await parse('text/plain', 'Hi'), [])).toMatchObject({ text: 'Hi' });
});

test.each(['2026-12-01T08:00:00', '2026-12-01', '1', 'tomorrow'])(
  'a time to send at is one instant wherever the server is: %s is refused',
  async (at) => {
    const parsed = await parse(`text/plain\r\nX-Postroom-Scheduled-At: ${at}`, 'Hi');
    expect(() => requestOf(parsed, [])).toThrow('must be an ISO 8601 date and time with an offset');
  },
);

test('text in an 8-bit charset that the mail does not name is kept, in its body and its headers', async () => {
  const raw = Buffer.from(
    'From: ada@example.com\r\nSubject: Gr\xfc\xdfe\r\nX-City: K\xf6ln\r\n\r\n\x93Z\xfcrich\x94\r\n',
    'latin1',
  );
  expect(requestOf(await parseSubmitted(raw), [])).toMatchObject({
    subject: 'Grüße',
    headers: { 'X-City': 'Köln' },
    text: '“Zürich”',
  });
  const utf8 = Buffer.from('From: ada@example.com\r\nSubject: Grüße\r\n\r\nZürich\r\n');
  expect(requestOf(await parseSubmitted(utf8), [])).toMatchObject({ subject: 'Grüße', text: 'Zürich' });
});

test('a mail from several addresses is refused, not sent from the first of them', async () => {
  const from = (value: string) => parseSubmitted(Buffer.from(`From: ${value}\r\n\r\nHi\r\n`));
  const two = await from('Ada <ada@example.com>, bob@example.com');
  expect(() => requestOf(two, [])).toThrow('The From header has more than one address');
  const one = await from('"Lovelace, Ada" <ada@example.com>');
  expect(requestOf(one, [])).toMatchObject({ from: '"Lovelace, Ada" <ada@example.com>' });
});

test.each(['multipart/mixed', 'multipart/mixed; boundary=b'])(
  'content that would be lost is refused: %s without a part of its boundary',
  async (type) => {
    const parsed = await parse(type, '--a\r\n\r\nHi\r\n--a--');
    expect(() => requestOf(parsed, [])).toThrow('check its boundary');
    expect(requestOf(await parse(type, ''), [])).toMatchObject({ text: ' ' });
  },
);

test('a list of tags may have an empty place, such as at its end', async () => {
  const parsed = await parse('text/plain\r\nX-Postroom-Tag: receipt, shop,,\r\nX-Postroom-Tag:', 'Hi');
  expect(requestOf(parsed, [])).toMatchObject({ tags: ['receipt', 'shop'] });
});

test.each([
  ['X-Postroom-Tags: receipt', 'X-Postroom-Tags is not a header that Postroom knows'],
  ['X-Postroom-Template: tpl_1\r\nX-Postroom-Template: tpl_2', 'more than one X-Postroom-Template header'],
])('an option that would be ignored is refused: %j', async (headers, problem) => {
  const parsed = await parse(`text/plain\r\n${headers}`, 'Hi');
  expect(() => requestOf(parsed, [])).toThrow(problem);
});

test('inline images keep different content ids, although characters in them are replaced', async () => {
  const image = (id: string) => `--a\r\nContent-Type: image/png\r\nContent-ID: <${id}>\r\n\r\nx\r\n`;
  const html = '--a\r\nContent-Type: text/html\r\n\r\n<img src="cid:a b"><img src="cid:a-b">\r\n';
  const body = `${html}${image('a b')}${image('a-b')}${image('a b')}--a--`;
  const { html: shown, attachments } = requestOf(await parse('multipart/related; boundary=a', body), []);
  expect(attachments?.map(({ contentId }) => contentId)).toEqual(['a-b', 'a-b-2', undefined]);
  expect(shown).toBe('<img src="cid:a-b"><img src="cid:a-b-2">');
});

const parts = (count: number, headers: (index: number) => string) =>
  `${Array.from({ length: count }, (_, index) => `--a\r\n${headers(index)}\r\n\r\nx\r\n`).join('')}--a--`;

test.each([
  [
    'files',
    'multipart/mixed; boundary=a',
    parts(51, () => 'Content-Type: image/png'),
    'attachments must be at most 50 files',
  ],
  [
    'alternatives',
    'multipart/alternative; boundary=a',
    parts(900, () => 'Content-Type: text/x'),
    'more than 50 alternative bodies',
  ],
  ['headers', `text/plain${'\r\nX-A: b'.repeat(1_000)}`, 'x', 'more than 1000 header fields'],
])('a mail with too much of something is refused before each is read: %s', async (_, type, body, problem) => {
  const parsed = await parse(type, body);
  expect(parsed.alternatives.length).toBeLessThan(52);
  expect(() => requestOf(parsed, [])).toThrow(problem);
});

test('headers above 512 KB, and a From above 4,096 characters, are refused', async () => {
  await expect(parse(`text/plain\r\nX-A: ${'b'.repeat(530_000)}`, 'x')).rejects.toThrow('Maximum header size');
  const from = await parseSubmitted(Buffer.from(`From: ${'a@example.com, '.repeat(400)}\r\n\r\nHi\r\n`));
  expect(() => requestOf(from, [])).toThrow('The From header has more than 4096 characters');
});

test('an inline image is shown where it was, although the content id of another begins like its own', async () => {
  const ids = ['a!', 'a!b', 'a.c', '$&!', 'kept'];
  const html = ids.map((id) => `<img src="cid:${id}">`).join('');
  const files = parts(ids.length, (index) => `Content-Type: image/png\r\nContent-ID: <${ids[index]}>`);
  const related = await parse(
    'multipart/related; boundary=a',
    `--a\r\nContent-Type: text/html\r\n\r\n${html}\r\n${files}`,
  );
  const renamed = ['a-', 'a-b', 'a.c', '---', 'kept'];
  const request = requestOf(related, []);
  expect(request.html).toBe(renamed.map((id) => `<img src="cid:${id}">`).join(''));
  expect(request.attachments?.map(({ contentId }) => contentId)).toEqual(renamed);
});

test('a mail whose parsing was killed is not refused for good, other than one that cannot be parsed', async () => {
  const about = {
    module: 'data:text/javascript,export const pid = () => process.pid',
    name: 'pid',
    timeLimitMs: 5_000,
  };
  const pid = await runIsolated<[], number>(about, 'a');
  const read = readMessage('a', Buffer.alloc(1_000_000, 'a\r\n'), ['ada@example.com']);
  process.kill(pid, 'SIGKILL');
  await expect(read).rejects.toThrow('A process of the pool was ended by SIGKILL.');
  for (const length of [1_000, 10_000]) {
    const nested = Buffer.from('Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n'.repeat(60).padEnd(length));
    await expect(readMessage('a', nested, ['ada@example.com'])).rejects.toMatchObject({ responseCode: 550 });
  }
});

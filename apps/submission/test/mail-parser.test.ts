import { expect, test } from 'vitest';
import { parseSubmitted } from '../src/mail-parser.ts';
import { requestOf } from '../src/message.ts';

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

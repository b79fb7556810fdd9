import { expect, test } from 'vitest';
import { parseSubmitted } from '../src/mail-parser.ts';

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

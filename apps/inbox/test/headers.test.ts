import { expect, test } from 'vitest';
import { summarize } from '../src/headers.ts';

const head = (...lines: string[]) => Buffer.from([...lines, '', 'Subject: of the body', ''].join('\r\n'));

test('encoded and folded headers are decoded', () => {
  const raw = head(
    'Received: by x',
    'subject: =?UTF-8?Q?Br=C3=B6tchen_=26_?=',
    ' =?UTF-8?B?4piV?=',
    'Message-Id:',
    '\t<eml_1@example.com>',
    'From: =?iso-8859-1?Q?Zo=E9?= <zoe@example.com>',
  );
  expect(summarize(raw)).toEqual({
    messageId: 'eml_1@example.com',
    subject: 'Brötchen & ☕',
    sender: 'Zoé <zoe@example.com>',
  });
});

test('a mail without headers, or with headers only, can be shown', () => {
  expect(summarize(Buffer.from('Just text.\r\n'))).toEqual({ messageId: undefined, subject: '', sender: '' });
  expect(summarize(Buffer.from('Subject: end'))).toMatchObject({ subject: 'end' });
  expect(summarize(Buffer.alloc(0))).toMatchObject({ subject: '' });
});

test('characters that the database can’t store, or a list can’t show, become spaces', () => {
  expect(summarize(head('Subject: =?utf-8?Q?a=00b=0D=0Ac?='))).toMatchObject({ subject: 'a b c' });
});

import { generateKeyPairSync } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { expect, test } from 'vitest';
import { relaxedBody } from '../../src/dkim/canonical.ts';
import { dkimField, signMessage } from '../../src/dkim/sign.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const published = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
const signer = { domain: 'example.com', selector: 'pr1', privateKey };

/** The result of mailauth, an independent verifier, for a message. */
async function verify(message: Buffer) {
  const { results } = await dkimVerify(message, {
    resolver: async (name: string) => (name === 'pr1._domainkey.example.com' ? [[published]] : []),
  });
  return results[0];
}

const HEADER = [
  'From: Ada <ada@example.com>',
  'To: bob@example.org',
  'Subject: Hello',
  'Date: Sat, 21 Nov 2026 09:30:00 +0000',
  'Message-ID: <eml_1@example.com>',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
  'List-Unsubscribe: <https://mail.example.com/u/abc>',
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
];

const message = (body = 'Hello Bob,\r\n\r\nbye.\r\n', header = HEADER) =>
  Buffer.from(`${header.join('\r\n')}\r\n\r\n${body}`);

test.each([
  ['plain', message()],
  ['with no body', message('')],
  ['with a body of empty lines only', message('\r\n\r\n')],
  ['whose last line has no end', message('no line end')],
  ['with blanks at line ends and runs of them', message(' two  blanks \t \r\n\ttab\r\n \r\n\r\n')],
  ['in UTF-8, header included', message('Grüße\r\n', [...HEADER, 'Reply-To: Grüße <g@example.com>'])],
  [
    'with folded fields',
    message('x\r\n', [...HEADER, 'References: <a@b>\r\n <c@d>\r\n\t<e@f>', 'Cc:  a@b ,\r\n  c@d']),
  ],
  ['with a field several times', message('x\r\n', [...HEADER, 'To: carol@example.org', 'Cc: a@b', 'Cc: c@d'])],
  ['of a megabyte', message('0123456789 abcdef  \r\n'.repeat(50_000))],
])('an independent verifier accepts a signed message %s', async (_what, text) => {
  expect(await verify(await signMessage(text, signer))).toMatchObject({
    status: { result: 'pass' },
    signingDomain: 'example.com',
    selector: 'pr1',
    algo: 'rsa-sha256',
    format: 'relaxed/relaxed',
  });
});

test('a PEM key can sign', async () => {
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  expect(await verify(await signMessage(message(), { ...signer, privateKey: pem }))).toMatchObject({
    status: { result: 'pass' },
  });
});

test.each([
  ['another Subject', 'Subject: Buy now\r\n', ''],
  ['a Cc that was not there', 'Cc: eve@example.org\r\n', ''],
  ['another List-Unsubscribe', 'List-Unsubscribe: <https://evil.example>\r\n', ''],
  ['another Content-Type', 'Content-Type: text/html\r\n', ''],
  ['more body', '', 'PS: Buy now\r\n'],
])('%s, added on the way, breaks the signature', async (_what, before, after) => {
  const signed = await signMessage(message(), signer);
  const changed = Buffer.concat([Buffer.from(before), signed, Buffer.from(after)]);
  expect((await verify(changed))?.status.result).not.toBe('pass');
});

test('both one-click unsubscribe fields are signed', async () => {
  const field = (await dkimField(message(), signer)).toString().replace(/\s/g, '');
  const names = /;h=([^;]+);/.exec(field)?.[1]?.split(':');
  expect(names?.filter((name) => name.startsWith('list-unsubscribe'))).toEqual([
    'list-unsubscribe',
    'list-unsubscribe',
    'list-unsubscribe-post',
    'list-unsubscribe-post',
  ]);
  expect(field).not.toMatch(/;l=/);
});

test('no line of the signature field exceeds 78 characters', async () => {
  const long = { ...signer, domain: `${'a'.repeat(30)}.mail.example.com` };
  const lines = (await dkimField(message(), long)).toString().split('\r\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(78);
});

test('a message without From is not signed', async () => {
  await expect(signMessage(Buffer.from('To: a@b\r\n\r\nx'), signer)).rejects.toThrow(/From/);
});

test('a relaxed body ends with one line end, or is empty', () => {
  const relaxed = (text: string) => relaxedBody(Buffer.from(text)).toString();
  expect(relaxed(' C \r\nD \t E\r\n\r\n\r\n')).toBe(' C\r\nD E\r\n'); // the example of RFC 6376 §3.4.5
  expect(relaxed(' \r\n\t\r\n')).toBe('');
});

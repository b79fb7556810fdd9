import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import PostalMime from '../src/parse.ts';

const HEAD = 'From: ada@example.com\r\nContent-Type: text/plain; charset=utf-8\r\n';

test.each([
  ['no encoding', '8bit', 'Grüße\r\n\r\n.\r\n', 'Grüße\n\n.\n'],
  ['quoted-printable', 'quoted-printable', 'Gr=C3=BC=\r\n=C3=9Fe=20\r\n', 'Grüße \n'],
  ['base64', 'base64', 'R3LDvA==\r\nw59lCg==\r\n', 'Grüße\n'],
  ['a long text', '8bit', 'a\r\n'.repeat(5_000), 'a\n'.repeat(5_000)],
])('a part with %s is read as it was written', async (_, encoding, body, text) => {
  const mail = await PostalMime.parse(`${HEAD}Content-Transfer-Encoding: ${encoding}\r\n\r\n${body}`);
  expect(mail.text).toBe(text);
});

test('attachments keep their bytes', async () => {
  const content = Buffer.from(Array.from({ length: 3_000 }, (_, index) => (index * 7) % 256));
  const lines = content.toString('base64').replace(/.{1,76}/g, '$&\r\n');
  const { attachments } = await PostalMime.parse(
    `From: ada@example.com\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}`,
  );
  expect(attachments.map((file) => Buffer.from(file.content as ArrayBuffer))).toEqual([content]);
});

test('a mail with thousands of parts is refused', async () => {
  const parts = (count: number) =>
    `From: ada@example.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(count)}--b--\r\n`;
  await expect(PostalMime.parse(parts(999))).resolves.toMatchObject({ text: expect.stringContaining('x') });
  await expect(PostalMime.parse(parts(1_000))).rejects.toThrow('Maximum number of 1000 parts exceeded');
});

test.each([
  ['no encoding', '8bit', String.raw`a\n`],
  ['lines of base64 with padding', 'base64', String.raw`YQ==\n`],
])(
  'the memory that a mail of millions of short lines takes does not depend on their number: %s',
  (_, encoding, line) => {
    const script = `
    const { default: PostalMime } = await import(${JSON.stringify(import.meta.resolve('../src/parse.ts'))});
    const head = ${JSON.stringify(`${HEAD}Content-Transfer-Encoding: ${encoding}\n\n`)};
    const mail = await PostalMime.parse(Buffer.from(head + "${line}".repeat(500_000)));
    console.log(mail.text.length);`;
    const flags = ['--max-old-space-size=64', '--input-type=module', '--eval', script];
    expect(Number(execFileSync(process.execPath, flags))).toBeGreaterThanOrEqual(500_000);
  },
);

import { expect, test } from 'vitest';
import { createSmtpPool } from '../src/index.ts';
import { ScriptedServer } from './scripted-server.ts';

const ID = 'eml_01k9zq4c8fe1m9v3t5w7y2a4b6';
const message = (n = 0, more: object = {}) => ({
  from: 'b+1@bounce.example.com',
  to: `user${n}@example.com`,
  data: 'Subject: x\r\n\r\nHello\r\n',
  reportAs: ID,
  ...more,
});

const ASKED_OF_MAIL = ` RET=HDRS ENVID=${ID}`;
const askedOfRcpt = (address: string) => ` NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;${address}`;

/** The MAIL and RCPT commands of the messages, sent over one connection. */
async function envelopes(offers: string[], messages: ReturnType<typeof message>[], query = ''): Promise<string[]> {
  await using server = await ScriptedServer.start({ offers, strict: true });
  const pool = createSmtpPool(server.url + query, { connections: 1 });
  const outcomes = await Promise.all(messages.map((each) => pool.send(each)));
  await pool.close();
  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
  return server.commands.filter((line) => /^(MAIL|RCPT)/.test(line));
}

test.each([
  ['with DATA, one command at a time', ['DSN']],
  ['with DATA, pipelined', ['DSN', 'PIPELINING']],
  ['with BDAT, many in one write', ['DSN', 'PIPELINING', 'CHUNKING']],
])('a server with DSN is asked to report on every message: %s', async (_, offers) => {
  const lines = await envelopes(
    offers,
    Array.from({ length: 30 }, (__, n) => message(n)),
  );
  const [mail, rcpt] = [
    lines.filter((line) => line.startsWith('MAIL')),
    lines.filter((line) => line.startsWith('RCPT')),
  ];
  expect(mail).toEqual(Array(30).fill(`MAIL FROM:<b+1@bounce.example.com>${ASKED_OF_MAIL}`));
  expect(rcpt).toEqual(
    Array.from({ length: 30 }, (__, n) => `RCPT TO:<user${n}@example.com>${askedOfRcpt(`user${n}@example.com`)}`),
  );
});

test.each([
  ['it does not offer DSN', ['PIPELINING'], message(), ''],
  ['nobody reads what comes back', ['PIPELINING', 'DSN'], message(0, { reportAs: undefined }), ''],
  ['there is no return path', ['PIPELINING', 'DSN'], message(0, { from: '' }), ''],
  ['its URL says dsn=off', ['PIPELINING', 'DSN'], message(), '?dsn=off'],
])('no report is requested when %s', async (_, offers, one, query) => {
  expect((await envelopes(offers, [one], query)).join()).not.toMatch(/RET|ENVID|NOTIFY|ORCPT/);
});

test('ORCPT is encoded as xtext (RFC 3461) and omitted for non-ASCII addresses', async () => {
  const offers = ['PIPELINING', 'DSN', 'SMTPUTF8', '8BITMIME'];
  const lines = await envelopes(offers, [
    message(0, { to: 'a+b=c@example.com' }),
    message(0, { to: 'zoë@example.com' }),
  ]);
  expect(lines[1]).toContain(' ORCPT=rfc822;a+2Bb+3Dc@example.com');
  expect(lines[3]).toMatch(/NOTIFY=SUCCESS,FAILURE$/);
});

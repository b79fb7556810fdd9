import { promises as dns } from 'node:dns';
import { db } from '@postroom/platform';
import { createProject } from '@postroom/projects';
import { authenticate } from 'mailauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordsOf } from '../src/check.ts';
import { signMessage } from '../src/dkim/sign.ts';
import { addLocalDomain } from '../src/domains.ts';
import { dkimFor, senderFor, senderProblem } from '../src/sender.ts';
import { sendingSetup } from '../src/sending-setup.ts';
import { type DnsServer, startDnsServer } from './dns-server.ts';
import { freshDomain } from './dns-world.ts';
import { addUnwatchedDomain } from './testing.ts';

let server: DnsServer;
const resolver = new dns.Resolver();
beforeAll(async () => {
  server = await startDnsServer({ recursive: true });
  resolver.setServers([`127.0.0.1:${server.port}`]);
});
afterAll(() => server.close());

/** A verified domain with its records published as shown. */
async function verifiedDomain() {
  const { id: projectId } = await createProject('Senders');
  const { id } = await addUnwatchedDomain(projectId, freshDomain());
  const verified = { verification: 'verified', dkim: 'verified', mailFrom: 'verified', dmarc: 'verified' } as const;
  const domain = await db.domain.update({ where: { id }, data: { ...verified, verifiedForSending: true } });
  for (const record of recordsOf(domain)) server.set(record.name, record.type, record.value);
  return { projectId, id, name: domain.domain };
}

test('a signed message passes DKIM, SPF and DMARC with alignment at an independent verifier', async () => {
  const { projectId, name } = await verifiedDomain();
  const { dkim, mailFromDomain } = await senderFor(projectId, `ada@${name}`);
  const message = Buffer.from(`From: Ada <ada@${name}>\r\nTo: bob@example.org\r\nSubject: Hi\r\n\r\nHello\r\n`);
  const result = await authenticate(await signMessage(message, dkim!), {
    // In tests, mail is sent from this machine.
    ip: '127.0.0.1',
    helo: 'mail.postroom.example',
    mta: 'mx.receiver.example',
    sender: `b+1@${mailFromDomain}`,
    resolver: (domain: string, type: string) => resolver.resolve(domain, type as 'TXT'),
    disableBimi: true,
    disableArc: true,
  });
  expect(result.dkim.results).toMatchObject([{ signingDomain: name, status: { result: 'pass', aligned: name } }]);
  expect(result.spf).toMatchObject({ domain: mailFromDomain, status: { result: 'pass' } });
  expect(result.dmarc).toMatchObject({
    policy: 'none',
    status: { result: 'pass' },
    alignment: { spf: { result: mailFromDomain }, dkim: { result: name } },
  });
});

test('mail is signed only while the key is published', async () => {
  const { projectId, id, name } = await verifiedDomain();
  const signs = async (dkim: 'pending' | 'failing' | 'failed') => {
    await db.domain.update({ where: { id }, data: { dkim } });
    return (await dkimFor(projectId, `ada@${name}`)) !== undefined;
  };
  expect([await signs('pending'), await signs('failing'), await signs('failed')]).toEqual([false, true, false]);
});

test('a development domain can send unsigned; an unknown one cannot send', async () => {
  const { id: projectId } = await createProject('Senders');
  const { domain } = await addLocalDomain(projectId, freshDomain());
  expect(await senderProblem(projectId, `ada@${domain}`)).toBeUndefined();
  expect(await senderFor(projectId, `ada@${domain}`)).toEqual({ dkim: undefined, mailFromDomain: undefined });
  expect(await senderProblem(projectId, `ada@sub.${domain}`)).toMatch(/not a sending domain of this project/);
  expect(await dkimFor(projectId, 'ada@unknown.example')).toBeUndefined();
});

test('an international domain is recognized in any form', async () => {
  const { id: projectId } = await createProject('Senders');
  const name = freshDomain();
  await addLocalDomain(projectId, `bücher.${name}`);
  expect(await senderProblem(projectId, `ada@BÜCHER.${name}`)).toBeUndefined();
  expect(await senderProblem(projectId, `ada@xn--bcher-kva.${name}`)).toBeUndefined();
});

const settings = {
  PUBLIC_URL: 'https://mail.example.com',
  SMTP_URL: undefined,
  MAIL_FROM_MX: undefined,
  MAIL_FROM_SPF: undefined,
};

test.each([
  ['ourselves', {}, { region: 'local', mx: 'mail.example.com', spf: 'a:mail.example.com' }],
  ['an address', { PUBLIC_URL: 'http://192.0.2.7:3400' }, { region: 'local', mx: 'localhost', spf: 'ip4:192.0.2.7' }],
  [
    'an IPv6 address',
    { PUBLIC_URL: 'http://[2001:db8::7]' },
    { region: 'local', mx: 'localhost', spf: 'ip6:2001:db8::7' },
  ],
  [
    'SES',
    { SMTP_URL: 'smtp://email-smtp.eu-west-1.amazonaws.com:587' },
    { region: 'eu-west-1', mx: 'feedback-smtp.eu-west-1.amazonses.com', spf: 'include:amazonses.com' },
  ],
  [
    'a known relay',
    { SMTP_URL: 'smtp://smtp.postmarkapp.com' },
    { region: 'local', mx: 'mail.example.com', spf: 'include:spf.mtasv.net' },
  ],
  [
    'a relay of their own',
    { SMTP_URL: 'smtp://relay.example.net' },
    { region: 'local', mx: 'mail.example.com', spf: 'a:relay.example.net' },
  ],
  [
    'what operators say',
    { MAIL_FROM_MX: 'bounces.example.com', MAIL_FROM_SPF: 'ip4:203.0.113.7' },
    { region: 'local', mx: 'bounces.example.com', spf: 'ip4:203.0.113.7' },
  ],
])('the records name who sends: %s', (_what, more, expected) => {
  expect(sendingSetup({ ...settings, ...more })).toEqual(expected);
});

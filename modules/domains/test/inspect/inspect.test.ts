import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RecordState, recordsToPublish } from '../../src/records.ts';
import type { DnsServer } from '../dns-server.ts';
import { type DnsWorld, freshDomain, startDnsWorld } from '../dns-world.ts';
import { inspectDomain } from '../../src/inspect/inspect.ts';

let world: DnsWorld;
beforeAll(async () => {
  world = await startDnsWorld();
});
afterAll(() => world.close());

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

interface Setting {
  domain: string;
  servers: DnsServer[];
  /** DKIM, MX, SPF and DMARC, in this order. */
  records: RecordState[];
  publish: (index: number, value?: string | string[], name?: string) => void;
  inspect: () => ReturnType<typeof inspectDomain>;
}

async function newDomain(prefix = ''): Promise<Setting> {
  const apex = freshDomain();
  const servers = await world.zone(apex);
  const domain = prefix + apex;
  const mailFromDomain = `bounce.${domain}`;
  const records = recordsToPublish({
    domain,
    mailFromDomain,
    selector: 'pr1',
    publicKey: key,
    mx: 'mx.postroom.example',
    spf: 'include:spf.postroom.example',
  });
  return {
    domain,
    servers,
    records,
    publish: (index, value, name) => {
      const record = records[index] as RecordState;
      for (const server of servers) server.set(name ?? record.name, record.type, value ?? record.value);
    },
    inspect: () => inspectDomain(world.session(), { domain, mailFromDomain, records }),
  };
}

const [DKIM, MX, SPF, DMARC] = [0, 1, 2, 3] as const;

test('all records, published as shown, are right', async () => {
  const { publish, inspect, records } = await newDomain();
  for (const index of [DKIM, MX, SPF, DMARC]) publish(index);
  const { observations } = await inspect();
  expect(observations).toEqual(records.map(({ value }) => ({ verdict: 'right', found: [value], note: null })));
});

test('an unpublished record is wrong, with nothing found', async () => {
  const { inspect } = await newDomain();
  const { observations } = await inspect();
  expect(observations).toHaveLength(4);
  for (const observation of observations) {
    expect(observation).toEqual({ verdict: 'wrong', found: [], note: 'Record not found yet.' });
  }
});

test('a key may be split into strings, contain spaces and end in a semicolon', async () => {
  const { publish, inspect } = await newDomain();
  publish(DKIM, [`v=DKIM1;k=rsa ; t=s; p=${key.slice(0, 100)}`, ` ${key.slice(100, 300)}`, `${key.slice(300)};`]);
  expect((await inspect()).observations[DKIM]).toMatchObject({ verdict: 'right' });
});

test('a key published through a CNAME is right', async () => {
  const { domain, servers, inspect, records } = await newDomain();
  const provider = freshDomain();
  const [other] = await world.zone(provider, [`ns.${provider}`]);
  for (const server of servers) server.set(`pr1._domainkey.${domain}`, 'CNAME', `pr1.${provider}`);
  expect((await inspect()).observations[DKIM]?.note).toBe(
    `A CNAME record points to pr1.${provider}, which has no such record.`,
  );
  other?.set(`pr1.${provider}`, 'TXT', records[DKIM]?.value ?? '');
  expect((await inspect()).observations[DKIM]).toMatchObject({ verdict: 'right' });
});

test.each([
  ['another key', `v=DKIM1; k=rsa; p=${key.replaceAll('A', 'B')}`, 'There is a different key at this name.'],
  ['half a key', `v=DKIM1; k=rsa; p=${key.slice(0, 228)}`, 'The key is truncated after 228 of 392 characters'],
  ['a revoked key', 'v=DKIM1; p=', 'The key is marked as revoked'],
  ['quotation marks', `"v=DKIM1; k=rsa; p=${key}"`, 'The record contains quotation marks'],
  ['backslashes', `v=DKIM1\\; k=rsa\\; p=${key}`, 'The record contains backslashes'],
  ['a test flag', `v=DKIM1; k=rsa; t=y; p=${key}`, 'in test mode'],
  ['another algorithm', `v=DKIM1; k=ed25519; p=${key}`, 'The record must say k=rsa.'],
  ['another hash', `v=DKIM1; k=rsa; h=sha1; p=${key}`, 'does not allow sha256'],
  ['another service', `v=DKIM1; k=rsa; s=other; p=${key}`, 'does not allow the key to be used for email'],
  ['some other text', 'google-site-verification=abc', 'it is not a DKIM key'],
])('a DKIM record with %s is wrong, and the person is told why', async (_what, value, note) => {
  const { publish, inspect } = await newDomain();
  publish(DKIM, value);
  expect((await inspect()).observations[DKIM]).toMatchObject({ verdict: 'wrong', found: [value] });
  expect((await inspect()).observations[DKIM]?.note).toContain(note);
});

test('two keys at one name are wrong, because receivers may use either', async () => {
  const { servers, domain, records, inspect } = await newDomain();
  for (const server of servers) {
    server.set(`pr1._domainkey.${domain}`, 'TXT', records[DKIM]?.value ?? '', 'v=DKIM1; k=rsa; p=abcd');
  }
  expect((await inspect()).observations[DKIM]).toMatchObject({
    verdict: 'wrong',
    note: expect.stringMatching(/several keys/),
  });
});

test('a record with a doubled domain name is found, and the correct name is shown', async () => {
  const { domain, publish, inspect, records } = await newDomain();
  publish(DKIM, undefined, `pr1._domainkey.${domain}.${domain}`);
  expect((await inspect()).observations[DKIM]).toEqual({
    verdict: 'wrong',
    found: [records[DKIM]?.value],
    note: `It was published as pr1._domainkey.${domain}.${domain}: the editor adds ${domain} automatically, so enter only pr1._domainkey as the name.`,
  });
});

test('a wildcard is distinguished from a record', async () => {
  const { servers, domain, inspect } = await newDomain();
  for (const server of servers) server.set(`*._domainkey.${domain}`, 'TXT', 'v=spf1 -all');
  expect((await inspect()).observations[DKIM]).toMatchObject({
    verdict: 'wrong',
    note: expect.stringMatching(/a wildcard record/),
  });
});

test('more than half of the responding name servers must have the record', async () => {
  const apex = freshDomain();
  const servers = await world.zone(
    apex,
    [1, 2, 3].map((n) => `ns${n}.${apex}`),
  );
  const [record] = recordsToPublish({
    domain: apex,
    mailFromDomain: `b.${apex}`,
    selector: 'pr1',
    publicKey: key,
    mx: 'm',
    spf: 'a',
  });
  const look = async () => {
    const { observations } = await inspectDomain(world.session(), {
      domain: apex,
      mailFromDomain: `b.${apex}`,
      records: [record!],
    });
    return observations[0];
  };
  servers[0]?.set(record!.name, 'TXT', record!.value);
  expect(await look()).toMatchObject({
    verdict: 'wrong',
    note: expect.stringContaining(`Only ns1.${apex} has it so far.`),
  });
  servers[1]?.set(record!.name, 'TXT', record!.value);
  expect(await look()).toMatchObject({ verdict: 'right', note: `ns3.${apex} does not have it yet.` });
  servers[2]?.misbehave(apex, 'SERVFAIL');
  expect(await look()).toMatchObject({ verdict: 'right', note: null });
});

test('without any answer, nothing is known', async () => {
  const { domain, servers, inspect } = await newDomain();
  for (const server of servers) server.misbehave(domain, 'SERVFAIL');
  world.resolver.misbehave(domain, 'SERVFAIL');
  const { observations, zone } = await inspect();
  expect(observations.map(({ verdict }) => verdict)).toEqual(Array(4).fill('unanswered'));
  expect(zone).toBeUndefined();
});

test.each([
  ['another host', ['10 mx.elsewhere.example'], 'points to another host'],
  [
    'a competing record with priority',
    ['10 mx.postroom.example', '5 mx.elsewhere.example'],
    'Another MX record has priority',
  ],
  [
    'a competing record of equal preference',
    ['10 mx.postroom.example', '10 mx.elsewhere.example'],
    'Another MX record has priority',
  ],
])('a MAIL FROM subdomain whose MX names %s is wrong', async (_what, values, note) => {
  const { servers, domain, inspect } = await newDomain();
  for (const server of servers) server.set(`bounce.${domain}`, 'MX', ...values);
  expect((await inspect()).observations[MX]).toMatchObject({ verdict: 'wrong', note: expect.stringContaining(note) });
});

test('an MX with another preference and a fallback behind ours are right', async () => {
  const { servers, domain, inspect } = await newDomain();
  for (const server of servers)
    server.set(`bounce.${domain}`, 'MX', '5 MX.postroom.example', '20 mx.elsewhere.example');
  expect((await inspect()).observations[MX]).toMatchObject({ verdict: 'right' });
});

test.each([
  ['right', 'our mechanism among others', ['v=spf1 ip4:192.0.2.1 include:spf.postroom.example -all']],
  ['right', 'other letters', ['V=SPF1 +Include:SPF.postroom.example ?all', 'some-verification=1']],
  ['wrong', 'our mechanism missing', ['v=spf1 include:other.example ~all']],
  ['wrong', 'our mechanism after all', ['v=spf1 ~all include:spf.postroom.example']],
  ['wrong', 'our mechanism refused', ['v=spf1 -include:spf.postroom.example ~all']],
  ['wrong', 'everybody let in', ['v=spf1 include:spf.postroom.example +all']],
  ['wrong', 'two records', ['v=spf1 include:spf.postroom.example ~all', 'v=spf1 -all']],
  ['wrong', 'no SPF record', ['v=spf10 include:spf.postroom.example']],
])('an SPF record of MAIL FROM is %s with %s', async (verdict, _what, values) => {
  const { servers, domain, inspect } = await newDomain();
  for (const server of servers) server.set(`bounce.${domain}`, 'TXT', ...values);
  expect((await inspect()).observations[SPF]).toMatchObject({ verdict });
});

test.each([
  ['right', 'any policy', ['v=DMARC1; p=reject; rua=mailto:d@example.com']],
  ['right', 'no policy, which means none', ['v=DMARC1; rua=mailto:d@example.com']],
  ['right', 'other texts beside it', ['v=DMARC1;p=none', 'hello']],
  ['wrong', 'two records', ['v=DMARC1; p=none', 'v=DMARC1; p=reject']],
  ['wrong', 'a policy that does not exist', ['v=DMARC1; p=maybe']],
  ['wrong', 'the version in another place', ['p=none; v=DMARC1']],
])('a DMARC record is %s with %s', async (verdict, _what, values) => {
  const { servers, domain, inspect } = await newDomain();
  for (const server of servers) server.set(`_dmarc.${domain}`, 'TXT', ...values);
  expect((await inspect()).observations[DMARC]).toMatchObject({ verdict });
});

test('a subdomain inherits the DMARC policy of its parent domain', async () => {
  const { servers, domain, inspect } = await newDomain('news.shop.');
  const apex = domain.replace('news.shop.', '');
  for (const server of servers) server.set(`_dmarc.${apex}`, 'TXT', 'v=DMARC1; p=reject; sp=quarantine');
  const { observations, dmarc } = await inspect();
  expect(observations[DMARC]).toMatchObject({
    verdict: 'right',
    note: `The policy of ${apex} applies to this domain.`,
  });
  expect(dmarc).toMatchObject({ from: apex, policy: 'quarantine' });
});

test('the DMARC tree walk ends at psd=n', async () => {
  const { servers, domain, inspect } = await newDomain('news.shop.');
  const apex = domain.replace('news.shop.', '');
  for (const server of servers) {
    server.set(`_dmarc.shop.${apex}`, 'TXT', 'v=DMARC1; p=reject; psd=n');
    server.set(`_dmarc.${apex}`, 'TXT', 'v=DMARC1; p=none');
  }
  expect((await inspect()).dmarc).toMatchObject({ from: `shop.${apex}`, policy: 'reject' });
});

test('deliverability problems are found: SPF look-ups, open SPF, no mail server, broken DNSSEC, a silent server', async () => {
  const { servers, domain, publish, inspect, records } = await newDomain();
  publish(DKIM);
  const includes = Array.from({ length: 6 }, (_, index) => `s${index}.${domain}`);
  for (const server of servers) {
    server.set(
      domain,
      'TXT',
      `v=spf1 ${includes.map((name) => `include:${name}`).join(' ')} include:none.${domain} +all`,
    );
  }
  for (const name of includes) world.resolver.set(name, 'TXT', 'v=spf1 a mx ~all');
  servers[1]?.misbehave(domain, 'silence');
  const dkimName = records[DKIM]?.name ?? '';
  world.resolver.misbehave(dkimName, 'DNSSEC failure');
  world.resolver.set(dkimName, 'TXT', records[DKIM]?.value ?? '');
  const { findings } = await inspect();
  expect(findings).toMatchObject({
    isDmarcMissing: true,
    spf: { lookups: 19, broken: [`none.${domain}`], letsEverybodySend: true, isDoubled: false },
    inbound: 'missing',
    isDnssecBroken: true,
    silentServers: [`ns2.${domain}`],
    hasTlsReports: false,
    hasBimi: false,
  });
});

test('a domain with an address accepts mail, one with a null MX refuses it', async () => {
  const { servers, domain, inspect } = await newDomain();
  for (const server of servers) server.set(domain, 'A', '192.0.2.80');
  expect((await inspect()).findings.inbound).toBe('present');
  for (const server of servers) server.set(domain, 'MX', '0 .');
  expect((await inspect()).findings.inbound).toBe('refuses');
});

test('the zone is found with its name servers and SOA', async () => {
  const { domain, inspect } = await newDomain('mail.');
  const apex = domain.replace('mail.', '');
  expect((await inspect()).zone).toEqual({
    apex,
    nameservers: [`ns1.${apex}`, `ns2.${apex}`],
    soa: `ns1.${apex} hostmaster.${apex}`,
  });
});

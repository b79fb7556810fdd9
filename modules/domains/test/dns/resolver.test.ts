import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDnsServer } from '../dns-server.ts';
import { type DnsWorld, freshDomain, startDnsWorld } from '../dns-world.ts';

let world: DnsWorld;
beforeAll(async () => {
  world = await startDnsWorld();
});
afterAll(() => world.close());

const TEXT = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`;

test('a record is queried at every name server of its zone, so a new one is found at once', async () => {
  const domain = freshDomain();
  const servers = await world.zone(domain);
  for (const server of servers) server.set(`pr._domainkey.${domain}`, 'TXT', TEXT);
  const { views } = await world.session().survey(`pr._domainkey.${domain}`, 'TXT');
  expect(views.map(({ server, outcome, records }) => ({ server, outcome, records }))).toEqual([
    { server: `ns1.${domain}`, outcome: 'found', records: [TEXT] },
    { server: `ns2.${domain}`, outcome: 'found', records: [TEXT] },
  ]);
});

test('resolvers are never asked for a name about to be published', async () => {
  const domain = freshDomain();
  await world.zone(domain);
  const session = world.session();
  await session.survey(`pr._domainkey.mail.${domain}`, 'TXT');
  await session.zoneOf(`mail.${domain}`);
  const names = world.resolver.asked.map(({ name }) => name).filter((name) => name.endsWith(domain));
  expect(names).not.toContain(`pr._domainkey.mail.${domain}`);
  expect(names).not.toContain(`mail.${domain}`);
});

test('a text split into strings is joined', async () => {
  const domain = freshDomain();
  const [server] = await world.zone(domain, [`ns.${domain}`]);
  server?.set(domain, 'TXT', [TEXT.slice(0, 7), '', TEXT.slice(7, 200), TEXT.slice(200)]);
  expect((await world.session().lookup(domain, 'TXT')).records).toEqual([TEXT]);
});

test('a truncated response is fetched over TCP', async () => {
  const domain = freshDomain();
  const [server] = await world.zone(domain, [`ns.${domain}`]);
  server?.set(domain, 'TXT', TEXT);
  server?.misbehave(domain, 'truncation');
  expect((await world.session().lookup(domain, 'TXT')).records).toEqual([TEXT]);
  expect(server?.asked.map(({ over }) => over)).toEqual(['udp', 'tcp']);
});

test.each(['garbage first', 'forgery first', 'no EDNS', { delayMs: 450 }] as const)(
  'the true answer is waited for: %s',
  async (how) => {
    const domain = freshDomain();
    const [server] = await world.zone(domain, [`ns.${domain}`]);
    server?.set(domain, 'TXT', TEXT);
    server?.misbehave(domain, how);
    expect((await world.session().lookup(domain, 'TXT')).records).toEqual([TEXT]);
  },
);

test.each([
  ['SERVFAIL', 'SERVFAIL'],
  ['REFUSED', 'REFUSED'],
  ['silence', 'no answer'],
  ['not authoritative', 'it is not authoritative for the zone'],
  ['truncation for ever', 'invalid response over TCP'],
] as const)('a server that answers with %s is not relied on, another of the zone is', async (how, why) => {
  const domain = freshDomain();
  const [bad, good] = await world.zone(domain);
  bad?.misbehave(domain, how);
  good?.set(domain, 'TXT', TEXT);
  const { views } = await world.session().survey(domain, 'TXT');
  expect(views).toMatchObject([
    { server: `ns1.${domain}`, outcome: 'silent', why },
    { server: `ns2.${domain}`, outcome: 'found', records: [TEXT] },
  ]);
});

test('resolvers are asked when no name server of the zone is reachable', async () => {
  const domain = freshDomain();
  for (const server of await world.zone(domain)) server.misbehave(domain, 'silence');
  world.resolver.set(domain, 'TXT', 'from the resolver');
  const { views } = await world.session().survey(domain, 'TXT');
  expect(views).toMatchObject([{ server: '127.0.0.1', outcome: 'found', records: ['from the resolver'] }]);
});

test('a zone is silent, neither found nor absent, when its servers and all resolvers fail', async () => {
  const domain = freshDomain();
  for (const server of await world.zone(domain)) server.misbehave(domain, 'SERVFAIL');
  world.resolver.misbehave(domain, 'SERVFAIL');
  expect(await world.session().survey(domain, 'TXT')).toMatchObject({ views: [{ outcome: 'silent' }] });
});

test('look-ups end at their deadline', async () => {
  const domain = freshDomain();
  for (const server of await world.zone(domain)) server.misbehave(domain, 'silence');
  world.resolver.misbehave(`x.${domain}`, 'silence');
  const session = world.session({ deadlineMs: 200, retry: { timeoutMs: 5_000, tries: 3 } });
  const began = Date.now();
  const view = await session.lookup(`x.${domain}`, 'TXT');
  expect(view.outcome).toBe('silent');
  expect(Date.now() - began).toBeLessThan(5_000); // before anything is asked a second time
});

test('CNAME records are followed into other zones, whatever the first zone claims about those', async () => {
  const [domain, provider] = [freshDomain(), freshDomain()];
  const [server] = await world.zone(domain, [`ns.${domain}`]);
  const [other] = await world.zone(provider, [`ns.${provider}`]);
  server?.set(`a.${domain}`, 'CNAME', `b.${domain}`);
  server?.set(`b.${domain}`, 'CNAME', `key.${provider}`);
  server?.set(`key.${provider}`, 'TXT', 'a lie about another zone');
  other?.set(`key.${provider}`, 'TXT', TEXT);
  const { views } = await world.session().survey(`a.${domain}`, 'TXT');
  expect(views).toMatchObject([
    { server: `ns.${domain}`, outcome: 'found', records: [TEXT], aliases: [`b.${domain}`, `key.${provider}`] },
  ]);
});

test('CNAME loops end as absent', async () => {
  const [domain, provider] = [freshDomain(), freshDomain()];
  const [server] = await world.zone(domain, [`ns.${domain}`]);
  const [other] = await world.zone(provider, [`ns.${provider}`]);
  server?.set(`a.${domain}`, 'CNAME', `a.${provider}`);
  other?.set(`a.${provider}`, 'CNAME', `a.${domain}`);
  const { views } = await world.session().survey(`a.${domain}`, 'TXT');
  expect(views).toMatchObject([{ outcome: 'absent', why: 'its CNAME records form a loop' }]);
});

test('a name below a delegation is queried at the delegated servers', async () => {
  const domain = freshDomain();
  const [parent] = await world.zone(domain, [`ns.${domain}`]);
  const child = await world.server(`ns.keys.${domain}`);
  child.zone(`_domainkey.${domain}`, [`ns.keys.${domain}`]);
  child.set(`pr._domainkey.${domain}`, 'TXT', TEXT);
  parent?.set(`_domainkey.${domain}`, 'NS', `ns.keys.${domain}`);
  const { views } = await world.session().survey(`pr._domainkey.${domain}`, 'TXT');
  expect(views).toMatchObject([{ server: `ns.keys.${domain}`, outcome: 'found', records: [TEXT] }]);
});

test('a domain unknown to resolvers is found through its parent zone', async () => {
  const top = freshDomain().replace('.', '-');
  const domain = `shop.${top}`;
  const [registry] = await world.zone(top, [`a.nic.${top}`]);
  const server = await world.server(`ns.${domain}`);
  server.zone(domain, [`ns.${domain}`]);
  server.set(domain, 'TXT', TEXT);
  registry?.set(domain, 'NS', `ns.${domain}`);
  expect(await world.session().lookup(domain, 'TXT')).toMatchObject({ outcome: 'found', server: `ns.${domain}` });
});

test("a name's zone is the closest ancestor with an SOA record", async () => {
  const domain = freshDomain();
  const [server] = await world.zone(domain, [`ns.${domain}`]);
  server?.zone(`sub.${domain}`, [`ns.${domain}`], { mname: 'ns.cloudflare.com', rname: 'dns.cloudflare.com' });
  server?.set(`sub.${domain}`, 'NS', `NS.${domain}`);
  const session = world.session();
  expect(await session.zoneOf(`a.b.${domain}`)).toMatchObject({ apex: domain, nameservers: [`ns.${domain}`] });
  expect(await session.zoneOf(`x.sub.${domain}`)).toEqual({
    apex: `sub.${domain}`,
    nameservers: [`ns.${domain}`],
    soa: 'ns.cloudflare.com dns.cloudflare.com',
  });
});

test('a zone cannot point us at private addresses', async () => {
  const domain = freshDomain();
  const [server] = await world.zone(domain, [`ns.${domain}`]);
  world.resolver.set(`ns.${domain}`, 'A', '10.0.0.7');
  world.resolver.set(domain, 'TXT', 'from the resolver');
  const view = await world.session({ scope: 'public' }).lookup(domain, 'TXT');
  expect(view).toMatchObject({ server: '127.0.0.1', records: ['from the resolver'] });
  expect(server?.asked).toEqual([]);
});

test('the next resolver is asked when the first does not answer', async () => {
  const domain = freshDomain();
  const dead = await startDnsServer();
  await dead.close();
  world.resolver.set(domain, 'TXT', 'here');
  const resolvers = [{ address: '127.0.0.1', port: dead.port }, ...world.options.resolvers];
  expect(await world.session({ resolvers }).recursive(domain, 'TXT')).toMatchObject({ records: ['here'] });
});

import { expect, test } from 'vitest';
import { detectProvider, providerFor } from '../src/providers.ts';

test.each([
  ['cloudflare', 'lara.ns.cloudflare.com rick.ns.cloudflare.com', 'lara.ns.cloudflare.com dns.cloudflare.com'],
  ['route53', 'ns-1024.awsdns-00.org ns-1.awsdns-01.co.uk ns-2.awsdns-63.com', ''],
  ['route53', 'ns1.vanity.example', 'ns-1.awsdns-01.co.uk awsdns-hostmaster.amazon.com'],
  ['godaddy', 'ns43.domaincontrol.com ns44.domaincontrol.com', 'ns43.domaincontrol.com dns.jomax.net'],
  ['netlify', 'dns1.p01.nsone.net dns2.p01.nsone.net', 'dns1.p01.nsone.net hostmaster.netlify.com'],
  ['ns1', 'dns1.p01.nsone.net', 'dns1.p01.nsone.net hostmaster.nsone.net'],
  ['hetzner', 'hydrogen.ns.hetzner.com oxygen.ns.hetzner.com helium.ns.hetzner.de', ''],
  ['ionos', 'ns1022.ui-dns.com ns1045.ui-dns.org', ''],
  ['google', 'ns-cloud-a1.googledomains.com', ''],
])('the DNS provider is detected from NS and SOA: %s', (id, nameservers, soa) => {
  expect(detectProvider({ nameservers: nameservers.split(' '), soa })).toBe(id);
});

test.each([
  ['an unknown name', 'ns1.example.net', ''],
  ['a name that only ends alike', 'ns1.notcloudflare.com ns1.evilgandi.net', ''],
  ['servers of two providers', 'lara.ns.cloudflare.com ns1.digitalocean.com', ''],
  ['none at all', '', ''],
])('no provider is guessed from %s', (_what, nameservers, soa) => {
  expect(detectProvider({ nameservers: nameservers.split(' '), soa })).toBeUndefined();
});

test('a provider links to the editor of the zone', () => {
  expect(providerFor('digitalocean', 'example.com')).toEqual({
    id: 'digitalocean',
    name: 'DigitalOcean',
    editorUrl: 'https://cloud.digitalocean.com/networking/domains/example.com',
  });
  expect(providerFor('nobody', 'example.com')).toBeUndefined();
});

/** The operator of a zone's name servers, and the page for editing its records. */
export interface DnsProvider {
  id: string;
  name: string;
  /** URL of the record editor, with `{zone}` filled in. */
  editorUrl: string;
}

interface KnownProvider extends DnsProvider {
  /** Suffixes of its name servers' hostnames, at label boundaries. `*` matches one label. */
  nameservers: string;
  /** Suffix of the names in the SOA record, for zones whose name servers have other names. */
  soa?: string;
}

const provider = (id: string, name: string, nameservers: string, editorUrl: string, soa?: string): KnownProvider => ({
  id,
  name,
  nameservers,
  editorUrl,
  ...(soa === undefined ? {} : { soa }),
});

/** The longest match wins. SOA is checked first, because NS1 serves Netlify's zones. */
const PROVIDERS: readonly KnownProvider[] = [
  provider(
    'cloudflare',
    'Cloudflare',
    'ns.cloudflare.com',
    'https://dash.cloudflare.com/?to=/:account/{zone}/dns/records',
    'dns.cloudflare.com',
  ),
  provider(
    'route53',
    'Amazon Route 53',
    'awsdns-*.com awsdns-*.net awsdns-*.org awsdns-*.co.uk',
    'https://console.aws.amazon.com/route53/v2/hostedzones',
    'awsdns-hostmaster.amazon.com',
  ),
  provider('godaddy', 'GoDaddy', 'domaincontrol.com', 'https://dcc.godaddy.com/manage/{zone}/dns', 'jomax.net'),
  provider(
    'namecheap',
    'Namecheap',
    'registrar-servers.com namecheaphosting.com',
    'https://ap.www.namecheap.com/Domains/DomainControlPanel/{zone}/advancedns',
  ),
  provider('squarespace', 'Squarespace', 'squarespacedns.com', 'https://account.squarespace.com/domains'),
  provider(
    'google',
    'Google Cloud DNS (or Squarespace, for domains that were at Google Domains)',
    'googledomains.com',
    'https://console.cloud.google.com/net-services/dns/zones',
    'cloud-dns-hostmaster.google.com',
  ),
  provider(
    'azure',
    'Azure DNS',
    'azure-dns.com azure-dns.net azure-dns.org azure-dns.info',
    'https://portal.azure.com/',
    'azuredns-hostmaster.microsoft.com',
  ),
  provider(
    'digitalocean',
    'DigitalOcean',
    'digitalocean.com',
    'https://cloud.digitalocean.com/networking/domains/{zone}',
  ),
  provider(
    'hetzner',
    'Hetzner',
    'hetzner.com hetzner.de first-ns.de second-ns.com',
    'https://console.hetzner.com/',
    'dns.hetzner.com',
  ),
  provider('ovh', 'OVHcloud', 'ovh.net anycast.me', 'https://www.ovh.com/manager/', 'tech.ovh.net'),
  provider(
    'ionos',
    'IONOS',
    'ui-dns.com ui-dns.org ui-dns.de ui-dns.biz ionos.com 1and1.com',
    'https://my.ionos.com/domains',
  ),
  provider('gandi', 'Gandi', 'gandi.net', 'https://admin.gandi.net/domain/'),
  provider('porkbun', 'Porkbun', 'porkbun.com', 'https://porkbun.com/account/domainsSpeedy'),
  provider('vercel', 'Vercel', 'vercel-dns.com', 'https://vercel.com/dashboard/domains'),
  provider('netlify', 'Netlify', 'netlify.com', 'https://app.netlify.com/', 'netlify.com'),
  provider('ns1', 'NS1', 'nsone.net', 'https://my.nsone.net/'),
  provider(
    'dnsimple',
    'DNSimple',
    'dnsimple.com dnsimple-edge.net dnsimple-edge.org',
    'https://dnsimple.com/dashboard',
    'dnsimple.com',
  ),
  provider('hover', 'Hover', 'hover.com', 'https://www.hover.com/control_panel/domain/{zone}/dns'),
  provider('wix', 'Wix', 'wixdns.net', 'https://manage.wix.com/account/domains'),
  provider('linode', 'Akamai (Linode)', 'linode.com', 'https://cloud.linode.com/domains'),
  provider('vultr', 'Vultr', 'vultr.com', 'https://my.vultr.com/dns/'),
  provider('dnsmadeeasy', 'DNS Made Easy', 'dnsmadeeasy.com', 'https://cp.dnsmadeeasy.com/', 'dnsmadeeasy.com'),
  provider('constellix', 'Constellix', 'constellix.com constellix.net', 'https://manage.constellix.com/'),
  provider(
    'easydns',
    'easyDNS',
    'easydns.com easydns.net easydns.org easydns.ca easydns.info',
    'https://cp.easydns.com/',
  ),
  provider('bluehost', 'Bluehost', 'bluehost.com', 'https://my.bluehost.com/'),
  provider('dreamhost', 'DreamHost', 'dreamhost.com', 'https://panel.dreamhost.com/'),
  provider(
    'namesilo',
    'NameSilo',
    'namesilo.com dnsowl.com',
    'https://www.namesilo.com/account_domain_manage_dns.php?domain={zone}',
  ),
  provider('namecom', 'Name.com', 'name.com', 'https://www.name.com/account/domain/details/{zone}#dns'),
  provider('dynadot', 'Dynadot', 'dyna-ns.net', 'https://www.dynadot.com/account/domain/'),
  provider('hurricane', 'Hurricane Electric', 'he.net', 'https://dns.he.net/'),
  provider('akamai', 'Akamai Edge DNS', 'akam.net', 'https://control.akamai.com/', 'akamai.com'),
  provider(
    'ultradns',
    'UltraDNS',
    'ultradns.com ultradns.net ultradns.org ultradns.biz ultradns.info ultradns.co.uk',
    'https://portal.ultradns.com/',
  ),
  provider('alibaba', 'Alibaba Cloud', 'hichina.com alidns.com', 'https://dns.console.aliyun.com/', 'hichina.com'),
  provider('dnspod', 'DNSPod', 'dnspod.net dnspod.com', 'https://console.dnspod.com/', 'dnspod.com'),
  provider(
    'networksolutions',
    'Network Solutions',
    'worldnic.com register.com',
    'https://www.networksolutions.com/my-account/',
  ),
  provider('fastmail', 'Fastmail', 'messagingengine.com', 'https://app.fastmail.com/settings/domains'),
  provider('rackspace', 'Rackspace', 'rackspace.com stabletransit.com', 'https://login.rackspace.com/'),
  provider('bunny', 'bunny.net', 'bunny.net', 'https://dash.bunny.net/dns'),
  provider('onecom', 'one.com', 'one.com', 'https://www.one.com/admin/'),
  provider('cloudns', 'ClouDNS', 'cloudns.net', 'https://www.cloudns.net/main/'),
  provider(
    'spaceship',
    'Spaceship',
    'spaceship.com spaceship.net',
    'https://www.spaceship.com/application/advanced-dns-application/manage/{zone}/',
  ),
  provider('hostinger', 'Hostinger', 'hostinger.com dns-parking.com', 'https://hpanel.hostinger.com/domain/{zone}/dns'),
  provider('simply', 'Simply.com', 'simply.com', 'https://www.simply.com/controlpanel/'),
  provider('shopify', 'Shopify', 'shopify.com', 'https://admin.shopify.com/settings/domains'),
  provider('wordpress', 'WordPress.com', 'wordpress.com', 'https://wordpress.com/domains/manage/all/{zone}/dns/{zone}'),
  provider('scaleway', 'Scaleway', 'dom.scw.cloud', 'https://console.scaleway.com/domains/'),
  provider('infomaniak', 'Infomaniak', 'infomaniak.ch infomaniak.com', 'https://manager.infomaniak.com/'),
  provider('strato', 'STRATO', 'rzone.de', 'https://www.strato.de/apps/CustomerService'),
  provider('inwx', 'INWX', 'inwx.de inwx.com', 'https://www.inwx.com/en/nameserver2'),
  provider('transip', 'TransIP', 'transip.net transip.nl transip.eu', 'https://www.transip.nl/cp/'),
  provider('loopia', 'Loopia', 'loopia.se', 'https://customerzone.loopia.com/'),
  provider('desec', 'deSEC', 'desec.io desec.org', 'https://desec.io/domains'),
  provider('zoneedit', 'ZoneEdit', 'zoneedit.com', 'https://cp.zoneedit.com/'),
  provider('freedns', 'FreeDNS', 'afraid.org', 'https://freedns.afraid.org/subdomain/'),
];

/** Matches hostname suffixes; more labels mean a closer match. */
const matchers = PROVIDERS.flatMap(({ id, nameservers }) =>
  nameservers.split(' ').map((suffix) => ({
    id,
    labels: suffix.split('.').length,
    pattern: new RegExp(`(^|\\.)${suffix.replaceAll('.', '\\.').replaceAll('*', '[a-z0-9]+')}$`),
  })),
);

/**
 * Detects a zone's provider from its SOA record and name servers; `undefined` if they match none or several, because
 * no guess is better than a wrong one.
 */
export function detectProvider(zone: { nameservers: readonly string[]; soa: string }): string | undefined {
  const bySoa = PROVIDERS.find(
    ({ soa }) => soa !== undefined && zone.soa.split(' ').some((name) => endsWith(name, soa)),
  );
  if (bySoa !== undefined) return bySoa.id;
  const found = new Set(zone.nameservers.map(providerOf));
  const [only] = found;
  return found.size === 1 ? only : undefined;
}

/** A provider with its editor URL for a zone; `undefined` for an unknown id. */
export function providerFor(id: string, zone: string): DnsProvider | undefined {
  const known = PROVIDERS.find((one) => one.id === id);
  if (known === undefined) return undefined;
  return { id, name: known.name, editorUrl: known.editorUrl.replaceAll('{zone}', zone) };
}

function providerOf(host: string): string | undefined {
  const matches = matchers.filter(({ pattern }) => pattern.test(host));
  return matches.toSorted((a, b) => b.labels - a.labels)[0]?.id;
}

const endsWith = (name: string, suffix: string) => name === suffix || name.endsWith(`.${suffix}`);

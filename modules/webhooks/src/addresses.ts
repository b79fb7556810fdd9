import { BlockList, isIP } from 'node:net';

/** Never a receiver, not even in development: "this host", link-local (cloud metadata lives there), multicast, reserved. */
const NEVER = [
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  'fd00:ec2::254/128', // metadata of AWS
];

/** Loopback, private and shared networks: receivers there are somebody's own, which development may want. */
const PRIVATE = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
];

/** Addresses that documents, benchmarks and protocols use, and those that carry an IPv4 address which nobody checked. */
const SPECIAL = [
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '2001::/23', // Teredo among them
  '2001:db8::/32',
  '2002::/16', // 6to4
  '3fff::/20',
];

/** Of IPv6, only this is routed on the Internet. What is outside, such as NAT64 and discard prefixes, is refused whole. */
const GLOBAL_IPV6 = ['2000::/3'];

const never = blockList(NEVER);
const notPublic = blockList([...NEVER, ...PRIVATE, ...SPECIAL]);
const privateNetworks = blockList(PRIVATE);
const globalIpv6 = blockList(GLOBAL_IPV6);

/**
 * Whether customers' URLs may be called at an address. IPv4 written as IPv6 (`::ffff:10.0.0.1`) counts as IPv4.
 * `allowPrivate` opens loopback and private networks, and nothing else.
 */
export function mayCall(address: string, { allowPrivate }: { allowPrivate: boolean }): boolean {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(address) === 0 || never.check(address, family)) return false;
  if (allowPrivate && privateNetworks.check(address, family)) return true;
  if (notPublic.check(address, family)) return false;
  return family === 'ipv4' || isMappedIpv4(address) || globalIpv6.check(address, 'ipv6');
}

const mapped = blockList(['::ffff:0:0/96']);

function isMappedIpv4(address: string): boolean {
  return mapped.check(address, 'ipv6');
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

import { BlockList, isIPv6 } from 'node:net';

const RESERVED = {
  ipv4: [
    '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24',
    '192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
  ],
  ipv6: ['::/96 ::ffff:0:0/96 64:ff9b::/96 100::/64 2001:db8::/32 2002::/16 fc00::/7 fe80::/10 ff00::/8'],
} as const;

/** A list for each family: in one, ::ffff:0:0/96 would stand for all of IPv4. */
const reserved = { ipv4: blockList('ipv4'), ipv6: blockList('ipv6') };

function blockList(family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of RESERVED[family].join(' ').split(' ')) {
    const [address = '', bits = ''] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/**
 * Whether an address is one of the public internet. Whoever runs a domain's zone chooses the addresses of its name
 * servers, and must not be able to have us knock at doors inside our own network.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  return !reserved[family].check(address, family);
}

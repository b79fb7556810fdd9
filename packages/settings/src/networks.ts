import { BlockList, isIP } from 'node:net';

/** Parses `10.0.0.0/8, 127.0.0.1, fd00::/8`; undefined if an entry is neither an address nor a network. */
export function parseNetworks(text: string): BlockList | undefined {
  const networks = new BlockList();
  for (const entry of text.split(',').map((each) => each.trim())) {
    const [address = '', prefix, ...rest] = entry.split('/');
    const version = isIP(address);
    const bits = version === 6 ? 128 : 32;
    const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
    if (version === 0 || length < 0 || length > bits || rest.length > 0) return undefined;
    networks.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4');
  }
  return networks;
}

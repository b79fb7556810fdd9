import { expect, test } from 'vitest';
import { clientAddress } from '../src/client-address.ts';
import { parseConfig } from '@postroom/settings';
import { parseNetworks } from '@postroom/settings';

const PROXIES = parseNetworks('10.0.0.0/8, 192.0.2.1, fd00::/8');

const address = (peer: string, headers: Record<string, string>, proxies = PROXIES) =>
  clientAddress({ headers, socket: { remoteAddress: peer } }, proxies);
const by = (list: string) => ({ 'x-forwarded-for': list });
const described = (header: string) => ({ forwarded: header });

test.each([
  ['headers from a peer that is not a trusted proxy are ignored', '203.0.113.9', by('198.51.100.7'), '203.0.113.9'],
  ['a proxy is believed', '10.1.2.3', by('198.51.100.7'), '198.51.100.7'],
  ['what the client wrote before its proxy did is not', '10.1.2.3', by('1.1.1.1, 198.51.100.7'), '198.51.100.7'],
  ['several proxies are walked over', '10.1.2.3', by('1.1.1.1, 198.51.100.7, 192.0.2.1, 10.9.9.9'), '198.51.100.7'],
  ['only proxies: the first one is the client', '10.1.2.3', by('10.4.4.4, 10.9.9.9'), '10.4.4.4'],
  ['an empty header', '10.1.2.3', by(''), '10.1.2.3'],
  ['what is no address ends the walk', '10.1.2.3', by('unknown, 10.9.9.9'), '10.9.9.9'],
  ['IPv4 in IPv6, from a socket and in the header', '::ffff:10.1.2.3', by('::ffff:198.51.100.7'), '198.51.100.7'],
  ['IPv6, in capitals', 'fd00::1', by('2001:DB8::7'), '2001:db8::7'],
  ['a zone', 'fd00::1%eth0', by('2001:db8::7'), '2001:db8::7'],
  ['ports', '10.1.2.3', by('198.51.100.7:4711'), '198.51.100.7'],
  ['Forwarded', '10.1.2.3', described('for=1.1.1.1, for=198.51.100.7;proto=https;by=10.1.2.3'), '198.51.100.7'],
  ['Forwarded with IPv6', '10.1.2.3', described('For="[2001:db8::7]:4711"'), '2001:db8::7'],
  ['Forwarded without an address', '10.1.2.3', described('for=_hidden'), '10.1.2.3'],
  ['both, alike', '10.1.2.3', { ...by('198.51.100.7'), ...described('for=198.51.100.7') }, '198.51.100.7'],
  [
    'both, of which the client made one up',
    '10.1.2.3',
    { ...by('198.51.100.7'), ...described('for=1.1.1.1') },
    '10.1.2.3',
  ],
])('%s', (_what, peer, headers, expected) => {
  expect(address(peer, headers)).toBe(expected);
});

test('without trusted proxies the headers count for nothing', () => {
  expect(address('127.0.0.1', by('198.51.100.7'), undefined as never)).toBe('127.0.0.1');
});

test('a header of a million hops costs no more than one of a few', () => {
  const hops = Array<string>(1_000_000).fill('10.0.0.1').join(',');
  expect(address('10.1.2.3', by(`198.51.100.7,${hops}`))).toBe('10.0.0.1');
});

test.each(['10.0.0.0/33', '10.0.0', 'fd00::/129', 'proxy.example', '10.0.0.0/8,', '10.0.0.0/8/8', '10.0.0.0/-1'])(
  'TRUSTED_PROXIES must be networks: %s',
  (text) => expect(() => parseConfig({ TRUSTED_PROXIES: text })).toThrow(/TRUSTED_PROXIES/),
);

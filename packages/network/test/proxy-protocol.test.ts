import { expect, test } from 'vitest';
import { parseProxyHeader, ProxyHeaderError } from '../src/proxy-protocol.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a';

/** A header of version 2, from hexadecimal digits: the command, the family, and what follows the length. */
function v2(command: string, family: string, rest: string, length = rest.length / 2): Buffer {
  return Buffer.from(`${SIGNATURE}${command}${family}${length.toString(16).padStart(4, '0')}${rest}`, 'hex');
}

const PORTS = 'd903 0050'.replace(' ', '');
const V4 = `c0000207c6336401${PORTS}`;
const V6 = `20010db8000000000000000000000007${'0'.repeat(31)}1${PORTS}`;
const MAPPED = `00000000000000000000ffffc0000207${'0'.repeat(31)}1${PORTS}`;

test.each([
  ['IPv4, version 1', Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 55555 25\r\n'), '192.0.2.7', 55_555],
  ['IPv6, version 1', Buffer.from('PROXY TCP6 2001:DB8:0::7 ::1 0 65535\r\n'), '2001:db8::7', 0],
  ['IPv4 in IPv6, version 1', Buffer.from('PROXY TCP6 ::ffff:192.0.2.7 ::1 1 2\r\n'), '192.0.2.7', 1],
  ['IPv4, version 2', v2('21', '11', V4), '192.0.2.7', 55_555],
  ['IPv6, version 2', v2('21', '21', V6), '2001:db8::7', 55_555],
  ['IPv4 in IPv6, version 2', v2('21', '21', MAPPED), '192.0.2.7', 55_555],
  ["version 2 with a load balancer's own fields", v2('21', '11', `${V4}ea000401ffffff`), '192.0.2.7', 55_555],
])('a header names the client, and ends where the client begins: %s', (_, header, address, port) => {
  const expected = { client: { address, port }, length: header.length };
  expect(parseProxyHeader(header)).toEqual(expected);
  expect(parseProxyHeader(Buffer.concat([header, Buffer.from('EHLO client\r\n')]))).toEqual(expected);
  for (let length = 0; length < header.length; length++)
    expect(parseProxyHeader(header.subarray(0, length))).toBeUndefined();
});

test.each([
  ['UNKNOWN', Buffer.from('PROXY UNKNOWN\r\n')],
  ['UNKNOWN with addresses', Buffer.from('PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n')],
  ['LOCAL', v2('20', '00', '')],
  ['LOCAL with addresses', v2('20', '11', V4)],
  ['an unspecified family', v2('21', '00', '')],
])('a connection of the proxy itself has no client: %s', (_, header) =>
  expect(parseProxyHeader(header)).toEqual({ client: undefined, length: header.length }),
);

test.each([
  ['no header', 'EHLO client\r\n'],
  ['something that begins alike', 'PROXZ TCP4'],
  ['lower case', 'proxy TCP4 192.0.2.7 198.51.100.1 1 2\r\n'],
  ['two spaces', 'PROXY TCP4  192.0.2.7 198.51.100.1 1 2\r\n'],
  ['an address of the other family', 'PROXY TCP4 2001:db8::7 ::1 1 2\r\n'],
  ['an address with a zone', 'PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n'],
  ['an address with a leading zero', 'PROXY TCP4 192.0.02.7 198.51.100.1 1 2\r\n'],
  ['a host name', 'PROXY TCP4 localhost 198.51.100.1 1 2\r\n'],
  ['a port with a leading zero', 'PROXY TCP4 192.0.2.7 198.51.100.1 01 2\r\n'],
  ['a port that is too large', 'PROXY TCP4 192.0.2.7 198.51.100.1 65536 2\r\n'],
  ['no port', 'PROXY TCP4 192.0.2.7 198.51.100.1 1\r\n'],
  ['one field more', 'PROXY TCP4 192.0.2.7 198.51.100.1 1 2 3\r\n'],
  ['another protocol', 'PROXY UDP4 192.0.2.7 198.51.100.1 1 2\r\n'],
  ['no family', 'PROXY \r\n'],
  ['no end', `PROXY TCP4 ${'1'.repeat(120)}`],
  ['another signature', Buffer.from('0d0a0d0a000d0a515549540b', 'hex')],
  ['another version', v2('31', '11', V4)],
  ['another command', v2('22', '11', V4)],
  ['UDP', v2('21', '12', V4)],
  ['a UNIX socket', v2('21', '31', '00'.repeat(216))],
  ['addresses that are too short', v2('21', '21', V4)],
  ['a length beyond the limit', v2('21', '11', V4, 65_535)],
])('anything else is rejected: %s', (_, header) =>
  expect(() => parseProxyHeader(Buffer.from(header as string))).toThrow(ProxyHeaderError),
);

test('a wrong first byte is enough to reject a connection', () => {
  expect(() => parseProxyHeader(Buffer.from('E'))).toThrow(ProxyHeaderError);
  expect(() => parseProxyHeader(Buffer.from('PROXX'))).toThrow(ProxyHeaderError);
});

import { expect, test } from 'vitest';
import { mayCall } from './addresses.ts';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.215.14',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '2606:4700::1111',
  '2a00:1450:4001::200e',
  '::ffff:8.8.8.8',
];

const REFUSED = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  'private networks': [
    '10.0.0.1',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    'fc00::1',
    'fd12:3456::1',
  ],
  'link-local and metadata': ['169.254.169.254', '169.254.0.1', 'fe80::1', 'fec0::1', 'fd00:ec2::254'],
  'this host': ['0.0.0.0', '0.1.2.3', '::'],
  'shared address space of carriers': ['100.64.0.1', '100.127.255.255'],
  'protocol assignments and documentation': [
    '192.0.0.1',
    '192.0.2.1',
    '198.51.100.7',
    '203.0.113.9',
    '2001:db8::1',
    '3fff::1',
  ],
  'benchmarks and relays': ['198.18.0.1', '198.19.255.255', '192.88.99.1'],
  'multicast, reserved and broadcast': ['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', 'ff02::1'],
  'IPv4 inside IPv6': [
    '::ffff:10.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
  ],
  'IPv6 that is not routed': ['100::1', '5f00::1', '4000::1', '::2'],
  'what is no address': ['', 'localhost', '127.1', '0x7f.0.0.1', '1.2.3'],
};

test.each(PUBLIC)('a public address may be called: %s', (address) => {
  expect(mayCall(address, { allowPrivate: false })).toBe(true);
  expect(mayCall(address, { allowPrivate: true })).toBe(true);
});

test.each(Object.entries(REFUSED))('refused outside development: %s', (_, addresses) => {
  expect(addresses.filter((address) => mayCall(address, { allowPrivate: false }))).toEqual([]);
});

test('development may call loopback and private networks, and still no metadata service', () => {
  const opened = [...REFUSED.loopback, ...REFUSED['private networks'], '::ffff:127.0.0.1', '100.64.0.1'];
  expect(opened.filter((address) => !mayCall(address, { allowPrivate: true }))).toEqual([]);
  const closed = [
    ...REFUSED['link-local and metadata'],
    ...REFUSED['this host'],
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
  ];
  expect(closed.filter((address) => mayCall(address, { allowPrivate: true }))).toEqual([]);
});

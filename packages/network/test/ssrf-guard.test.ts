import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  guardedFetch,
  guardedLookup,
  hostProblem,
  isAllowedAddress,
  newUrlProblem,
  urlProblem,
} from '../src/ssrf-guard.ts';
import type { AddressScope } from '@postroom/settings';

const words = (text: string) => text.trim().split(/\s+/);

/** Addresses by the narrowest scope that allows them; `never` is blocked in each. */
const ADDRESSES: Record<AddressScope | 'never', string[]> = {
  public: words(`
    1.1.1.1 8.8.8.8 93.184.215.14 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.1 9.255.255.255 11.0.0.0 126.255.255.255
    128.0.0.1 192.88.98.1 198.17.255.255 223.255.255.255 2606:4700::1111 2a00:1450:4001::200e 2001:200::1 2003::1
    2620:4f:8001::1
  `),
  loopback: ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1'],
  private: words(`
    10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 100.127.255.255 fc00::1 fd12:3456::1
  `),
  never: words(`
    0.0.0.0 0.1.2.3 169.254.169.254 169.254.0.1 192.0.0.1 192.0.0.170 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1
    192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
    168.63.129.16 :: ::2 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::ffff:8.8.8.8
    ::ffff:0:7f00:1 ::ffff:0:127.0.0.1 ::ffff:0:808:808 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::8.8.8.8 64:ff9b:1::7f00:1
    64:ff9b:1:ffff::1 100::1 100:0:0:1::1 2001::1 2001:0:7f00:1:: 2001:2::1 2001:10::1 2001:20::1 2001:1ff::1 2001:db8::1
    2002:7f00:1:: 2002:808:808::1 2620:4f:8000::1 3fff::1 5f00::1 4000::1 fd00:ec2::254 fe80::1 fe80::1%lo febf::1 fec0::1
    feff::1 ff02::1 2606:4700::1%eth0 localhost 127.1 0x7f.0.0.1 1.2.3
  `),
};

const SCOPES = ['public', 'loopback', 'private'] as const;
const ROWS = SCOPES.flatMap((scope) =>
  Object.entries(ADDRESSES).flatMap(([narrowest, addresses]) =>
    addresses.map((address) => {
      const isAllowed = SCOPES.slice(0, SCOPES.indexOf(scope) + 1).includes(narrowest as AddressScope);
      return [scope, address, isAllowed] as const;
    }),
  ),
);

test.each(ROWS)('in the scope %s a connection to "%s" is allowed: %s', async (scope, address, isAllowed) => {
  expect(isAllowedAddress(address, scope)).toBe(isAllowed);
  const lookup = guardedLookup(
    () => scope,
    () => Promise.resolve([address]),
  );
  const found = await new Promise<string>((resolve) =>
    lookup('name.example', { all: false }, (error, first) => resolve(error?.message ?? (first as string))),
  );
  expect(found).toBe(isAllowed ? address : 'name.example resolves to a private or reserved address.');
});

const LITERALS = ADDRESSES.never.filter(
  (address) => /^[\da-f:.]*[:.][\da-f:.]*$/.test(address) && !/^[\d.]{3,5}$/.test(address),
);

test.each(LITERALS)('a host or URL at %s is refused in words that do not name the address', (address) => {
  for (const scope of SCOPES) {
    const url = address.includes(':') ? `https://[${address}]/x` : `https://${address}/x`;
    expect(hostProblem(address, scope)).toBe('must not be a private or reserved address');
    expect(urlProblem(url, scope)).toBe('must not point to a private or reserved address');
  }
});

test.each(['127.1', '2130706433', '0x7f.1', '0177.0.0.1', '127.0.0.1.', '0', '017700000001'])(
  'a host spelled %s is the address that a resolver takes it for',
  (host) => {
    expect(hostProblem(host, 'public')).toBe('must not be a private or reserved address');
    expect(urlProblem(`https://${host}/`, 'public')).toBe('must not point to a private or reserved address');
  },
);

test.each([
  ['http://example.com/', 'private'],
  ['http://10.0.0.1/', 'private'],
  ['https://10.0.0.1/', 'private'],
  ['http://localhost:8080/', 'loopback'],
  ['http://hooks.localhost/', 'loopback'],
  ['http://127.0.0.1:8080/', 'loopback'],
  ['http://2130706433/', 'loopback'],
  ['http://[::1]/', 'loopback'],
  ['https://127.0.0.1/', 'loopback'],
  ['https://example.com/', 'public'],
  ['http://localhost.example.com/', 'private'],
  ['http://notlocalhost/', 'private'],
] as const)('%s needs the scope %s', (url, needed) => {
  const allowing = SCOPES.filter((scope) => urlProblem(url, scope) === undefined);
  expect(allowing).toEqual(SCOPES.slice(SCOPES.indexOf(needed)));
});

test.each([
  'https://example.com/a\r\nX-Evil: 1',
  'https://exam\tple.com/',
  ' https://example.com/',
  'https://example.com/a b',
  'https://example.com\\@127.0.0.1/',
  'https:\\\\example.com',
  'https:example.com',
  'https:/example.com',
])('a URL that would be called otherwise than it is shown is not saved: %j', (url) => {
  for (const scope of SCOPES)
    expect(newUrlProblem(url, scope)).toMatch(/^must (not contain spaces|be an absolute URL)/);
});

test('a name that stands for this machine leads nowhere else, whatever the resolver says', async () => {
  const lookup = guardedLookup(
    () => 'private',
    () => Promise.resolve(['93.184.215.14', '10.0.0.1', '127.0.0.1']),
  );
  const found = (name: string) =>
    new Promise((resolve) => lookup(name, { all: true }, (_error, addresses) => resolve(addresses)));
  expect(await found('localhost')).toEqual([{ address: '127.0.0.1', family: 4 }]);
  expect(await found('name.example')).toHaveLength(3);
});

test('fetch connects to addresses of its scope only, and follows no redirect', async () => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    response.writeHead(request.url === '/moved' ? 302 : 200, { Location: '/' }).end('here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  expect(await (await guardedFetch(url, 'loopback')).text()).toBe('here');
  await expect(guardedFetch(`${url}/moved`, 'loopback')).rejects.toThrow();
  expect(requests).toBe(2);
  for (const refused of [url, url.replace('http:', 'https:'), url.replace('localhost', '127.0.0.1')])
    await expect(guardedFetch(refused, 'public')).rejects.toThrow();
  expect(requests).toBe(2);
  await new Promise((resolve) => server.close(resolve));
  await expect(guardedFetch('http://127.0.0.1:9/', 'loopback')).rejects.toThrow(
    /^The request to 127\.0\.0\.1:9 failed: bad port$/,
  );
  const aborted = guardedFetch(url, 'loopback', { signal: AbortSignal.abort(new Error('enough')) });
  await expect(aborted).rejects.toThrow('enough');
});

/** Files that connect to hosts of the operator's choice, or that are the guard. */
const OWN_CONNECTIONS =
  /^(packages\/(network\/src\/ssrf-guard|settings\/src\/networks)\.ts|packages\/(testkit|embedded)\/.*)$/;

test('no module connects anywhere without the guard', () => {
  const root = join(import.meta.dirname, '../../..');
  const files = ['modules', 'packages']
    .flatMap((top) => (readdirSync(join(root, top), { recursive: true }) as string[]).map((file) => join(top, file)))
    .filter((file) => /\/src\/.*\.tsx?$/.test(file) && !file.includes('node_modules') && !OWN_CONNECTIONS.test(file))
    .sort();
  const unguarded = files.filter((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    return (
      /(?<![\w.])fetch\(|new BlockList|from 'node:https?'.*request|from 'node:dns'.*\blookup\b/.test(source) ||
      (/^import .*\b(connect|request|createConnection)\b.* from 'node:(net|tls|https?|http2)'/m.test(source) &&
        !/guardedLookup|isAllowedAddress|lookup/.test(source))
    );
  });
  // The DNS transport gets its addresses from the resolver, which checks them with the guard. The journal connects to a
  // socket file in its own folder. Other cells are at the addresses that the operator has set.
  expect(unguarded).toEqual([
    'modules/domains/src/dns/wire.ts',
    'modules/ledger/src/in-flight-journal.ts',
    'modules/projects/src/cells/peers.ts',
  ]);
});

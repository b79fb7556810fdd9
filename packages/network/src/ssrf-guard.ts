import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import { connectionFailure } from '@postroom/errors';
import type { AddressScope } from '@postroom/settings';
import { assertNoTransaction } from './transaction-guard.ts';
import { Agent, fetch, type RequestInit, type Response } from 'undici';

/**
 * Every block of the IANA special-purpose address registries, with the scope that opens it. Only 2000::/3 of IPv6
 * is routed on the internet, so other rows matter only if a scope opens them; they are listed for completeness.
 */
const SPECIAL_PURPOSE: readonly (readonly [
  network: string,
  purpose: string,
  opens?: Exclude<AddressScope, 'public'>,
])[] = [
  ['0.0.0.0/8', 'this network (RFC 791)'],
  ['10.0.0.0/8', 'private use (RFC 1918)', 'private'],
  ['100.64.0.0/10', 'shared address space of carriers (RFC 6598)', 'private'],
  ['127.0.0.0/8', 'loopback (RFC 1122)', 'loopback'],
  ['169.254.0.0/16', 'link-local, with the metadata services of clouds (RFC 3927)'],
  ['172.16.0.0/12', 'private use (RFC 1918)', 'private'],
  ['192.0.0.0/24', 'IETF protocol assignments (RFC 6890)'],
  ['192.0.2.0/24', 'documentation (RFC 5737)'],
  ['192.31.196.0/24', 'AS112 (RFC 7535)'],
  ['192.52.193.0/24', 'automatic multicast tunneling (RFC 7450)'],
  ['192.88.99.0/24', '6to4 relays (RFC 7526)'],
  ['192.168.0.0/16', 'private use (RFC 1918)', 'private'],
  ['192.175.48.0/24', 'AS112 (RFC 7534)'],
  ['198.18.0.0/15', 'benchmarking (RFC 2544)'],
  ['198.51.100.0/24', 'documentation (RFC 5737)'],
  ['203.0.113.0/24', 'documentation (RFC 5737)'],
  ['224.0.0.0/4', 'multicast (RFC 5771)'],
  ['240.0.0.0/4', 'reserved, and broadcast (RFC 1112, RFC 8190)'],
  ['168.63.129.16/32', "Azure's metadata and DNS, on a public address"],
  ['::/128', 'unspecified (RFC 4291)'],
  ['::1/128', 'loopback (RFC 4291)', 'loopback'],
  ['::/96', 'IPv4-compatible (RFC 4291)'],
  ['::ffff:0:0/96', 'IPv4-mapped (RFC 4291)'],
  ['::ffff:0:0:0/96', 'IPv4-translated (RFC 2765)'],
  ['64:ff9b::/96', 'IPv4/IPv6 translation (RFC 6052)'],
  ['64:ff9b:1::/48', 'IPv4/IPv6 translation (RFC 8215)'],
  ['100::/64', 'discard-only (RFC 6666)'],
  ['100:0:0:1::/64', 'dummy prefix (RFC 9780)'],
  ['2001::/32', 'Teredo (RFC 4380)'],
  ['2001::/23', 'IETF protocol assignments (RFC 2928)'],
  ['2001:db8::/32', 'documentation (RFC 3849)'],
  ['2002::/16', '6to4 (RFC 3056)'],
  ['2620:4f:8000::/48', 'AS112 (RFC 7534)'],
  ['3fff::/20', 'documentation (RFC 9637)'],
  ['5f00::/16', 'segment routing (RFC 9602)'],
  ['fd00:ec2::/32', 'metadata services of AWS'],
  ['fc00::/7', 'unique local (RFC 4193)', 'private'],
  ['fe80::/10', 'link-local (RFC 4291)'],
  ['fec0::/10', 'site-local (RFC 3879)'],
  ['ff00::/8', 'multicast (RFC 4291)'],
];

const opening = (scope?: AddressScope) => blockList(SPECIAL_PURPOSE.filter(([, , opens]) => opens === scope));
const [loopback, privateUse, blocked] = [opening('loopback'), opening('private'), opening()];
const globalUnicast = blockList([['2000::/3']]);

/**
 * Whether an address is in one of the networks. One list per family: in a shared list, ::ffff:0:0/96 would match
 * all of IPv4.
 */
function blockList(networks: readonly (readonly [network: string, ...rest: unknown[]])[]) {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const [network] of networks) {
    const [address = '', prefix] = network.split('/');
    lists[familyOf(address)].addSubnet(address, Number(prefix), familyOf(address));
  }
  return (address: string) => lists[familyOf(address)].check(address, familyOf(address));
}

function familyOf(address: string) {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

/** Whether connections to an address are allowed. Invalid addresses and those with a zone index are not. */
export function isAllowedAddress(address: string, scope: AddressScope): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  // ::1 is loopback but also within the blocked ::/96, so loopback is checked first.
  if (loopback(address)) return scope !== 'public';
  if (blocked(address)) return false;
  if (privateUse(address)) return scope === 'private';
  return !isIPv6(address) || globalUnicast(address);
}

/** The error for a blocked address. It omits the address, which would reveal our network to the user who chose the name. */
const NOT_PUBLIC = 'a private or reserved address';

/**
 * Describes what is wrong with a tenant-chosen hostname or address, to follow a field's name; `undefined` if
 * valid. Names are not resolved here: `guardedLookup` checks their addresses at connection time.
 */
export function hostProblem(host: string, scope: AddressScope): string | undefined {
  const address = addressOf(host);
  if (address !== undefined) return isAllowedAddress(address, scope) ? undefined : `must not be ${NOT_PUBLIC}`;
  const isName = host.length <= 253 && /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?\.?$/.test(host);
  return isName ? undefined : 'must be a hostname, such as smtp.example.com';
}

/** The address that a host is, in the spellings that URLs and resolvers know as well: `127.1`, `0x7f000001`, `127.0.0.1.`. */
function addressOf(host: string): string | undefined {
  if (isIP(host) !== 0) return host;
  const url = `http://${host}`;
  const parsed = /^[\w.]+$/.test(host) && URL.canParse(url) ? new URL(url).hostname : host;
  return isIP(parsed) === 0 ? undefined : parsed;
}

/**
 * Describes what is wrong with a tenant-chosen URL, to follow "The URL" or a field's name; `undefined` if valid. It
 * must be https, except for loopback and where private networks are allowed.
 */
export function urlProblem(text: string, scope: AddressScope): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return 'must be an absolute URL, such as https://example.com/webhooks';
  const host = hostOf(url);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && mayBePlain(host, scope)))
    return scope === 'loopback'
      ? 'must begin with https://, except for a loopback address'
      : 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a username or password';
  if (isIP(host) !== 0 && !isAllowedAddress(host, scope)) return `must not point to ${NOT_PUBLIC}`;
  return undefined;
}

/**
 * `urlProblem` for a URL that is being saved, which must also be written as it will be called: the parser drops line breaks,
 * turns backslashes into slashes and adds missing ones.
 */
export function newUrlProblem(text: string, scope: AddressScope): string | undefined {
  if (/[\s\\\p{Cc}]/u.test(text)) return 'must not contain spaces, control characters or backslashes';
  if (!/^[a-z]+:\/\//i.test(text)) return 'must be an absolute URL, such as https://example.com/webhooks';
  return urlProblem(text, scope);
}

/** The host of a URL, without the brackets of an IPv6 address. */
export const hostOf = (url: URL) => url.hostname.replace(/^\[(.*)\]$/, '$1');

const mayBePlain = (host: string, scope: AddressScope) =>
  scope === 'private' || (scope === 'loopback' && (isLoopbackName(host) || (isIP(host) !== 0 && loopback(host))));

/** Names reserved for loopback (RFC 6761); `guardedLookup` enforces it. */
const isLoopbackName = (host: string) => /^(.+\.)?localhost\.?$/i.test(host);

/** A name without any allowed address. */
class BlockedAddressError extends Error {
  readonly code = 'BLOCKED_ADDRESS';
  constructor(host: string) {
    super(`${host} resolves to ${NOT_PUBLIC}.`);
  }
}

/** Resolves a name to addresses. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** Uses the system resolver, including /etc/hosts. */
export const resolveBySystem: Resolve = async (hostname) =>
  (await systemLookup(hostname, { all: true })).map(({ address }) => address);

/**
 * A lookup for `net.connect`, `tls.connect`, HTTP agents and undici that returns only allowed addresses. It runs
 * for every connection, which defeats DNS rebinding. Literal addresses bypass it: `hostProblem` or `urlProblem`
 * must check them.
 */
export function guardedLookup(scope: () => AddressScope, resolve: Resolve = resolveBySystem): LookupFunction {
  return (hostname, options, callback) => {
    const isAllowed = (address: string) =>
      isAllowedAddress(address, scope()) && (!isLoopbackName(hostname) || loopback(address));
    resolve(hostname).then(
      (found) => {
        const addresses = found.filter(isAllowed).map((address) => ({ address, family: isIP(address) }));
        const wanted = options.family === 4 || options.family === 6 ? options.family : undefined;
        const fitting = addresses.filter(({ family }) => wanted === undefined || family === wanted);
        const [first] = fitting;
        if (first === undefined) callback(new BlockedAddressError(hostname), []);
        else if (options.all === true) callback(null, fitting);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

const agents = new Map<AddressScope, Agent>();

/**
 * `fetch` that connects only to addresses within the scope and follows no redirects.
 * @throws TypeError for a forbidden URL or a network failure, with the host and the reason.
 */
export function guardedFetch(url: string, scope: AddressScope, init: RequestInit = {}): Promise<Response> {
  assertNoTransaction('A server was called over HTTP');
  const problem = urlProblem(url, scope);
  if (problem !== undefined) return Promise.reject(new TypeError(`The URL ${problem}.`));
  const agent = agents.get(scope) ?? new Agent({ connect: { lookup: guardedLookup(() => scope) } });
  agents.set(scope, agent);
  return fetch(url, { ...init, redirect: 'error', dispatcher: agent }).catch((error: unknown) => {
    const reason = reasonOf(error);
    // What the caller aborts is not wrapped.
    if (reason === undefined) throw error;
    throw new TypeError(`The request to ${new URL(url).host} failed: ${reason}`, { cause: error });
  });
}

/** Why `fetch` failed, which its error says only in the cause; undefined for other errors. */
function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof TypeError) || !(error.cause instanceof Error)) return undefined;
  return connectionFailure(error.cause).text || undefined;
}

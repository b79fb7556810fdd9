import type { IncomingMessage } from 'node:http';
import { type BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { config } from '@postroom/settings/config';
import { logger } from '@postroom/observability';

/** No real proxy chain is longer; earlier hops are ignored. */
const MAX_HOPS = 20;

let warned = false;

/**
 * Determines the client's address. A proxy in `TRUSTED_PROXIES` is believed about the hop before it, so the header
 * is read from the right, past trusted hops, to the first untrusted address. Headers from any other peer are
 * ignored.
 */
export function clientAddress(
  { headers, socket }: Pick<IncomingMessage, 'headers'> & { socket: { remoteAddress?: string | undefined } },
  trusted = config.TRUSTED_PROXIES,
): string {
  const peer = plainAddress(socket.remoteAddress ?? '') ?? 'unknown';
  const [listed, described] = [headers['x-forwarded-for']?.toString(), headers.forwarded];
  if (listed === undefined && described === undefined) return peer;
  if (trusted === undefined) {
    warnOnce(peer);
    return peer;
  }
  const byList = listed === undefined ? undefined : walk(peer, listed.split(','), trusted);
  const byDescription = described === undefined ? undefined : walk(peer, forwardedFor(described), trusted);
  // A proxy sets one of the two headers and passes the other through unchanged. If they disagree, one is forged.
  if (byList !== undefined && byDescription !== undefined && byList !== byDescription) return peer;
  return byList ?? byDescription ?? peer;
}

function walk(peer: string, hops: readonly string[], trusted: BlockList): string {
  const before = hops.slice(-MAX_HOPS);
  let address = peer;
  while (before.length > 0 && isTrusted(address, trusted)) {
    const next = plainAddress(before.pop() ?? '');
    if (next === undefined) return address;
    address = next;
  }
  return address;
}

/** The `for` parameter of each element of a Forwarded header (RFC 7239). */
function forwardedFor(header: string): string[] {
  return header
    .split(',')
    .map((hop) => /(?:^|;)\s*for\s*=\s*("[^"]*"|[^;\s]*)/i.exec(hop)?.[1]?.replaceAll('"', '') ?? '');
}

/** Strips port, brackets, zone and IPv4-mapped prefix; undefined if the text is not an address. */
export function plainAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(trimmed) ?? [];
  const address = (bracketed ?? dotted ?? trimmed).split('%', 1)[0] ?? '';
  const plain = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '').toLowerCase();
  return isIP(plain) === 0 ? undefined : plain;
}

/** Whether an address belongs to a trusted proxy. */
export const isTrusted = (address: string, trusted: BlockList): boolean =>
  isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Behind an untrusted proxy, all clients share the proxy's address and its rate limits. */
function warnOnce(peer: string): void {
  if (warned) return;
  warned = true;
  logger.warn(
    { peer },
    'ignored X-Forwarded-For or Forwarded from an untrusted peer; if it is your proxy, set TRUSTED_PROXIES',
  );
}

/** The network of an address: a /24 for IPv4 or a /48 for IPv6, so that it identifies no household; undefined if it is no address. */
export function anonymizedNetwork(address: string | undefined): string | undefined {
  const plain = address?.trim().replace(/^::ffff:(?=\d+\.)/i, '');
  if (plain === undefined) return undefined;
  if (isIPv4(plain)) return `${plain.split('.').slice(0, 3).join('.')}.0/24`;
  if (!isIPv6(plain)) return undefined;
  const [head = '', tail] = plain.split('%', 1)[0]!.split('::');
  const groups = head === '' ? [] : head.split(':');
  const end = tail === undefined || tail === '' ? [] : tail.split(':');
  const all =
    tail === undefined ? groups : [...groups, ...Array<string>(8 - groups.length - end.length).fill('0'), ...end];
  return `${all
    .slice(0, 3)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/48`;
}

import type { IncomingMessage } from 'node:http';
import { type BlockList, isIP } from 'node:net';
import { config } from './config.ts';
import { logger } from './logger.ts';

/** As many hops as anybody has; what comes before them is not read. */
const MAX_HOPS = 20;

let warned = false;

/**
 * The address of the client that sent the request. Proxies in `TRUSTED_PROXIES` are believed about the hop before them, so the header
 * is read from the right, over trusted hops, to the first address that is not one. From anybody else the headers count for nothing.
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
  // A proxy sets one of the two and passes the other on as the client wrote it: when they disagree, one of them is made up.
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

/** The `for` of each element of a Forwarded header (RFC 7239). */
function forwardedFor(header: string): string[] {
  return header
    .split(',')
    .map((hop) => /(?:^|;)\s*for\s*=\s*("[^"]*"|[^;\s]*)/i.exec(hop)?.[1]?.replaceAll('"', '') ?? '');
}

/** An address without port, brackets, zone, or the clothing of IPv4 in IPv6; undefined for what is no address. */
function plainAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(trimmed) ?? [];
  const address = (bracketed ?? dotted ?? trimmed).split('%', 1)[0] ?? '';
  const plain = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '').toLowerCase();
  return isIP(plain) === 0 ? undefined : plain;
}

const isTrusted = (address: string, trusted: BlockList) =>
  isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Behind a proxy that is not trusted, all clients have the proxy's address, and its limits. */
function warnOnce(peer: string): void {
  if (warned) return;
  warned = true;
  logger.warn(
    { peer },
    'a request came with X-Forwarded-For or Forwarded, which are ignored: if it came by a proxy of yours, set TRUSTED_PROXIES',
  );
}

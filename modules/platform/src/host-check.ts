import { isIP } from 'node:net';

/**
 * Whether a request's Host header names this machine: an IP address, a name without a dot, one below `localhost`, or the host of
 * `publicUrl`. A page elsewhere can have a name of its own resolve to 127.0.0.1 and read what answers there (DNS rebinding); nobody
 * can register these.
 */
export function isOwnHost(header: string | undefined, publicUrl?: string): boolean {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*?))\.?(?::\d*)?$/.exec(header ?? '') ?? [];
  const host = (bracketed ?? plain).toLowerCase();
  if (host === '') return false;
  if (isIP(host) !== 0 || /^[^.]+$/.test(host) || host.endsWith('.localhost')) return true;
  return publicUrl !== undefined && host === new URL(publicUrl).hostname;
}

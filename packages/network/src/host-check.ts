import { isIP } from 'node:net';

/** Whether a Host header is missing, or a host with an optional port: libraries make URLs of it. */
export const isHost = (header: string | undefined): boolean =>
  header === undefined ||
  (/^[\w.~-]*(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(header) && URL.canParse(`http://${header}`));

/**
 * Whether a Host header names this machine: an IP address, a name without a dot, a name under `localhost`, or the
 * host of `publicUrl`. Protects against DNS rebinding, where a foreign page resolves its own name to 127.0.0.1 and
 * reads our responses; these names can't be registered.
 */
export function isOwnHost(header: string | undefined, publicUrl?: string): boolean {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*?))\.?(?::\d*)?$/.exec(header ?? '') ?? [];
  const host = (bracketed ?? plain).toLowerCase();
  if (host === '') return false;
  if (isIP(host) !== 0 || /^[^.]+$/.test(host) || host.endsWith('.localhost')) return true;
  return publicUrl !== undefined && host === new URL(publicUrl).hostname;
}

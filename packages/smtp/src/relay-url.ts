import { isIP, type LookupFunction } from 'node:net';
import { hostname } from 'node:os';

/** Authentication by password, or by access token (XOAUTH2). */
export type Credentials =
  | { readonly user: string; readonly password: string }
  | {
      readonly user: string;
      /**
       * Returns the current token. Given a token that the server rejected, returns a new one, or the same one if none is
       * available.
       * @throws HandshakeError if no token can be obtained.
       */
      readonly accessToken: (refused?: string) => Promise<string>;
    };

/** How to reach a mail server. */
export interface Relay {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (`smtps:`). */
  readonly implicitTls: boolean;
  /** Whether to fail if the server does not offer STARTTLS. */
  readonly requireTls: boolean;
  /** Whether to accept certificates that fail verification, and to send credentials without TLS. */
  readonly insecure: boolean;
  readonly credentials: Credentials | undefined;
  /** False to never request delivery status notifications. */
  readonly reports?: boolean | undefined;
  /** Hostname sent in EHLO. */
  readonly clientName: string;
  /** Resolves the hostname; the system resolver by default. */
  readonly lookup?: LookupFunction | undefined;
}

/**
 * Parses `smtp://user:password@host:port?tls=required|insecure&name=our.host.name&dsn=off` or `smtps://…`. User and password
 * are percent-encoded.
 * @param publicUrl see `localHostName`.
 * @throws TypeError whose message never contains the password.
 */
export function parseRelayUrl(url: string, publicUrl?: string): Relay {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || (parsed.protocol !== 'smtp:' && parsed.protocol !== 'smtps:') || parsed.hostname === '') {
    throw new TypeError('A mail server URL must look like smtp://host:port or smtps://host:port.');
  }
  const implicitTls = parsed.protocol === 'smtps:';
  const { tls, name, dsn, ...unknown } = Object.fromEntries(parsed.searchParams);
  const [unknownName] = Object.keys(unknown);
  if (unknownName !== undefined)
    throw new TypeError(`Unknown mail server parameter "${unknownName}"; use "tls", "name" or "dsn".`);
  if (tls !== undefined && tls !== 'required' && tls !== 'insecure') {
    throw new TypeError('The mail server parameter "tls" must be "required" or "insecure".');
  }
  if (dsn !== undefined && dsn !== 'on' && dsn !== 'off')
    throw new TypeError('The mail server parameter "dsn" must be "on" or "off".');
  if (name !== undefined && !isClientName(name))
    throw new TypeError('The mail server parameter "name" must be a hostname.');
  return {
    host: decodeURIComponent(parsed.hostname).replace(/^\[|\]$/g, ''),
    port: parsed.port === '' ? (implicitTls ? 465 : 25) : Number(parsed.port),
    implicitTls,
    requireTls: tls === 'required',
    insecure: tls === 'insecure',
    reports: dsn !== 'off',
    credentials:
      parsed.username === ''
        ? undefined
        : { user: decodeURIComponent(parsed.username), password: decodeURIComponent(parsed.password) },
    clientName: name ?? localHostName(publicUrl),
  };
}

/**
 * The name in EHLO: this machine's, or the host of the public URL if the machine's has no domain, as in a container. Mail servers may refuse a
 * name without one (RFC 5321, 2.3.5).
 */
export function localHostName(publicUrl?: string, machine = hostname()): string {
  const host = publicUrl === undefined ? '' : new URL(publicUrl).hostname;
  if (!machine.includes('.') && host.includes('.') && isIP(host) === 0) return host;
  return isClientName(machine) ? machine : '[127.0.0.1]';
}

function isClientName(name: string): boolean {
  return /^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?|\[[\dA-Fa-f:.IPv]+\])$/.test(name);
}

/** Whether traffic to this host stays on the machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

import type { LookupFunction } from 'node:net';
import { hostname } from 'node:os';

/** How we sign in: with a password, or with an access token (XOAUTH2). */
export type Credentials =
  | { readonly user: string; readonly password: string }
  | {
      readonly user: string;
      /**
       * The token to show; given one that the server refused, another, or the same when there is none.
       * @throws HandshakeError when none can be had
       */
      readonly accessToken: (refused?: string) => Promise<string>;
    };

/** A mail server to send through, as its URL says. */
export interface Relay {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte, as `smtps:` has it. */
  readonly implicitTls: boolean;
  /** Whether to give up when the server offers no STARTTLS. */
  readonly requireTls: boolean;
  /** Whether a certificate that can't be verified will do. */
  readonly insecure: boolean;
  readonly credentials: Credentials | undefined;
  /** False when the server is not to be asked what becomes of messages, though it could say. */
  readonly reports?: boolean | undefined;
  /** What we call ourselves in EHLO. */
  readonly clientName: string;
  /** Turns the host's name into addresses; the system does when not given. */
  readonly lookup?: LookupFunction | undefined;
}

/**
 * Reads `smtp://user:password@host:port?tls=required|insecure&name=our.host.name&dsn=off` or `smtps://…`. User and password are
 * percent-encoded.
 * @throws TypeError which never shows the password
 */
export function parseRelayUrl(url: string): Relay {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || (parsed.protocol !== 'smtp:' && parsed.protocol !== 'smtps:') || parsed.hostname === '') {
    throw new TypeError('A mail server is given as smtp://host:port or smtps://host:port.');
  }
  const implicitTls = parsed.protocol === 'smtps:';
  const { tls, name, dsn, ...others } = Object.fromEntries(parsed.searchParams);
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new TypeError(`A mail server's URL has no "${other}"; it may have "tls", "name" and "dsn".`);
  if (tls !== undefined && tls !== 'required' && tls !== 'insecure') {
    throw new TypeError('"tls" of a mail server is "required" or "insecure".');
  }
  if (dsn !== undefined && dsn !== 'on' && dsn !== 'off')
    throw new TypeError('"dsn" of a mail server is "on" or "off".');
  if (name !== undefined && !isClientName(name)) throw new TypeError('"name" of a mail server is not a host name.');
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
    clientName: name ?? ownName(),
  };
}

/** What we call ourselves when nobody says. */
export function ownName(): string {
  return isClientName(hostname()) ? hostname() : '[127.0.0.1]';
}

function isClientName(name: string): boolean {
  return /^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?|\[[\dA-Fa-f:.IPv]+\])$/.test(name);
}

/** Whether bytes to this host never leave the machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

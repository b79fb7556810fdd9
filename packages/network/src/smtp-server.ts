import { type BlockList, isIPv4, isIPv6, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { FairShare } from '@postroom/concurrency';
import { logger } from '@postroom/observability';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { isTrusted, plainAddress } from './client-address.ts';
import { ProxyHeaderError, readProxyHeader } from './proxy-protocol.ts';

/** An enhanced status code (RFC 3463) at the beginning of a reply. */
const ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;
/** Maximum commands that are refused for good before a client is trusted. */
const MAX_REFUSALS = 10;
/** Time limit for the PROXY header of a connection, in milliseconds. A proxy sends it at once. */
const PROXY_HEADER_MS = 5_000;

/** A reply other than 250, thrown or passed to a callback; its text should start with an enhanced status code. */
export class Refusal extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

export interface ClientLimits {
  /** Maximum concurrent connections per address; an IPv6 client is counted by its /64. */
  perAddress: number;
  /** Maximum concurrent connections, at most half of them untrusted. */
  total: number;
  /** Milliseconds until an untrusted client is disconnected, whatever it sends. */
  untrustedMs: number;
  /** Maximum commands of a trusted client that are refused for good; without a limit by default. */
  trustedRefusals?: number | undefined;
  /** Maximum lifetime of a connection, in milliseconds. */
  sessionMs?: number | undefined;
  /** Proxies that begin each connection with a header of the PROXY protocol, which names the client. No other peer is believed. */
  proxies?: BlockList | undefined;
  /** Time limit for that header, in milliseconds. */
  proxyHeaderMs?: number | undefined;
}

/** What the library takes from its own options instead of from the socket. */
interface ClientOptions {
  remoteAddress: string;
  remotePort: number;
}

type Connection = SMTPServer['connections'] extends Set<infer C> ? C : never;

/** Members of the library's connection that its types leave out. */
interface Internals {
  session: SMTPServerSession;
  _parser: Writable;
  /** Creates the parser of a session, and another one after STARTTLS. */
  _createParser: () => Writable;
}

/**
 * An SMTP server that replies to clients that have already closed their side: Exim sends QUIT and a FIN with the last message,
 * and would send the message again if its reply were missing. A reply that begins with an enhanced status code gets no other.
 */
export class HalfOpenSmtpServer extends SMTPServer {
  constructor(options: SMTPServerOptions) {
    super({ ...options, allowHalfOpen: true } as SMTPServerOptions);
  }

  override connect(socket: Socket, ...rest: unknown[]): void {
    acceptRepliesAfterEnd(socket);
    super.connect(socket, ...(rest as []));
    const connection = lastOf(this.connections);
    const internals = internalsOf(connection);
    const send = connection.send.bind(connection);
    connection.send = (code, text, context) =>
      send(code, text, typeof text === 'string' && ENHANCED_CODE.test(text) ? false : context);
    const createParser = internals._createParser.bind(connection);
    // A parser finishes once the client has closed its side and every command has its reply.
    const closingAtEnd = (parser: Writable) => parser.once('finish', () => connection.close());
    closingAtEnd(internals._parser);
    internals._createParser = () => {
      // The TLS socket copies this. A client that leaves within the handshake awaits no reply.
      socket.allowHalfOpen = false;
      return closingAtEnd(createParser()).once('pipe', (secured: Socket) => {
        secured.allowHalfOpen = true;
        acceptRepliesAfterEnd(secured);
      });
    };
  }
}

/** The library writes only to sockets that are open in both directions. */
function acceptRepliesAfterEnd(socket: Socket): void {
  Object.defineProperty(socket, 'readyState', { get: () => (socket.writable ? 'open' : 'closed') });
}

const internalsOf = (connection: Connection) => connection as unknown as Internals;

/**
 * An SMTP server that idle or slow clients can't exhaust. Clients must become trusted quickly, untrusted ones share
 * half of the slots, from which the oldest is evicted, and each address is limited to a few connections.
 */
export class LimitedSmtpServer extends HalfOpenSmtpServer {
  readonly #limits: ClientLimits;
  readonly #perAddress = new Map<string, number>();
  readonly #awaitingHeader = new Set<Socket>();
  #hasWarned = false;
  /** Untrusted connections, oldest first, with their timeout timers. */
  readonly #untrusted = new Map<SMTPServerSession, { connection: Connection; timer: NodeJS.Timeout }>();
  /** The connections of trusted clients, by tenant. */
  readonly #shares: FairShare;
  /** The sessions that hold a slot of a tenant. */
  readonly #tenants = new WeakSet<SMTPServerSession>();
  /** What to do when the connection of a session has closed. */
  readonly #releases = new WeakMap<SMTPServerSession, () => void>();

  constructor(options: SMTPServerOptions, limits: ClientLimits) {
    super({
      ...options,
      maxClients: limits.total,
      // Not the socket's event: STARTTLS removes its listeners.
      onClose: (session) => {
        this.#releases.get(session)?.();
        this.#releases.delete(session);
      },
    });
    this.#limits = limits;
    this.#shares = new FairShare(limits.total);
  }

  /** Marks a client as trusted once it has authenticated. */
  trust(session: SMTPServerSession): void {
    clearTimeout(this.#untrusted.get(session)?.timer);
    this.#untrusted.delete(session);
  }

  /**
   * Marks a client as trusted, as one of a tenant, such as a project. A tenant may have as many connections as it leaves free.
   * A client remains one of the first tenant that it is trusted as.
   * @returns false, and does nothing, if it has no more.
   */
  trustAs(tenant: string, session: SMTPServerSession): boolean {
    if (this.#tenants.has(session)) return true;
    const release = this.#shares.tryAcquire(tenant);
    if (release === undefined) return false;
    this.#tenants.add(session);
    this.trust(session);
    const onClose = this.#releases.get(session);
    // The connection may have closed while its client was identified.
    if (onClose === undefined) release();
    else
      this.#releases.set(session, () => {
        onClose();
        release();
      });
    return true;
  }

  override connect(socket: Socket, ...[options]: unknown[]): void {
    const { proxies } = this.#limits;
    if (proxies !== undefined && isTrusted(plainAddress(socket.remoteAddress ?? '') ?? '', proxies))
      void this.#connectThroughProxy(socket);
    else this.#connectClient(socket, socket.remoteAddress, options);
  }

  override close(callback?: () => void): void {
    for (const socket of this.#awaitingHeader) socket.destroy();
    super.close(callback);
  }

  async #connectThroughProxy(socket: Socket): Promise<void> {
    const { total, proxyHeaderMs = PROXY_HEADER_MS } = this.#limits;
    const ignoreError = () => {};
    socket.on('error', ignoreError);
    if (this.#awaitingHeader.size >= total) return void socket.destroy();
    this.#awaitingHeader.add(socket);
    try {
      const { client } = await readProxyHeader(socket, proxyHeaderMs);
      const options: ClientOptions | undefined = client && { remoteAddress: client.address, remotePort: client.port };
      this.#connectClient(socket, client?.address ?? socket.remoteAddress, options);
      socket.off('error', ignoreError);
    } catch (error) {
      socket.destroy();
      this.#warnAboutHeader(error, socket);
    } finally {
      this.#awaitingHeader.delete(socket);
    }
  }

  #warnAboutHeader(error: unknown, { remoteAddress }: Socket): void {
    if (this.#hasWarned || !(error instanceof ProxyHeaderError)) return;
    this.#hasWarned = true;
    logger.warn(
      { err: error, peer: remoteAddress },
      'closed a connection of a trusted proxy that has no PROXY header; enable the PROXY protocol there',
    );
  }

  #connectClient(socket: Socket, address: string | undefined, options: unknown): void {
    const { perAddress, total, untrustedMs, sessionMs } = this.#limits;
    const network = networkOf(address);
    const open = this.#perAddress.get(network) ?? 0;
    if (open >= perAddress) return refuse(socket);
    this.#perAddress.set(network, open + 1);
    if (this.#untrusted.size >= Math.ceil(total / 2) || this.connections.size >= total) this.#closeOldest();
    super.connect(socket, options);
    const connection = lastOf(this.connections);
    const { session } = internalsOf(connection);
    this.#limitRefusals(connection, session);
    this.#untrusted.set(session, { connection, timer: setTimeout(() => this.#close(session), untrustedMs).unref() });
    const end = sessionMs === undefined ? undefined : setTimeout(() => tooLong(connection), sessionMs).unref();
    this.#releases.set(session, () => {
      this.trust(session);
      clearTimeout(end);
      const left = (this.#perAddress.get(network) ?? 1) - 1;
      if (left === 0) this.#perAddress.delete(network);
      else this.#perAddress.set(network, left);
    });
  }

  /** Guesses of keys and addresses cost a query each. */
  #limitRefusals(connection: Connection, session: SMTPServerSession): void {
    const { trustedRefusals = Infinity } = this.#limits;
    const send = connection.send.bind(connection);
    let refusals = 0;
    connection.send = (code, text, context) => {
      if (code >= 500) refusals++;
      const isOver = code >= 500 && refusals > (this.#untrusted.has(session) ? MAX_REFUSALS : trustedRefusals);
      // A 421 also closes the connection.
      if (isOver) send(421, '4.7.0 Too many refused commands', false);
      else send(code, text, context);
    };
  }

  #closeOldest(): void {
    for (const [session] of this.#untrusted) return this.#close(session);
  }

  #close(session: SMTPServerSession): void {
    const connection = this.#untrusted.get(session)?.connection;
    this.trust(session);
    if (connection !== undefined) tooLong(connection);
  }
}

function tooLong(connection: Connection): void {
  // A 421 also closes the connection.
  connection.send(421, '4.4.2 Timeout', false);
}

/** Replies and closes without waiting for the client. */
function refuse(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  socket.end('421 4.7.0 Too many connections from your address\r\n');
  socket.setTimeout(1_000, () => socket.destroy());
  socket.resume();
}

function lastOf<T>(all: Set<T>): T {
  let last: T | undefined;
  for (const one of all) last = one;
  return last as T;
}

/** The range that one client controls: an IPv4 address, or the /64 of an IPv6 address. */
export function networkOf(address = ''): string {
  const plain = address.replace(/^::ffff:/i, '').replace(/%.*$/, '');
  if (isIPv4(plain) || !isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const [left, right] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== '')) as [
    string[],
    string[],
  ];
  const whole = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return whole
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}

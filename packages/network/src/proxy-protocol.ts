import { isIPv4, isIPv6, type Socket } from 'node:net';

/** A header of version 1 has at most this many bytes, its CRLF included (section 2.1 of the specification). */
const MAX_V1_BYTES = 107;
/** Load balancers add fields to a header of version 2, a few hundred bytes in all. */
const MAX_V2_BYTES = 2_048;
const V1_START = Buffer.from('PROXY ');
const V2_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** The signature, version and command, family and protocol, and the length of the rest. */
const V2_PREFIX_BYTES = 16;
const END = Buffer.from('\r\n');

/** What a header says: whose connection it is, unless the proxy opened it itself, as for a health check. */
export interface ProxyHeader {
  client: { address: string; port: number } | undefined;
  /** Length of the header in bytes; what follows belongs to the client. */
  length: number;
}

/** The header is not one of the PROXY protocol, or of a connection other than TCP over IPv4 or IPv6. */
export class ProxyHeaderError extends Error {}

/**
 * Parses a header of the PROXY protocol, version 1 or 2 (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt).
 * @returns undefined if more bytes are needed. @throws ProxyHeaderError as soon as the bytes can't become a header.
 */
export function parseProxyHeader(bytes: Buffer): ProxyHeader | undefined {
  if (bytes.length === 0) return undefined;
  const isV1 = bytes[0] === V1_START[0];
  const start = isV1 ? V1_START : V2_SIGNATURE;
  const known = Math.min(bytes.length, start.length);
  if (bytes.compare(start, 0, known, 0, known) !== 0)
    throw new ProxyHeaderError('The connection does not begin with a PROXY header');
  if (known < start.length) return undefined;
  return isV1 ? parseV1(bytes) : parseV2(bytes);
}

function parseV1(bytes: Buffer): ProxyHeader | undefined {
  const end = bytes.subarray(0, MAX_V1_BYTES).indexOf(END);
  if (end === -1) {
    if (bytes.length >= MAX_V1_BYTES) throw new ProxyHeaderError('The PROXY header has no end');
    return undefined;
  }
  const [, family, ...rest] = bytes.toString('latin1', 0, end).split(' ');
  const length = end + END.length;
  if (family === 'UNKNOWN') return { client: undefined, length };
  const [source = '', target = '', sourcePort, targetPort] = rest;
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isPlainIPv6 : () => false;
  const [port, otherPort] = [portOf(sourcePort), portOf(targetPort)];
  if (rest.length !== 4 || !isAddress(source) || !isAddress(target) || port === undefined || otherPort === undefined)
    throw new ProxyHeaderError('The PROXY header of version 1 is malformed');
  return { client: { address: plain(source), port }, length };
}

const isPlainIPv6 = (address: string) => isIPv6(address) && !address.includes('%');

function portOf(text = ''): number | undefined {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

function parseV2(bytes: Buffer): ProxyHeader | undefined {
  if (bytes.length < V2_PREFIX_BYTES) return undefined;
  const [command, family] = [bytes.readUInt8(12), bytes.readUInt8(13)];
  const length = V2_PREFIX_BYTES + bytes.readUInt16BE(14);
  if (command !== 0x20 && command !== 0x21) throw new ProxyHeaderError('The PROXY header has an unknown command');
  if (length > MAX_V2_BYTES) throw new ProxyHeaderError(`The PROXY header is longer than ${MAX_V2_BYTES} bytes`);
  if (bytes.length < length) return undefined;
  // LOCAL: a connection of the proxy itself. Its other fields say nothing.
  if (command === 0x20 || family === 0x00) return { client: undefined, length };
  const [size, read] = family === 0x11 ? ([4, ipv4At] as const) : family === 0x21 ? ([16, ipv6At] as const) : [0];
  if (read === undefined) throw new ProxyHeaderError('The PROXY header is not of a TCP connection');
  if (length < V2_PREFIX_BYTES + 2 * size + 4) throw new ProxyHeaderError('The PROXY header of version 2 is malformed');
  const address = plain(read(bytes, V2_PREFIX_BYTES));
  return { client: { address, port: bytes.readUInt16BE(V2_PREFIX_BYTES + 2 * size) }, length };
}

const ipv4At = (bytes: Buffer, at: number) => bytes.subarray(at, at + 4).join('.');

const ipv6At = (bytes: Buffer, at: number) =>
  Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(at + 2 * group).toString(16)).join(':');

/** IPv6 in its shortest form, and IPv4 in IPv6 as IPv4, so that an address has one spelling. */
function plain(address: string): string {
  if (isIPv4(address)) return address;
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(shortest) ?? [];
  if (high === undefined || low === undefined) return shortest;
  return [high, low].flatMap((group) => [...Buffer.from(group.padStart(4, '0'), 'hex')]).join('.');
}

/**
 * Reads the header with which a trusted proxy begins a connection. What the client sent after it stays in the socket.
 * @param timeLimitMs for the whole header.
 * @throws ProxyHeaderError; Error if the connection ends or the time is up.
 */
export function readProxyHeader(socket: Socket, timeLimitMs: number): Promise<ProxyHeader> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    const end = (result: ProxyHeader | Error) => {
      clearTimeout(timer);
      socket.off('readable', onReadable).off('error', end).off('end', onEnd).off('close', onEnd);
      if (result instanceof Error) return reject(result);
      const rest = bytes.subarray(result.length);
      if (rest.length > 0) socket.unshift(rest);
      resolve(result);
    };
    const onEnd = () => end(new Error('The connection ended within its PROXY header'));
    const onReadable = () => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      bytes = Buffer.concat([bytes, chunk]);
      try {
        const header = parseProxyHeader(bytes);
        if (header !== undefined) end(header);
      } catch (error) {
        end(error as Error);
      }
    };
    const timer = setTimeout(() => end(new Error('The PROXY header did not arrive in time')), timeLimitMs);
    socket.on('readable', onReadable).on('error', end).on('end', onEnd).on('close', onEnd);
    onReadable();
  });
}

import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import packets, { type Answer, type DecodedPacket, type Packet } from 'dns-packet';

/** The address of a name server. */
export interface Server {
  address: string;
  port: number;
}

export type RecordType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'NS' | 'SOA' | 'TXT';

/** A DNS question with its flags. */
export interface Question {
  name: string;
  type: RecordType;
  /** Sets RD, for resolvers. Authoritative servers answer only from their own zones. */
  recursion?: boolean;
  /** Sets CD, which disables DNSSEC validation. */
  checkingDisabled?: boolean;
}

/** A resource record as text: TXT strings joined, names in lower case, `10 mx.example.com` for MX. */
interface ResourceRecord {
  name: string;
  type: string;
  data: string;
}

/** A server's decoded reply. */
export interface Reply {
  /** For example `NOERROR`, `NXDOMAIN` or `SERVFAIL`. */
  rcode: string;
  /** The AA flag. */
  authoritative: boolean;
  answers: ResourceRecord[];
  authorities: ResourceRecord[];
  additionals: ResourceRecord[];
}

/** Timeout per datagram, and number of sends. */
export interface QueryRetry {
  timeoutMs: number;
  tries: number;
}

/** Thrown when a server did not reply; the message gives the reason. */
class NoReply extends Error {
  override readonly name = 'NoReply';
}

/** Largest datagram that is safe on every path (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1232;

/**
 * Sends a question to a server over UDP, and over TCP if the reply was truncated.
 * @throws NoReply if no reply came in time or the server is unreachable.
 */
export async function queryServer(
  server: Server,
  question: Question,
  retry: QueryRetry,
  signal?: AbortSignal,
): Promise<Reply> {
  let reply = await askWith(true);
  // Servers without EDNS reject the OPT record (RFC 6891 §7).
  if (reply.rcode === 'FORMERR' || reply.rcode === 'NOTIMP') reply = await askWith(false);
  return reply;

  async function askWith(edns: boolean): Promise<Reply> {
    const query = encodeQuery(question, edns);
    const packet = await overUdp(server, query, retry, signal);
    return toReply(packet.flag_tc ? await overTcp(server, query, retry.timeoutMs * 2, signal) : packet);
  }
}

interface Query extends Packet {
  id: number;
  questions: [{ name: string; type: RecordType }];
}

function encodeQuery({ name, type, recursion = false, checkingDisabled = false }: Question, edns: boolean): Query {
  const opt: Answer = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: UDP_PAYLOAD_BYTES,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  };
  return {
    type: 'query',
    id: randomInt(0x10000),
    flags: (recursion ? packets.RECURSION_DESIRED : 0) | (checkingDisabled ? packets.CHECKING_DISABLED : 0),
    questions: [{ name, type }],
    additionals: edns ? [opt] : [],
  };
}

function overUdp(server: Server, query: Query, retry: QueryRetry, signal?: AbortSignal): Promise<DecodedPacket> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
    let sent = 0;
    let timer: NodeJS.Timeout | undefined;
    const finish = (end: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      socket.close();
      end();
    };
    const abort = () => finish(() => reject(new NoReply('deadline exceeded')));
    const send = () => {
      if (sent++ === retry.tries) return finish(() => reject(new NoReply('no answer')));
      socket.send(packets.encode(query));
      timer = setTimeout(send, retry.timeoutMs);
    };
    socket.on('error', (error) => finish(() => reject(unreachable(error))));
    socket.on('message', (message) => {
      // Ignore stray or forged datagrams and keep waiting.
      const packet = decodeReply(message, query);
      if (packet !== undefined) finish(() => resolve(packet));
    });
    if (signal?.aborted === true) return abort();
    signal?.addEventListener('abort', abort);
    // A connected socket receives only from this server, including ICMP errors.
    socket.connect(server.port, server.address, (error?: Error) =>
      error === undefined ? send() : finish(() => reject(unreachable(error))),
    );
  });
}

function overTcp(server: Server, query: Query, timeoutMs: number, signal?: AbortSignal): Promise<DecodedPacket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: server.address, port: server.port });
    let received = Buffer.alloc(0);
    const finish = (end: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      socket.destroy();
      end();
    };
    const fail = (why: string) => () => finish(() => reject(new NoReply(why)));
    const abort = fail('deadline exceeded');
    const timer = setTimeout(fail('no response over TCP'), timeoutMs);
    signal?.addEventListener('abort', abort);
    socket.on('error', (error) => finish(() => reject(unreachable(error))));
    socket.on('close', fail('it closed the connection'));
    socket.on('connect', () => socket.write(packets.streamEncode(query)));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const packet = decodeReply(received.subarray(2), query);
      if (packet === undefined || packet.flag_tc) return fail('invalid response over TCP')();
      finish(() => resolve(packet));
    });
  });
}

/** Decodes a reply to this query; `undefined` for anything else. */
function decodeReply(message: Buffer, { id, questions: [asked] }: Query): DecodedPacket | undefined {
  let packet: DecodedPacket;
  try {
    packet = packets.decode(message);
  } catch {
    return undefined;
  }
  if (!packet.flag_qr || packet.id !== id) return undefined;
  const question = packet.questions?.[0];
  // Some servers omit the question when they refuse.
  if (question === undefined) return rcodeOf(packet) === 'NOERROR' ? undefined : packet;
  return lower(question.name) === lower(asked.name) && question.type === asked.type ? packet : undefined;
}

function toReply(packet: DecodedPacket): Reply {
  return {
    rcode: rcodeOf(packet),
    authoritative: packet.flag_aa,
    answers: (packet.answers ?? []).flatMap(toRecord),
    authorities: (packet.authorities ?? []).flatMap(toRecord),
    additionals: (packet.additionals ?? []).flatMap(toRecord),
  };
}

const rcodeOf = (packet: DecodedPacket) => (packet as DecodedPacket & { rcode: string }).rcode;

function toRecord(answer: Answer): ResourceRecord[] {
  const name = lower(answer.name);
  switch (answer.type) {
    case 'TXT':
      // Strings of up to 255 bytes are joined into one text (RFC 7208 §3.3, RFC 6376 §3.6.2.2).
      return [
        { name, type: 'TXT', data: Buffer.concat([answer.data].flat().map((part) => Buffer.from(part))).toString() },
      ];
    case 'MX':
      return [{ name, type: 'MX', data: `${answer.data.preference ?? 0} ${lower(answer.data.exchange) || '.'}` }];
    case 'SOA':
      return [{ name, type: 'SOA', data: `${lower(answer.data.mname)} ${lower(answer.data.rname)}` }];
    case 'A':
    case 'AAAA':
    case 'CNAME':
    case 'NS':
      return [{ name, type: answer.type, data: lower(answer.data) }];
    default:
      return [];
  }
}

/** Names are case-insensitive, with or without a trailing dot. */
const lower = (name: string) => name.toLowerCase().replace(/\.$/, '');

function unreachable(error: NodeJS.ErrnoException): NoReply {
  const reasons: Record<string, string> = {
    ECONNREFUSED: 'connection refused',
    ENETUNREACH: 'network unreachable',
    EHOSTUNREACH: 'host unreachable',
    ECONNRESET: 'it closed the connection',
  };
  return new NoReply(reasons[error.code ?? ''] ?? error.message);
}

import { createSocket } from 'node:dgram';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import packets, { type Answer, type DecodedPacket, type Packet } from 'dns-packet';
import { ancestors, isWithin } from '../src/dns/names.ts';

type Type = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'NS' | 'SOA' | 'TXT';

/** How a server misbehaves for a name. */
type Misbehaviour =
  | 'SERVFAIL'
  | 'REFUSED'
  | 'DNSSEC failure'
  | 'silence'
  | 'truncation'
  | 'truncation for ever'
  | 'no EDNS'
  | 'garbage first'
  | 'forgery first'
  | 'not authoritative'
  | { delayMs: number };

interface Asked {
  name: string;
  type: string;
  over: 'udp' | 'tcp';
}

/** A DNS server for tests, over UDP and TCP on one loopback port. */
export interface DnsServer {
  port: number;
  /** The questions received, in order. */
  asked: Asked[];
  /** Makes it authoritative for a zone. */
  zone: (apex: string, nameservers: string[], soa?: { mname: string; rname: string }) => void;
  /** Replaces the records of a name and type. A TXT value given as a list is published as several strings. */
  set: (name: string, type: Type, ...values: (string | string[])[]) => void;
  remove: (name: string, type: Type) => void;
  /** Misbehaves for a name and everything below it; `undefined` restores it. */
  misbehave: (name: string, how: Misbehaviour | undefined) => void;
  close: () => Promise<void>;
}

/** A `recursive` server answers for every name, without authority, like a resolver. */
export async function startDnsServer({ recursive = false } = {}): Promise<DnsServer> {
  const records = new Map<string, Answer[]>();
  const zones = new Map<string, string>();
  const misbehaviours = new Map<string, Misbehaviour>();
  const asked: Asked[] = [];
  const key = (name: string, type: string) => `${name.toLowerCase()} ${type}`;
  const { udp, tcp, port } = await bind();
  const open = new Set<Socket>();

  udp.on('message', (message, from) => {
    void respond(message, 'udp', (bytes) => udp.send(bytes, from.port, from.address));
  });
  tcp.on('connection', (socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      void respond(chunk.subarray(2), 'tcp', (bytes) => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(bytes.length);
        // In two segments, as networks do.
        socket.write(Buffer.concat([length, bytes.subarray(0, 20)]));
        setTimeout(() => socket.write(bytes.subarray(20)), 5);
      });
    });
  });

  async function respond(message: Buffer, over: 'udp' | 'tcp', send: (bytes: Buffer) => void): Promise<void> {
    const query = packets.decode(message);
    const { name = '', type = 'A' } = query.questions?.[0] ?? {};
    asked.push({ name: name.toLowerCase(), type, over });
    const how = ancestors(name.toLowerCase())
      .map((ancestor) => misbehaviours.get(ancestor))
      .find((found) => found !== undefined);
    if (how === 'silence') return;
    if (typeof how === 'object') await new Promise((resolve) => setTimeout(resolve, how.delayMs));
    if (how === 'garbage first') send(Buffer.from('this is not DNS'));
    if (how === 'forgery first') send(packets.encode({ ...answer(query, name, type), id: (query.id ?? 0) ^ 1 }));
    send(packets.encode(misbehaved(answer(query, name, type), how, over, query)));
  }

  function answer(query: DecodedPacket, name: string, type: string): Packet {
    const base = { type: 'response', id: query.id, questions: query.questions } as const;
    const lower = name.toLowerCase();
    const zone = ancestors(lower).find((ancestor) => zones.has(ancestor));
    if (!recursive && zone === undefined) return { ...base, flags: RCODES.REFUSED };
    const cut = recursive ? undefined : delegation(lower, zone ?? '');
    if (cut !== undefined) return { ...base, authorities: cut.ns, additionals: cut.glue };
    const answers = chain(lower, type);
    const exists = [...records.keys()].some((known) => isWithin(known.slice(0, known.indexOf(' ')), lower));
    const soa = records.get(key(zone ?? '', 'SOA')) ?? [];
    return {
      ...base,
      flags:
        (recursive ? packets.RECURSION_AVAILABLE : packets.AUTHORITATIVE_ANSWER) |
        (exists || answers.length > 0 ? 0 : RCODES.NXDOMAIN),
      answers,
      authorities: answers.length > 0 ? [] : soa,
    };
  }

  /** The delegation between the zone and the name, unless this server has the child zone. */
  function delegation(name: string, zone: string): { ns: Answer[]; glue: Answer[] } | undefined {
    const cut = ancestors(name).find(
      (ancestor) => ancestor !== zone && isWithin(ancestor, zone) && records.has(key(ancestor, 'NS')),
    );
    if (cut === undefined || zones.has(cut)) return undefined;
    const ns = records.get(key(cut, 'NS')) ?? [];
    const glue = ns.flatMap((record) => records.get(key(String((record as { data: unknown }).data), 'A')) ?? []);
    return { ns, glue };
  }

  /** The records of a name, or its CNAME chain as far as this server is authoritative. */
  function chain(name: string, type: string, depth = 0): Answer[] {
    const wildcard = `*.${name.slice(name.indexOf('.') + 1)}`;
    const own =
      records.get(key(name, type)) ?? records.get(key(wildcard, type))?.map((record) => ({ ...record, name }));
    if (own !== undefined) return own;
    const alias = records.get(key(name, 'CNAME'))?.[0] as ({ data: string } & Answer) | undefined;
    if (alias === undefined || depth > 3) return [];
    const isOurs = recursive || ancestors(alias.data).some((ancestor) => zones.has(ancestor));
    return [alias, ...(isOurs ? chain(alias.data.toLowerCase(), type, depth + 1) : [])];
  }

  const set: DnsServer['set'] = (name, type, ...values) => {
    records.set(
      key(name, type),
      values.map((value) => toAnswer(name, type, value)),
    );
  };

  return {
    port,
    asked,
    set,
    zone: (apex, nameservers, soa = { mname: nameservers[0] ?? '', rname: `hostmaster.${apex}` }) => {
      zones.set(apex, apex);
      set(apex, 'NS', ...nameservers);
      records.set(key(apex, 'SOA'), [
        {
          name: apex,
          type: 'SOA',
          ttl: 60,
          data: { ...soa, serial: 1, refresh: 60, retry: 60, expire: 60, minimum: 60 },
        },
      ]);
    },
    remove: (name, type) => void records.delete(key(name, type)),
    misbehave: (name, how) => void (how === undefined ? misbehaviours.delete(name) : misbehaviours.set(name, how)),
    close: async () => {
      for (const socket of open) socket.destroy();
      await Promise.all([
        new Promise<void>((resolve) => udp.close(resolve)),
        new Promise((resolve) => tcp.close(resolve)),
      ]);
    },
  };
}

const RCODES = { SERVFAIL: 2, FORMERR: 1, NXDOMAIN: 3, REFUSED: 5 };

function misbehaved(right: Packet, how: Misbehaviour | undefined, over: 'udp' | 'tcp', query: Packet): Packet {
  const bare: Packet = { type: 'response', id: right.id, questions: right.questions };
  switch (how) {
    case 'SERVFAIL':
    case 'REFUSED':
      return { ...bare, flags: RCODES[how] };
    case 'DNSSEC failure':
      return ((query.flags ?? 0) & packets.CHECKING_DISABLED) === 0 ? { ...bare, flags: RCODES.SERVFAIL } : right;
    case 'no EDNS':
      return (query.additionals ?? []).length > 0 ? { ...bare, flags: RCODES.FORMERR } : right;
    case 'truncation for ever':
      return { ...bare, flags: packets.TRUNCATED_RESPONSE | packets.AUTHORITATIVE_ANSWER };
    case 'truncation':
      return over === 'tcp' ? right : { ...bare, flags: packets.TRUNCATED_RESPONSE | packets.AUTHORITATIVE_ANSWER };
    case 'not authoritative':
      return { ...right, flags: (right.flags ?? 0) & ~packets.AUTHORITATIVE_ANSWER };
    default:
      return right;
  }
}

function toAnswer(name: string, type: Type, value: string | string[]): Answer {
  const base = { name, ttl: 60, class: 'IN' } as const;
  const text = [value].flat().join('');
  switch (type) {
    case 'TXT':
      return { ...base, type, data: Array.isArray(value) ? value : (value.match(/.{1,255}/gs) ?? ['']) };
    case 'MX': {
      const [preference = '0', exchange = '.'] = text.split(' ');
      return { ...base, type, data: { preference: Number(preference), exchange } };
    }
    case 'SOA':
      throw new Error('zone() makes the SOA record');
    default:
      return { ...base, type, data: text };
  }
}

/** A port that is free for both protocols. */
async function bind() {
  for (;;) {
    const tcp = createServer();
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket('udp4');
    const isFree = await new Promise<boolean>((resolve) => {
      udp.once('error', () => resolve(false)).bind(port, '127.0.0.1', () => resolve(true));
    });
    if (isFree) return { udp, tcp, port };
    tcp.close();
  }
}

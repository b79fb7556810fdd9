import { type AddressScope, isAllowedAddress } from '@postroom/platform';
import { ancestors, isWithin } from './names.ts';
import { ask, type Patience, type Question, type RecordType, type Reply, type Server } from './wire.ts';

export interface ResolverOptions {
  /** Resolvers that find name servers for us, asked in this order. */
  resolvers: readonly Server[];
  /** The address and port at which a name server of this address is asked. */
  locate: (address: string) => Server;
  /** Where name servers may be; whoever runs a zone chooses their addresses. */
  scope: AddressScope;
  patience: Patience;
  /** All the look-ups of one session together; what is not known by then counts as not answered. */
  deadlineMs: number;
}

/** What one source says about a name. `silent` means nothing that can be relied on. */
export interface View {
  /** The host name of the name server, or the address of a resolver. */
  server: string;
  outcome: 'found' | 'absent' | 'silent';
  /** The records of the type asked for, at the end of aliases. */
  records: string[];
  /** The names that CNAME records led through, the last of them the one that has the records. */
  aliases: string[];
  /** Why it is silent, in a few words; empty otherwise. */
  why: string;
}

/** What every name server of the zone says about a name. */
export interface Survey {
  name: string;
  type: RecordType;
  views: View[];
}

/** A zone, and the servers that it is delegated to. */
export interface Zone {
  apex: string;
  servers: NameServer[];
}

interface NameServer {
  host: string;
  /** The first of its public addresses; `undefined` when none was found. */
  address: string | undefined;
}

/** Look-ups that belong together: what one of them learns about zones serves the others. */
export interface Session {
  /**
   * Asks every name server of the zone that holds the name. When not one of them can be reached, as in networks that let
   * DNS out only through their own resolvers, it asks those.
   */
  survey: (name: string, type: RecordType) => Promise<Survey>;
  /** The first reliable word on a name from its zone's servers; for what need not be the same everywhere. */
  lookup: (name: string, type: RecordType) => Promise<View>;
  /** What a resolver says; for names of others, and for what validating resolvers make of a zone. */
  recursive: (name: string, type: RecordType, options?: { checkingDisabled?: boolean }) => Promise<View>;
  /** The zone that holds a name as its own servers have it, or `undefined` when there is none or it can't be reached. */
  zoneOf: (name: string) => Promise<{ apex: string; nameservers: string[]; soa: string } | undefined>;
  end: () => void;
}

/** More name servers than this are never needed to know how a zone stands. */
const MAX_SERVERS = 8;
/** CNAME records followed from one name, and delegations from one zone. */
const MAX_STEPS = 8;

/** Begins a session of look-ups; its time runs from now. */
export function openSession(options: ResolverOptions): Session {
  const { resolvers, locate, scope, patience } = options;
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), options.deadlineMs);
  const zones = new Map<string, Zone>();
  const unreachable = new Set<string>();
  const memory = new Map<string, Promise<unknown>>();

  return {
    survey: (name, type) => once(`survey ${type} ${name}`, () => survey(name, type)),
    lookup: (name, type) => lookup(name, type, MAX_STEPS),
    recursive,
    zoneOf,
    end: () => {
      clearTimeout(timer);
      time.abort();
    },
  };

  /** Within a session nothing is asked twice. */
  function once<T>(key: string, work: () => Promise<T>): Promise<T> {
    const known = memory.get(key) as Promise<T> | undefined;
    const result = known ?? work();
    memory.set(key, result);
    return result;
  }

  async function survey(name: string, type: RecordType): Promise<Survey> {
    const views = await viewsOf(name, type, MAX_STEPS, async (zone, question) => {
      const first = await untilReliable(zone, question);
      const others = zone.servers.slice(first.length).map(question);
      return first.some(isDelegation) ? first : [...first, ...(await Promise.all(others))];
    });
    return { name, type, views: views ?? [await recursive(name, type)] };
  }

  /** `steps` is how many more CNAME records may lead on from here. */
  function lookup(name: string, type: RecordType, steps: number): Promise<View> {
    return once(`lookup ${type} ${name} ${steps}`, async () => {
      const views = await viewsOf(name, type, steps, untilReliable);
      return views?.find((view) => view.outcome !== 'silent') ?? recursive(name, type);
    });
  }

  /**
   * Asks the deepest zone that is known to hold the name, and goes on where that delegates it; `undefined` when no server
   * can be relied on.
   */
  async function viewsOf(name: string, type: RecordType, steps: number, askZone: AskZone): Promise<View[] | undefined> {
    let zone = knownZone(name) ?? (await topZone(name));
    for (let step = 0; zone !== undefined && step < MAX_STEPS; step++) {
      if (unreachable.has(zone.apex)) return undefined;
      const heard = await askZone(zone, questioner(name, type, zone));
      const delegation = heard.find(isDelegation)?.delegation;
      if (delegation === undefined) {
        const views = await Promise.all(heard.map((one) => followAliases(one, type, steps)));
        if (views.some((view) => view.outcome !== 'silent')) return views;
        if (views.every((view) => UNREACHABLE.has(view.why))) unreachable.add(zone.apex);
        return undefined;
      }
      zone = await once(`zone ${delegation.apex}`, () => toZone(delegation));
    }
    return undefined;
  }

  /** Two servers at once, then the others, until one has a word that can be relied on. */
  async function untilReliable({ servers }: Zone, question: AskOne): Promise<Heard[]> {
    const first = await Promise.all(servers.slice(0, 2).map(question));
    if (first.some((one) => isDelegation(one) || one.outcome !== 'silent')) return first;
    return [...first, ...(await Promise.all(servers.slice(2).map(question)))];
  }

  function questioner(name: string, type: RecordType, zone: Zone): AskOne {
    return async ({ host, address }) => {
      if (address === undefined) return silent(host, 'it has no usable address');
      try {
        return read(await askServer(locate(address), { name, type }), host, zone.apex, { name, type });
      } catch (error) {
        return silent(host, (error as Error).message);
      }
    };
  }

  /** An authoritative server returns a CNAME of another zone as it is; what stands there is asked of that zone. */
  async function followAliases(heard: Heard, type: RecordType, steps: number): Promise<View> {
    if (isDelegation(heard)) return silent(heard.server, 'it delegates the name');
    const { next, ...view } = heard;
    if (next === undefined) return view;
    if (steps === 0) return endless(view);
    const target = await lookup(next, type, steps - 1);
    return { ...target, server: view.server, aliases: [...view.aliases, ...target.aliases] };
  }

  function knownZone(name: string): Zone | undefined {
    return ancestors(name)
      .map((ancestor) => zones.get(ancestor))
      .find((zone) => zone !== undefined);
  }

  /**
   * Where the walk down begins. Resolvers are asked only about the two highest names: a name that is about to be published
   * must not be asked of them, since they would remember for an hour that it does not exist (RFC 2308).
   */
  async function topZone(name: string): Promise<Zone | undefined> {
    for (const apex of ancestors(name).slice(-2)) {
      const { outcome, records, aliases } = await recursive(apex, 'NS');
      if (outcome === 'found' && aliases.length === 0) {
        return once(`zone ${apex}`, () => toZone({ apex, hosts: records, glue: new Map() }));
      }
    }
    return undefined;
  }

  async function toZone({ apex, hosts, glue }: Delegation): Promise<Zone> {
    const chosen = hosts.toSorted().slice(0, MAX_SERVERS);
    const servers = chosen.map(async (host) => ({ host, address: usable(glue.get(host)) ?? (await addressOf(host)) }));
    const zone = { apex, servers: await Promise.all(servers) };
    zones.set(apex, zone);
    return zone;
  }

  async function addressOf(host: string): Promise<string | undefined> {
    for (const type of ['A', 'AAAA'] as const) {
      const address = usable((await recursive(host, type)).records);
      if (address !== undefined) return address;
    }
    return undefined;
  }

  function usable(addresses: readonly string[] | undefined): string | undefined {
    return addresses?.find((address) => isAllowedAddress(address, scope));
  }

  function recursive(name: string, type: RecordType, how: { checkingDisabled?: boolean } = {}): Promise<View> {
    return once(`recursive ${type} ${name} ${how.checkingDisabled ?? false}`, async () => {
      let view: View = silent('', 'no resolver is set');
      for (const resolver of resolvers) {
        view = await askResolver(resolver, { name, type, recursion: true, ...how });
        if (view.outcome !== 'silent') break;
      }
      return view;
    });
  }

  async function askResolver(resolver: Server, question: Question): Promise<View> {
    try {
      const { next: _, ...view } = toView(await askServer(resolver, question), resolver.address, '', question);
      return view;
    } catch (error) {
      return silent(resolver.address, (error as Error).message);
    }
  }

  function askServer(server: Server, question: Question): Promise<Reply> {
    return ask(server, question, patience, time.signal);
  }

  async function zoneOf(name: string) {
    const { apex, soa } = await soaOf(name);
    if (apex === undefined) return undefined;
    const { records } = await lookup(apex, 'NS', MAX_STEPS);
    return { apex, soa, nameservers: records.toSorted() };
  }

  /** The closest name at or above that has an SOA record is where the zone begins. */
  async function soaOf(name: string): Promise<{ apex?: string; soa: string }> {
    for (const apex of ancestors(name)) {
      const { outcome, records, aliases } = await lookup(apex, 'SOA', MAX_STEPS);
      if (outcome === 'found' && aliases.length === 0) return { apex, soa: records[0] ?? '' };
    }
    return { soa: '' };
  }
}

interface Delegation {
  apex: string;
  hosts: string[];
  /** Addresses that the parent zone gave along. */
  glue: Map<string, string[]>;
}

/** A view that may end in a name of another zone, or a pointer to the zone that knows. */
type Heard = (View & { next?: string }) | { server: string; delegation: Delegation };
type AskOne = (server: NameServer) => Promise<Heard>;
type AskZone = (zone: Zone, question: AskOne) => Promise<Heard[]>;

const isDelegation = (heard: Heard): heard is { server: string; delegation: Delegation } => 'delegation' in heard;

/** Reasons that will be the same for every other name of the zone. */
const UNREACHABLE = new Set([
  'no answer',
  'nothing listens there',
  'there is no way to its network',
  'there is no way to it',
  'it has no usable address',
]);

const silent = (server: string, why: string): View => ({ server, outcome: 'silent', records: [], aliases: [], why });
const endless = (view: View): View => ({
  ...view,
  outcome: 'absent',
  records: [],
  why: 'its CNAME records do not end',
});

function read(reply: Reply, server: string, apex: string, question: Question): Heard {
  const delegation = delegationOf(reply, apex, question.name);
  if (delegation !== undefined) return { server, delegation };
  if (!reply.authoritative && !isRefusal(reply)) return silent(server, 'it does not hold the zone');
  return toView(reply, server, apex, question);
}

/** A referral: no answer, and the name servers of a zone between this one and the name. */
function delegationOf(reply: Reply, apex: string, name: string): Delegation | undefined {
  if (reply.authoritative || reply.rcode !== 'NOERROR' || reply.answers.length > 0) return undefined;
  const below = reply.authorities.filter(
    (record) =>
      record.type === 'NS' && record.name !== apex && isWithin(record.name, apex) && isWithin(name, record.name),
  );
  const [first] = below;
  if (first === undefined) return undefined;
  const glue = new Map<string, string[]>();
  for (const { name: host, type, data } of reply.additionals) {
    // A parent may speak of hosts inside its own zone only.
    if ((type === 'A' || type === 'AAAA') && isWithin(host, apex)) glue.set(host, [...(glue.get(host) ?? []), data]);
  }
  return { apex: first.name, hosts: below.map((record) => record.data), glue };
}

const isRefusal = ({ rcode }: Reply) => rcode !== 'NOERROR' && rcode !== 'NXDOMAIN';

/** `apex` is the zone whose word is taken; the root's, empty, is taken for every name. */
function toView(reply: Reply, server: string, apex: string, { name, type }: Question): View & { next?: string } {
  if (isRefusal(reply)) return silent(server, reply.rcode);
  const aliases: string[] = [];
  const view = { server, aliases, why: '' };
  for (let at = name; aliases.length <= MAX_STEPS;) {
    if (apex !== '' && !isWithin(at, apex)) return { ...view, outcome: 'absent', records: [], next: at };
    const here = reply.answers.filter((record) => record.name === at);
    const records = here.filter((record) => record.type === type).map((record) => record.data);
    if (records.length > 0) return { ...view, outcome: 'found', records };
    const alias = here.find((record) => record.type === 'CNAME')?.data;
    // Of where a CNAME leads to, a reply may say nothing; that is no denial.
    const isOpen = at !== name && reply.rcode === 'NOERROR';
    if (alias === undefined) return { ...view, outcome: 'absent', records: [], ...(isOpen ? { next: at } : {}) };
    aliases.push(alias);
    at = alias;
  }
  return endless({ ...view, outcome: 'absent', records: [] });
}

import { type AddressScope, isAllowedAddress } from '@postroom/platform';
import { ancestors, isWithin } from './names.ts';
import { type QueryRetry, queryServer, type Question, type RecordType, type Reply, type Server } from './wire.ts';

export interface ResolverOptions {
  /** Recursive resolvers, tried in this order. */
  resolvers: readonly Server[];
  /** Maps a name server's address to the address and port to query. */
  locate: (address: string) => Server;
  /** Allowed name server addresses; they are chosen by the zone's owner. */
  scope: AddressScope;
  retry: QueryRetry;
  /** Deadline for all look-ups of a session. Queries still open by then count as unanswered. */
  deadlineMs: number;
}

/** One server's view of a name. `silent`: no reliable answer. */
export interface View {
  /** Hostname of the name server, or address of the resolver. */
  server: string;
  outcome: 'found' | 'absent' | 'silent';
  /** Records of the requested type, after following aliases. */
  records: string[];
  /** Names followed through CNAME records; the last one holds the records. */
  aliases: string[];
  /** Why it is silent; empty otherwise. */
  why: string;
}

/** The views of every name server of a zone on a name. */
export interface Survey {
  name: string;
  type: RecordType;
  views: View[];
}

/** A zone and the servers it is delegated to. */
interface Zone {
  apex: string;
  servers: NameServer[];
}

interface NameServer {
  host: string;
  /** Its first allowed address; `undefined` if it has none. */
  address: string | undefined;
}

/** A group of look-ups that share what they learn about zones. */
export interface Session {
  /**
   * Queries every name server of the name's zone. If none is reachable, as in networks that allow DNS only through
   * their own resolvers, it queries those.
   */
  survey: (name: string, type: RecordType) => Promise<Survey>;
  /** The first reliable answer from the zone's servers, for records that need not be consistent. */
  lookup: (name: string, type: RecordType) => Promise<View>;
  /** A resolver's answer, for names in other owners' zones and to see the result of DNSSEC validation. */
  recursive: (name: string, type: RecordType, options?: { checkingDisabled?: boolean }) => Promise<View>;
  /** The zone of a name according to its own servers; `undefined` if there is none or it is unreachable. */
  zoneOf: (name: string) => Promise<{ apex: string; nameservers: string[]; soa: string } | undefined>;
  end: () => void;
}

/** Name servers queried per zone. */
const MAX_SERVERS = 8;
/** Limit on CNAME records followed from a name, and on delegations from a zone. */
const MAX_STEPS = 8;

/** Starts a session; its deadline counts from now. */
export function openSession(options: ResolverOptions): Session {
  const { resolvers, locate, scope, retry } = options;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), options.deadlineMs);
  const zones = new Map<string, Zone>();
  const unreachable = new Set<string>();
  const cache = new Map<string, Promise<unknown>>();

  return {
    survey: (name, type) => memoized(`survey ${type} ${name}`, () => survey(name, type)),
    lookup: (name, type) => lookup(name, type, MAX_STEPS),
    recursive,
    zoneOf,
    end: () => {
      clearTimeout(timer);
      deadline.abort();
    },
  };

  /** Caches within the session, so that nothing is queried twice. */
  function memoized<T>(key: string, work: () => Promise<T>): Promise<T> {
    const known = cache.get(key) as Promise<T> | undefined;
    const result = known ?? work();
    cache.set(key, result);
    return result;
  }

  async function survey(name: string, type: RecordType): Promise<Survey> {
    const views = await viewsOf(name, type, MAX_STEPS, async (zone, question) => {
      const first = await askUntilReliable(zone, question);
      const others = zone.servers.slice(first.length).map(question);
      return first.some(isDelegation) ? first : [...first, ...(await Promise.all(others))];
    });
    return { name, type, views: views ?? [await recursive(name, type)] };
  }

  /** `steps` is the number of CNAME records that may still be followed. */
  function lookup(name: string, type: RecordType, steps: number): Promise<View> {
    return memoized(`lookup ${type} ${name} ${steps}`, async () => {
      const views = await viewsOf(name, type, steps, askUntilReliable);
      return views?.find((view) => view.outcome !== 'silent') ?? recursive(name, type);
    });
  }

  /** Queries the deepest known zone of the name and follows its delegations; `undefined` if no server is reliable. */
  async function viewsOf(name: string, type: RecordType, steps: number, askZone: AskZone): Promise<View[] | undefined> {
    let zone = knownZone(name) ?? (await startingZone(name));
    for (let step = 0; zone !== undefined && step < MAX_STEPS; step++) {
      if (unreachable.has(zone.apex)) return undefined;
      const response = await askZone(zone, questioner(name, type, zone));
      const delegation = response.find(isDelegation)?.delegation;
      if (delegation === undefined) {
        const views = await Promise.all(response.map((one) => followAliases(one, type, steps)));
        if (views.some((view) => view.outcome !== 'silent')) return views;
        if (views.every((view) => UNREACHABLE.has(view.why))) unreachable.add(zone.apex);
        return undefined;
      }
      zone = await memoized(`zone ${delegation.apex}`, () => toZone(delegation));
    }
    return undefined;
  }

  /** Queries two servers at once, then the others until one gives a reliable answer. */
  async function askUntilReliable({ servers }: Zone, question: AskOne): Promise<ServerResponse[]> {
    const first = await Promise.all(servers.slice(0, 2).map(question));
    if (first.some((one) => isDelegation(one) || one.outcome !== 'silent')) return first;
    return [...first, ...(await Promise.all(servers.slice(2).map(question)))];
  }

  function questioner(name: string, type: RecordType, zone: Zone): AskOne {
    return async ({ host, address }) => {
      if (address === undefined) return silent(host, 'it has no allowed address');
      try {
        return interpret(await askServer(locate(address), { name, type }), host, zone.apex, { name, type });
      } catch (error) {
        return silent(host, (error as Error).message);
      }
    };
  }

  /** An authoritative server returns a CNAME to another zone as is; its target is looked up in that zone. */
  async function followAliases(response: ServerResponse, type: RecordType, steps: number): Promise<View> {
    if (isDelegation(response)) return silent(response.server, 'it delegated the name');
    const { next, ...view } = response;
    if (next === undefined) return view;
    if (steps === 0) return aliasLoop(view);
    const target = await lookup(next, type, steps - 1);
    return { ...target, server: view.server, aliases: [...view.aliases, ...target.aliases] };
  }

  function knownZone(name: string): Zone | undefined {
    return ancestors(name)
      .map((ancestor) => zones.get(ancestor))
      .find((zone) => zone !== undefined);
  }

  /**
   * The zone at which to start the descent. Resolvers are asked only about the two topmost names: if they were asked
   * about a name that is yet to be published, they would cache its absence for an hour (RFC 2308).
   */
  async function startingZone(name: string): Promise<Zone | undefined> {
    for (const apex of ancestors(name).slice(-2)) {
      const { outcome, records, aliases } = await recursive(apex, 'NS');
      if (outcome === 'found' && aliases.length === 0) {
        return memoized(`zone ${apex}`, () => toZone({ apex, hosts: records, glue: new Map() }));
      }
    }
    return undefined;
  }

  async function toZone({ apex, hosts, glue }: Delegation): Promise<Zone> {
    const chosen = hosts.toSorted().slice(0, MAX_SERVERS);
    const servers = chosen.map(async (host) => ({
      host,
      address: allowedAddress(glue.get(host)) ?? (await addressOf(host)),
    }));
    const zone = { apex, servers: await Promise.all(servers) };
    zones.set(apex, zone);
    return zone;
  }

  async function addressOf(host: string): Promise<string | undefined> {
    for (const type of ['A', 'AAAA'] as const) {
      const address = allowedAddress((await recursive(host, type)).records);
      if (address !== undefined) return address;
    }
    return undefined;
  }

  function allowedAddress(addresses: readonly string[] | undefined): string | undefined {
    return addresses?.find((address) => isAllowedAddress(address, scope));
  }

  function recursive(name: string, type: RecordType, how: { checkingDisabled?: boolean } = {}): Promise<View> {
    return memoized(`recursive ${type} ${name} ${how.checkingDisabled ?? false}`, async () => {
      let view: View = silent('', 'no resolver is configured');
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
    return queryServer(server, question, retry, deadline.signal);
  }

  async function zoneOf(name: string) {
    const { apex, soa } = await soaOf(name);
    if (apex === undefined) return undefined;
    const { records } = await lookup(apex, 'NS', MAX_STEPS);
    return { apex, soa, nameservers: records.toSorted() };
  }

  /** The zone apex is the closest name at or above this one with an SOA record. */
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
  /** Glue addresses from the parent zone. */
  glue: Map<string, string[]>;
}

/** A view that may end in another zone's name, or a referral. */
type ServerResponse = (View & { next?: string }) | { server: string; delegation: Delegation };
type AskOne = (server: NameServer) => Promise<ServerResponse>;
type AskZone = (zone: Zone, question: AskOne) => Promise<ServerResponse[]>;

const isDelegation = (response: ServerResponse): response is { server: string; delegation: Delegation } =>
  'delegation' in response;

/** Failures that apply to every name of the zone. */
const UNREACHABLE = new Set([
  'no answer',
  'connection refused',
  'network unreachable',
  'host unreachable',
  'it has no allowed address',
]);

const silent = (server: string, why: string): View => ({ server, outcome: 'silent', records: [], aliases: [], why });
const aliasLoop = (view: View): View => ({
  ...view,
  outcome: 'absent',
  records: [],
  why: 'its CNAME records form a loop',
});

function interpret(reply: Reply, server: string, apex: string, question: Question): ServerResponse {
  const delegation = delegationOf(reply, apex, question.name);
  if (delegation !== undefined) return { server, delegation };
  if (!reply.authoritative && !isRefusal(reply)) return silent(server, 'it is not authoritative for the zone');
  return toView(reply, server, apex, question);
}

/** A referral has no answer, but the name servers of a zone between this one and the name. */
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
    // Glue is trusted only for hosts inside the parent zone.
    if ((type === 'A' || type === 'AAAA') && isWithin(host, apex)) glue.set(host, [...(glue.get(host) ?? []), data]);
  }
  return { apex: first.name, hosts: below.map((record) => record.data), glue };
}

const isRefusal = ({ rcode }: Reply) => rcode !== 'NOERROR' && rcode !== 'NXDOMAIN';

/** `apex` is the zone this server is trusted for; the empty root zone covers every name. */
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
    // A reply may omit the target of a CNAME; that does not mean it is absent.
    const isOpen = at !== name && reply.rcode === 'NOERROR';
    if (alias === undefined) return { ...view, outcome: 'absent', records: [], ...(isOpen ? { next: at } : {}) };
    aliases.push(alias);
    at = alias;
  }
  return aliasLoop({ ...view, outcome: 'absent', records: [] });
}

import { randomBytes } from 'node:crypto';
import { openSession, type ResolverOptions, type Session } from '../src/dns/resolver.ts';
import { type DnsServer, startDnsServer } from './dns-server.ts';

/** A small DNS: one resolver, and authoritative servers, each with its own address. */
export interface DnsWorld {
  resolver: DnsServer;
  options: ResolverOptions;
  /** Adds a zone with its own servers, by default `ns1.` and so on within the zone. */
  zone: (apex: string, hosts?: string[]) => Promise<DnsServer[]>;
  /** Adds a name server that the resolver can find. */
  server: (host: string) => Promise<DnsServer>;
  session: (more?: Partial<ResolverOptions>) => Session;
  close: () => Promise<void>;
}

/** A domain name that no other test uses. */
export const freshDomain = () => `d${randomBytes(5).toString('hex')}.test`;

export async function startDnsWorld(): Promise<DnsWorld> {
  const resolver = await startDnsServer({ recursive: true });
  const servers = new Map<string, DnsServer>();
  const options: ResolverOptions = {
    resolvers: [{ address: '127.0.0.1', port: resolver.port }],
    // Each loopback address maps to a port of this machine.
    locate: (address) => ({ address: '127.0.0.1', port: servers.get(address)?.port ?? 1 }),
    scope: 'loopback',
    retry: { timeoutMs: 300, tries: 2 },
    deadlineMs: 10_000,
  };

  const server = async (host: string) => {
    const one = await startDnsServer();
    const address = `127.0.2.${servers.size + 1}`;
    servers.set(address, one);
    resolver.set(host, 'A', address);
    return one;
  };

  return {
    resolver,
    options,
    server,
    zone: async (apex, hosts = [`ns1.${apex}`, `ns2.${apex}`]) => {
      resolver.set(apex, 'NS', ...hosts);
      const all = await Promise.all(hosts.map(server));
      for (const one of all) one.zone(apex, hosts);
      return all;
    },
    session: (more = {}) => openSession({ ...options, ...more }),
    close: async () => {
      await Promise.all([resolver, ...servers.values()].map((one) => one.close()));
    },
  };
}

import { config, guardedLookup, hostProblem } from '@postroom/platform';
import type { Traffic } from './smtp-pools.ts';
import { localHostName, probeRelay, type Relay, type SendOutcome, type SmtpPool } from '@postroom/smtp';
import { TRANSPORT_POLICY } from './policy.ts';
import { providerLimits } from './provider-limits.ts';
import { RateLimiter } from './rate-limiter.ts';
import { createSharedPool } from './shared-pool.ts';
import type { Transport } from './transport.ts';

/** Settings of a relay; omitted limits default to those known for its host. */
export interface SmtpSettings {
  host: string;
  port: number;
  /** TLS from the first byte, mandatory STARTTLS, or opportunistic STARTTLS. */
  tls: 'implicit' | 'starttls' | 'optional';
  /** Maximum connections, across all processes. */
  connections?: number | undefined;
  messagesPerConnection?: number | undefined;
  /** Maximum messages per second, across all processes. */
  ratePerSecond?: number | undefined;
}

export interface SmtpCredentials {
  user: string;
  password: string;
}

/** Opens the transport of a project's relay. */
export function openSmtp(id: string, settings: SmtpSettings, credentials: SmtpCredentials | undefined): Transport {
  const limits = providerLimits(settings.host);
  const connections = settings.connections ?? limits.connections;
  const relay = relayOf(settings, credentials);
  const limiter = settings.ratePerSecond === undefined ? undefined : new RateLimiter(id, settings.ratePerSecond);
  const pools = new Map<Traffic, SmtpPool>();
  // Half for each kind of traffic, so that together they stay within the host's limit. A single connection carries both.
  const share = { campaigns: Math.floor(connections / 2), transactional: Math.ceil(connections / 2) };
  const poolFor = (wanted: Traffic) => {
    const traffic = share[wanted] === 0 ? 'transactional' : wanted;
    const opened =
      pools.get(traffic) ??
      createSharedPool(`${id} ${traffic}`, relay, {
        connections: share[traffic],
        maxMessagesPerConnection: settings.messagesPerConnection ?? limits.messagesPerConnection,
      });
    pools.set(traffic, opened);
    return opened;
  };
  return {
    id,
    kind: 'smtp',
    get width() {
      const max = Math.max(connections, ...[...pools.values()].map((pool) => pool.width));
      return Math.max(2, Math.min(max, settings.ratePerSecond ?? Infinity));
    },
    signing: 'whole',
    send: async (message, traffic) => {
      if (limiter !== undefined) await limiter.acquire(traffic);
      return poolFor(traffic).send(message);
    },
    close: async () => void (await Promise.all([...pools.values()].map((pool) => pool.close()))),
  };
}

/** Tests the connection without sending. Returns the failure; undefined on success. */
export function testSmtp(
  settings: SmtpSettings,
  credentials: SmtpCredentials | undefined,
): Promise<SendOutcome | undefined> {
  return probeRelay(relayOf(settings, credentials), TRANSPORT_POLICY.test);
}

function relayOf({ host, port, tls }: SmtpSettings, credentials: SmtpCredentials | undefined): Relay {
  const problem = hostProblem(host, config.providerScope);
  if (problem !== undefined) throw new TypeError(`The host ${problem}.`);
  return {
    host,
    port,
    implicitTls: tls === 'implicit',
    requireTls: tls === 'starttls',
    insecure: false,
    credentials,
    clientName: localHostName(config.PUBLIC_URL),
    lookup: guardedLookup(() => config.providerScope),
  };
}

import { config, guardedLookup, hostProblem } from '@postroom/platform';
import type { Traffic } from './smtp-pools.ts';
import { createSmtpPool, localHostName, probeRelay, type Relay, type SendOutcome, type SmtpPool } from '@postroom/smtp';
import { providerLimits } from './provider-limits.ts';
import { RateLimiter } from './rate-limiter.ts';
import type { Transport } from './transport.ts';

/** How a relay is reached; what is not given is as its host has it. */
export interface SmtpSettings {
  host: string;
  port: number;
  /** TLS from the first byte, STARTTLS or nothing, or STARTTLS where it is offered. */
  tls: 'implicit' | 'starttls' | 'optional';
  connections?: number | undefined;
  messagesPerConnection?: number | undefined;
  /** Messages per second that one worker sends at most. */
  ratePerSecond?: number | undefined;
}

export interface SmtpCredentials {
  user: string;
  password: string;
}

/** A wait of a person who tests a connection, in milliseconds. */
export const TEST_TIMEOUTS = { connectMs: 8_000, greetingMs: 8_000, commandMs: 8_000 };

/** A relay that a project has set up. */
export function openSmtp(id: string, settings: SmtpSettings, credentials: SmtpCredentials | undefined): Transport {
  const limits = providerLimits(settings.host);
  const connections = settings.connections ?? limits.connections;
  const relay = relayOf(settings, credentials);
  const pace = settings.ratePerSecond === undefined ? undefined : new RateLimiter(settings.ratePerSecond);
  const lanes = new Map<Traffic, SmtpPool>();
  const lane = (traffic: Traffic) => {
    const open =
      lanes.get(traffic) ??
      createSmtpPool(relay, {
        // Half for each, so that both together keep to what the host takes.
        connections: Math.max(1, Math.floor(connections / 2)),
        maxMessagesPerConnection: settings.messagesPerConnection ?? limits.messagesPerConnection,
      });
    lanes.set(traffic, open);
    return open;
  };
  return {
    id,
    get width() {
      const most = Math.max(connections, ...[...lanes.values()].map((open) => open.width));
      return Math.max(2, Math.min(most, settings.ratePerSecond ?? Infinity));
    },
    signing: 'whole',
    send: async (message, traffic) => {
      if (pace !== undefined) await pace.acquire(traffic);
      return lane(traffic).send(message);
    },
    close: async () => void (await Promise.all([...lanes.values()].map((open) => open.close()))),
  };
}

/** Signs in and sends nothing; what keeps mail from going this way, if anything does. */
export function testSmtp(
  settings: SmtpSettings,
  credentials: SmtpCredentials | undefined,
): Promise<SendOutcome | undefined> {
  return probeRelay(relayOf(settings, credentials), TEST_TIMEOUTS);
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
    clientName: localHostName(),
    lookup: guardedLookup(() => config.providerScope),
  };
}

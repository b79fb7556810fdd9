import { config } from '@postroom/platform';
import { parseRelayUrl, probeRelay, type SmtpPool } from '@postroom/smtp';
import { TRANSPORT_POLICY } from './policy.ts';
import { createSharedPool } from './shared-pool.ts';

/** Transactional mail has its own connections, so a running campaign doesn't delay it. */
export type Traffic = 'campaigns' | 'transactional';

const pools = new Map<Traffic, { url: string; pool: SmtpPool }>();

/** The process-wide pool for the installation's relay, by kind of traffic; connects on first send. */
export function smtpPool(traffic: Traffic): SmtpPool {
  const url = relayUrl();
  const open = pools.get(traffic);
  if (open?.url === url) return open.pool;
  const relay = parseRelayUrl(url, config.PUBLIC_URL);
  const name = `${relay.host}:${relay.port} ${traffic}`;
  const opened = createSharedPool(name, relay, { connections: config.SMTP_CONNECTIONS });
  pools.set(traffic, { url, pool: opened });
  return opened;
}

/** How many messages to submit to the pools concurrently. */
export function smtpPoolWidth(): number {
  let width = config.SMTP_CONNECTIONS * 2;
  for (const { pool } of pools.values()) width = Math.max(width, pool.width);
  return width;
}

/**
 * Whether the installation's relay accepts a connection. Without one, as `SMTP_URL=none` says, projects send by their own providers.
 * @throws Error that says what is wrong.
 */
export async function checkDefaultTransport(): Promise<void> {
  if (!hasRelay()) return;
  const failure = await probeRelay(parseRelayUrl(relayUrl(), config.PUBLIC_URL), TRANSPORT_POLICY.test);
  if (failure !== undefined) throw new Error(`The mail server of SMTP_URL can't be used: ${failure.answer}`);
}

const hasRelay = () => config.SMTP_URL !== undefined || config.NODE_ENV !== 'production';

function relayUrl(): string {
  if (!hasRelay()) throw new Error('No mail transport configured: set SMTP_URL.');
  return config.SMTP_URL ?? `smtp://${config.HOST}:${config.INBOX_SMTP_PORT}`;
}

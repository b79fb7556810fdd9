import { config } from '@postroom/platform';
import { createSmtpPool, type SmtpPool } from '@postroom/smtp';

/** Transactional mail has its own connections, so a running campaign doesn't delay it. */
export type Traffic = 'campaigns' | 'transactional';

const pools = new Map<Traffic, { url: string; pool: SmtpPool }>();

/** The process-wide pool for the installation's relay, by kind of traffic; connects on first send. */
export function smtpPool(traffic: Traffic): SmtpPool {
  const url = relayUrl();
  const open = pools.get(traffic);
  if (open?.url === url) return open.pool;
  const opened = createSmtpPool(url, { connections: config.SMTP_CONNECTIONS });
  pools.set(traffic, { url, pool: opened });
  return opened;
}

/** How many messages to submit to the pools concurrently. */
export function smtpPoolWidth(): number {
  let width = config.SMTP_CONNECTIONS * 2;
  for (const { pool } of pools.values()) width = Math.max(width, pool.width);
  return width;
}

function relayUrl(): string {
  if (config.SMTP_URL !== undefined) return config.SMTP_URL;
  if (config.NODE_ENV !== 'production') return `smtp://${config.HOST}:${config.INBOX_SMTP_PORT}`;
  throw new Error('No mail transport configured: set SMTP_URL.');
}

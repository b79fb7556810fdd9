import { config } from '@postroom/platform';
import { createSmtpPool, type SmtpPool } from '@postroom/smtp';

/** Who sends: transactional mail has connections of its own, so that a running campaign does not delay it. */
export type Traffic = 'campaigns' | 'transactional';

const pools = new Map<Traffic, { url: string; lane: SmtpPool }>();

/** The way out for a kind of traffic: one for the whole process, opened when something is to be sent. */
export function smtpPool(traffic: Traffic): SmtpPool {
  const url = relayUrl();
  const open = pools.get(traffic);
  if (open?.url === url) return open.lane;
  const opened = createSmtpPool(url, { connections: config.SMTP_CONNECTIONS });
  pools.set(traffic, { url, lane: opened });
  return opened;
}

/** Messages that are worth giving to the lanes at once, by those that are open. */
export function smtpPoolWidth(): number {
  let most = config.SMTP_CONNECTIONS * 2;
  for (const { lane } of pools.values()) most = Math.max(most, lane.width);
  return most;
}

function relayUrl(): string {
  if (config.SMTP_URL !== undefined) return config.SMTP_URL;
  if (config.NODE_ENV !== 'production') return `smtp://${config.HOST}:${config.INBOX_SMTP_PORT}`;
  throw new Error('SMTP_URL is not set, so there is no way for mail to go out.');
}

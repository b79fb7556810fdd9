import { config } from '@postroom/platform';
import { createSmtpLane, type SmtpLane } from '@postroom/smtp';

/** Who sends: transactional mail has connections of its own, so that a running campaign does not delay it. */
export type Traffic = 'campaigns' | 'transactional';

const lanes = new Map<Traffic, { url: string; lane: SmtpLane }>();

/** The way out for a kind of traffic: one for the whole process, opened when something is to be sent. */
export function lane(traffic: Traffic): SmtpLane {
  const url = relayUrl();
  const open = lanes.get(traffic);
  if (open?.url === url) return open.lane;
  const opened = createSmtpLane(url, { connections: config.SMTP_CONNECTIONS });
  lanes.set(traffic, { url, lane: opened });
  return opened;
}

/** Messages that are worth giving to the lanes at once, by those that are open. */
export function laneWidth(): number {
  let most = config.SMTP_CONNECTIONS * 2;
  for (const { lane } of lanes.values()) most = Math.max(most, lane.width);
  return most;
}

function relayUrl(): string {
  if (config.SMTP_URL !== undefined) return config.SMTP_URL;
  if (config.NODE_ENV !== 'production') return `smtp://${config.HOST}:${config.INBOX_SMTP_PORT}`;
  throw new Error('SMTP_URL is not set, so there is no way for mail to go out.');
}

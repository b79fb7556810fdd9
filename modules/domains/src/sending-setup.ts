import { isIP } from 'node:net';
import { type Config, config } from '@postroom/platform';

/** The sending host, as published in a domain's records. */
export interface SendingSetup {
  region: string;
  /** The host that receives bounces. */
  mx: string;
  /** The SPF mechanisms that authorize our mail. */
  spf: string;
}

type Settings = Pick<Config, 'SMTP_URL' | 'PUBLIC_URL' | 'MAIL_FROM_MX' | 'MAIL_FROM_SPF'>;

/** SPF mechanisms of well-known relays by host suffix, from their documentation. */
const RELAY_SPF: Record<string, string> = {
  'amazonaws.com': 'include:amazonses.com',
  'sendgrid.net': 'include:sendgrid.net',
  'mailgun.org': 'include:mailgun.org',
  'postmarkapp.com': 'include:spf.mtasv.net',
  'sparkpostmail.com': 'include:_spf.sparkpostmail.com',
  'mailjet.com': 'include:spf.mailjet.com',
  'brevo.com': 'include:spf.brevo.com',
};

/**
 * The sending setup: the MAIL_FROM settings if present, else the known SPF of the relay, else the relay's own host,
 * else this installation.
 */
export function sendingSetup(settings: Settings = config): SendingSetup {
  const relay = settings.SMTP_URL === undefined ? '' : new URL(settings.SMTP_URL).hostname.toLowerCase();
  const ourselves = new URL(settings.PUBLIC_URL).hostname.replace(/^\[|\]$/g, '');
  const ses = /^email-smtp(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com$/.exec(relay)?.[1];
  const knownSpf = Object.entries(RELAY_SPF).find(([suffix]) => relay.endsWith(`.${suffix}`))?.[1];
  return {
    region: ses ?? 'local',
    mx: settings.MAIL_FROM_MX ?? (ses === undefined ? hostOf(ourselves) : `feedback-smtp.${ses}.amazonses.com`),
    spf: settings.MAIL_FROM_SPF ?? knownSpf ?? mechanism(relay === '' ? ourselves : relay),
  };
}

/** An MX record cannot name an address; this machine's own hostname is just as unreachable, but valid. */
const hostOf = (host: string) => (isIP(host) === 0 ? host : 'localhost');
const mechanism = (host: string) => (isIP(host) === 0 ? `a:${host}` : `ip${isIP(host)}:${host}`);

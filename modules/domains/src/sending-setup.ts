import { isIP } from 'node:net';
import { type Config, config } from '@postroom/platform';

/** What the records of a domain say about the host that sends its mail. */
export interface SendingSetup {
  region: string;
  /** The host that bounces go to. */
  mx: string;
  /** The SPF mechanisms that let our mail pass. */
  spf: string;
}

type Settings = Pick<Config, 'SMTP_URL' | 'PUBLIC_URL' | 'MAIL_FROM_MX' | 'MAIL_FROM_SPF'>;

/** SPF of well-known relays, by the end of their host names, as their own documentation gives it. */
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
 * Who sends, from the settings: those of MAIL FROM when given, else what the relay is known to want, else the relay's own
 * host, else ourselves.
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

/** An MX record can not name an address; a host of this machine's own name is as unreachable, and lawful. */
const hostOf = (host: string) => (isIP(host) === 0 ? host : 'localhost');
const mechanism = (host: string) => (isIP(host) === 0 ? `a:${host}` : `ip${isIP(host)}:${host}`);

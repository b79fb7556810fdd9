import { isIPv4, isIPv6 } from 'node:net';

/** What of a request tells a program from a person. */
export interface Fetched {
  method: string;
  userAgent: string | undefined;
}

/** Whole words of programs that fetch mail's links and images for security, previews or statistics. */
const PROGRAMS =
  /\b(bot|crawler|spider|scanner|preview|prefetch|monitor|validator|curl|wget|python-requests|python-urllib|aiohttp|httpx|go-http-client|okhttp|java|apache-httpclient|node-fetch|undici|axios|libwww-perl|headlesschrome|phantomjs|barracuda|mimecast|proofpoint|symantec|trendmicro|sophos|fortinet|fireeye|ironport|zscaler|cloudmark|messagelabs|bitdefender|microsoft office existence discovery|facebookexternalhit|slackbot|whatsapp|telegrambot|twitterbot|linkedinbot|skypeuripreview)\b/i;

/** Apple's privacy proxy fetches every image when a mail arrives, under a name that no browser has. */
const APPLE_PRIVACY = /^Mozilla\/5\.0$/;

/** Proxies that fetch an image when a person opens the mail: what they are called says nothing against it. */
const OPENING_PROXIES = /GoogleImageProxy|ggpht\.com|YahooMailProxy/i;

/** Why a request is a program's by itself; undefined when only its time can tell. */
export function botReason({ method, userAgent }: Fetched): string | undefined {
  if (method !== 'GET') return 'method';
  if (userAgent === undefined || userAgent.trim() === '') return 'no_user_agent';
  if (APPLE_PRIVACY.test(userAgent.trim())) return 'apple_privacy';
  if (OPENING_PROXIES.test(userAgent)) return undefined;
  return PROGRAMS.test(userAgent) ? 'program' : undefined;
}

/** The network of an address: 24 bits of IPv4 or 48 of IPv6, so that no household is told by it. */
export function networkOf(address: string | undefined): string | undefined {
  const plain = address?.trim().replace(/^::ffff:(?=\d+\.)/i, '');
  if (plain === undefined) return undefined;
  if (isIPv4(plain)) return `${plain.split('.').slice(0, 3).join('.')}.0/24`;
  if (!isIPv6(plain)) return undefined;
  const [head = '', tail] = plain.split('%', 1)[0]!.split('::');
  const groups = head === '' ? [] : head.split(':');
  const end = tail === undefined || tail === '' ? [] : tail.split(':');
  const all =
    tail === undefined ? groups : [...groups, ...Array<string>(8 - groups.length - end.length).fill('0'), ...end];
  return `${all
    .slice(0, 3)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/48`;
}

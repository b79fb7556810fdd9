/** The parts of a request that distinguish bots from humans. */
export interface Fetched {
  method: string;
  userAgent: string | undefined;
}

/** Whole words in user agents of bots that fetch links and images for security, previews or statistics. */
const BOTS =
  /\b(bot|crawler|spider|scanner|preview|prefetch|monitor|validator|curl|wget|python-requests|python-urllib|aiohttp|httpx|go-http-client|okhttp|java|apache-httpclient|node-fetch|undici|axios|libwww-perl|headlesschrome|phantomjs|barracuda|mimecast|proofpoint|symantec|trendmicro|sophos|fortinet|fireeye|ironport|zscaler|cloudmark|messagelabs|bitdefender|microsoft office existence discovery|facebookexternalhit|slackbot|whatsapp|telegrambot|twitterbot|linkedinbot|skypeuripreview)\b/i;

/** Apple's privacy proxy fetches every image when a mail arrives, with a user agent that no browser uses. */
const APPLE_PRIVACY = /^Mozilla\/5\.0$/;

/** Proxies that fetch an image when a human opens the mail, so their user agent does not indicate a bot. */
const OPENING_PROXIES = /GoogleImageProxy|ggpht\.com|YahooMailProxy/i;

/** The reason to classify a request as a bot's; undefined if only its timing can decide. */
export function botReason({ method, userAgent }: Fetched): string | undefined {
  if (method !== 'GET') return 'method';
  if (userAgent === undefined || userAgent.trim() === '') return 'no_user_agent';
  if (APPLE_PRIVACY.test(userAgent.trim())) return 'apple_privacy';
  if (OPENING_PROXIES.test(userAgent)) return undefined;
  return BOTS.test(userAgent) ? 'program' : undefined;
}

export interface ReplyRule {
  readonly id: string;
  /** Tested against a normalized reply: `code enhanced-code text` on one line. */
  readonly match: RegExp;
  readonly verdict: Verdict;
  /** Backoff for the host or the message, in milliseconds; defaults to that of the verdict. */
  readonly waitMs?: number;
  readonly stop?: Stop;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Maps known replies to verdicts; the first match wins. Provider-specific wording comes first, then enhanced status codes
 * (RFC 3463). Sources: the SMTP error references of Google, Amazon and Yahoo, and the rules of sisimai, KumoMTA and ZoneMTA.
 * A bare 5xx is never a hard bounce: an unrecognized refusal must not suppress an address.
 */
export const REPLY_RULES: readonly ReplyRule[] = [
  // Amazon SES, over SMTP and its API
  { id: 'ses-rate', match: /^454 .*maximum sending rate/i, verdict: 'throttle', waitMs: SECOND },
  { id: 'ses-daily', match: /^454 .*daily message quota/i, verdict: 'throttle', waitMs: 10 * MINUTE, stop: 'account' },
  {
    id: 'ses-unverified',
    match: /^(554 |MessageRejected).*address(es)? (is|are) not verified/i,
    verdict: 'configuration',
  },
  {
    id: 'ses-api-daily',
    match: /^(Throttling|TooManyRequests|LimitExceeded)(Exception)?: .*daily (message|sending) quota/i,
    verdict: 'throttle',
    waitMs: 10 * MINUTE,
    stop: 'account',
  },
  {
    id: 'ses-api-throttle',
    match: /^(Throttling|TooManyRequests|SlowDown)(Exception)?:/i,
    verdict: 'throttle',
    waitMs: SECOND,
  },
  {
    id: 'ses-api-credentials',
    match:
      /^(InvalidClientTokenId|UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch|MissingAuthenticationToken|IncompleteSignature|AccessDenied|ExpiredToken|RequestExpired|RequestTimeTooSkewed|OptInRequired|NotAuthorized)(Exception)?:/i,
    verdict: 'configuration',
    stop: 'account',
  },
  {
    id: 'ses-api-configuration',
    match:
      /^(LimitExceeded|MailFromDomainNotVerified|AccountSuspended|AccountSendingPaused|ConfigurationSet(SendingPaused|DoesNotExist)|SendingPaused|NotFound)(Exception)?:/i,
    verdict: 'configuration',
  },
  {
    id: 'ses-bounce-permanent',
    match: /^SES bounce Permanent\/(General|NoEmail|Suppressed|OnAccountSuppressionList)\b/,
    verdict: 'hard_bounce',
  },
  { id: 'ses-bounce-full', match: /^SES bounce Transient\/MailboxFull\b/, verdict: 'soft_bounce', waitMs: HOUR },
  {
    id: 'ses-bounce-content',
    match: /^SES bounce \w+\/(MessageTooLarge|ContentRejected|AttachmentRejected)\b/,
    verdict: 'content',
  },
  { id: 'ses-api-content', match: /^(MessageRejected|BadRequest)(Exception)?\b/i, verdict: 'content' },

  // Gmail and Google Workspace
  { id: 'gmail-same-message-id', match: /^421 4\.7\.28 .*message-?id/i, verdict: 'content' },
  { id: 'gmail-rate', match: /^421 4\.7\.(28|0) .*unusual rate/i, verdict: 'throttle', waitMs: 30 * MINUTE },
  {
    id: 'gmail-reputation',
    match: /^421 4\.7\.0 .*(very low reputation|suspicious)/i,
    verdict: 'throttle',
    waitMs: HOUR,
  },
  { id: 'gmail-whitelist', match: /^421 4\.7\.0 .*not (in|on) (the )?whitelist/i, verdict: 'policy' },
  { id: 'gmail-tls', match: /^421 4\.7\.0 .*TLS (is )?required/i, verdict: 'configuration' },
  { id: 'gmail-later', match: /^421 4\.7\.0 .*(try again later|closing|connection expired)/i, verdict: 'transient' },
  {
    id: 'gmail-sender-rules',
    match: /^421 4\.7\.(23|26|27|29|30|32)\b/,
    verdict: 'throttle',
    waitMs: HOUR,
    stop: 'domain',
  },
  { id: 'gmail-spf-suspicious', match: /^451 4\.7\.24\b/, verdict: 'throttle', waitMs: HOUR, stop: 'domain' },
  { id: 'gmail-dmarc-lookup', match: /^451 4\.7\.26\b/, verdict: 'transient' },
  { id: 'gmail-relay-peak', match: /^450 4\.2\.1 .*peak smtp relay limit/i, verdict: 'throttle', stop: 'account' },
  {
    id: 'gmail-daily',
    match: /^550 5\.(4\.5|7\.1) .*daily.*(limit|quota)/i,
    verdict: 'throttle',
    waitMs: HOUR,
    stop: 'account',
  },
  {
    id: 'user-too-fast',
    match: /^(450|550)( [45]\.2\.1)? .*(receiving mail (too quickly|at a rate)|rate that prevents)/i,
    verdict: 'soft_bounce',
    waitMs: HOUR,
  },
  { id: 'gmail-inactive', match: /^552 5\.2\.2 .*inactive/i, verdict: 'hard_bounce' },
  { id: 'gmail-auth-later', match: /^454 4\.7\.0\b/, verdict: 'throttle', waitMs: 10 * MINUTE, stop: 'account' },
  {
    id: 'gmail-not-compliant',
    match: /^550 5\.7\.1 .*(RFC ?5322|duplicate headers|missing a valid|encoded-word)/i,
    verdict: 'content',
  },
  { id: 'gmail-attachment', match: /^552 5\.(7\.0|3\.4)\b/, verdict: 'content' },

  // Outlook.com and Exchange Online
  {
    id: 'outlook-rate',
    match: /^(451 4\.7\.65[01]\b|4\d\d .*\((S775|S3114)\)|421 .*\bRP-00[123]\b)/,
    verdict: 'throttle',
    waitMs: 30 * MINUTE,
  },
  { id: 'outlook-busy', match: /^451 4\.7\.5\d\d\b/, verdict: 'throttle', waitMs: HOUR },
  { id: 'outlook-later', match: /^(451 4\.7\.(6\d\d|8[5-9]\d)\b|421 4\.7\.700\b)/, verdict: 'transient' },
  { id: 'outlook-block-list', match: /^550 5\.7\.1 .*(block list|S3140|S3150)/i, verdict: 'policy' },
  { id: 'outlook-codes', match: /^55\d .*\b(SC-00[1-4]|OU-00[12]|DY-001)\b/, verdict: 'policy' },
  { id: 'outlook-authentication', match: /^550 5\.7\.(515|509)\b/, verdict: 'policy', stop: 'domain' },
  { id: 'outlook-account', match: /^550 5\.7\.(750|64|57|3)\b|^550 .*basic authentication/i, verdict: 'configuration' },
  { id: 'outlook-only-some', match: /^55\d 5\.7\.(13[3-6]|124)\b/, verdict: 'policy' },
  {
    id: 'outlook-banned',
    match: /^550 5\.7\.(60[6-9]|6[1-4]\d|511|506|50[1-3]|7[0-4]\d)\b/,
    verdict: 'policy',
  },
  { id: 'outlook-unavailable', match: /^550 5\.5\.0 .*mailbox unavailable/i, verdict: 'hard_bounce' },
  { id: 'outlook-edge', match: /^550 5\.4\.1 .*(recipient address rejected|access denied)/i, verdict: 'hard_bounce' },
  {
    id: 'outlook-quota',
    match: /^55\d 5\.2\.2 .*submission quota/i,
    verdict: 'throttle',
    waitMs: HOUR,
    stop: 'account',
  },
  { id: 'outlook-daily', match: /^55\d 5\.1\.90\b/, verdict: 'throttle', waitMs: 24 * HOUR, stop: 'account' },
  { id: 'outlook-recipient-rate', match: /^55\d 5\.2\.12[12]\b/, verdict: 'soft_bounce', waitMs: HOUR },
  { id: 'outlook-no-domain', match: /^55\d 5\.4\.310\b/, verdict: 'hard_bounce' },

  // Yahoo, AOL, AT&T
  { id: 'yahoo-never', match: /\[(TS03|TSS09|TSS11)\]/, verdict: 'policy', waitMs: 48 * HOUR, stop: 'host' },
  { id: 'yahoo-tss04', match: /^421 .*\[TSS04\]/, verdict: 'throttle', waitMs: 2 * HOUR },
  { id: 'yahoo-tss05', match: /^421 .*\[TSS05\]/, verdict: 'throttle', waitMs: 4 * HOUR },
  { id: 'yahoo-deferred', match: /^421 .*\[(TS01|TS02|IPTS04|IPTS05)\]/, verdict: 'throttle', waitMs: HOUR },
  { id: 'reconnect', match: /^421 .*max(imum)? messages? per connection/i, verdict: 'transient', waitMs: 0 },
  { id: 'yahoo-from', match: /^451 .*unresolvable RFC ?5321 from/i, verdict: 'configuration' },
  { id: 'yahoo-not-found', match: /^552 .*mailbox not found/i, verdict: 'hard_bounce' },
  {
    id: 'yahoo-no-account',
    match: /^554 .*(doesn't have a .*account|no longer valid|mailbox (is )?disabled|\(554\.30\))/i,
    verdict: 'hard_bounce',
  },
  { id: 'yahoo-policy', match: /^55[0-4] .*\[(BL21|BL23|TSS07|PH01)\]|^55[04] 5\.7\.[59]\b/, verdict: 'policy' },

  // Apple
  {
    id: 'apple-volume',
    match: /^421 4\.7\.1 .*(deferred|excessive)|^421 .*\[HCM1\]|^451 .*\[BS02\]/i,
    verdict: 'throttle',
    waitMs: 15 * MINUTE,
  },
  { id: 'apple-sender', match: /^450 4\.1\.8\b/, verdict: 'configuration' },
  { id: 'apple-policy', match: /^55[04] .*\[(CS01|HME1)\]/, verdict: 'policy' },

  // Mimecast
  { id: 'mimecast-greylist', match: /^451 .*internal resources are temporarily unavailable/i, verdict: 'greylist' },
  { id: 'mimecast-ip', match: /^451 .*IP temporarily (blacklisted|blocked)/i, verdict: 'throttle', waitMs: HOUR },
  {
    id: 'mimecast-policy',
    match: /^55\d .*(local CT IP reputation|anti-?spoofing|header[- ]based.*policy|header policy)/i,
    verdict: 'policy',
  },

  // GMX and web.de, Orange, Comcast
  { id: 'gmx-policy', match: /^554 .*reject due to policy/i, verdict: 'policy' },
  { id: 'orange-connections', match: /^421 .*(OFR_?005|trop de connexions)/i, verdict: 'throttle' },
  { id: 'orange-unknown', match: /^550 5\.1\.1 .*OFR_?416/, verdict: 'hard_bounce' },
  { id: 'orange-full', match: /^55\d .*OFR_?417/, verdict: 'soft_bounce' },
  { id: 'orange-refused', match: /^5\d\d .*service refus/i, verdict: 'policy' },
  { id: 'comcast-rate', match: /^421 .*\bRL000010\b/, verdict: 'throttle', waitMs: 5 * MINUTE },
  { id: 'comcast-unknown', match: /^550 .*(not our customer|account closed)/i, verdict: 'hard_bounce' },
  { id: 'comcast-blocked', match: /^554 .*\bBL00001\d\b/, verdict: 'policy' },

  // QQ and 163, Yandex, Mail.ru
  {
    id: 'qq-frequency',
    match: /^\d{3} .*((ip|sender|domain|connection) frequency limited|DT:SPM|RP:ORQ|HL:ITC)/i,
    verdict: 'throttle',
    waitMs: HOUR,
  },
  { id: 'qq-content', match: /^550 .*mail content denied/i, verdict: 'content' },
  { id: 'yandex-later', match: /^451 4\.7\.1 .*service unavailable/i, verdict: 'transient' },
  { id: 'mailru-spam', match: /^550 .*spam message rejected/i, verdict: 'policy' },
  { id: 'mailru-invalid', match: /^550 .*invalid mailbox/i, verdict: 'hard_bounce' },

  // Any provider, by wording
  { id: 'credentials', match: /^(530|534|535|538) /, verdict: 'configuration' },
  {
    id: 'too-many-connections',
    match: /^(421|450|451|554) .*too many (concurrent )?connections/i,
    verdict: 'throttle',
  },
  { id: 'greylisted', match: /^4\d\d .*gr[ea]y-?list/i, verdict: 'greylist' },
  { id: 'try-again', match: /^45[01] .*try again/i, verdict: 'greylist' },
  {
    id: 'listed-link',
    match: /^5\d\d (?=.*(uribl|surbl|\bdbl\b)).*\b(url|uri|link)s?\b/i,
    verdict: 'content',
  },
  {
    id: 'listed-ip',
    match: /^5\d\d .*(spamhaus|sorbs|barracuda|spamcop|cloudmark|csi\.|uribl|surbl|\bdbl\b|proofpoint)/i,
    verdict: 'policy',
  },
  { id: 'virus', match: /^5\d\d .*\b(virus|malware)\b/i, verdict: 'content' },
  {
    id: 'relay-denied',
    match: /^5\d\d .*(relay(ing)? (access )?denied|unable to relay|relaying not permitted|not permitted to relay)/i,
    verdict: 'configuration',
  },
  { id: 'sender-address', match: /^5\d\d 5\.1\.[78]\b|^5\d\d 5\.1\.0 .*sender/i, verdict: 'configuration' },

  // Any provider, by enhanced code
  { id: 'too-many-recipients', match: /^452 4\.5\.3\b/, verdict: 'transient' },
  { id: 'server-storage', match: /^452 4\.3\.1\b/, verdict: 'transient' },
  { id: 'expired', match: /^\d{3} [45]\.4\.7\b/, verdict: 'other' },
  { id: 'no-such-address', match: /^5\d\d 5\.1\.(0|1|2|3|6|10)\b/, verdict: 'hard_bounce' },
  { id: 'disabled-address', match: /^5\d\d 5\.2\.1\b/, verdict: 'hard_bounce' },
  {
    id: 'unknown-user',
    match: /^55[0134] (5\.(0\.0|5\.0) )?(?!\d\.)[^;]*\b(user unknown|unknown user|no such (user|mailbox|recipient))\b/i,
    verdict: 'hard_bounce',
  },
  {
    id: 'mailbox-full',
    match:
      /^\d{3} [45]\.2\.2\b|^452 |^[45]\d\d .*(over ?quota|quota exceeded|exceeded (its )?storage|mailbox (is )?full)/i,
    verdict: 'soft_bounce',
    waitMs: HOUR,
  },
  { id: 'too-large', match: /^5\d\d 5\.(2\.3|3\.4)\b/, verdict: 'content' },
  { id: 'sender-records', match: /^5\d\d 5\.7\.(2[4-7]|29|30)\b/, verdict: 'policy', stop: 'domain' },
  { id: 'content', match: /^5\d\d 5\.6\.\d/, verdict: 'content' },
  { id: 'policy', match: /^5\d\d 5\.7\.\d/, verdict: 'policy' },
];

/**
 * What a refusal means.
 * - `throttle`: back off from this host; the message itself is fine.
 * - `greylist`: retry the same message in a few minutes.
 * - `transient`: retry later.
 * - `soft_bounce`: the recipient can't receive mail at the moment.
 * - `hard_bounce`: the address doesn't exist. The only verdict that suppresses an address.
 * - `policy`: our reputation or DNS records; never the recipient.
 * - `content`: this message.
 * - `configuration`: our credentials or settings.
 * - `other`: failed for an unknown reason.
 */
export type Verdict =
  | 'throttle'
  | 'greylist'
  | 'transient'
  | 'soft_bounce'
  | 'hard_bounce'
  | 'policy'
  | 'content'
  | 'configuration'
  | 'other';

/** What to pause besides the message: the sending domain, this server, or the account used there. */
export type Stop = 'domain' | 'host' | 'account';

import { classify } from '@postroom/smtp';
import { cleanLine } from '@postroom/platform';

/** An SMTP reply within other text: a code and its text. */
const REPLY = /(?:^|[^\d.])([45]\d\d)(?:: ?|[ -]{1,2})(?:#?([45]\.\d{1,3}\.\d{1,3})[ -]{0,2})?(?=\S)/;

/** Common wording of bounces without a code; the first match wins. */
const WORDING: readonly [RegExp, string][] = [
  [
    /(mailbox|inbox|quota|account)[^.]{0,60}(is |was )?(full|exceeded)|over ?quota|quota exceeded|exceeded (the |its |their )?(storage|quota)|storage allocation/i,
    '5.2.2',
  ],
  [
    /delivery time(out)? (was )?(expired|exceeded)|too long in the queue|in the queue too long|retry time(out)? (exceeded|not reached)|retry timeout|message expired|gave up|timed out/i,
    '5.4.7',
  ],
  [/message (size|is too (large|big))|size limit|exceeds (the )?(maximum|size)|too large/i, '5.3.4'],
  [
    /(user|mailbox|recipient|account|address|alias)[^\n]{0,80}(unknown|not found|does ?n[o']t exist|doesn't exist|no longer (valid|available|exists)|not exist|unavailable|disabled|inactive|not listed)|no such (user|mailbox|recipient|address|person)|unknown (user|recipient|address|alias|local)|no mailbox here|unrouteable address|does not like recipient|not our customer|recipient rejected|invalid (recipient|mailbox)/i,
    '5.1.1',
  ],
  [
    /(host|domain)[^.\n]{0,60}(unknown|not found|does ?n[o']t exist|doesn't exist)|no such (domain|host)|could ?n[o']t (find|resolve) (any )?(host|domain)|mx record|nxdomain|name service error/i,
    '5.1.2',
  ],
  [/spam|blocked|black ?list|blocklist|reputation|policy|rejected due to|not authori[sz]ed|access denied/i, '5.7.1'],
];

/**
 * A bounce's detail in the form that `classify` expects: the server's reply if there is one, else its status and text. Never
 * empty, because an unexplained bounce must not count as a hard bounce.
 */
export function detailOf(status: string | undefined, diagnostic: string | undefined, text: string): string {
  const code = /^[45]\.\d{1,3}\.\d{1,3}/.exec(status?.replace(/^\D+/, '') ?? '')?.[0];
  const wording = cleanLine((diagnostic ?? '').replace(/^[\w-]+\s*;\s*/, ''));
  const reply = replyIn(wording);
  if (reply !== undefined) {
    // Given "550 User unknown" and status 5.1.1, use whichever is more specific.
    const withStatus =
      code === undefined || /^\d{3} \d\.\d/.test(reply) ? reply : reply.replace(/^(\d{3}) /, `$1 ${code} `);
    return classify(reply).verdict === 'other' ? withStatus : reply;
  }
  const resolved = code === undefined || /^5\.0\.0$/.test(code) ? (statusOf(wording) ?? code) : code;
  if (resolved !== undefined) return cleanLine(`${resolved} ${wording === '' ? 'Undeliverable' : wording}`);
  return replyIn(text) ?? (wording === '' ? 'Bounced without a stated reason' : wording);
}

/** The first SMTP reply in a text, to the end of its paragraph. */
export function replyIn(text: string): string | undefined {
  const match = REPLY.exec(text);
  if (match === null) return undefined;
  const [, code, enhanced] = match;
  const rest = text.slice(match.index + match[0].length).split(/\n\s*\n|\n\s*--|>>> /, 1)[0] ?? '';
  return cleanLine([code, enhanced, rest.trim().replace(/'$/, '')].filter(Boolean).join(' '));
}

/** Infers an enhanced status code from wording. */
export function statusOf(wording: string): string | undefined {
  return WORDING.find(([pattern]) => pattern.test(wording))?.[1];
}

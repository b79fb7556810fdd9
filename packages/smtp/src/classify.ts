import { REPLY_RULES } from './reply-rules.ts';
import type { ReplyRule } from './reply-rules.ts';

/**
 * `throttle`: slow the host down, the message is untouched. `greylist`: the same message again in a few minutes.
 * `transient`: again later. `soft_bounce`: the recipient can't take mail now. `hard_bounce`: the address is none: the
 * only verdict that suppresses it. `policy`: us, our reputation or our records; never the recipient. `content`: this
 * message. `configuration`: our credentials or settings. `other`: failed for no reason known.
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

/** The command a reply answers; `final` is the dot. A bounce or a provider's report is read as `final`. */
export type Phase = 'mail' | 'rcpt' | 'data' | 'final';

/** What a reply asks to hold besides the message: the sending domain, this server, or the account used there. */
export type Stop = 'domain' | 'host' | 'account';

export interface Classification {
  readonly verdict: Verdict;
  readonly waitMs?: number | undefined;
  readonly stop?: Stop | undefined;
  /** The id of the rule that decided. */
  readonly rule: string;
}

const MINUTE_MS = 60_000;
const DEFAULT_WAITS_MS: Partial<Record<Verdict, number>> = { throttle: 5 * MINUTE_MS, greylist: 10 * MINUTE_MS };

/**
 * Reads a refusal: a reply of the dialogue, the Diagnostic-Code of a bounce, or a provider's error. Providers' own words
 * go before enhanced codes, and those before the first digit.
 */
export function classify(reply: string, phase: Phase = 'final'): Classification {
  const line = normalizeReply(reply);
  const rule = REPLY_RULES.find(({ match }) => match.test(line)) ?? byFirstDigit(line);
  const verdict = phase === 'mail' ? aboutSender(rule.verdict) : rule.verdict;
  return { verdict, waitMs: rule.waitMs ?? DEFAULT_WAITS_MS[verdict], stop: rule.stop, rule: rule.id };
}

function byFirstDigit(line: string): Pick<ReplyRule, 'id' | 'verdict' | 'waitMs' | 'stop'> {
  return line.startsWith('4') ? { id: 'any-4xx', verdict: 'transient' } : { id: 'any-5xx', verdict: 'other' };
}

/** MAIL names the sender, so that a refusal of it says nothing about the recipient. */
function aboutSender(verdict: Verdict): Verdict {
  return verdict === 'hard_bounce' || verdict === 'soft_bounce' || verdict === 'other' ? 'policy' : verdict;
}

/**
 * One reply as `550 5.1.1 words`: without the prefix of a bounce report, and with the codes of continuation lines
 * taken out, which some reports join with spaces.
 */
export function normalizeReply(reply: string): string {
  let line = reply
    .replace(/^\s*(?:smtp|x-[\w-]+)\s*;\s*/i, '')
    .replace(/\s+/g, ' ')
    .trim();
  const status = /^([245])\.\d{1,3}\.\d{1,3}\b/.exec(line);
  if (status) line = `${status[1]}50 ${line}`;
  const code = /^(\d{3})[ -](?:(\d\.\d{1,3}\.\d{1,3})\b ?)?/.exec(line);
  if (!code) return line;
  const [prefix, basic, enhanced] = code;
  const repeated = new RegExp(`(?<= )${basic}[- ]${enhanced ? `${enhanced.replaceAll('.', '\\.')}\\b ?` : ''}`, 'g');
  const words = line.slice(prefix.length).replace(repeated, '');
  return [basic, enhanced, words].filter(Boolean).join(' ');
}

import { SMTP_POLICY } from './policy.ts';
import { REPLY_RULES, type ReplyRule, type Stop, type Verdict } from './reply-rules.ts';

/** The command that a reply answers; `final` is the end of the message data. Bounces and provider reports count as `final`. */
export type Phase = 'mail' | 'rcpt' | 'data' | 'final';

export interface Classification {
  readonly verdict: Verdict;
  readonly waitMs?: number | undefined;
  readonly stop?: Stop | undefined;
  /** Id of the rule that matched. */
  readonly rule: string;
}

const DEFAULT_WAITS_MS: Partial<Record<Verdict, number>> = {
  throttle: SMTP_POLICY.waits.throttleMs,
  greylist: SMTP_POLICY.waits.greylistMs,
};

/**
 * Classifies a refusal: an SMTP reply, the Diagnostic-Code of a bounce, or a provider's API error. Provider-specific wording
 * takes precedence over enhanced status codes, which take precedence over the first digit.
 */
export function classify(reply: string, phase: Phase = 'final'): Classification {
  const line = normalizeReply(reply);
  const rule = REPLY_RULES.find(({ match }) => match.test(line)) ?? byFirstDigit(line);
  const verdict = phase === 'mail' ? senderVerdict(rule.verdict) : rule.verdict;
  return { verdict, waitMs: rule.waitMs ?? DEFAULT_WAITS_MS[verdict], stop: rule.stop, rule: rule.id };
}

function byFirstDigit(line: string): Pick<ReplyRule, 'id' | 'verdict' | 'waitMs' | 'stop'> {
  return line.startsWith('4') ? { id: 'any-4xx', verdict: 'transient' } : { id: 'any-5xx', verdict: 'other' };
}

/** MAIL names the sender, so refusing it says nothing about the recipient. */
function senderVerdict(verdict: Verdict): Verdict {
  return verdict === 'hard_bounce' || verdict === 'soft_bounce' || verdict === 'other' ? 'policy' : verdict;
}

/**
 * Normalizes a reply to `550 5.1.1 text`: strips the type prefix of a Diagnostic-Code and the codes of continuation lines,
 * which some reports join with spaces.
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
  const text = line.slice(prefix.length).replace(repeated, '');
  return [basic, enhanced, text].filter(Boolean).join(' ');
}

import type { Session } from '../dns/resolver.ts';

/** The SPF records among texts; there should be exactly one (RFC 7208 §4.5). */
export function spfRecords(texts: readonly string[]): string[] {
  return texts.filter((text) => /^v=spf1( |$)/i.test(text.trim()));
}

/** The problem with the texts of a MAIL FROM subdomain, whose SPF record must pass the expected mechanisms. */
export function spfProblem(texts: readonly string[], expected: string): string | undefined {
  const records = spfRecords(texts);
  const [record] = records;
  if (record === undefined) return 'There is a TXT record, but no SPF record.';
  if (records.length > 1) return 'There are two SPF records, so receivers ignore both; merge them.';
  const terms = termsOf(record);
  const all = terms.findIndex(({ mechanism }) => mechanism === 'all');
  const reached = all === -1 ? terms : terms.slice(0, all);
  const passing = new Set(reached.filter(({ qualifier }) => qualifier === '+').map(({ mechanism }) => mechanism));
  const missing = termsOf(expected).filter(({ mechanism }) => mechanism !== 'all' && !passing.has(mechanism));
  if (missing.length > 0) return `The SPF record lacks ${missing.map(({ mechanism }) => mechanism).join(' ')}.`;
  if (terms[all]?.qualifier === '+') return 'The SPF record ends with +all, which allows anyone to send.';
  return undefined;
}

interface Term {
  qualifier: string;
  mechanism: string;
}

function termsOf(record: string): Term[] {
  const terms = record.trim().toLowerCase().split(/\s+/).slice(1);
  return terms.map((term) => ({
    qualifier: /^[+\-~?]/.test(term) ? (term[0] ?? '+') : '+',
    mechanism: term.replace(/^[+\-~?]/, ''),
  }));
}

/** What receivers encounter when they evaluate a domain's SPF record. */
export interface SpfReport {
  record: string | undefined;
  /** More than one record, which is an error. */
  isDoubled: boolean;
  /** Terms that need a look-up, including nested ones; more than 10 are an error (RFC 7208 §4.6.4). */
  lookups: number;
  /** Targets of `include` or `redirect` without an SPF record. */
  broken: string[];
  letsEverybodySend: boolean;
}

/** Stop counting here. */
const MAX_COUNTED = 30;

/** Evaluates a domain's SPF record as receivers do, as far as possible without a message. */
export async function reportSpf(session: Session, domain: string): Promise<SpfReport> {
  const own = spfRecords((await session.lookup(domain, 'TXT')).records);
  const [record] = own;
  const report: SpfReport = {
    record,
    isDoubled: own.length > 1,
    lookups: 0,
    broken: [],
    letsEverybodySend: record !== undefined && termsOf(record).some(isPassAll),
  };
  if (record !== undefined) await count(record);
  return report;

  async function count(text: string): Promise<void> {
    const terms = termsOf(text);
    const hasAll = terms.some(({ mechanism }) => mechanism === 'all');
    for (const { mechanism } of terms) {
      const [, kind = '', target] = /^(include|redirect|exists|a|mx|ptr)(?:[:=/](.*))?$/.exec(mechanism) ?? [];
      if (kind === '' || (kind === 'redirect' && hasAll) || report.lookups >= MAX_COUNTED) continue;
      report.lookups++;
      if ((kind === 'include' || kind === 'redirect') && target !== undefined) await follow(target);
    }
  }

  async function follow(target: string): Promise<void> {
    // Macro expansion depends on the message.
    if (target.includes('%')) return;
    const { outcome, records } = await session.recursive(target.replace(/\.$/, ''), 'TXT');
    const [nested] = spfRecords(records);
    if (nested !== undefined) return count(nested);
    if (outcome !== 'silent') report.broken.push(target);
  }
}

const isPassAll = ({ qualifier, mechanism }: Term) => qualifier === '+' && mechanism === 'all';

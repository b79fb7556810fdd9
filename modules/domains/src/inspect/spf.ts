import type { Session } from '../dns/resolver.ts';

/** The SPF records among texts; there should be one (RFC 7208 §4.5). */
export function spfRecords(texts: readonly string[]): string[] {
  return texts.filter((text) => /^v=spf1( |$)/i.test(text.trim()));
}

/** What is wrong with the texts of a MAIL FROM subdomain, whose SPF record must let the expected mechanisms pass. */
export function spfProblem(texts: readonly string[], expected: string): string | undefined {
  const records = spfRecords(texts);
  const [record] = records;
  if (record === undefined) return 'There is a TXT record, but no SPF record.';
  if (records.length > 1) return 'There are two SPF records, which receivers take for none; make one of them.';
  const terms = termsOf(record);
  const all = terms.findIndex(({ mechanism }) => mechanism === 'all');
  const reached = all === -1 ? terms : terms.slice(0, all);
  const passing = new Set(reached.filter(({ qualifier }) => qualifier === '+').map(({ mechanism }) => mechanism));
  const missing = termsOf(expected).filter(({ mechanism }) => mechanism !== 'all' && !passing.has(mechanism));
  if (missing.length > 0) return `The SPF record lacks ${missing.map(({ mechanism }) => mechanism).join(' ')}.`;
  if (terms[all]?.qualifier === '+') return 'The SPF record ends with +all, which lets everybody send.';
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

/** What receivers run into when they evaluate a domain's SPF record. */
export interface SpfReport {
  record: string | undefined;
  /** Several records, which count as an error. */
  isDoubled: boolean;
  /** Terms that cost a look-up, nested ones included; more than 10 are an error (RFC 7208 §4.6.4). */
  lookups: number;
  /** Names that an `include` or `redirect` leads to and that have no SPF record. */
  broken: string[];
  letsEverybodySend: boolean;
}

/** Past this nobody needs to know how many there are. */
const MAX_COUNTED = 30;

/** Walks a domain's SPF record as receivers do, as far as it can be walked without a message. */
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
    // What macros expand to depends on the message.
    if (target.includes('%')) return;
    const { outcome, records } = await session.recursive(target.replace(/\.$/, ''), 'TXT');
    const [nested] = spfRecords(records);
    if (nested !== undefined) return count(nested);
    if (outcome !== 'silent') report.broken.push(target);
  }
}

const isPassAll = ({ qualifier, mechanism }: Term) => qualifier === '+' && mechanism === 'all';

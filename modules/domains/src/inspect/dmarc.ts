import { ancestors } from '../dns/names.ts';
import type { Session } from '../dns/resolver.ts';
import { judge, type Observation } from './judge.ts';
import { parseTags } from './tags.ts';

/** A DMARC policy as receivers would apply it to mail from a domain. */
export interface DmarcPolicy {
  /** The domain whose record it is. */
  from: string;
  record: string;
  tags: Map<string, string>;
  /** What happens to mail of the domain that fails. */
  policy: string;
}

const POLICIES = ['none', 'quarantine', 'reject'];
/** More look-ups than this no receiver makes (RFC 9989 §4.10). */
const MAX_WALK = 8;

/** What is wrong with the texts at a `_dmarc` name; texts that are no DMARC records do not count. */
export function dmarcProblem(texts: readonly string[]): string | undefined {
  const records = texts.filter(isDmarc);
  const [record] = records;
  if (record === undefined) return 'There is a TXT record, but no DMARC record.';
  if (records.length > 1) return 'There are two DMARC records, which receivers take for none; delete one.';
  const policy = parseTags(record).get('p') ?? 'none';
  if (!POLICIES.includes(policy.toLowerCase()))
    return `The policy p=${policy} does not exist; use p=none to begin with.`;
  return undefined;
}

const isDmarc = (text: string) => /^\s*v\s*=\s*DMARC1\s*(;|$)/.test(text);

/** Finds the policy of a domain, its own or the one of a domain above it (RFC 9989 §4.10), and how it stands. */
export async function inspectDmarc(
  session: Session,
  domain: string,
): Promise<{ observation: Observation; policy: DmarcPolicy | undefined }> {
  const own = judge(await session.survey(`_dmarc.${domain}`, 'TXT'), dmarcProblem);
  if (own.verdict !== 'wrong') return { observation: own, policy: toPolicy(domain, own.found, domain) };
  const above = await organizationalPolicy(session, domain);
  if (above === undefined) return { observation: own, policy: undefined };
  const ignored = own.found.some(isDmarc) ? `${own.note} ` : '';
  const note = `${ignored}The policy of ${above.from} holds for this domain.`;
  return { observation: { verdict: 'right', found: [above.record], note }, policy: above };
}

/** The policy of the organizational domain: the highest that has a record, unless `psd` says where the walk ends. */
async function organizationalPolicy(session: Session, domain: string): Promise<DmarcPolicy | undefined> {
  let highest: DmarcPolicy | undefined;
  for (const name of ancestors(domain)
    .slice(1)
    .slice(-(MAX_WALK - 1))) {
    const policy = toPolicy(name, (await session.lookup(`_dmarc.${name}`, 'TXT')).records, domain);
    if (policy === undefined) continue;
    const psd = policy.tags.get('psd');
    // A public suffix speaks for the domains below it only when those say nothing themselves.
    if (psd === 'y') return highest ?? policy;
    highest = policy;
    if (psd === 'n') return policy;
  }
  return highest;
}

function toPolicy(from: string, texts: readonly string[], domain: string): DmarcPolicy | undefined {
  const record = texts.find(isDmarc);
  if (record === undefined || dmarcProblem(texts) !== undefined) return undefined;
  const tags = parseTags(record);
  const own = tags.get('p') ?? 'none';
  return { from, record, tags, policy: (from === domain ? own : (tags.get('sp') ?? own)).toLowerCase() };
}

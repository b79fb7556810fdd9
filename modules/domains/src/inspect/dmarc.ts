import { ancestors } from '../dns/names.ts';
import type { Session } from '../dns/resolver.ts';
import { assess, type Observation } from './assess.ts';
import { parseTags } from './tags.ts';

/** The DMARC policy that receivers apply to a domain's mail. */
export interface DmarcPolicy {
  /** The domain that publishes the record. */
  from: string;
  record: string;
  tags: Map<string, string>;
  /** The policy for failing mail of the domain. */
  policy: string;
}

const POLICIES = ['none', 'quarantine', 'reject'];
/** Receivers make at most this many look-ups (RFC 9989 §4.10). */
const MAX_WALK = 8;

/** The problem with the texts at a `_dmarc` name, ignoring texts that are not DMARC records. */
export function dmarcProblem(texts: readonly string[]): string | undefined {
  const records = texts.filter(isDmarc);
  const [record] = records;
  if (record === undefined) return 'There is a TXT record, but no DMARC record.';
  if (records.length > 1) return 'There are two DMARC records, so receivers ignore both; delete one.';
  const policy = parseTags(record).get('p') ?? 'none';
  if (!POLICIES.includes(policy.toLowerCase())) return `The policy p=${policy} does not exist; start with p=none.`;
  return undefined;
}

const isDmarc = (text: string) => /^\s*v\s*=\s*DMARC1\s*(;|$)/.test(text);

/** Finds a domain's policy, its own or an ancestor's (RFC 9989 §4.10), and evaluates it. */
export async function inspectDmarc(
  session: Session,
  domain: string,
): Promise<{ observation: Observation; policy: DmarcPolicy | undefined }> {
  const own = assess(await session.survey(`_dmarc.${domain}`, 'TXT'), dmarcProblem);
  if (own.verdict !== 'wrong') return { observation: own, policy: toPolicy(domain, own.found, domain) };
  const above = await organizationalPolicy(session, domain);
  if (above === undefined) return { observation: own, policy: undefined };
  const ignored = own.found.some(isDmarc) ? `${own.note} ` : '';
  const note = `${ignored}The policy of ${above.from} applies to this domain.`;
  return { observation: { verdict: 'right', found: [above.record], note }, policy: above };
}

/** The organizational domain's policy: the highest ancestor with a record, unless `psd` ends the walk. */
async function organizationalPolicy(session: Session, domain: string): Promise<DmarcPolicy | undefined> {
  let highest: DmarcPolicy | undefined;
  for (const name of ancestors(domain)
    .slice(1)
    .slice(-(MAX_WALK - 1))) {
    const policy = toPolicy(name, (await session.lookup(`_dmarc.${name}`, 'TXT')).records, domain);
    if (policy === undefined) continue;
    const psd = policy.tags.get('psd');
    // A public suffix's record applies only if the domains below it have none.
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

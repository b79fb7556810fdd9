import type { DmarcPolicy } from './inspect/dmarc.ts';
import type { SpfReport } from './inspect/spf.ts';
import { DMARC_VALUE } from './records.ts';

/** Effect on deliverability: `high` means rejected or filed as spam, `info` a missed opportunity. */
const SEVERITIES = ['high', 'medium', 'low', 'info'] as const;
type Severity = (typeof SEVERITIES)[number];

/** A recommended change to a domain's DNS (spec: Domain). */
export interface Recommendation {
  /** Its code, such as `dmarc_missing`; stable across checks. */
  id: string;
  severity: Severity;
  title: string;
  detail: string;
  /** The record that would resolve it, if there is one. */
  record: { type: string; name: string; value: string } | null;
}

/** What a check found besides the verified records. */
export interface Findings {
  domain: string;
  mailFromDomain: string;
  dmarc: DmarcPolicy | undefined;
  /** Whether the absence of a policy is certain. */
  isDmarcMissing: boolean;
  /** Since when the policy has been p=none; `undefined` if it is not. */
  dmarcNoneSince: Date | undefined;
  spf: SpfReport;
  mailFromSpf: SpfReport;
  /** Whether replies can be delivered: `refuses` is a null MX (RFC 7505), `unknown` means no answer. */
  inbound: 'present' | 'missing' | 'refuses' | 'unknown';
  hasTlsReports: boolean;
  hasBimi: boolean;
  /** Validating resolvers reject the zone. */
  isDnssecBroken: boolean;
  /** Name servers that do not answer while others do. */
  silentServers: string[];
}

/** How long a policy should stay at p=none while its reports are read. */
const NONE_LONG_ENOUGH_MS = 30 * 86_400_000;
const MAX_SPF_LOOKUPS = 10;

/** The recommended changes, most severe first. */
export function recommend(findings: Findings, now: Date): Recommendation[] {
  const all = [
    ...(findings.dmarc === undefined ? aboutNoDmarc(findings) : aboutDmarc(findings, findings.dmarc, now)),
    ...aboutSpf(findings.domain, findings.spf),
    ...aboutSpf(findings.mailFromDomain, findings.mailFromSpf),
    ...aboutZone(findings),
    ...aboutInbound(findings),
  ];
  return all.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

function aboutNoDmarc({ domain, isDmarcMissing }: Findings): Recommendation[] {
  if (!isDmarcMissing) return [];
  return [
    {
      id: 'dmarc_missing',
      severity: 'high',
      title: 'Publish a DMARC policy',
      detail: 'Gmail, Yahoo and Outlook reject bulk mail from domains without one; p=none is sufficient.',
      record: { type: 'TXT', name: `_dmarc.${domain}`, value: DMARC_VALUE },
    },
  ];
}

function aboutDmarc({ domain, dmarcNoneSince }: Findings, dmarc: DmarcPolicy, now: Date): Recommendation[] {
  const { tags, policy, from } = dmarc;
  const found: Recommendation[] = [];
  const suggest = (one: Omit<Recommendation, 'record'>, changes: Record<string, string | undefined>) =>
    found.push({ ...one, record: { type: 'TXT', name: `_dmarc.${from}`, value: withChanges(tags, changes) } });

  if (dmarcNoneSince !== undefined && now.getTime() - dmarcNoneSince.getTime() >= NONE_LONG_ENOUGH_MS) {
    suggest(
      {
        id: 'dmarc_policy_none',
        severity: 'medium',
        title: 'Enforce your DMARC policy',
        detail:
          'It has been p=none for 30 days, which tells receivers to do nothing about forged mail. Once the reports show no legitimate mail failing, move to p=quarantine, later to p=reject.',
      },
      from === domain ? { p: 'quarantine', pct: undefined } : { sp: 'quarantine', pct: undefined },
    );
  }
  if (!tags.has('rua')) {
    suggest(
      {
        id: 'dmarc_no_reports',
        severity: 'low',
        title: 'Receive DMARC reports',
        detail: 'Without rua= you cannot see who sends mail as your domain. Any mailbox you own will do.',
      },
      { rua: `mailto:dmarc@${from}` },
    );
  }
  if (policy !== 'none' && (tags.get('t') === 'y' || Number(tags.get('pct') ?? 100) < 100)) {
    suggest(
      {
        id: 'dmarc_partial',
        severity: 'low',
        title: 'Apply your DMARC policy to all mail',
        detail:
          'The record is in test mode (t=y), or applies the policy to only part of the mail (pct, which RFC 9989 removed).',
      },
      { t: undefined, pct: undefined },
    );
  }
  if (from === domain && policy !== 'none' && tags.get('sp') === 'none') {
    suggest(
      {
        id: 'dmarc_subdomains_open',
        severity: 'medium',
        title: 'Protect your subdomains',
        detail: `Forged mail from any subdomain passes, because the record says sp=none.`,
      },
      { sp: undefined },
    );
  }
  if (tags.get('aspf') === 's') {
    suggest(
      {
        id: 'dmarc_strict_spf',
        severity: 'medium',
        title: 'Relax SPF alignment',
        detail:
          'With aspf=s, SPF never aligns for this mail, because bounces go to a subdomain; it passes only through DKIM.',
      },
      { aspf: undefined },
    );
  }
  return found;
}

/** Sets tags of a DMARC record, or removes those that are `undefined`. */
function withChanges(tags: Map<string, string>, changes: Record<string, string | undefined>): string {
  const all = new Map<string, string | undefined>([...tags, ...Object.entries(changes)]);
  return [...all].flatMap(([tag, value]) => (value === undefined ? [] : [`${tag}=${value};`])).join(' ');
}

function aboutSpf(name: string, spf: SpfReport): Recommendation[] {
  const problem = (id: string, severity: Severity, title: string, detail: string): Recommendation => ({
    id: `${id}:${name}`,
    severity,
    title,
    detail,
    record: null,
  });
  return [
    ...(spf.isDoubled
      ? [
          problem(
            'spf_doubled',
            'high',
            `Merge the SPF records of ${name}`,
            'Receivers treat two records as an error and ignore both.',
          ),
        ]
      : []),
    ...(spf.lookups > MAX_SPF_LOOKUPS
      ? [
          problem(
            'spf_too_many_lookups',
            'high',
            `Shorten the SPF record of ${name}`,
            `It needs ${spf.lookups} DNS lookups; more than ${MAX_SPF_LOOKUPS} are an error. Remove services that no longer send for you.`,
          ),
        ]
      : []),
    ...(spf.letsEverybodySend
      ? [
          problem(
            'spf_open',
            'high',
            `Close the SPF record of ${name}`,
            'It ends with +all, so anyone may send as this domain. End it with ~all.',
          ),
        ]
      : []),
    ...(spf.broken.length > 0
      ? [
          problem(
            'spf_broken_include',
            'medium',
            `Fix the SPF record of ${name}`,
            `It includes ${spf.broken.join(', ')}, which have no SPF record; receivers treat that as an error.`,
          ),
        ]
      : []),
  ];
}

function aboutZone({ isDnssecBroken, silentServers }: Findings): Recommendation[] {
  const found: Recommendation[] = [];
  if (isDnssecBroken) {
    found.push({
      id: 'dnssec_broken',
      severity: 'high',
      title: 'Fix DNSSEC',
      detail:
        "The zone's signatures are invalid, so receivers with validating resolvers cannot see your records. Often the DS record at the registrar still belongs to a previous DNS provider.",
      record: null,
    });
  }
  if (silentServers.length > 0) {
    found.push({
      id: 'nameserver_silent',
      severity: 'low',
      title: 'Fix your name servers',
      detail: `${silentServers.join(', ')} did not answer for the zone, so some receivers time out.`,
      record: null,
    });
  }
  return found;
}

function aboutInbound({ domain, inbound, dmarc, hasTlsReports, hasBimi }: Findings): Recommendation[] {
  const found: Recommendation[] = [];
  if (inbound === 'missing' || inbound === 'refuses') {
    found.push({
      id: inbound === 'missing' ? 'mx_missing' : 'mx_null',
      severity: 'medium',
      title: 'Accept replies',
      detail:
        inbound === 'missing'
          ? 'The domain has neither an MX nor an address record, so replies bounce, and some receivers reject mail from such domains.'
          : 'The domain declares that it accepts no mail (a null MX), and receivers may reject mail that cannot be replied to (RFC 7505).',
      record: null,
    });
  }
  if (inbound === 'present' && !hasTlsReports) {
    found.push({
      id: 'tls_reports_missing',
      severity: 'info',
      title: 'Receive TLS failure reports',
      detail: 'With a TLS-RPT record, other mail servers report failed TLS connections to you (RFC 8460).',
      record: { type: 'TXT', name: `_smtp._tls.${domain}`, value: `v=TLSRPTv1; rua=mailto:tls-reports@${domain}` },
    });
  }
  if (dmarc !== undefined && dmarc.policy !== 'none' && !hasBimi) {
    found.push({
      id: 'bimi_missing',
      severity: 'info',
      title: 'Show your logo',
      detail:
        'Your DMARC policy allows BIMI: mail clients can show your logo next to your mail. Gmail also requires a certificate.',
      record: { type: 'TXT', name: `default._bimi.${domain}`, value: `v=BIMI1; l=https://${domain}/logo.svg;` },
    });
  }
  return found;
}

import type { DmarcPolicy } from './inspect/dmarc.ts';
import type { SpfReport } from './inspect/spf.ts';
import { DMARC_VALUE } from './records.ts';

/** How much mail suffers: `high` is refused or filed as spam, `info` is only a chance missed. */
export const SEVERITIES = ['high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Something about a domain's DNS that a person had better change (spec: Domain). */
export interface Recommendation {
  /** Which one it is, such as `dmarc_missing`; the same at every check. */
  id: string;
  severity: Severity;
  title: string;
  detail: string;
  /** What to publish, where a record would do. */
  record: { type: string; name: string; value: string } | null;
}

/** What a check learned beside the records that are verified. */
export interface Findings {
  domain: string;
  mailFromDomain: string;
  dmarc: DmarcPolicy | undefined;
  /** Whether it is certain that there is no policy. */
  isDmarcMissing: boolean;
  /** Since when the policy has been p=none; `undefined` when it is not. */
  dmarcNoneSince: Date | undefined;
  spf: SpfReport;
  mailFromSpf: SpfReport;
  /** Whether replies find a mail server: `refuses` is a null MX (RFC 7505), `unknown` no answer. */
  inbound: 'present' | 'missing' | 'refuses' | 'unknown';
  hasTlsReports: boolean;
  hasBimi: boolean;
  /** Resolvers that check DNSSEC refuse the zone. */
  isDnssecBroken: boolean;
  /** Name servers of the zone that do not answer while others do. */
  silentServers: string[];
}

/** How long a policy should stay at p=none, to read the reports that it brings. */
export const NONE_LONG_ENOUGH_MS = 30 * 86_400_000;
const MAX_SPF_LOOKUPS = 10;

/** What to change, the worst first. */
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
      detail: 'Gmail, Yahoo and Outlook refuse bulk mail from domains without one; p=none is enough for them.',
      record: { type: 'TXT', name: `_dmarc.${domain}`, value: DMARC_VALUE },
    },
  ];
}

function aboutDmarc({ domain, dmarcNoneSince }: Findings, dmarc: DmarcPolicy, now: Date): Recommendation[] {
  const { tags, policy, from } = dmarc;
  const found: Recommendation[] = [];
  const suggest = (one: Omit<Recommendation, 'record'>, changes: Record<string, string | undefined>) =>
    found.push({ ...one, record: { type: 'TXT', name: `_dmarc.${from}`, value: changed(tags, changes) } });

  if (dmarcNoneSince !== undefined && now.getTime() - dmarcNoneSince.getTime() >= NONE_LONG_ENOUGH_MS) {
    suggest(
      {
        id: 'dmarc_policy_none',
        severity: 'medium',
        title: 'Let your DMARC policy protect you',
        detail:
          'It has been p=none for 30 days, which asks receivers to do nothing about forged mail. When the reports show no mail of yours that fails, move to p=quarantine, later to p=reject.',
      },
      from === domain ? { p: 'quarantine', pct: undefined } : { sp: 'quarantine', pct: undefined },
    );
  }
  if (!tags.has('rua')) {
    suggest(
      {
        id: 'dmarc_no_reports',
        severity: 'low',
        title: 'Have DMARC reports sent to you',
        detail: 'Without rua= nobody tells you who sends in the name of your domain. Any mailbox of yours will do.',
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
          'The record is in test mode (t=y), or asks for the policy on a part of the mail only (pct, which RFC 9989 removed).',
      },
      { t: undefined, pct: undefined },
    );
  }
  if (from === domain && policy !== 'none' && tags.get('sp') === 'none') {
    suggest(
      {
        id: 'dmarc_subdomains_open',
        severity: 'medium',
        title: 'Protect your subdomains too',
        detail: `Mail forged in the name of any subdomain passes, since the record says sp=none.`,
      },
      { sp: undefined },
    );
  }
  if (tags.get('aspf') === 's') {
    suggest(
      {
        id: 'dmarc_strict_spf',
        severity: 'medium',
        title: 'Relax the alignment of SPF',
        detail:
          'With aspf=s, SPF never counts for this mail, since bounces go to a subdomain; only DKIM keeps it passing.',
      },
      { aspf: undefined },
    );
  }
  return found;
}

/** A DMARC record with some tags set or, when `undefined`, taken out. */
function changed(tags: Map<string, string>, changes: Record<string, string | undefined>): string {
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
            'Receivers take two records for an error, and none of them counts.',
          ),
        ]
      : []),
    ...(spf.lookups > MAX_SPF_LOOKUPS
      ? [
          problem(
            'spf_too_many_lookups',
            'high',
            `Shorten the SPF record of ${name}`,
            `It costs receivers ${spf.lookups} look-ups; at more than ${MAX_SPF_LOOKUPS} they take it for an error. Take out what no longer sends for you.`,
          ),
        ]
      : []),
    ...(spf.letsEverybodySend
      ? [
          problem(
            'spf_open',
            'high',
            `Close the SPF record of ${name}`,
            'It ends with +all, so everybody may send in its name. End it with ~all.',
          ),
        ]
      : []),
    ...(spf.broken.length > 0
      ? [
          problem(
            'spf_broken_include',
            'medium',
            `Mend the SPF record of ${name}`,
            `It includes ${spf.broken.join(', ')}, where there is no SPF record; receivers take that for an error.`,
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
      title: 'Mend DNSSEC',
      detail:
        'The signatures of the zone do not hold, so receivers whose resolvers check them see none of your records. Often the DS record at the registrar is that of a former DNS provider.',
      record: null,
    });
  }
  if (silentServers.length > 0) {
    found.push({
      id: 'nameserver_silent',
      severity: 'low',
      title: 'Look after your name servers',
      detail: `${silentServers.join(', ')} did not answer for the zone, so some receivers wait or give up.`,
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
      title: 'Let replies reach you',
      detail:
        inbound === 'missing'
          ? 'The domain has neither an MX nor an address record, so replies bounce, and some receivers refuse mail from such domains.'
          : 'The domain says that it takes no mail (a null MX), and receivers may refuse mail that can not be answered (RFC 7505).',
      record: null,
    });
  }
  if (inbound === 'present' && !hasTlsReports) {
    found.push({
      id: 'tls_reports_missing',
      severity: 'info',
      title: 'Hear when mail to you could not be encrypted',
      detail: 'A TLS-RPT record has other mail servers report to you when their connections fail (RFC 8460).',
      record: { type: 'TXT', name: `_smtp._tls.${domain}`, value: `v=TLSRPTv1; rua=mailto:tls-reports@${domain}` },
    });
  }
  if (dmarc !== undefined && dmarc.policy !== 'none' && !hasBimi) {
    found.push({
      id: 'bimi_missing',
      severity: 'info',
      title: 'Show your logo',
      detail:
        'Your DMARC policy allows BIMI: mailboxes can show your logo beside your mail. Gmail asks for a certificate as well.',
      record: { type: 'TXT', name: `default._bimi.${domain}`, value: `v=BIMI1; l=https://${domain}/logo.svg;` },
    });
  }
  return found;
}

import { expect, test } from 'vitest';
import type { DmarcPolicy } from '../src/inspect/dmarc.ts';
import { parseTags } from '../src/inspect/tags.ts';
import { type Findings, recommend } from '../src/recommendations.ts';

const NOW = new Date('2026-11-21T00:00:00Z');
const daysAgo = (days: number) => new Date(NOW.getTime() - days * 86_400_000);
const spf = { record: 'v=spf1 -all', isDoubled: false, lookups: 0, broken: [], letsEverybodySend: false };

function policy(record: string, from = 'example.com'): DmarcPolicy {
  const tags = parseTags(record);
  return { from, record, tags, policy: tags.get('p') ?? 'none' };
}

const PERFECT: Findings = {
  domain: 'example.com',
  mailFromDomain: 'bounce.example.com',
  dmarc: policy('v=DMARC1; p=reject; rua=mailto:d@example.com'),
  isDmarcMissing: false,
  dmarcNoneSince: undefined,
  spf,
  mailFromSpf: spf,
  inbound: 'present',
  hasTlsReports: true,
  hasBimi: true,
  isDnssecBroken: false,
  silentServers: [],
};

const ids = (findings: Partial<Findings>) => recommend({ ...PERFECT, ...findings }, NOW).map(({ id }) => id);

test('a complete domain gets no recommendation', () => {
  expect(recommend(PERFECT, NOW)).toEqual([]);
});

test('a missing DMARC policy comes with the record to publish', () => {
  expect(recommend({ ...PERFECT, dmarc: undefined, isDmarcMissing: true }, NOW)).toMatchObject([
    {
      id: 'dmarc_missing',
      severity: 'high',
      record: { type: 'TXT', name: '_dmarc.example.com', value: 'v=DMARC1; p=none;' },
    },
  ]);
});

test('an unanswered policy query is not reported as missing', () => {
  expect(ids({ dmarc: undefined, isDmarcMissing: false })).toEqual([]);
});

test('p=none is questioned after 30 days, and other tags are kept', () => {
  const dmarc = policy('v=DMARC1; p=none; pct=50; rua=mailto:d@example.com; adkim=r');
  expect(ids({ dmarc, dmarcNoneSince: daysAgo(29) })).toEqual([]);
  const [found] = recommend({ ...PERFECT, dmarc, dmarcNoneSince: daysAgo(30) }, NOW);
  expect(found).toMatchObject({ id: 'dmarc_policy_none', severity: 'medium' });
  expect(found?.record?.value).toBe('v=DMARC1; p=quarantine; rua=mailto:d@example.com; adkim=r;');
});

test('an inherited p=none is resolved with sp= at the parent domain', () => {
  const dmarc = policy('v=DMARC1; p=none; rua=mailto:d@example.com', 'example.com');
  const [found] = recommend({ ...PERFECT, domain: 'mail.example.com', dmarc, dmarcNoneSince: daysAgo(31) }, NOW);
  expect(found?.record).toEqual({
    type: 'TXT',
    name: '_dmarc.example.com',
    value: 'v=DMARC1; p=none; rua=mailto:d@example.com; sp=quarantine;',
  });
});

test.each([
  ['v=DMARC1; p=reject', ['dmarc_no_reports']],
  ['v=DMARC1; p=reject; t=y; rua=mailto:d@example.com', ['dmarc_partial']],
  ['v=DMARC1; p=quarantine; pct=20; rua=mailto:d@example.com', ['dmarc_partial']],
  ['v=DMARC1; p=reject; sp=none; rua=mailto:d@example.com', ['dmarc_subdomains_open']],
  ['v=DMARC1; p=reject; aspf=s; rua=mailto:d@example.com', ['dmarc_strict_spf']],
  ['v=DMARC1; p=reject; adkim=s; rua=mailto:d@example.com', []],
])('a weak DMARC record is told, a strong one is left alone: %s', (record, expected) => {
  expect(ids({ dmarc: policy(record) })).toEqual(expected);
});

test.each([
  [{ lookups: 10 }, []],
  [{ lookups: 11 }, ['spf_too_many_lookups:example.com']],
  [{ isDoubled: true }, ['spf_doubled:example.com']],
  [{ letsEverybodySend: true }, ['spf_open:example.com']],
  [{ broken: ['gone.example'] }, ['spf_broken_include:example.com']],
])('the SPF record of the domain is assessed: %o', (more, expected) => {
  expect(ids({ spf: { ...spf, ...more } })).toEqual(expected);
});

test('missed opportunities are info: TLS reports if mail is accepted, BIMI if the policy allows it', () => {
  expect(recommend({ ...PERFECT, hasTlsReports: false, hasBimi: false }, NOW)).toMatchObject([
    { id: 'tls_reports_missing', severity: 'info', record: { name: '_smtp._tls.example.com' } },
    { id: 'bimi_missing', severity: 'info', record: { name: 'default._bimi.example.com' } },
  ]);
  expect(ids({ hasTlsReports: false, inbound: 'missing' })).toEqual(['mx_missing']);
  expect(ids({ hasBimi: false, dmarc: policy('v=DMARC1; p=none; rua=mailto:d@example.com') })).toEqual([]);
});

test('recommendations are sorted by severity', () => {
  const all = recommend(
    { ...PERFECT, isDnssecBroken: true, hasTlsReports: false, silentServers: ['ns2.example.com'] },
    NOW,
  );
  expect(all.map(({ severity }) => severity)).toEqual(['high', 'low', 'info']);
});

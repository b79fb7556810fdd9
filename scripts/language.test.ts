import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Files whose text is generated, recorded or immutable, one that quotes other people's subjects, and this table itself. */
const EXCLUDED =
  /(^|\/)(migrations|generated|histories|fixtures|node_modules|dist)\/|^modules\/bounces\/src\/text-bounces\.ts$|^CHANGELOG\.md$|^sdk\/typescript\/src\/types\.ts$|^scripts\/language\.test\.ts$/;

/**
 * Words that the project once used for things that have a standard name; phrases are in scripts/prose/vocabulary.yml. Patterns are chosen so that ordinary English passes:
 * "by the way", "give back-pressure" and "hold a lock" are fine.
 */
const BANNED: { pattern: RegExp; use: string }[] = [
  // Sending
  { pattern: /\b(SmtpLane|sendLane|takeLane|LaneOptions|Lanes?)\b/, use: 'SmtpPool, EndpointQueue or fencing token' },
  { pattern: /\b(a|the|its|each|an SMTP|of a|per) lane\b/i, use: 'pool, queue or fencing token' },
  { pattern: /\b[Dd]ialogues?\b/, use: 'session' },
  { pattern: /\bwaysOf\b|\bisOfWay\b|\bsendByAny\b|\bways? out\b/i, use: 'transport' },
  { pattern: /\bways? for mail to go out\b/i, use: 'transport or mail provider' },
  { pattern: /\btakeTurn\b|\bgiveTurnBack\b|\bsendTurn\b/, use: 'reserveQuota, releaseQuota or sendUntilDeadline' },
  { pattern: /\bin hand\b|\binHand\b/i, use: 'in flight' },
  { pattern: /\bin nobody's hands\b|\bin the hands of\b/i, use: 'unclaimed, claimed by or owned by' },
  { pattern: /\bput(s|ting)? off\b|\bputOff\b/i, use: 'defer, deferred' },
  { pattern: /\bputBack\b|\bplanAgain\b/, use: 'requeue' },
  { pattern: /\bgiveBack\w*|\bgives? back\b|\bgiven back\b|\bgiving back\b/i, use: 'release or return' },
  { pattern: /\bcloseLost\b/, use: 'settleStaleClaims' },
  { pattern: /\bpauseTroubled\b/, use: 'pauseOverThreshold' },
  {
    pattern: /\bthe freeze\b|\bfreez(e|es|ing) (the |its )?(recipients|audience)\b|\bfrozen recipients\b/i,
    use: 'snapshot',
  },
  { pattern: /\boutflow\b|\bsendAll\b/, use: 'send pipeline' },
  { pattern: /\bstandingOf\b|\bSmtpClock\b/, use: 'senderStatus, timeout timer' },
  { pattern: /\bemail_bursts\b/, use: 'email_queue_drains' },
  { pattern: /\bjudged?\b|\bjudg(es|ing)\b/i, use: 'classify or assess' },
  { pattern: /\bemail-words\b|\bhost-limits\b/, use: 'render-content, provider-limits' },
  // Webhooks
  { pattern: /\b[Hh]and(s|ed|ing)? over\b|\bhandOver\b|\bhanded_at\b/, use: 'dispatch' },
  { pattern: /\bhopeless\w*/i, use: 'disabled' },
  { pattern: /\bstruggl(e|es|ing)\b/i, use: 'degraded' },
  { pattern: /\btryEnter\b/, use: 'tryAcquire' },
  { pattern: /\bhears? of\b|\bheard of\b/i, use: 'is notified of or receives' },
  { pattern: /\b(is|are|was|were|be) told of\b/i, use: 'is notified of' },
  { pattern: /\bisFlowing\b|\bmayCall\b/, use: 'isHealthy, isAllowedAddress' },
  { pattern: /\bstartReturns\b|\bRETURNS_\w+/, use: 'startBounces, BOUNCE_…' },
  // Platform
  { pattern: /\bagainOn\b/, use: 'retryOn' },
  {
    pattern: /\breadTogether\b|\btogetherBy\w+|\basked together\b/i,
    use: 'coalesceReads, coalesceByProject or request coalescing',
  },
  { pattern: /\bliveView\w*|\blive views?\b/i, use: 'subscription' },
  { pattern: /\bstartHere\b/, use: 'eagerStart' },
  { pattern: /\bkeys? of before\b|\b(secrets?|addresses|backups|links) of before\b/i, use: 'previous' },
  { pattern: /\bsavedSince\b/, use: 'versionConflict' },
  { pattern: /\bkeptFigures\b|\bfigures (are|is) kept\b/i, use: 'cachedAggregate or cached aggregates' },
  { pattern: /\bsurviveBreaks\b/, use: 'ignoreConnectionErrors' },
  { pattern: /\brenew-secrets\b|\brenewSecrets\b/, use: 'rotate-encryption-key' },
  { pattern: /\b(again|together|relay)\.ts\b/, use: 'retry.ts, coalesce.ts, dispatcher.ts' },
  { pattern: /\bbeating\b/, use: 'withHeartbeat, heartbeating' },
  { pattern: /\bheard\b|\bawait word\(/, use: 'received, signalReceived, waitForSignal' },
  // Modules, apps, dashboard
  { pattern: /\bonlyOneOf\b/, use: 'runExclusively' },
  { pattern: /\bexpectTruth\b/, use: 'expectLedgerConsistent' },
  { pattern: /\bflaws\b/i, use: 'problems' },
  { pattern: /\b(OUTCOME|RECIPIENT|FIELD|STATUS|REASON)_WORDS\b/, use: '…_LABELS' },
  { pattern: /\buseRead\b|\buseChange\b/, use: 'useQuery, useMutation' },
  { pattern: /\breturned mail\b|\bmail that comes back\b/i, use: 'bounces' },
  { pattern: /\bthe finder\b/i, use: 'command palette' },
  // Docs
  {
    pattern:
      /\b(asked-together|figures-are-kept|keys-are-looked-up|edits-name-their-version|many-messages-in-one-write|request-follows-document|reference-is-derived|(?<!lists-at-)a-million-contacts|leaving-groups|mail-by-smtp|returned-mail|sending-again)\b/,
    use: 'the new name of the decision',
  },
];

const tracked = execFileSync('git', ['ls-files', '-z', '--', '*.ts', '*.tsx', '*.mjs', '*.prisma', '*.md'], {
  cwd: ROOT,
  encoding: 'utf8',
  maxBuffer: 16 * 1024 * 1024,
})
  .split('\0')
  .filter((file) => file !== '' && !EXCLUDED.test(file));

test('code and docs use standard terms', () => {
  const hits: string[] = [];
  const all = BANNED.map(({ pattern, use }) => ({ pattern: new RegExp(pattern, `${pattern.flags}g`), use }));
  for (const file of tracked) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    for (const { pattern, use } of all) {
      for (const { 0: match, index } of text.matchAll(pattern)) {
        hits.push(`${file}:${text.slice(0, index).split('\n').length}: "${match}" (use: ${use})`);
      }
    }
  }
  expect(hits).toEqual([]);
});

test('the table matches what it should and leaves ordinary English alone', () => {
  const isBanned = (text: string) => BANNED.some(({ pattern }) => pattern.test(text));
  for (const text of [
    'mail in hand',
    'rows are handed over',
    'const x = waysOf(y)',
    'a Lane',
    'it gives back a slot',
  ]) {
    expect([text, isBanned(text)]).toEqual([text, true]);
  }
  for (const text of ['by the way', 'handover', 'a plane', 'so many rows', 'it returns a slot', 'onHandle']) {
    expect([text, isBanned(text)]).toEqual([text, false]);
  }
});

import { expect, test } from 'vitest';
import { settlementOf } from '../src/settlement.ts';
import { MAIL_POLICY } from '../src/policy.ts';

const row = (deferrals = 0, deferredAt: Date | null = null) => ({ id: 'eml_1', deferrals, deferredAt });
const later = (waitMs?: number, scope: 'message' | 'host' = 'message') =>
  ({ kind: 'deferred', answer: '451 later', scope, waitMs }) as const;

test('a deferred message waits longer each time, or as long as the server asks', () => {
  const waits = [0, 1, 2, 99].map((deferrals) => settlementOf(row(deferrals), later()).waitMs);
  expect(waits).toEqual([...MAIL_POLICY.deferral.delaysMs.slice(0, 3), MAIL_POLICY.deferral.delaysMs.at(-1)]);
  expect(settlementOf(row(), later(600_000))).toMatchObject({ state: 'planned', waitMs: 600_000, deferred: true });
});

test('a host-wide deferral adds no delay to individual messages', () => {
  expect(settlementOf(row(5), later(600_000, 'host'))).toMatchObject({ state: 'planned', waitMs: 0 });
});

test('a deferred message fails only when it expires', () => {
  const now = Date.now();
  const first = new Date(now - MAIL_POLICY.deferral.lifetimeMs + 1_000);
  expect(settlementOf(row(50, first), later(500), now).state).toBe('planned');
  expect(settlementOf(row(50, first), later(2_000), now)).toMatchObject({
    state: 'failed',
    answer: expect.stringContaining('451 later'),
  });
});

test('a 5xx fails the message; only a nonexistent address is suppressed', () => {
  const refused = (verdict: 'hard_bounce' | 'policy') =>
    settlementOf(row(), { kind: 'refused', answer: '550', verdict });
  expect(refused('hard_bounce')).toMatchObject({ state: 'failed', hardBounce: true });
  expect(refused('policy')).toMatchObject({ state: 'failed', hardBounce: false });
});

test('a message rejected because of our settings stays queued', () => {
  const outcome = { kind: 'refused', answer: '535 credentials', verdict: 'configuration' } as const;
  expect(settlementOf(row(), outcome)).toEqual({ id: 'eml_1', state: 'planned', answer: '535 credentials' });
});

test('a message without an answer is unknown and not retried', () => {
  expect(settlementOf(row(), { kind: 'unknown', answer: 'cut' })).toEqual({
    id: 'eml_1',
    state: 'unknown',
    answer: 'cut',
  });
});

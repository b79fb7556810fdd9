import { expect, test } from 'vitest';
import { disableReason } from '../src/health.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const since = (hours: number) => new Date(now - hours * 3600_000);

test('an endpoint that fails for 3 days is disabled, however few deliveries it had', () => {
  expect(disableReason({ failures_in_row: 1, failing_since: since(71.9) }, now)).toBeUndefined();
  expect(disableReason({ failures_in_row: 1, failing_since: since(72) }, now)).toContain('3 days');
});

test('an endpoint with 100 consecutive failed deliveries over at least an hour is disabled', () => {
  expect(disableReason({ failures_in_row: 99, failing_since: since(2) }, now)).toBeUndefined();
  expect(disableReason({ failures_in_row: 100, failing_since: since(0.9) }, now)).toBeUndefined();
  expect(disableReason({ failures_in_row: 100, failing_since: since(1) }, now)).toContain('100 deliveries');
});

test('an endpoint that has acknowledged since is not disabled', () => {
  expect(disableReason({ failures_in_row: 0, failing_since: null }, now)).toBeUndefined();
});

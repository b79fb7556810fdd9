import type { StatisticsStep } from '../../generated/graphql.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Available periods. */
export const PERIODS = {
  '24h': { label: '24 hours', words: 'the last 24 hours', step: 'hour', lengthMs: 23 * HOUR_MS },
  '7d': { label: '7 days', words: 'the last 7 days', step: 'day', lengthMs: 6 * DAY_MS },
  '30d': { label: '30 days', words: 'the last 30 days', step: 'day', lengthMs: 29 * DAY_MS },
  '90d': { label: '90 days', words: 'the last 90 days', step: 'day', lengthMs: 89 * DAY_MS },
} as const satisfies Record<string, { label: string; words: string; step: StatisticsStep; lengthMs: number }>;

export type Period = keyof typeof PERIODS;

export function homeSearch({ period }: Record<string, unknown>): { period?: Period } {
  return typeof period === 'string' && period in PERIODS ? { period: period as Period } : {};
}

/** The start of a period, rounded to the hour so that queries share a cache key. */
export function sinceOf(period: Period, now: number): string {
  return new Date(Math.floor(now / HOUR_MS) * HOUR_MS - PERIODS[period].lengthMs).toISOString();
}

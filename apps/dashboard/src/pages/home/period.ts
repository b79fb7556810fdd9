import type { StatisticsStep } from '../../generated/graphql.ts';

const HOUR_MS = 3_600_000;

/** Available periods: 24 hours, or whole days including today. */
export const PERIODS = {
  '24h': { label: '24 hours', words: 'the last 24 hours', days: 1 },
  '7d': { label: '7 days', words: 'the last 7 days', days: 7 },
  '30d': { label: '30 days', words: 'the last 30 days', days: 30 },
  '90d': { label: '90 days', words: 'the last 90 days', days: 90 },
} as const;

type Period = keyof typeof PERIODS;

/** The longest range of days that the API returns in one series. */
const MAX_DAYS = 366;

/** A preset period, or the days `from` to `to` (YYYY-MM-DD, inclusive). */
export interface HomeSearch {
  period?: Period;
  from?: string;
  to?: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** Whether a value is a day, such as 2026-11-22. */
export const isDay = (value: unknown): value is string =>
  typeof value === 'string' && DAY.test(value) && !Number.isNaN(Date.parse(value));

export function homeSearch({ period, from, to }: Record<string, unknown>): HomeSearch {
  if (isDay(from) && isDay(to) && rangeProblem(from, to) === undefined) return { from, to };
  return typeof period === 'string' && Object.hasOwn(PERIODS, period) ? { period: period as Period } : {};
}

/** Why a range of days cannot be shown; undefined if it can. */
export function rangeProblem(from: string, to: string): string | undefined {
  if (!isDay(from) || !isDay(to)) return 'Choose both days.';
  if (to < from) return 'The first day must not be after the last.';
  return daysIn(from, to) > MAX_DAYS ? `Choose at most ${MAX_DAYS} days.` : undefined;
}

/** A period of time as arguments of `statistics`, and the one before it of the same length. */
export interface Span {
  step: StatisticsStep;
  since: string;
  /** Undefined up to now. */
  until: string | undefined;
  before: { since: string; until: string };
  /** Such as "the last 7 days". */
  words: string;
  /** The same as a title, such as "In the last 7 days". */
  title: string;
  /** Such as "the 7 days before". */
  beforeWords: string;
}

/** Times are rounded to the hour, so that queries share a cache key. Days are those of the browser's time zone. */
export function spanOf({ period = '30d', from, to }: HomeSearch, now: number): Span {
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
  if (from !== undefined && to !== undefined) {
    const [start, end] = [dayAt(from, 0), dayAt(to, 1)];
    const days = daysIn(from, to);
    const words = days === 1 ? dayWords(start) : `${dayWords(start)} to ${dayWords(dayAt(to, 0))}`;
    return {
      step: days === 1 ? 'hour' : 'day',
      since: start.toISOString(),
      until: end.getTime() > now ? undefined : end.toISOString(),
      before: { since: dayAt(from, -days).toISOString(), until: start.toISOString() },
      words,
      title: words,
      beforeWords: days === 1 ? 'the day before' : `the ${days} days before`,
    };
  }
  const { days, words } = PERIODS[period];
  if (period === '24h') {
    const since = new Date(hour - 23 * HOUR_MS);
    const before = new Date(since.getTime() - 24 * HOUR_MS);
    return {
      step: 'hour',
      since: since.toISOString(),
      until: undefined,
      before: { since: before.toISOString(), until: since.toISOString() },
      words,
      title: `In ${words}`,
      beforeWords: 'the 24 hours before',
    };
  }
  const today = dayText(new Date(now));
  return {
    step: 'day',
    since: dayAt(today, 1 - days).toISOString(),
    until: undefined,
    // Today is not over, so the period before ends at the same time of day.
    before: {
      since: dayAt(today, 1 - 2 * days).toISOString(),
      until: daysLater(new Date(hour + HOUR_MS), -days).toISOString(),
    },
    words,
    title: `In ${words}`,
    beforeWords: `the ${days} days before`,
  };
}

/** Midnight of a day in the browser's time zone, some days later. */
export const dayAt = (day: string, later: number) => daysLater(new Date(`${day}T00:00:00`), later);

function daysLater(time: Date, days: number): Date {
  const moved = new Date(time);
  moved.setDate(moved.getDate() + days);
  return moved;
}

const daysIn = (from: string, to: string) => Math.round((Date.parse(to) - Date.parse(from)) / (24 * HOUR_MS)) + 1;

const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const dayWords = (day: Date) => dayFormat.format(day);

/** The day of a time in the browser's time zone, as YYYY-MM-DD. */
export function dayText(time: Date): string {
  const two = (part: number) => String(part).padStart(2, '0');
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

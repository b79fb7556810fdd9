import { useEffect, useState } from 'react';

const STEPS: [limitSeconds: number, unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  [60, 'second', 1],
  [3600, 'minute', 60],
  [86_400, 'hour', 3600],
  [7 * 86_400, 'day', 86_400],
];

// Numbers and dates look as the user's locale has them; relative times are words, and words are English.
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** Relative time; a date beyond one week. */
export function ago(at: string, now: number): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  const distance = Math.abs(seconds);
  if (distance < 5) return 'just now';
  const step = STEPS.find(([limit]) => distance < limit);
  return step === undefined ? day.format(new Date(at)) : relative.format(Math.round(seconds / step[2]), step[1]);
}

const clock = { hour: '2-digit', minute: '2-digit' } as const;
const timeOfDay = new Intl.DateTimeFormat(undefined, clock);
const dayAndTime = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', ...clock });

/** The day and the time of day. */
export const formatDayAndTime = (at: string) => dayAndTime.format(new Date(at));

const utcDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

/** The day of a date without a time, or of what the server counts by days in UTC. */
export const formatUtcDay = (at: string) => utcDay.format(new Date(at));

/** The time of day, such as 02:31; with the day if that is not today. */
export function formatTime(at: string): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return (isToday ? timeOfDay : dayAndTime).format(new Date(at));
}

export const formatExactTime = (at: string) => full.format(new Date(at));

/** The browser's time zone, for display. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll('_', ' ');

/** A relative time with the exact time and zone on hover; on paper, which does not say when "now" was, only the exact time. */
export function When({ at }: { at: string }) {
  const now = useNow(at);
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      <span>{ago(at, now)}</span>
    </time>
  );
}

const watchers = new Set<(now: number) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/**
 * The current time in ms, updated every ten seconds by one shared timer, and with what it is compared to: what has just happened would
 * be in the future otherwise.
 */
function useNow(at: string): number {
  const [now, setNow] = useState(() => Date.now());
  const [compared, setCompared] = useState(at);
  if (compared !== at) {
    setCompared(at);
    setNow(Date.now());
  }
  useEffect(() => {
    watchers.add(setNow);
    timer ??= setInterval(() => {
      for (const watcher of watchers) watcher(Date.now());
    }, 10_000);
    return () => {
      watchers.delete(setNow);
      if (watchers.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return now;
}
